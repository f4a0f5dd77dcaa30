use super::super::problem::Source;
use super::super::{Loaded, Policy, PolicyErrors, check};
use super::*;
use crate::policy::ToolOptions;

fn load(text: &str) -> Result<Loaded, PolicyErrors> {
    let text = format!("framegate: 1\n{text}");
    check::load(&Source::new("p.yaml", &text), &mut |_| Err("no files".into()))
}

fn options(text: &str, tool: &str) -> ToolOptions {
    let loaded = load(text).unwrap_or_else(|errors| panic!("{errors}"));
    ToolOptions::clone(&loaded.policy.tool("server", tool).unwrap())
}

fn errors(text: &str) -> Vec<String> {
    let errors = load(text).unwrap_err();
    errors.problems().iter().map(|p| format!("{}:{} {}", p.line(), p.column(), p.message())).collect()
}

/// What the policy says of `a` for the tool `t`.
fn keywords(field: &str) -> String {
    let text = format!("tools: {{ t: {{ ask: {{ fields: {{ a: {field} }} }} }} }}");
    options(&text, "t").ask.fields["a"].document().root().raw().to_owned()
}

fn field_errors(field: &str) -> Vec<String> {
    errors(&format!("tools: {{ t: {{ ask: {{ fields: {{ a: {field} }} }} }} }}"))
}

#[test]
fn the_nearest_key_is_named() {
    let nearest = load("tools: { t: { mising: pass } }").unwrap_err();
    assert_eq!(nearest.problems()[0].advice(), Some("did you mean `missing`?"));
    let public = Policy::load("p", b"framegate: 1\nsecrets: { ask: true }", &mut |_| Err("".into()));
    assert!(public.is_ok(), "the keys are read wherever a policy is");
}

#[test]
fn what_is_not_looked_at_is_not_asked_for_unless_the_policy_says_so() {
    let missing = |text: &str| options(text, "t").missing();
    assert_eq!(missing("tools: { t: {} }"), Missing::Ask);
    assert_eq!(missing("tools: { t: { arguments: unchecked } }"), Missing::Pass);
    for asks in ["missing: ask", "ask: { required: [a] }", "ask: { empty: missing }"] {
        assert_eq!(
            missing(&format!("tools: {{ t: {{ arguments: unchecked, {asks} }} }}")),
            Missing::Ask,
            "{asks}"
        );
    }
    assert_eq!(
        missing("defaults: { missing: refuse }\ntools: { t: { arguments: unchecked } }"),
        Missing::Refuse
    );
}

#[test]
fn each_key_is_merged_as_every_option_is() {
    let text = "defaults: { missing: refuse, ask: { empty: missing, message: Please. } }\ntools:\n  \
        'pay_*': { missing: ask, ask: { required: [to, note] } }\n  pay_now: { ask: { message: 'Whom?', empty: value } }\n  \
        other: {}";
    let now = options(text, "pay_now");
    assert_eq!(now.missing(), Missing::Ask);
    assert_eq!(now.ask.message.as_deref(), Some("Whom?"));
    assert_eq!((now.ask.required.len(), now.ask.empty_is_missing), (2, false));
    let other = options(text, "other");
    assert_eq!((other.missing(), other.ask.message.as_deref()), (Missing::Refuse, Some("Please.")));
    assert!(other.ask.empty_is_missing && other.ask.required.is_empty());
    let said = errors("tools:\n  'a*': { ask: { message: x } }\n  '*b': { ask: { message: y } }");
    assert_eq!(
        said,
        ["4:27 `a*` and `*b` are equally literal, both match `ab`, and set `ask.message` differently"]
    );
    assert!(load("tools:\n  'a*': { ask: { message: x } }\n  '*b': { ask: { required: [y] } }").is_ok());
}

#[test]
fn fields_are_keywords_of_json_schema() {
    for (field, expected) in [
        ("{}", "{}"),
        (
            "{ type: string, title: T, description: 'D: d' }",
            r#"{"type":"string","title":"T","description":"D: d"}"#,
        ),
        (
            "{ format: date-time, minLength: 2, maxLength: 30 }",
            r#"{"format":"date-time","minLength":2,"maxLength":30}"#,
        ),
        (
            "{ type: number, minimum: 0.10, default: 1.50 }",
            r#"{"type":"number","minimum":0.10,"default":1.50}"#,
        ),
        ("{ enum: [x, y], default: y }", r#"{"enum":["x","y"],"default":"y"}"#),
        (
            "{ enum: { low: Low priority, high: High }, default: low }",
            r#"{"oneOf":[{"const":"low","title":"Low priority"},{"const":"high","title":"High"}],"default":"low"}"#,
        ),
        ("{ type: boolean, default: false }", r#"{"type":"boolean","default":false}"#),
    ] {
        assert_eq!(keywords(field), expected, "{field}");
    }
}

#[test]
fn what_is_wrong_with_a_field_is_told_where_it_is_wrong() {
    for (field, expected) in [
        ("{ type: strign }", "2:43 `strign` is not one of `string`, `integer`, `number` or `boolean`"),
        ("{ type: array }", "2:43 `array` is not one of `string`, `integer`, `number` or `boolean`"),
        ("{ pattern: x }", "2:37 unknown key `pattern` in a field of a form"),
        ("{ title: '' }", "2:44 expected text for people, found empty text"),
        ("{ format: uuid }", "2:45 `uuid` is not one of `email`, `uri`, `date` or `date-time`"),
        ("{ type: integer, minLength: 1 }", "2:52 a field of type `integer` has no `minLength`"),
        ("{ type: boolean, enum: [a] }", "2:52 a field of type `boolean` has no `enum`"),
        ("{ enum: [a], maximum: 3 }", "2:48 a field of type `string` has no `maximum`"),
        ("{ minimum: 3, maximum: 2 }", "2:46 `minimum` is more than `maximum`"),
        ("{ enum: [] }", "2:43 expected 1 to 200 choices, found 0"),
        ("{ enum: [a, 1] }", "2:47 a choice must be text, this is a number"),
        ("{ enum: [a, no, a] }", "2:51 a choice that stands twice"),
        ("{ enum: a }", "2:43 expected a list of texts, or a mapping from texts to their titles, found text"),
        (
            "{ type: integer, default: x }",
            "2:61 the default does not fit the field: the value: expected integer, got string \"x\"",
        ),
        (
            "{ enum: [a], default: b }",
            "2:57 the default does not fit the field: the value: expected \"a\", got string \"b\"",
        ),
        ("{ type: integer, minimum: x }", "2:61 expected a number, found text"),
        (
            "{ type: string, minLength: 1.5 }",
            "2:35 the schema is not valid at `/minLength`: it is not of type \"integer\"",
        ),
        ("{ minimum: .5 }", "2:46 `.5` is a number to some YAML readers and text to others"),
        ("3", "2:35 expected a mapping, found a number"),
    ] {
        assert_eq!(field_errors(field), [expected], "{field}");
    }
}

#[test]
fn required_is_a_list_of_names() {
    let text = |list: &str| format!("tools: {{ t: {{ ask: {{ required: {list} }} }} }}");
    assert_eq!(options(&text("[a, 'b c']"), "t").ask.required, ["a", "b c"]);
    assert_eq!(errors(&text("[a, b, a]")), ["2:39 `a` stands twice in `required`"]);
    assert_eq!(errors(&text("a")), ["2:32 expected a list of arguments, found text"]);
    let many = |count: usize| {
        text(&format!("[{}]", (0..count).map(|n| format!("f{n}")).collect::<Vec<_>>().join(",")))
    };
    assert!(load(&many(FIELDS_MAX - 1)).is_ok() && load(&many(FIELDS_MAX)).is_ok());
    assert_eq!(
        errors(&many(FIELDS_MAX + 1)),
        ["2:32 more than 32 arguments: a form cannot ask for them all"]
    );
    assert_eq!(
        errors("tools: { t: { ask: { empty: yes, mesage: x } } }"),
        ["2:29 `yes` is not one of `value` or `missing`", "2:34 unknown key `mesage` in `ask`"]
    );
    assert_eq!(errors("defaults: { missing: no }"), ["2:22 `no` is not one of `ask`, `refuse` or `pass`"]);
}

#[test]
fn secrets_are_lists_that_replace_and_a_warning() {
    let policy = |text: &str| load(&format!("default: allow\n{text}")).unwrap_or_else(|e| panic!("{e}"));
    let usual = policy("");
    assert_eq!(*usual.policy.secrets(), Secrets::default());
    let own = policy("secrets: { names: [Geheimnis, pass code], texts: [geheim] }");
    assert!(own.warnings.is_empty());
    let secrets = own.policy.secrets();
    assert!(secrets.is_name("meinGeheimnis") && secrets.is_name("passCode") && !secrets.is_name("password"));
    let asked = policy("secrets: { ask: true }");
    assert!(asked.policy.secrets().ask());
    let said: Vec<String> =
        asked.warnings.iter().map(|p| format!("{}:{} {}", p.line(), p.column(), p.message())).collect();
    assert_eq!(said, ["3:17 forms will ask for passwords, tokens and the like"]);
    assert!(policy("secrets: { ask: false }").warnings.is_empty());
}

#[test]
fn what_is_wrong_with_secrets_is_told() {
    for (text, expected) in [
        ("{ names: [] }", "2:19 an empty list would tell nothing apart"),
        ("{ names: ['--'] }", "2:20 `--` has no letter and no digit"),
        ("{ texts: x }", "2:19 expected a list of words or phrases, found text"),
        ("{ ask: yes }", "2:17 `yes` is text, not a boolean"),
        ("{ name: [x] }", "2:12 unknown key `name` in `secrets`"),
    ] {
        assert_eq!(errors(&format!("secrets: {text}"))[0], expected, "{text}");
    }
    let many =
        |count: usize| format!("default: allow\nsecrets: {{ names: [{}] }}", vec!["w"; count].join(","));
    assert!(load(&many(MARKERS_MAX - 1)).is_ok() && load(&many(MARKERS_MAX)).is_ok());
    assert_eq!(errors(&many(MARKERS_MAX + 1)), ["3:19 more than 200 words or phrases"]);
    let long = |chars: usize| format!("default: allow\nsecrets: {{ names: [{}] }}", "w".repeat(chars));
    assert!(load(&long(MARKER_CHARS_MAX - 1)).is_ok() && load(&long(MARKER_CHARS_MAX)).is_ok());
    assert_eq!(errors(&long(MARKER_CHARS_MAX + 1)), ["3:20 a word or phrase of more than 64 characters"]);
}

#[test]
fn choices_below_at_and_above_the_limit() {
    let field = |count: usize| {
        format!("{{ enum: [{}] }}", (0..count).map(|n| format!("c{n}")).collect::<Vec<_>>().join(","))
    };
    keywords(&field(CHOICES_MAX - 1));
    keywords(&field(CHOICES_MAX));
    assert_eq!(field_errors(&field(CHOICES_MAX + 1)), ["2:43 expected 1 to 200 choices, found 201"]);
}
