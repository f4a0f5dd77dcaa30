//! Appending and hiding tools in the answer to a `tools/list`, by splice.

use std::ops::Range;

use serde_json::value::RawValue;

use crate::envelope::{Span, unquote};
use crate::splice::{Edits, entries};

/// What to do to a listing.
pub(crate) struct Plan<'a> {
    /// Whether the client may see this tool of the server's.
    pub(crate) visible: &'a dyn Fn(&str) -> bool,
    /// JSON texts of the tools to append; empty on every page but the first.
    pub(crate) append: &'a [String],
    /// Names of all injected tools, also on pages that get none appended.
    pub(crate) reserved: &'a [String],
}

/// The edits for one listing and what they do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) edits: Edits,
    /// Names hidden because the client may not see them.
    pub(crate) hidden: Vec<String>,
    /// Names hidden because an injected tool bears them.
    pub(crate) shadowing: Vec<String>,
    /// Entries hidden because their name could not be read for certain.
    pub(crate) unreadable: usize,
}

/// The listing cannot be read for certain, so nothing can be hidden in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Plans the edits on `result`, a slice of `body` (the frame's body as text).
pub(crate) fn edit(body: &str, result: &str, plan: &Plan<'_>) -> Result<Edited, Unreadable> {
    let base = |part: &str| Span::within(body, part).range();
    let members = entries(result).ok_or(Unreadable)?;
    if members.iter().any(|(key, _)| looks_like(key, "tools")) {
        return Err(Unreadable);
    }
    let one = |key: &str| -> Result<Option<&RawValue>, Unreadable> {
        let mut all = members.iter().filter(|(name, _)| name == key);
        match (all.next(), all.next()) {
            (found, None) => Ok(found.map(|(_, value)| *value)),
            // Which of the two a client reads is anybody's guess.
            _ => Err(Unreadable),
        }
    };
    let mut edited = Edited::default();
    match one("tools")? {
        Some(tools) => edit_array(tools.get(), base(tools.get()), &base, plan, &mut edited)?,
        None if plan.append.is_empty() => {}
        None => {
            let at = base(result).start + 1;
            let comma = if members.is_empty() { "" } else { "," };
            edited.edits.push(at..at, format!(r#""tools":[{}]{comma}"#, plan.append.join(",")));
        }
    }
    if let (false, Some(scope)) = (edited.edits.is_empty(), one("cacheScope")?)
        && unquote(scope.get()).as_deref() == Some("public")
    {
        // A shared cache would hand our list to somebody else's client (MCP 2026-07-28).
        edited.edits.push(base(scope.get()), r#""private""#);
    }
    Ok(edited)
}

fn edit_array(
    tools: &str,
    span: Range<usize>,
    base: &dyn Fn(&str) -> Range<usize>,
    plan: &Plan<'_>,
    edited: &mut Edited,
) -> Result<(), Unreadable> {
    let items: Vec<&RawValue> = serde_json::from_str(tools).map_err(|_| Unreadable)?;
    let spans: Vec<Range<usize>> = items.iter().map(|item| base(item.get())).collect();
    let mut kept_before = false;
    let mut previous_end = None;
    for (at, (item, place)) in items.iter().zip(&spans).enumerate() {
        if is_kept(item.get(), plan, edited) {
            kept_before = true;
        } else {
            // The comma goes with the tool: the one before it if something stays before it.
            let range = match (kept_before, previous_end, spans.get(at + 1)) {
                (true, Some(end), _) => end..place.end,
                (_, _, Some(next)) => place.start..next.start,
                _ => place.clone(),
            };
            edited.edits.push(range, "");
        }
        previous_end = Some(place.end);
    }
    if !plan.append.is_empty() {
        let at = previous_end.unwrap_or(span.start + 1);
        let comma = if kept_before { "," } else { "" };
        edited.edits.push(at..at, format!("{comma}{}", plan.append.join(",")));
    }
    Ok(())
}

/// Whether some reader takes this key for the other: Go's matches without case, and takes U+017F for `s`.
fn looks_like(key: &str, other: &str) -> bool {
    key != other && key.replace('\u{17f}', "s").eq_ignore_ascii_case(other)
}

fn is_kept(tool: &str, plan: &Plan<'_>, edited: &mut Edited) -> bool {
    let has_another =
        entries(tool).is_none_or(|members| members.iter().any(|(key, _)| looks_like(key, "name")));
    let Some(name) = crate::scan::member(tool, "name").and_then(unquote).filter(|_| !has_another) else {
        edited.unreadable += 1;
        return false;
    };
    if plan.reserved.iter().any(|r| *r == name) {
        edited.shadowing.push(name.into_owned());
        return false;
    }
    if !(plan.visible)(&name) {
        edited.hidden.push(name.into_owned());
        return false;
    }
    true
}

/// Asserts that an edited listing parses and equals the input but for our tools.
///
/// The function behind the fuzz target `splice`.
///
/// # Panics
/// When it does not.
#[doc(hidden)]
pub fn assert_splice_is_exact(body: &[u8]) {
    use serde_json::Value;
    let frame = crate::Frame::line(&body.iter().copied().filter(|b| *b != b'\n').collect::<Vec<_>>());
    let envelope = crate::envelope::peek(frame.body());
    let (Ok(text), Some(result)) = (std::str::from_utf8(frame.body()), envelope.result) else {
        return;
    };
    let ours = [r#"{"name":"ours"}"#.to_owned()];
    let plan =
        Plan { visible: &|name| !name.starts_with('h'), append: &ours, reserved: &["ours".to_owned()] };
    let Ok(edited) = edit(text, result.text_of(frame.body()), &plan) else {
        return;
    };
    let after = edited.edits.apply(&frame);
    assert!(after.is_ok(), "{after:?}");
    let Ok(after) = after else { return };
    let (Ok(was), Ok(mut now)) =
        (serde_json::from_slice::<Value>(frame.body()), serde_json::from_slice::<Value>(after.body()))
    else {
        // A lone surrogate cannot be held in a `Value`; the raw text must still be JSON.
        let raw: Result<&RawValue, _> = serde_json::from_slice(after.body());
        assert!(raw.is_ok(), "the edited frame is JSON");
        return;
    };
    let names = |v: &Value| -> Vec<String> {
        let tools = v.pointer("/result/tools").and_then(Value::as_array);
        let name = |t: &Value| t.get("name").and_then(Value::as_str).map(str::to_owned);
        tools.into_iter().flatten().filter_map(name).collect()
    };
    let mut want = names(&was);
    want.retain(|name| name != "ours" && !name.starts_with('h'));
    want.push("ours".into());
    // A tool with two names is hidden, whichever of them a `Value` keeps.
    assert!(edited.unreadable > 0 || names(&now) == want, "{want:?}");
    let mut was = was;
    for value in [&mut was, &mut now] {
        if let Some(result) = value.pointer_mut("/result").and_then(Value::as_object_mut) {
            result.remove("tools");
            result.remove("cacheScope");
        }
    }
    assert_eq!(was, now, "everything but the tools is as it was");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    fn run(result: &str, append: &[&str], hide: &[&str]) -> (String, Edited) {
        let body = format!(r#"{{"id":1,"result":{result},"jsonrpc":"2.0"}}"#);
        assert_splice_is_exact(body.as_bytes());
        let append: Vec<String> = append.iter().map(|n| format!(r#"{{"name":"{n}"}}"#)).collect();
        let plan =
            Plan { visible: &|name| !hide.contains(&name), append: &append, reserved: &["own".to_owned()] };
        let start = body.find(result).unwrap();
        let edited = edit(&body, body.get(start..start + result.len()).unwrap(), &plan).unwrap();
        let frame = edited.edits.apply(&Frame::line(body.as_bytes())).unwrap();
        let text = std::str::from_utf8(frame.body()).unwrap();
        let inner = text.strip_prefix(r#"{"id":1,"result":"#).unwrap();
        (inner.strip_suffix(r#","jsonrpc":"2.0"}"#).unwrap().to_owned(), edited)
    }

    #[test]
    fn tools_are_hidden_and_appended_and_the_rest_stays() {
        let three = r#"{ "tools" : [ {"name":"a"} , {"name":"b","x":1.0e2} ,{"name":"c"} ],"ttlMs":5}"#;
        for (hide, append, want) in [
            (&[][..], &[][..], three),
            (&["a"], &[], r#"{ "tools" : [ {"name":"b","x":1.0e2} ,{"name":"c"} ],"ttlMs":5}"#),
            (&["b"], &[], r#"{ "tools" : [ {"name":"a"} ,{"name":"c"} ],"ttlMs":5}"#),
            (&["c"], &[], r#"{ "tools" : [ {"name":"a"} , {"name":"b","x":1.0e2} ],"ttlMs":5}"#),
            (&["a", "c"], &[], r#"{ "tools" : [ {"name":"b","x":1.0e2} ],"ttlMs":5}"#),
            (&["a", "b", "c"], &[], r#"{ "tools" : [  ],"ttlMs":5}"#),
            (&["a", "b", "c"], &["own"], r#"{ "tools" : [ {"name":"own"} ],"ttlMs":5}"#),
            (
                &["c"],
                &["own"],
                r#"{ "tools" : [ {"name":"a"} , {"name":"b","x":1.0e2},{"name":"own"} ],"ttlMs":5}"#,
            ),
        ] {
            assert_eq!(run(three, append, hide).0, want, "hide {hide:?}");
        }
        assert_eq!(run(r#"{"tools":[]}"#, &["own"], &[]).0, r#"{"tools":[{"name":"own"}]}"#);
        assert_eq!(run("{}", &["own"], &[]).0, r#"{"tools":[{"name":"own"}]}"#);
        assert_eq!(run(r#"{"x":1}"#, &["own"], &[]).0, r#"{"tools":[{"name":"own"}],"x":1}"#);
    }

    #[test]
    fn a_tool_that_bears_an_injected_name_is_hidden_and_reported() {
        let (text, edited) = run(r#"{"tools":[{"name":"\u006fwn"},{"name":"a"}]}"#, &["own"], &[]);
        assert_eq!(text, r#"{"tools":[{"name":"a"},{"name":"own"}]}"#);
        assert_eq!(edited.shadowing, ["own"]);
    }

    #[test]
    fn only_a_changed_listing_becomes_private() {
        let public = r#"{"tools":[{"name":"a"}],"cacheScope":"public"}"#;
        assert_eq!(run(public, &[], &[]).0, public);
        assert_eq!(run(public, &[], &["a"]).0, r#"{"tools":[],"cacheScope":"private"}"#);
    }

    #[test]
    fn a_tool_whose_name_is_not_certain_is_hidden() {
        let (text, edited) =
            run(r#"{"tools":[{"name":"a","name":"b"},null,{"name":7},{"name":"c"}]}"#, &[], &[]);
        assert_eq!(text, r#"{"tools":[{"name":"c"}]}"#);
        assert_eq!(edited.unreadable, 3);
    }

    #[test]
    fn a_listing_with_two_tool_arrays_cannot_be_edited() {
        let plan = Plan { visible: &|_| true, append: &[], reserved: &[] };
        let text = r#"{"tools":[],"tools":[{"name":"a"}]}"#;
        assert_eq!(edit(text, text, &plan), Err(Unreadable));
    }
}
