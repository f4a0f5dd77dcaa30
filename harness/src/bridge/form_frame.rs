//! A call with a person's answer in it: its frame as it is judged, and sent.

use std::sync::Arc;

use framegate_guard::form::{Merged, Rejected, Splice};
use framegate_guard::json::Document;
use framegate_guard::proposal::CallKey;
use framegate_guard::schema::Edit;
use framegate_pump::{Edits, Frame, Request};

use crate::approve::FormAnswer;
use crate::wire::{self, Call, ClientFrame};

/// A call that a person completed.
#[derive(Debug)]
pub(super) struct Fill {
    /// What they gave: a retry of the same call, which its client sends without it, gets it too.
    pub(super) answer: Arc<FormAnswer>,
    /// The frame with it, and without what is ours.
    pub(super) frame: Frame,
    /// Tool and arguments as the client sends them.
    pub(super) call: CallKey,
}

/// Puts an answer into a call. Every byte that it does not replace stays.
pub(super) fn fill(
    request: &Request,
    read: &ClientFrame,
    answer: &Arc<FormAnswer>,
    cuts: &[Edit],
    limits: &wire::Limits,
) -> Result<(Arc<Fill>, ClientFrame), Rejected> {
    let unreadable = |why: &str| Rejected::Call(why.to_owned());
    let call = read.call().ok_or_else(|| unreadable("the call has no name"))?;
    let FormAnswer { guard, form, content } = &**answer;
    let merged = guard.complete(call.name, form, call.arguments, content.root())?;
    let edits = edits(&call, merged, cuts);
    let frame = edits.apply(request.frame()).map_err(|why| Rejected::Call(why.to_string()))?;
    let filled = match wire::client_frame(&frame, limits) {
        Ok(Some(filled)) => filled,
        Ok(None) => return Err(unreadable("nothing is left of the call")),
        Err(refusal) => return Err(Rejected::Call(refusal.message)),
    };
    let fill = Fill { answer: Arc::clone(answer), frame, call: as_sent(&call) };
    Ok((Arc::new(fill), filled))
}

fn edits(call: &Call<'_>, merged: Merged, cuts: &[Edit]) -> Edits {
    let mut edits = Edits::new();
    // Before the cuts: one may begin where the arguments are put in.
    match merged.splice {
        Splice::Edits(all) => all.into_iter().for_each(|edit| edits.push(edit.range, edit.bytes)),
        Splice::Whole(whole) => match call.params.get("arguments") {
            Some(null) => edits.push(null.span(), whole),
            // Behind the name, which no cut takes away.
            None => {
                let end = call.params.get("name").map_or(call.params.span().start, |name| name.span().end);
                let member = [&b",\"arguments\":"[..], &whole[..]].concat();
                edits.push(end..end, member);
            }
        },
    }
    cuts.iter().for_each(|cut| edits.push(cut.range.clone(), cut.bytes.clone()));
    edits
}

impl Fill {
    /// What makes the frame that is sent of the one that came, once what was repaired is in it too.
    pub(super) fn edits_of(&self, came: &Frame, repairs: &[Edit]) -> Edits {
        let mut edits = Edits::new();
        repairs.iter().for_each(|edit| edits.push(edit.range.clone(), edit.bytes.clone()));
        // Repairs lie within the frame that they were made for.
        let sent = edits.apply(&self.frame).unwrap_or_else(|_| self.frame.clone());
        difference(came, &sent)
    }
}

/// One edit that makes `to` of `from`.
fn difference(from: &Frame, to: &Frame) -> Edits {
    let (old, new) = (from.body(), to.body());
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same;
    let behind =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let with = to.bytes().slice(same..new.len() - behind);
    let range = same..old.len() - behind;
    if range.is_empty() && with.is_empty() { Edits::new() } else { Edits::new().replace(range, with) }
}

/// The call as the client sent it.
pub(super) fn as_sent(call: &Call<'_>) -> CallKey {
    let none = Document::empty_object();
    CallKey::of(call.name, call.arguments.unwrap_or_else(|| none.root()))
}

#[cfg(test)]
mod tests {
    use framegate_guard::form::{Form, Revision};
    use framegate_guard::json::Limits;
    use framegate_guard::policy::Policy;
    use framegate_guard::{Facts, Guard};

    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"number"}},"required":["a","n"]}"#;

    fn read(text: &str) -> Document {
        Document::read(text.to_owned().into(), &Limits::default()).unwrap()
    }

    fn guard() -> Arc<Guard> {
        let policy = Policy::load("p.yaml", b"framegate: 1\ndefault: allow\n", &mut |_| Err("".into()));
        let guard = Guard::new(policy.unwrap().policy, "s", Facts::default());
        let tool = format!(r#"{{"name":"t","inputSchema":{SCHEMA}}}"#);
        Arc::new(guard.adopt([("t".to_owned(), Ok(read(&tool)))]).0)
    }

    /// The merged frame of a call with these params.
    fn filled(params: &str, names: &[&str], content: &str, limit: usize) -> Result<String, String> {
        let frame = Frame::line(
            format!(r#"{{ "id":1,"jsonrpc":"2.0","method":"tools\/call","params":{params} }}"#).as_bytes(),
        );
        let guard = guard();
        let options = guard.options("t").unwrap();
        let schema = framegate_guard::schema::Schema::compile(read(SCHEMA).root()).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let form = Arc::new(Form::build(&schema, &names, &options.ask, Revision::V2025_11_25).unwrap());
        let answer = Arc::new(FormAnswer { guard, form, content: read(content) });
        let limits = wire::Limits { call_bytes: limit, ..wire::Limits::default() };
        let read = wire::client_frame(&frame, &limits).unwrap().unwrap();
        let call = read.call().unwrap();
        let Merged { splice, .. } =
            match answer.guard.complete("t", &answer.form, call.arguments, answer.content.root()) {
                Ok(merged) => merged,
                Err(why) => return Err(why.reasons().join("; ")),
            };
        let cuts = super::super::cuts::cuts(call.params, true, "KEY", &crate::approve::Kept::default());
        let edits = edits(&call, Merged { arguments: Document::empty_object(), splice }, &cuts);
        let out = edits.apply(&frame).unwrap();
        assert_eq!(difference(&frame, &out).apply(&frame).unwrap(), out);
        match wire::client_frame(&out, &limits) {
            Ok(Some(_)) => Ok(String::from_utf8(out.body().to_vec()).unwrap()),
            Ok(None) => Err("empty".into()),
            Err(refusal) => Err(refusal.message),
        }
    }

    #[test]
    fn an_answer_goes_in_and_every_other_byte_stays() {
        let whole = |params: &str| {
            format!(r#"{{ "id":1,"jsonrpc":"2.0","method":"tools\/call","params":{params} }}"#)
        };
        for (params, names, content, after) in [
            (
                r#"{"name":"t", "arguments": { "n" : 1.50 } }"#,
                &["a"][..],
                r#"{"a":"x"}"#,
                r#"{"name":"t", "arguments": { "n" : 1.50,"a":"x" } }"#,
            ),
            (
                r#"{ "arguments":{ },"name":"\u0074"}"#,
                &["a", "n"],
                r#"{"n" : 2.0, "a":"y"}"#,
                r#"{ "arguments":{"a":"y","n":2.0 },"name":"\u0074"}"#,
            ),
            (
                r#"{"arguments":{"a":null,"n":1},"name":"t"}"#,
                &["a"],
                r#"{"a":"z"}"#,
                r#"{"arguments":{"a":"z","n":1},"name":"t"}"#,
            ),
            (
                r#"{"name":"t","arguments":null}"#,
                &["a", "n"],
                r#"{"a":"","n":0}"#,
                r#"{"name":"t","arguments":{"a":"","n":0}}"#,
            ),
            (
                r#"{"_meta":{},"name" : "t" , "task":{}}"#,
                &["a", "n"],
                r#"{"a":"","n":0}"#,
                r#"{"_meta":{},"name" : "t","arguments":{"a":"","n":0} , "task":{}}"#,
            ),
            // What carried the answer stands wherever its client puts it.
            (
                r#"{"name":"t","inputResponses":{"KEY":1},"requestState":"s"}"#,
                &["a", "n"],
                r#"{"a":"","n":0}"#,
                r#"{"name":"t","arguments":{"a":"","n":0}}"#,
            ),
            (
                r#"{"requestState":"s","name":"t" ,"inputResponses":{"KEY":1}, "_meta":{}}"#,
                &["a", "n"],
                r#"{"a":"","n":0}"#,
                r#"{"name":"t","arguments":{"a":"","n":0}, "_meta":{}}"#,
            ),
            (
                r#"{"arguments":{"n":1},"inputResponses":{"KEY":1},"name":"t","requestState":"s"}"#,
                &["a"],
                r#"{"a":"x"}"#,
                r#"{"arguments":{"n":1,"a":"x"},"name":"t"}"#,
            ),
        ] {
            assert_eq!(filled(params, names, content, 10_000).unwrap(), whole(after));
        }
        let wrong = filled(r#"{"name":"t"}"#, &["a", "n"], r#"{"a":"","n":"0"}"#, 10_000).unwrap_err();
        assert!(wrong.contains("`n`"), "{wrong}");
    }

    #[test]
    fn a_completed_call_is_held_to_the_limit_of_any_call() {
        let params = r#"{"name":"t","arguments":{"n":1}}"#;
        let content = format!(r#"{{"a":"{}"}}"#, "x".repeat(100));
        let size = filled(params, &["a"], &content, 10_000).unwrap().len();
        assert!(filled(params, &["a"], &content, size).is_ok());
        assert!(filled(params, &["a"], &content, size - 1).unwrap_err().contains("over the limit"));
    }

    #[test]
    fn the_difference_of_two_frames_is_one_edit() {
        let frame = |text: &str| Frame::line(text.as_bytes());
        for (from, to) in [
            ("{}", "{}"),
            ("{\"a\":1}", "{\"a\":11}"),
            ("{\"a\":11}", "{\"a\":1}"),
            ("aaaa", "aa"),
            ("", "x"),
            ("abc", "xyz"),
        ] {
            assert_eq!(
                difference(&frame(from), &frame(to)).apply(&frame(from)).unwrap(),
                frame(to),
                "{from} {to}"
            );
        }
        assert!(difference(&frame("{}"), &frame("{}")).is_empty());
    }
}
