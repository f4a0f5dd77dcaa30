use super::*;
use bytes::Bytes;

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string","minLength":2},"n":{"type":"integer","minimum":1},
    "tags":{"type":"array","items":{"type":"string","enum":["x","y"]}},"other":{"type":"boolean"}},
    "required":["a","n"],"if":{"properties":{"n":{"const":13}},"required":["n"]},"then":{"properties":{"a":{"const":"bad luck"}}}}"#;

/// The frame after the answer, as the caller splices it.
fn spliced(frame: &str, asked: &[&str], content: &str) -> Result<String, Rejected> {
    spliced_under(&Ask::default(), false, frame, asked, content)
}

fn spliced_under(
    ask: &Ask,
    only_asked: bool,
    frame: &str,
    asked: &[&str],
    content: &str,
) -> Result<String, Rejected> {
    let (schema, whole, content) = (schema(SCHEMA), document(frame), document(content));
    let form = Form::build(&schema, &names(asked), ask, Revision::V2025_11_25).unwrap();
    let sent = whole.root().get("arguments");
    let merging = Merging { schema: &schema, ask, only_asked };
    let merged = form.merge(&merging, sent, content.root())?;
    let mut text = frame.to_owned();
    match merged.splice {
        Splice::Edits(edits) => {
            assert!(edits.windows(2).all(|two| two[0].range.end <= two[1].range.start), "in order, apart");
            for edit in edits.iter().rev() {
                text.replace_range(edit.range.clone(), std::str::from_utf8(&edit.bytes).unwrap());
            }
        }
        Splice::Whole(bytes) => {
            let value = std::str::from_utf8(&bytes).unwrap();
            match sent {
                Some(null) => text.replace_range(null.span(), value),
                None => text.insert_str(text.len() - 1, &format!(",\"arguments\":{value}")),
            }
        }
    }
    let after = document(&text);
    assert_eq!(after.root().get("arguments").unwrap().raw().as_bytes(), &merged.arguments.source()[..]);
    Ok(text)
}

#[test]
fn members_are_appended_in_order_and_null_is_replaced() {
    for (before, after) in [
        (r#"{"arguments":{}}"#, r#"{"arguments":{"a":"hi","n":2}}"#),
        (r#"{"arguments":{ }}"#, r#"{"arguments":{"a":"hi","n":2 }}"#),
        (
            r#"{"arguments": { "other" : true } ,"x":1}"#,
            r#"{"arguments": { "other" : true,"a":"hi","n":2 } ,"x":1}"#,
        ),
        (r#"{"arguments":{"a":null,"other":false}}"#, r#"{"arguments":{"a":"hi","other":false,"n":2}}"#),
        (r#"{"arguments":{"n":null,"a": null}}"#, r#"{"arguments":{"n":2,"a": "hi"}}"#),
        (
            r#"{"arguments":{"other":true,"\u0061":null}}"#,
            r#"{"arguments":{"other":true,"\u0061":"hi","n":2}}"#,
        ),
        (r#"{"arguments":null}"#, r#"{"arguments":{"a":"hi","n":2}}"#),
        (r#"{"name":"t"}"#, r#"{"name":"t","arguments":{"a":"hi","n":2}}"#),
    ] {
        assert_eq!(spliced(before, &["a", "n"], r#"{"n":2,"a":"hi"}"#).unwrap(), after, "{before}");
    }
}

#[test]
fn the_answers_spellings_are_kept_and_its_line_breaks_are_not() {
    let before = r#"{"arguments":{"x":1.10,"u":"\u0041"}}"#;
    let content = "{\"a\":\"\\u0041b\",\"n\":1e0,\"tags\":[\n \"x\" ,\r\n \"y\"]}";
    assert_eq!(
        spliced(before, &["a", "n", "tags"], content).unwrap(),
        r#"{"arguments":{"x":1.10,"u":"\u0041","a":"\u0041b","n":1e0,"tags":["x","y"]}}"#
    );
}

#[test]
fn what_nobody_asked_for_is_left_out() {
    let content = r#"{"a":"hi","other":true,"evil":1}"#;
    let after = spliced(r#"{"arguments":{"n":1,"other":false}}"#, &["a"], content).unwrap();
    assert_eq!(after, r#"{"arguments":{"n":1,"other":false,"a":"hi"}}"#);
}

#[test]
fn an_answer_that_the_form_does_not_allow_is_rejected_with_the_reason() {
    for (content, said) in [
        (r#"{"n":"7"}"#, "`n`: expected integer, got string \"7\""),
        (r#"{"n":true}"#, "`n`: expected integer, got boolean true"),
        (r#"{"n":1.5}"#, "`n`: expected integer, got number 1.5"),
        (r#"{"n":0}"#, "`n`: expected at least 1, got number 0"),
        (r#"{"n":null}"#, "`n`: expected integer, got null"),
    ] {
        let Err(Rejected::Content(wrong)) = spliced(r#"{"arguments":{"a":"hi"}}"#, &["n"], content) else {
            panic!("{content} was taken")
        };
        assert_eq!(wrong[0].message, said);
    }
    assert!(matches!(
        spliced(r#"{"arguments":{}}"#, &["a", "n"], r#"{"a":"hi"}"#),
        Err(Rejected::Content(_))
    ));
    assert!(matches!(spliced(r#"{"arguments":{}}"#, &["a"], "[]"), Err(Rejected::Content(_))));
}

#[test]
fn the_whole_is_held_to_the_tools_own_schema() {
    let Err(Rejected::Arguments(wrong)) = spliced(r#"{"arguments":{"a":"hi"}}"#, &["n"], r#"{"n":13}"#)
    else {
        panic!("taken")
    };
    assert!(wrong[0].message.starts_with("`a`: expected"), "{}", wrong[0].message);
    assert!(spliced(r#"{"arguments":{"a":"bad luck"}}"#, &["n"], r#"{"n":13}"#).is_ok());
}

#[test]
fn what_was_wrong_before_counts_only_where_arguments_are_checked() {
    let frame = r#"{"arguments":{"n":1,"other":"no"}}"#;
    let strict = spliced(frame, &["a"], r#"{"a":"hi"}"#);
    assert!(matches!(strict, Err(Rejected::Arguments(_))));
    let unchecked = spliced_under(&Ask::default(), true, frame, &["a"], r#"{"a":"hi"}"#).unwrap();
    assert_eq!(unchecked, r#"{"arguments":{"n":1,"other":"no","a":"hi"}}"#);
    let about = spliced_under(&Ask::default(), true, r#"{"arguments":{"a":"hi"}}"#, &["n"], r#"{"n":13}"#);
    assert!(about.is_err(), "the answer made it wrong");
}

#[test]
fn a_blank_answer_is_none_where_the_policy_wants_a_value() {
    let ask = Ask { required: names(&["a"]), ..Ask::default() };
    let wrong =
        spliced_under(&ask, false, r#"{"arguments":{"a":"","n":1}}"#, &["a"], r#"{"a":"   "}"#).unwrap_err();
    assert_eq!(wrong, Rejected::Missing(names(&["a"])));
    assert_eq!(wrong.reasons(), ["`a`: a value is needed"]);
    let fine =
        spliced_under(&ask, false, r#"{"arguments":{"a":"","n":1}}"#, &["a"], r#"{"a":" x "}"#).unwrap();
    assert_eq!(fine, r#"{"arguments":{"a":" x ","n":1}}"#);
}

#[test]
fn any_answer_leaves_the_rest_of_the_arguments_as_they_were() {
    use proptest::prelude::*;
    let member = (
        "[a-z\"\\\\ü/]{1,4}",
        prop_oneof!["[1-9][0-9]{0,2}", Just("null".to_owned()), Just("[ 1 , {} ]".into())],
    );
    let members = prop::collection::vec(member, 0..5);
    proptest!(|(members in members, value in "[ -~ü]{0,8}")| {
        let mut known = std::collections::BTreeMap::new();
        for (name, value) in members {
            known.insert(name, value);
        }
        let written: Vec<String> =
            known.iter().map(|(name, value)| format!(" {} :{value}", serde_json::Value::from(name.as_str()))).collect();
        let arguments = document(&format!("{{{} }}", written.join(",")));
        let content = document(&serde_json::json!({ "a": value, "zz": 1 }).to_string());
        let schema = schema("{}");
        let form = Form::build(&schema, &names(&["a"]), &Ask::default(), Revision::V2025_06_18).unwrap();
        let merging = Merging { schema: &schema, ask: &Ask::default(), only_asked: false };
        let merged = form.merge(&merging, Some(arguments.root()), content.root()).unwrap().arguments;
        prop_assert_eq!(merged.root().get("a").unwrap().as_str(), Some(value.as_str()));
        for (name, value) in arguments.root().members().filter(|(name, _)| *name != "a") {
            prop_assert_eq!(merged.root().get(name).unwrap().raw(), value.raw());
        }
        let grown = usize::from(arguments.root().get("a").is_none());
        prop_assert_eq!(merged.root().len(), arguments.root().len() + grown);
    });
}

#[test]
fn arguments_that_were_not_sent_are_given_as_a_whole() {
    let schema = schema(SCHEMA);
    let form = Form::build(&schema, &names(&["a", "n"]), &Ask::default(), Revision::V2025_11_25).unwrap();
    let merging = Merging { schema: &schema, ask: &Ask::default(), only_asked: false };
    let merged = form.merge(&merging, None, document(r#"{"a":"hi","n":1}"#).root()).unwrap();
    assert_eq!(merged.splice, Splice::Whole(Bytes::from_static(br#"{"a":"hi","n":1}"#)));
}

#[test]
fn arguments_of_any_depth_that_was_read_are_merged() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let schema = schema("{}");
    let form = Form::build(&schema, &names(&["a"]), &Ask::default(), Revision::V2025_11_25).unwrap();
    let merging = Merging { schema: &schema, ask: &Ask::default(), only_asked: true };
    for levels in [63, 64, Limits::DEPTH_MAX - 1] {
        let text = format!(r#"{{"x":{}}}"#, deep(levels));
        let arguments = Document::read(text.into(), &limits).unwrap();
        let merged = form.merge(&merging, Some(arguments.root()), document(r#"{"a":"hi"}"#).root());
        assert!(merged.is_ok(), "{levels}: {merged:?}");
    }
}
