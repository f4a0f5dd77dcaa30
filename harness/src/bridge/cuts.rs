//! What of a retry is ours, and what the server's.

use bytes::Bytes;
use framegate_guard::json::{Kind, Value};
use framegate_guard::schema::Edit;

use crate::approve::Kept;

/// `params` member by which the server, or we, know a retry again.
pub(super) const STATE: &str = "requestState";
/// `params` member with the answers to what was asked.
pub(super) const RESPONSES: &str = "inputResponses";

/// The answers to the server's own questions, if there are any.
pub(super) fn others(responses: Value<'_>, key: &str) -> Option<Bytes> {
    if responses.kind() != Kind::Object || responses.members().all(|(name, _)| name == key) {
        return None;
    }
    let (whole, start) = (responses.raw(), responses.span().start);
    let (mut out, mut at) = (String::new(), 0);
    for edit in without(responses, &[key]) {
        out.push_str(whole.get(at..edit.range.start - start).unwrap_or_default());
        at = edit.range.end - start;
    }
    out.push_str(whole.get(at..).unwrap_or_default());
    Some(out.into())
}

/// What is ours is taken out of a retry, and what was the server's before is put back in its place.
pub(super) fn cuts(params: Value<'_>, is_state_ours: bool, key: &str, kept: &Kept) -> Vec<Edit> {
    let (mut edits, mut gone) = (Vec::new(), Vec::new());
    let mut put = |value: Value<'_>, name: &'static str, own: &Option<Bytes>| match own {
        Some(own) => edits.push(Edit { range: value.span(), bytes: own.clone() }),
        None => gone.push(name),
    };
    if let Some(state) = params.get(STATE).filter(|_| is_state_ours) {
        put(state, STATE, &kept.state);
    }
    let mut inside = Vec::new();
    if let Some(responses) = params.get(RESPONSES).filter(|responses| responses.get(key).is_some()) {
        if responses.len() > 1 {
            inside = without(responses, &[key]);
        } else {
            put(responses, RESPONSES, &kept.responses);
        }
    }
    edits.extend(inside);
    edits.extend(without(params, &gone));
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// The edits that take members out of an object, each with one of its commas.
fn without(object: Value<'_>, names: &[&str]) -> Vec<Edit> {
    let members: Vec<(bool, std::ops::Range<usize>)> = object
        .entries()
        .map(|(key, value)| {
            let is_gone = names.contains(&key.as_str().unwrap_or_default());
            (is_gone, key.span().start..value.span().end)
        })
        .collect();
    let mut edits = Vec::new();
    let mut before: Option<usize> = None;
    let mut has_kept = false;
    for (at, (is_gone, range)) in members.iter().enumerate() {
        if *is_gone {
            // A member behind one that stays goes with the comma before it, the others with the one behind.
            let next = members.get(at + 1).map(|(_, next)| next.start);
            let cut = match before.filter(|_| has_kept) {
                Some(before) => before..range.end,
                None => range.start..next.unwrap_or(range.end),
            };
            edits.push(Edit { range: cut, bytes: Bytes::new() });
        } else {
            has_kept = true;
        }
        before = Some(range.end);
    }
    edits
}

#[cfg(test)]
mod tests {
    use framegate_guard::json::{Document, Limits};

    use super::*;

    const KEY: &str = "dev.framegate/approve.x";

    fn cut(params: &str, is_state_ours: bool, kept: &Kept) -> String {
        let document = Document::read(params.to_owned().into(), &Limits::default()).unwrap();
        let mut out = params.to_owned();
        for edit in cuts(document.root(), is_state_ours, KEY, kept).iter().rev() {
            out.replace_range(edit.range.clone(), std::str::from_utf8(&edit.bytes).unwrap());
        }
        assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
        out
    }

    #[test]
    fn ours_goes_wherever_it_stands_and_every_other_byte_stays() {
        let ours = format!(r#"{{"{KEY}":{{"action":"accept"}}}}"#);
        for (before, after) in [
            (
                r#"{"name":"a","inputResponses":OURS,"requestState":"s","_meta":{ }}"#,
                r#"{"name":"a","_meta":{ }}"#,
            ),
            (r#"{"requestState":"s" , "inputResponses":OURS , "name":"a"}"#, r#"{"name":"a"}"#),
            (r#"{ "requestState":"s", "name" : "a", "inputResponses":OURS }"#, r#"{ "name" : "a" }"#),
            (r#"{"inputResponses":OURS,"name":"a","requestState":"s"}"#, r#"{"name":"a"}"#),
            (r#"{ "inputResponses":OURS,"requestState":"s" }"#, "{  }"),
            (r#"{"name":"a","requestState":"s"}"#, r#"{"name":"a"}"#),
        ] {
            assert_eq!(cut(&before.replace("OURS", &ours), true, &Kept::default()), after);
        }
    }

    #[test]
    fn what_is_the_servers_stays_or_is_put_back() {
        let kept = Kept { state: Some(r#""own""#.into()), responses: Some(r#"{"q": 1}"#.into()) };
        let ours = format!(r#"{{"inputResponses":{{"{KEY}":1}},"requestState":"s","name":"a"}}"#);
        assert_eq!(cut(&ours, true, &kept), r#"{"inputResponses":{"q": 1},"requestState":"own","name":"a"}"#);
        let state = Kept { responses: None, ..kept };
        assert_eq!(cut(&ours, true, &state), r#"{"requestState":"own","name":"a"}"#);
        let both = format!(r#"{{"inputResponses":{{"q" :1,"{KEY}":1, "r":[2]}},"requestState":"s"}}"#);
        let gone = r#"{"inputResponses":{"q" :1, "r":[2]}}"#;
        assert_eq!(cut(&both, true, &Kept::default()), gone);
        let not_ours = format!(r#"{{"inputResponses":{{"{KEY}":1}},"requestState":"theirs"}}"#);
        assert_eq!(cut(&not_ours, false, &Kept::default()), r#"{"requestState":"theirs"}"#);
    }

    #[test]
    fn the_servers_answers_are_found_beside_ours() {
        let of = |text: String| {
            let document = Document::read(text.into(), &Limits::default()).unwrap();
            others(document.root(), KEY).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
        };
        assert_eq!(of(format!(r#"{{"{KEY}":1}}"#)), None);
        assert_eq!(of(format!(r#"{{"a":1,"{KEY}":1 , "b":2}}"#)).unwrap(), r#"{"a":1 , "b":2}"#);
        assert_eq!(of("{}".into()), None);
        assert_eq!(of("7".into()), None);
    }
}
