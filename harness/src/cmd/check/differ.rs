//! Where two schemas of one tool differ, at their top level, in words.

use std::collections::BTreeSet;

use framegate_guard::json::Value;

/// Characters of a schema that are shown.
const SHOWN_CHARS: usize = 80;

/// What differs between two schemas at their top level, in words.
pub(super) fn differences(policy: Value<'_>, server: Value<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let keys: BTreeSet<&str> = policy.members().chain(server.members()).map(|(key, _)| key).collect();
    for key in keys {
        let (own, theirs) = (policy.get(key), server.get(key));
        match key {
            _ if own == theirs => {}
            "properties" => all.extend(arguments(own, theirs)),
            "required" => all.extend(required(own, theirs)),
            _ => all.push(format!("`{key}`: {}", two(own, theirs))),
        }
    }
    all
}

fn arguments(own: Option<Value<'_>>, theirs: Option<Value<'_>>) -> Vec<String> {
    let names: BTreeSet<&str> =
        own.iter().chain(&theirs).flat_map(|side| side.members()).map(|(name, _)| name).collect();
    let difference =
        |name: &str| match (own.and_then(|own| own.get(name)), theirs.and_then(|theirs| theirs.get(name))) {
            (own, theirs) if own == theirs => None,
            (Some(_), None) => Some(format!("argument `{name}`: only in the policy")),
            (None, Some(_)) => Some(format!("argument `{name}`: only in the server's schema")),
            (own, theirs) => Some(format!("argument `{name}`: {}", two(own, theirs))),
        };
    names.into_iter().filter_map(difference).collect()
}

fn required(own: Option<Value<'_>>, theirs: Option<Value<'_>>) -> Vec<String> {
    let names = |side: Option<Value<'_>>| -> Vec<String> {
        side.iter()
            .flat_map(|side| side.items())
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let (own, theirs) = (names(own), names(theirs));
    let only = |a: &[String], b: &[String], whose: &str| -> Vec<String> {
        let missing = a.iter().filter(|name| !b.contains(name));
        missing.map(|name| format!("argument `{name}`: required {whose} only")).collect()
    };
    let mut all = only(&own, &theirs, "by the policy");
    all.extend(only(&theirs, &own, "by the server"));
    all
}

fn two(own: Option<Value<'_>>, theirs: Option<Value<'_>>) -> String {
    let raw = |side: Option<Value<'_>>| side.map_or("nothing".to_owned(), |side| short(side.raw()));
    format!("the policy has {}, the server {}", raw(own), raw(theirs))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::json::{Document, Limits};

    fn said(policy: &str, server: &str) -> Vec<String> {
        let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
        differences(read(policy).root(), read(server).root())
    }

    #[test]
    fn schemas_that_mean_the_same_do_not_differ() {
        let policy = r#"{"type":"object","properties":{"a":{"maximum":1.0}},"required":["a","b"]}"#;
        let server = r#"{"required":["b","a"],"properties":{"a":{"maximum":1}},"type":"object"}"#;
        assert_eq!(said(policy, server), Vec::<String>::new());
    }

    #[test]
    fn each_argument_and_key_that_differs_is_named() {
        let policy =
            r#"{"properties":{"a":{},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
        let server = r#"{"properties":{"b":{"type":"number"},"c":{}},"required":["c"],"title":"T"}"#;
        assert_eq!(
            said(policy, server),
            [
                "`additionalProperties`: the policy has false, the server nothing",
                "argument `a`: only in the policy",
                "argument `b`: the policy has {\"type\":\"string\"}, the server {\"type\":\"number\"}",
                "argument `c`: only in the server's schema",
                "argument `a`: required by the policy only",
                "argument `c`: required by the server only",
                "`title`: the policy has nothing, the server \"T\"",
            ]
        );
        assert_eq!(said("{}", r#"{"properties":{"a":{}}}"#), ["argument `a`: only in the server's schema"]);
    }

    #[test]
    fn long_schemas_are_cut() {
        let long = |count: usize| said("{}", &format!(r#"{{"title":"{}"}}"#, "x".repeat(count))).remove(0);
        assert!(long(SHOWN_CHARS - 2).ends_with("x\""));
        assert!(long(SHOWN_CHARS - 1).ends_with("x…"));
    }
}
