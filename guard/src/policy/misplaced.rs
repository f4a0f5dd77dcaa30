//! A key that is known, and stands at the wrong level: where it belongs.

use super::{provenance, raw, states};

/// Where this key belongs, if it is known and does not belong into `what`.
pub(crate) fn hint(key: &str, what: &str) -> Option<String> {
    let is_tools = what == raw::A_TOOLS_OPTIONS;
    if is_tools && provenance::OF_AN_ARGUMENT.contains(&key) {
        return Some(format!("`{key}` is said of an argument: `ground: {{ ARGUMENT: {{ {key}: … }} }}`"));
    }
    if !is_tools && (raw::OPTIONS.contains(&key) || provenance::OPTIONS.contains(&key)) {
        // These two count the calls of one entry.
        let defaults =
            if matches!(key, "limit" | "budget") { "" } else { ", or under `defaults` for every tool" };
        return Some(format!("it is an option of a tool: `tools: {{ NAME: {{ {key}: … }} }}`{defaults}"));
    }
    if what != raw::A_RULE && (raw::OF_A_RULE.contains(&key) || states::RULE_KEYS.contains(&key)) {
        return Some(format!("it belongs to a rule: `rules: [{{ name: …, {key}: … }}]`"));
    }
    (what != raw::A_POLICY && raw::OF_A_POLICY.contains(&key))
        .then(|| format!("`{key}:` stands at the top of the file, with no blanks before it"))
}
