//! Cases that need a guard: their neutral `guard` object as one of our policies.
//!
//! What the object can say and the policy file cannot yet is an error, so that no case passes with a part of
//! its policy missing.

use std::{ffi::OsString, fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Outcome, Wrapper, case::Case, play};

/// Why a call is refused, in every policy made here.
pub const BECAUSE: &str = "the case says so";

/// A case, its files and its policy.
#[derive(Debug)]
pub struct GuardCase {
    case: Case,
    folder: TempDir,
    /// Options of `run` that the case implies.
    options: Vec<OsString>,
}

impl GuardCase {
    /// Reads `data/cases/{name}.json`, lays out the files it needs and writes its policy.
    pub fn load(name: &str) -> Result<Self, String> {
        Self::load_with(name, &mut |_| {})
    }

    /// The case with each of its `variants` in the place of its `variant_base`.
    pub fn load_variants(name: &str) -> Result<Vec<Self>, String> {
        let mut count = None;
        let (mut all, mut nth) = (Vec::new(), 0);
        while count.is_none_or(|count| nth < count) {
            all.push(Self::load_with(name, &mut |neutral| {
                let variants = neutral["variants"].as_array().cloned().unwrap_or_default();
                let base = neutral["variant_base"].as_str().unwrap_or_default().to_owned();
                let variant = variants.get(nth).and_then(Value::as_str).unwrap_or_default();
                for (frames, key) in [("client_frames", "with"), ("server_frames", "reply")] {
                    let items = neutral[frames].as_array_mut().into_iter().flatten();
                    for reply in items.filter_map(|item| item.get_mut(key)) {
                        *reply = reply.as_str().unwrap_or_default().replace(&base, variant).into();
                    }
                }
                count = Some(variants.len());
            })?);
            nth += 1;
        }
        Ok(all)
    }

    fn load_with(name: &str, change: &mut dyn FnMut(&mut Value)) -> Result<Self, String> {
        let file = crate::data("cases").join(format!("{name}.json"));
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let folder = tempfile::Builder::new().prefix("framegate-root-").tempdir();
        let folder = folder.map_err(|error| error.to_string())?;
        // A policy compares resolved paths, and the temporary folder may itself be behind a link.
        let root = folder.path().canonicalize().map_err(|error| error.to_string())?.join("root");
        let text = text.replace("$ROOT", &root.display().to_string());
        let mut neutral: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        change(&mut neutral);
        list_declared(&mut neutral);
        lay_out(&root, &neutral["needs_root"]).map_err(|error| format!("{name}: {error}"))?;
        let policy = policy(&neutral["guard"]).map_err(|error| format!("{name}: {error}"))?;
        let script = folder.path().join("case.json");
        let write = |path: &Path, text: &str| fs::write(path, text).map_err(|error| error.to_string());
        write(&folder.path().join("policy.yaml"), &policy)?;
        let text = neutral.to_string();
        write(&script, &text)?;
        let seconds = neutral["guard"].get("elicit_timeout_s").map(Value::to_string);
        let options = seconds.map(|seconds| vec!["--ask-timeout".into(), seconds.into()]).unwrap_or_default();
        Ok(Self { case: Case::read(name, &text, script)?, folder, options })
    }

    /// Plays it through `run --policy`.
    pub fn play(&self, wrapper: &Wrapper) -> Outcome {
        let policy = self.folder.path().join("policy.yaml");
        let options = ["--policy".into(), policy.into_os_string()].into_iter().chain(self.options.clone());
        play(&self.case, &wrapper.clone().with_options(options))
    }
}

/// A policy file as JSON, which is YAML too and needs no quoting of ours.
pub fn policy(guard: &Value) -> Result<String, String> {
    for key in guard.as_object().ok_or("no `guard`")?.keys() {
        if !["declare", "elicit_timeout_s", "escalate", "policies", "undeclared"].contains(&key.as_str()) {
            return Err(format!("`guard.{key}` has no counterpart in a policy yet"));
        }
    }
    if guard["escalate"].as_str().is_some_and(|how| !["deny", "elicit"].contains(&how)) {
        return Err(format!("`{}` is no way of asking yet", guard["escalate"]));
    }
    let mut tools = serde_json::Map::new();
    for declared in guard["declare"].as_array().into_iter().flatten() {
        let name = declared["tool"].as_str().ok_or("a declared tool has a name")?;
        tools.insert(name.to_owned(), options(declared)?);
    }
    let rules = guard["policies"].as_array().into_iter().flatten().enumerate();
    let rules = rules.map(|(at, rule)| self::rule(at, rule)).collect::<Result<Vec<_>, _>>()?;
    let default = if guard["undeclared"] == "allow" { "allow" } else { "deny" };
    // A question is about all that a call may hold, what cannot be seen too.
    let invisible = if guard["escalate"] == "elicit" { "allow" } else { "refuse" };
    let policy =
        json!({ "framegate": 1, "default": default, "invisible": invisible, "tools": tools, "rules": rules });
    Ok(format!("{policy:#}\n"))
}

fn options(declared: &Value) -> Result<Value, String> {
    let mut options = serde_json::Map::new();
    for (key, value) in declared.as_object().ok_or("a declared tool is an object")? {
        let key = match key.as_str() {
            "tool" => continue,
            "ground" | "once" => key,
            "injections" => "instructions",
            _ => return Err(format!("`{declared}` has more than a policy can say yet")),
        };
        options.insert(key.to_owned(), value.clone());
    }
    Ok(options.into())
}

fn rule(at: usize, rule: &Value) -> Result<Value, String> {
    let that = match rule["kind"].as_str() {
        Some("always_fails") => "false".to_owned(),
        // Well-typed, and an error for every tool whose name is no number.
        Some("raises") => "int(tool) > 0".to_owned(),
        Some("path_inside") => {
            let argument = rule["arg"].as_str().unwrap_or("path");
            format!("within(args.{argument}, {})", rule["root"])
        }
        kind => return Err(format!("unknown kind of policy {kind:?}")),
    };
    let otherwise = if rule["on_fail"] == "deny" { "deny" } else { "ask" };
    Ok(json!({
        "name": format!("rule_{at}"),
        "tools": rule["tools"],
        "that": that,
        "otherwise": otherwise,
        "because": BECAUSE,
    }))
}

/// A case that says nothing about the tool list means a server with the tools it declares.
fn list_declared(case: &mut Value) {
    let declared = case["guard"]["declare"].as_array().into_iter().flatten();
    let listed = declared.map(|tool| json!({ "name": tool["tool"], "inputSchema": { "type": "object" } }));
    let listed: Vec<Value> = listed.collect();
    let Some(frames) = case["server_frames"].as_array_mut() else { return };
    if !frames.iter().any(|item| item.get("tools").is_some() || item["on"] == "tools/list") {
        frames.push(json!({ "tools": Value::from(listed).to_string() }));
    }
}

/// `folder/`, `file` and `link -> target` below `root`.
fn lay_out(root: &Path, needs: &Value) -> std::io::Result<()> {
    fs::create_dir_all(root)?;
    for entry in needs.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let (name, target) = entry.split_once(" -> ").map_or((entry, None), |(name, to)| (name, Some(to)));
        let path = root.join(name);
        let parent = if name.ends_with('/') { Some(path.as_path()) } else { path.parent() };
        fs::create_dir_all(parent.unwrap_or(root))?;
        match target {
            Some(target) => symlink(target, &path)?,
            None if !name.ends_with('/') => fs::write(&path, "x")?,
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_policy_cannot_say_is_an_error() {
        assert!(policy(&json!({ "declare": [{ "tool": "a", "twice": true }] })).is_err());
        assert!(policy(&json!({ "declare": [], "escalate": "elicit" })).is_ok());
        assert!(policy(&json!({ "declare": [], "escalate": "terminal" })).is_err());
        assert!(policy(&json!({ "declare": [], "inject": [] })).is_err());
        assert!(policy(&json!({ "policies": [{ "tools": ["a"], "kind": "new" }] })).is_err());
    }

    #[test]
    fn a_path_rule_names_its_root() {
        let kind = json!({ "tools": ["a"], "kind": "path_inside", "arg": "p", "root": "/r \"x\"" });
        let rule = rule(0, &kind).unwrap();
        assert_eq!(rule["that"], r#"within(args.p, "/r \"x\"")"#);
        assert_eq!(rule["otherwise"], "ask");
    }
}
