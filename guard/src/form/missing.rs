//! Which required arguments a call lacks.

use crate::json::{Kind, Value};
use crate::policy::Ask;
use crate::schema::{Follow, MISMATCHES_MAX, Mismatch, Schema, in_place, member};

/// Alternatives within alternatives that are looked into.
const ALTERNATIVES_DEPTH_MAX: usize = 8;

/// A required argument that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// Its name.
    pub name: String,
    /// What stands there instead.
    pub lacking: Lacking,
}

/// What stands where an argument is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    /// Nothing.
    Absent,
    /// White space alone, `[]` or `{}`, where the policy says that this is nothing.
    Empty,
    /// `null`, where the schema forbids it or the policy requires a value.
    Null,
}

/// The required arguments that are missing: those that the schema requires (its own list first, then those of its
/// parts), then those that the policy requires. Missing or `null` arguments lack all of them; arguments that are no
/// object lack none, they are wrong as a whole.
#[must_use]
pub fn missing(schema: Option<&Schema>, ask: &Ask, arguments: Option<Value<'_>>) -> Vec<Lack> {
    let arguments = arguments.filter(|arguments| !arguments.is_null());
    if arguments.is_some_and(|arguments| arguments.kind() != Kind::Object) {
        return Vec::new();
    }
    let native = schema.into_iter().flat_map(Schema::required_names);
    let mut found: Vec<Lack> = Vec::new();
    for name in native.chain(&ask.required) {
        if found.iter().any(|lack| lack.name == *name) {
            continue;
        }
        let value = arguments.and_then(|arguments| arguments.get(name));
        if let Some(lacking) = lacking(schema, ask, name, value) {
            found.push(Lack { name: name.clone(), lacking });
        }
    }
    found
}

impl Lack {
    /// Whether something is wrong with the arguments since this one is not there.
    pub(crate) fn is_meant(&self, wrong: &Mismatch) -> bool {
        let first = wrong.pointer.split('/').nth(1);
        first.is_some_and(|first| first.replace("~1", "/").replace("~0", "~") == self.name)
    }
}

impl std::fmt::Display for Lacking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Lacking::Absent => "nothing",
            Lacking::Empty => "an empty one",
            Lacking::Null => "null",
        })
    }
}

/// Whether all that is wrong with the arguments is that these are missing: then a person can complete the call, and
/// otherwise their answer would be refused for what they cannot change. `wrong` is what [`Schema::check`] found; where
/// it stopped counting nothing is certain.
#[must_use]
pub fn only_missing(wrong: &[Mismatch], lacks: &[Lack]) -> bool {
    wrong.len() < MISMATCHES_MAX && wrong.iter().all(|wrong| lacks.iter().any(|lack| lack.is_meant(wrong)))
}

fn lacking(schema: Option<&Schema>, ask: &Ask, name: &str, value: Option<Value<'_>>) -> Option<Lacking> {
    let Some(value) = value else { return Some(Lacking::Absent) };
    let is_strict = ask.empty_is_missing || ask.required.iter().any(|required| required == name);
    match value.kind() {
        Kind::Null => {
            (is_strict || schema.is_some_and(|schema| forbids_null(schema, name))).then_some(Lacking::Null)
        }
        _ => (is_strict && is_empty(value)).then_some(Lacking::Empty),
    }
}

fn is_empty(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => value.as_str().is_some_and(|text| text.chars().all(is_blank)),
        Kind::Array | Kind::Object => value.is_empty(),
        _ => false,
    }
}

/// White space, and the separators U+001C to U+001F, which Python strips too: imported policies come from there.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Whether `null` cannot stand there. Read off the schema, not tried: the other arguments may be wrong as well. What
/// is not seen here is a value, and for `arguments:` to judge.
fn forbids_null(schema: &Schema, name: &str) -> bool {
    let root = schema.source().root();
    let views = in_place(root, root, Follow::Certain);
    member(&views, name).into_iter().any(|own| forbids(root, own, ALTERNATIVES_DEPTH_MAX))
}

fn forbids(root: Value<'_>, schema: Value<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    in_place(root, schema, Follow::Certain).into_iter().any(|view| {
        let by_type = view.get("type").is_some_and(|kind| {
            let mut names = kind.as_str().into_iter().chain(kind.items().filter_map(Value::as_str));
            !names.any(|name| name == "null")
        });
        let by_list = view.get("enum").is_some_and(|all| !all.items().any(Value::is_null));
        let by_value = view.get("const").is_some_and(|only| !only.is_null());
        let by_alternatives = ["anyOf", "oneOf"].iter().filter_map(|keyword| view.get(keyword)).any(|all| {
            !all.is_empty()
                && all.items().all(|one| one.as_bool() == Some(false) || forbids(root, one, depth))
        });
        by_type || by_list || by_value || by_alternatives
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{document, schema};
    use super::*;

    fn lacks(source: &str, ask: &Ask, arguments: &str) -> Vec<(String, Lacking)> {
        let arguments = document(arguments);
        let found = missing(Some(&schema(source)), ask, Some(arguments.root()));
        found.into_iter().map(|lack| (lack.name, lack.lacking)).collect()
    }

    fn names(source: &str, ask: &Ask, arguments: &str) -> Vec<String> {
        lacks(source, ask, arguments).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_schemas_own_list_comes_first_then_its_parts_then_the_policys() {
        let source =
            r##"{"allOf":[{"$ref":"#/$defs/p"}],"required":["b","a"],"$defs":{"p":{"required":["c","b"]}}}"##;
        let ask = Ask { required: vec!["z".into(), "a".into(), "c".into()], ..Ask::default() };
        assert_eq!(names(source, &ask, "{}"), ["b", "a", "c", "z"]);
        assert_eq!(names(source, &ask, r#"{"c":1,"b":0}"#), ["a", "z"]);
        assert_eq!(names(source, &ask, "null"), ["b", "a", "c", "z"]);
        assert_eq!(names(source, &ask, "[1]"), Vec::<String>::new(), "wrong as a whole");
        assert_eq!(missing(Some(&schema(source)), &ask, None).len(), 4);
        assert_eq!(missing(None, &ask, None).len(), 3, "without a schema the policy's alone");
    }

    #[test]
    fn blank_and_empty_count_only_where_the_policy_says_so() {
        let source = r#"{"required":["a"],"properties":{"a":{}}}"#;
        let by_policy = Ask { required: vec!["a".into()], ..Ask::default() };
        let everywhere = Ask { empty_is_missing: true, ..Ask::default() };
        for empty in [r#""""#, r#"" \t\n\u3000\u001f""#, "[]", "{}"] {
            let arguments = format!(r#"{{"a":{empty}}}"#);
            assert_eq!(names(source, &Ask::default(), &arguments), Vec::<String>::new(), "{empty}");
            for ask in [&by_policy, &everywhere] {
                assert_eq!(lacks(source, ask, &arguments), [("a".into(), Lacking::Empty)], "{empty}");
            }
        }
        for value in ["0", "false", r#""\u200b""#, "[null]", r#"{"a":""}"#] {
            assert_eq!(
                names(source, &by_policy, &format!(r#"{{"a":{value}}}"#)),
                Vec::<String>::new(),
                "{value}"
            );
        }
    }

    #[test]
    fn null_is_missing_where_the_schema_forbids_it() {
        for (own, forbidden) in [
            (r#"{"type":"string"}"#, true),
            (r#"{"type":["string","null"]}"#, false),
            (r#"{"type":["string","integer"]}"#, true),
            (r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, false),
            (r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, true),
            (r#"{"oneOf":[{"const":"a"},false]}"#, true),
            (r#"{"enum":["a",null]}"#, false),
            (r#"{"enum":["a"]}"#, true),
            (r##"{"$ref":"#/$defs/s"}"##, true),
            (r##"{"allOf":[{"$ref":"#/$defs/s"},{}]}"##, true),
            (r#"{}"#, false),
            ("true", false),
        ] {
            let source = format!(
                r#"{{"properties":{{"a":{own}}},"required":["a"],"$defs":{{"s":{{"type":"string"}}}}}}"#
            );
            let found = lacks(&source, &Ask::default(), r#"{"a":null}"#);
            assert_eq!(found == [("a".into(), Lacking::Null)], forbidden, "{own}");
            let whole = document(r#"{"a":null}"#);
            assert_eq!(schema(&source).accepts(whole.root()), !forbidden, "the validator agrees: {own}");
        }
        let ask = Ask { required: vec!["a".into()], ..Ask::default() };
        assert_eq!(names(r#"{"properties":{"a":{"type":"null"}}}"#, &ask, r#"{"a":null}"#), ["a"]);
    }

    #[test]
    fn a_call_that_is_wrong_otherwise_is_not_asked_about() {
        let source = r#"{"type":"object","properties":{"a/b":{"type":"string"},"n":{"type":"integer"}},"required":["a/b","n"],"additionalProperties":false}"#;
        let is_only = |arguments: &str, ask: &Ask| {
            let (schema, arguments) = (schema(source), document(arguments));
            let lacks = missing(Some(&schema), ask, Some(arguments.root()));
            only_missing(&schema.check(arguments.root()), &lacks)
        };
        for arguments in ["{}", r#"{"n":1}"#, r#"{"a/b":null}"#, r#"{"a/b":"x","n":1}"#] {
            assert!(is_only(arguments, &Ask::default()), "{arguments}");
        }
        for arguments in [r#"{"n":"x"}"#, r#"{"x":1}"#, r#"{"a/b":1}"#, "[]"] {
            assert!(!is_only(arguments, &Ask::default()), "{arguments}");
        }
        let empty = Ask { required: vec!["n".into()], ..Ask::default() };
        assert!(is_only(r#"{"n":[]}"#, &empty) && !is_only(r#"{"n":[]}"#, &Ask::default()));
    }

    #[test]
    fn what_was_not_counted_to_the_end_is_not_certain() {
        let required = |count: usize| (0..count).map(|n| format!("\"f{n}\"")).collect::<Vec<_>>().join(",");
        for (count, expected) in
            [(MISMATCHES_MAX - 1, true), (MISMATCHES_MAX, false), (MISMATCHES_MAX + 1, false)]
        {
            let schema = schema(&format!(r#"{{"required":[{}]}}"#, required(count)));
            let arguments = document("{}");
            let lacks = missing(Some(&schema), &Ask::default(), Some(arguments.root()));
            assert_eq!(only_missing(&schema.check(arguments.root()), &lacks), expected, "{count}");
        }
    }

    #[test]
    fn alternatives_are_followed_to_a_depth_and_no_further() {
        let nested = |levels: usize| {
            (0..levels)
                .fold(r#"{"type":"string"}"#.to_owned(), |inner, _| format!(r#"{{"anyOf":[{inner}]}}"#))
        };
        let is_missing = |levels: usize| {
            let source = format!(r#"{{"properties":{{"a":{}}},"required":["a"]}}"#, nested(levels));
            !names(&source, &Ask::default(), r#"{"a":null}"#).is_empty()
        };
        assert!(is_missing(ALTERNATIVES_DEPTH_MAX - 2));
        assert!(is_missing(ALTERNATIVES_DEPTH_MAX - 1));
        assert!(!is_missing(ALTERNATIVES_DEPTH_MAX));
    }
}
