use super::*;

use Revision::{V2025_06_18, V2025_11_25, V2026_07_28};

const DEFS: &str = r##""$defs":{"s":{"type":"string","minLength":2,"title":"S"},"r":{"$ref":"#/$defs/r"},
    "m":{"enum":["x","y"]}}"##;

fn build(own: &str, ask: &Ask, revision: Revision) -> Result<Form, Vec<Unaskable>> {
    let source = format!(r#"{{"type":"object","properties":{{"a":{own}}},{DEFS}}}"#);
    Form::build(&schema(&source), &names(&["a"]), ask, revision)
}

/// The field as the form has it.
fn field(own: &str, ask: &Ask, revision: Revision) -> String {
    let form = build(own, ask, revision).unwrap_or_else(|why| panic!("{why:?}: {own}"));
    let text = form.text().strip_prefix(r#"{"type":"object","properties":{"a":"#).unwrap().to_owned();
    text.strip_suffix(r#"},"required":["a"]}"#).unwrap().to_owned()
}

fn why(own: &str, ask: &Ask, revision: Revision) -> Why {
    build(own, ask, revision).unwrap_err().remove(0).why
}

#[test]
fn each_kind_of_field_in_each_revision() {
    for (own, early, rich) in [
        (r#"{"type":"string"}"#, r#"{"type":"string"}"#, r#"{"type":"string"}"#),
        (
            r#"{"type":"string","format":"email","minLength":3,"maxLength":9,"title":"T","description":"D","default":"d"}"#,
            r#"{"type":"string","title":"T","description":"D (by default `\"d\"`)","format":"email","minLength":3,"maxLength":9}"#,
            r#"{"type":"string","title":"T","description":"D","format":"email","minLength":3,"maxLength":9,"default":"d"}"#,
        ),
        (
            r#"{"type":"string","format":"uuid","pattern":"^a"}"#,
            r#"{"type":"string","description":"(pattern `^a`; format `uuid`)"}"#,
            r#"{"type":"string","description":"(pattern `^a`; format `uuid`)"}"#,
        ),
        (
            r#"{"type":"integer","minimum":1,"maximum":9007199254740993}"#,
            r#"{"type":"integer","minimum":1,"maximum":9007199254740993}"#,
            r#"{"type":"integer","minimum":1,"maximum":9007199254740993}"#,
        ),
        (
            r#"{"type":"number","exclusiveMinimum":0,"multipleOf":0.5,"default":1.50}"#,
            r#"{"type":"number","description":"(more than `0`; a multiple of `0.5`; by default `1.50`)"}"#,
            r#"{"type":"number","description":"(more than `0`; a multiple of `0.5`)","default":1.50}"#,
        ),
        (
            r#"{"type":"integer","enum":[1,2]}"#,
            r#"{"type":"integer","description":"(one of 1, 2)"}"#,
            r#"{"type":"integer","description":"(one of 1, 2)"}"#,
        ),
        (
            r#"{"enum":[1,2.5]}"#,
            r#"{"type":"number","description":"(one of 1, 2.5)"}"#,
            r#"{"type":"number","description":"(one of 1, 2.5)"}"#,
        ),
        (
            r#"{"type":"boolean","default":true}"#,
            r#"{"type":"boolean","default":true}"#,
            r#"{"type":"boolean","default":true}"#,
        ),
        (
            r#"{"enum":["x","y",null],"default":"y"}"#,
            r#"{"type":"string","description":"(by default `\"y\"`)","enum":["x","y"]}"#,
            r#"{"type":"string","enum":["x","y"],"default":"y"}"#,
        ),
        (r#"{"const":"x"}"#, r#"{"type":"string","enum":["x"]}"#, r#"{"type":"string","enum":["x"]}"#),
        (
            r#"{"type":"string","enum":["x","y"],"enumNames":["X","Y"]}"#,
            r#"{"type":"string","enum":["x","y"],"enumNames":["X","Y"]}"#,
            r#"{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}"#,
        ),
        (
            r#"{"oneOf":[{"const":"x","title":"X"},{"const":"y"},{"type":"null"}]}"#,
            r#"{"type":"string","enum":["x","y"],"enumNames":["X","y"]}"#,
            r#"{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"y"}]}"#,
        ),
    ] {
        assert_eq!(field(own, &Ask::default(), V2025_06_18), early, "{own}");
        assert_eq!(field(own, &Ask::default(), V2025_11_25), rich, "{own}");
        assert_eq!(field(own, &Ask::default(), V2026_07_28), rich, "{own}");
    }
}

#[test]
fn lists_of_choices_came_with_the_second_revision() {
    for (own, rich) in [
        (
            r#"{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1,"maxItems":2,"default":["x"]}"#,
            r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y"]},"default":["x"]}"#,
        ),
        (
            r#"{"type":"array","items":{"oneOf":[{"const":"x","title":"X"}]},"default":["z"]}"#,
            r#"{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}"#,
        ),
    ] {
        assert_eq!(field(own, &Ask::default(), V2025_11_25), rich, "{own}");
        assert_eq!(why(own, &Ask::default(), V2025_06_18), Why::ListTooEarly, "{own}");
    }
}

#[test]
fn references_parts_of_one_and_null_are_reduced() {
    let plain = r#"{"type":"string","title":"S","minLength":2}"#;
    let described = r#"{"type":"string","title":"S","description":"D","minLength":2}"#;
    for (own, expected) in [
        (r##"{"$ref":"#/$defs/s"}"##, plain),
        (r##"{"allOf":[{"$ref":"#/$defs/s"}],"description":"D"}"##, described),
        (r##"{"anyOf":[{"$ref":"#/$defs/s"},{"type":"null"}],"description":"D","default":null}"##, described),
        (r##"{"oneOf":[{"type":"null"},{"anyOf":[{"$ref":"#/$defs/s"},{"const":null}]}]}"##, plain),
        (r#"{"type":["string","null"]}"#, r#"{"type":"string"}"#),
        (r#"{"type":["integer","number","null"]}"#, r#"{"type":"number"}"#),
        (
            r##"{"type":"array","items":{"type":"string","enum":["x"]}}"##,
            r#"{"type":"array","items":{"type":"string","enum":["x"]}}"#,
        ),
        (r#"{"description":"D"}"#, r#"{"type":"string","description":"D"}"#),
        ("true", r#"{"type":"string"}"#),
    ] {
        assert_eq!(field(own, &Ask::default(), V2025_11_25), expected, "{own}");
    }
}

#[test]
fn what_no_form_can_hold_is_refused_with_its_reason() {
    for (own, expected) in [
        (r#"{"type":"object"}"#, Why::Nested),
        (r#"{"properties":{"b":{}}}"#, Why::Nested),
        (r#"{"type":"array","items":{"type":"string"}}"#, Why::List),
        (r#"{"type":"array","items":{"type":"object"}}"#, Why::List),
        (r#"{"type":"array"}"#, Why::List),
        (r#"{"items":{"type":"integer"}}"#, Why::List),
        (r#"{"type":["string","integer"]}"#, Why::Alternatives),
        (r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#, Why::Alternatives),
        (r#"{"allOf":[{"type":"string"},{"minLength":1}]}"#, Why::Combined),
        (r#"{"enum":["x",1]}"#, Why::Choices),
        (r#"{"enum":[{"b":1}]}"#, Why::Choices),
        (r#"{"type":"null"}"#, Why::Type("null".into())),
    ] {
        assert_eq!(why(own, &Ask::default(), V2025_11_25), expected, "{own}");
    }
    let said = build(r#"{"type":"object"}"#, &Ask::default(), V2025_11_25).unwrap_err();
    assert_eq!(said[0].to_string(), "`a`: it is an object, and forms are flat");
}

#[test]
fn an_argument_nobody_declares_is_asked_for_as_text() {
    let source = schema(r#"{"properties":{"b":{"type":"integer"}}}"#);
    let form = Form::build(&source, &names(&["new", "b"]), &Ask::default(), V2025_06_18).unwrap();
    assert_eq!(
        form.text(),
        r#"{"type":"object","properties":{"new":{"type":"string"},"b":{"type":"integer"}},"required":["new","b"]}"#
    );
    assert_eq!(form.names(), ["new", "b"]);
}

#[test]
fn a_schema_that_goes_in_a_circle_has_no_field() {
    // Such a schema is never compiled as a whole; its property alone is looked at.
    let source =
        document(r##"{"properties":{"a":{"$ref":"#/$defs/r"}},"$defs":{"r":{"$ref":"#/$defs/r"}}}"##);
    assert!(Schema::compile(source.root()).is_err());
    let read = super::super::property::Property::read(source.root(), "a", None);
    assert_eq!(read, Err(Why::Unresolved));
}

#[test]
fn the_policy_says_it_better() {
    let own = r#"{"type":"string","minLength":2,"title":"T","description":"D"}"#;
    for (given, expected) in [
        (r#"{"description":"E"}"#, r#"{"type":"string","title":"T","description":"E","minLength":2}"#),
        (
            r#"{"type":"string","maxLength":5}"#,
            r#"{"type":"string","title":"T","description":"D","minLength":2,"maxLength":5}"#,
        ),
        (
            r#"{"type":"integer","minimum":1}"#,
            r#"{"type":"integer","title":"T","description":"D","minimum":1}"#,
        ),
        (
            r#"{"enum":["x"],"default":"x"}"#,
            r#"{"type":"string","title":"T","description":"D","enum":["x"],"default":"x"}"#,
        ),
    ] {
        assert_eq!(field(own, &saying(given), V2025_11_25), expected, "{given}");
    }
    let nested = r#"{"type":"object","description":"D","properties":{"b":{}}}"#;
    assert_eq!(
        field(nested, &saying(r#"{"type":"string"}"#), V2025_06_18),
        r#"{"type":"string","description":"D"}"#
    );
    assert_eq!(
        field(
            r#"{"allOf":[{"type":"object"},{"title":"x"}],"title":"T"}"#,
            &saying(r#"{"type":"boolean"}"#),
            V2025_06_18
        ),
        r#"{"type":"boolean","title":"T"}"#
    );
    assert_eq!(
        field(r#"{"type":["string","null"],"maxLength":3}"#, &saying(r#"{"type":"string"}"#), V2025_06_18),
        r#"{"type":"string","maxLength":3}"#,
        "the same type, not another"
    );
}

#[test]
fn defaults_that_the_field_cannot_hold_are_left_out() {
    for own in [
        r#"{"type":"integer","default":1.5}"#,
        r#"{"type":"string","default":1}"#,
        r#"{"type":"boolean","default":"true"}"#,
        r#"{"type":"string","enum":["x"],"default":"z"}"#,
        r#"{"type":"number","default":null}"#,
    ] {
        assert!(!field(own, &Ask::default(), V2025_11_25).contains("default"), "{own}");
    }
}

#[test]
fn foreign_texts_are_one_visible_line() {
    let own =
        format!(r#"{{"type":"string","title":"a\u001b[31m\n{}","description":"x\u202ey"}}"#, "t".repeat(300));
    let field = document(&field(&own, &Ask::default(), V2025_11_25));
    let title = field.root().get("title").unwrap().as_str().unwrap();
    assert!(title.starts_with(r"a\u{1b}[31m t") && title.ends_with('…'), "{title}");
    assert_eq!(title.chars().count(), 200);
    assert_eq!(field.root().get("description").unwrap().as_str(), Some(r"x\u{202e}y"));
}

#[test]
fn choices_below_at_and_above_the_limit() {
    let own = |count: usize| {
        format!(r#"{{"enum":[{}]}}"#, (0..count).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(","))
    };
    assert!(build(&own(CHOICES_MAX - 1), &Ask::default(), V2025_11_25).is_ok());
    assert!(build(&own(CHOICES_MAX), &Ask::default(), V2025_11_25).is_ok());
    let over = why(&own(CHOICES_MAX + 1), &Ask::default(), V2025_11_25);
    assert_eq!(over, Why::TooManyChoices(CHOICES_MAX + 1));
    assert_eq!(over.to_string(), "it has 201 choices, a form offers at most 200");
}

#[test]
fn fields_below_at_and_above_the_limit() {
    let build = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("f{n}")).collect();
        Form::build(&schema("{}"), &names, &Ask::default(), V2025_11_25)
    };
    assert!(build(FIELDS_MAX - 1).is_ok());
    assert!(build(FIELDS_MAX).is_ok());
    assert_eq!(build(FIELDS_MAX + 1).unwrap_err()[0].why, Why::TooManyFields(FIELDS_MAX + 1));
}

#[test]
fn names_that_crash_other_form_builders_are_names() {
    let all = names(&["_p", "model_dump", "a-b", "", "ü\"\\", "__proto__"]);
    let form = Form::build(&schema("{}"), &all, &Ask::default(), V2025_11_25).unwrap();
    let form = document(form.text());
    let seen: Vec<&str> = form.root().get("properties").unwrap().members().map(|(name, _)| name).collect();
    assert_eq!(seen, ["_p", "model_dump", "a-b", "", "ü\"\\", "__proto__"]);
}

#[test]
fn revisions_by_their_names() {
    assert_eq!(Revision::of("2025-06-18"), Some(V2025_06_18));
    assert_eq!(Revision::of("2025-11-25"), Some(V2025_11_25));
    assert_eq!(Revision::of("2026-07-28"), Some(V2026_07_28));
    for none in ["2024-11-05", "2025-03-26", "2027-01-01", ""] {
        assert_eq!(Revision::of(none), None, "{none}");
    }
}

#[test]
fn a_form_below_at_and_above_its_bytes() {
    let build = |chars: usize| {
        build(&format!(r#"{{"enum":["{}"]}}"#, "v".repeat(chars)), &Ask::default(), V2025_11_25)
    };
    let rest = build(0).unwrap().text().len();
    assert!(build(FORM_BYTES_MAX - rest - 1).is_ok());
    assert_eq!(build(FORM_BYTES_MAX - rest).unwrap().text().len(), FORM_BYTES_MAX);
    let over = build(FORM_BYTES_MAX - rest + 1).unwrap_err();
    assert_eq!(over[0].to_string(), "`a`: the form would have 65537 bytes, the limit is 65536");
}

#[test]
fn a_bound_of_an_older_draft_is_no_note() {
    let source = schema(
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true}}}"#,
    );
    let form = Form::build(&source, &names(&["a"]), &Ask::default(), V2025_06_18).unwrap();
    assert!(form.text().contains(r#"{"type":"number","minimum":1}"#), "{}", form.text());
}
