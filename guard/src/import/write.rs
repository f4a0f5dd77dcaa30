//! The policy and the client's entry that an import writes.

use std::fmt::Write as _;

use super::proxy::{Old, OldField, OldTool};
use crate::refusal::{NAME_CHARS_MAX, plain};

/// The policy: what that proxy did, and nothing more.
pub(super) fn policy(name: &str, old: &Old) -> String {
    let missing = match (old.requires, old.asks) {
        (false, _) => "pass",
        (true, true) => "ask",
        (true, false) => "refuse",
    };
    let mut text = format!(
        "# From {}, a configuration of mcp-elicitation-proxy.\n\
         framegate: 1\n\
         # It let every tool and any argument through; remove these three lines to have them judged.\n\
         default: allow\n\
         arguments: unchecked\n\
         invisible: allow\n\
         defaults:\n  missing: {missing}\n  ask: {{ empty: missing }}\n",
        plain::line(name, NAME_CHARS_MAX)
    );
    text.push_str(&secrets(old));
    let tools: Vec<String> = old.tools.iter().filter_map(|(name, tool)| entry(name, tool)).collect();
    if !tools.is_empty() {
        let _ = write!(text, "tools:\n{}", tools.concat());
    }
    text
}

fn secrets(old: &Old) -> String {
    let mut text = String::new();
    if !old.guards_secrets {
        return "secrets: { ask: true }\n".to_owned();
    }
    for (key, list) in [("names", &old.names), ("texts", &old.texts)] {
        if !list.is_empty() {
            let _ = writeln!(text, "  {key}: {}", quoted_list(list));
        }
    }
    if text.is_empty() { text } else { format!("secrets:\n{text}") }
}

/// An entry under `tools:`; nothing for a tool of which nothing is said.
fn entry(name: &str, tool: &OldTool) -> Option<String> {
    let mut text = String::new();
    if let Some(message) = &tool.message {
        let _ = writeln!(text, "      message: {}", quoted(message));
    }
    if !tool.required.is_empty() {
        let _ = writeln!(text, "      required: {}", quoted_list(&tool.required));
    }
    let fields: Vec<String> = tool.fields.iter().filter_map(field).collect();
    if !fields.is_empty() {
        let _ = write!(text, "      fields:\n{}", fields.concat());
    }
    (!text.is_empty()).then(|| format!("  {}:\n    ask:\n{text}", quoted(name)))
}

fn field(field: &OldField) -> Option<String> {
    let kind = field.kind.iter().map(|kind| format!("type: {kind}"));
    let description = field.description.iter().map(|text| format!("description: {}", quoted(text)));
    let keywords: Vec<String> = kind.chain(description).collect();
    let name = quoted(&field.name);
    (!keywords.is_empty()).then(|| format!("        {name}: {{ {} }}\n", keywords.join(", ")))
}

/// The entry in the client's configuration: nothing for a server that is not started by a command.
pub(super) fn client(old: &Old, policy: &str) -> Option<String> {
    let command = old.command.as_ref()?;
    let mut args = vec!["run".to_owned(), "--policy".to_owned(), policy.to_owned()];
    let (given, own): (Vec<_>, Vec<_>) = old.env.iter().partition(|(name, _)| is_for_us(name));
    for (name, value) in given {
        args.extend(["--env".to_owned(), format!("{name}={value}")]);
    }
    args.push("--".to_owned());
    args.push(command.clone());
    args.extend(old.args.iter().cloned());
    let mut text = format!("{{\n  \"command\": \"framegate\",\n  \"args\": {}", quoted_list(&args));
    if !own.is_empty() {
        let all: Vec<String> =
            own.iter().map(|(name, value)| format!("    {}: {}", quoted(name), quoted(value))).collect();
        let _ = write!(text, ",\n  \"env\": {{\n{}\n  }}", all.join(",\n"));
    }
    text.push_str("\n}\n");
    Some(text)
}

/// Variables that would set something for Framegate, or keep the client from finding it, if they were its own.
fn is_for_us(name: &str) -> bool {
    name == "PATH" || name.starts_with("FRAMEGATE_")
}

fn quoted_list(all: &[String]) -> String {
    let all: Vec<String> = all.iter().map(|text| quoted(text)).collect();
    format!("[{}]", all.join(", "))
}

/// Text in quotes that JSON and YAML read alike: YAML takes fewer characters as they are.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        let is_plain =
            !c.is_control() && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}');
        if is_plain {
            out.push(c);
        } else {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
    }
    out
}
