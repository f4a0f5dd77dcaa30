//! `--annotate`: a call's result says where the call is recorded.

use framegate_guard::decision::Outcome;
use framegate_guard::ledger::{Receipt, Recorded};
use framegate_pump::{Edits, Frame};
use serde_json::value::RawValue;

use super::answers::{Answer, Members};
use crate::mcp::RECORD_KEY;

/// The edits that put it into the result's `_meta`. Nothing where there is no result to put it into, or where it
/// would not be certain which `_meta` a client reads.
pub(super) fn annotate(frame: &Frame, receipt: &Receipt) -> Option<Edits> {
    let text = text(receipt.recorded?, receipt.decision.outcome);
    let body = frame.body();
    let result = Answer::read(body)?.result?;
    let Members(members) = serde_json::from_str(result.get()).ok()?;
    let mut metas = members.iter().filter(|(key, _)| key == "_meta").map(|(_, value)| *value);
    let mut edits = Edits::new();
    match (metas.next(), metas.next()) {
        (None, _) => insert(&mut edits, body, result, &format!("\"_meta\":{{{text}}}"), members.is_empty()),
        (Some(meta), None) => into_meta(&mut edits, body, meta, &text)?,
        (Some(_), Some(_)) => return None,
    }
    Some(edits)
}

/// A server that writes our member itself gets ours in its place.
fn into_meta(edits: &mut Edits, body: &[u8], meta: &RawValue, text: &str) -> Option<()> {
    let Members(members) = serde_json::from_str(meta.get()).ok()?;
    if members.iter().any(|(key, _)| key == RECORD_KEY) {
        let at = start(body, meta);
        edits.push(at..at + meta.get().len(), format!("{{{text}}}"));
    } else {
        insert(edits, body, meta, text, members.is_empty());
    }
    Some(())
}

/// A member in front of an object's others.
fn insert(edits: &mut Edits, body: &[u8], object: &RawValue, member: &str, is_empty: bool) {
    let at = start(body, object) + 1;
    edits.push(at..at, if is_empty { member.to_owned() } else { format!("{member},") });
}

fn start(body: &[u8], part: &RawValue) -> usize {
    part.get().as_ptr().addr().saturating_sub(body.as_ptr().addr())
}

fn text(recorded: Recorded, outcome: Outcome) -> String {
    let Recorded { sequence, hash } = recorded;
    format!(r#""{RECORD_KEY}":{{"outcome":"{outcome}","record":{sequence},"hash":"{hash}"}}"#)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use framegate_guard::Decision;
    use framegate_guard::json::Document;
    use framegate_guard::store::chain::Hash;

    use super::*;

    fn annotated(body: &str) -> Option<String> {
        let none = Document::empty_object();
        let decision = Decision::refused("t", None, none.root(), "check", "why").by_no_policy();
        let recorded = Some(Recorded { sequence: 7, hash: Hash([0xab; 32]) });
        let frame = Frame::line(body.as_bytes());
        let edits = annotate(&frame, &Receipt { sequence: 1, decision: Arc::new(decision), recorded })?;
        Some(String::from_utf8(edits.apply(&frame).unwrap().body().to_vec()).unwrap())
    }

    #[test]
    fn a_result_says_where_its_call_is_recorded_and_keeps_every_other_byte() {
        let ours = format!(
            r#""dev.framegate/record":{{"outcome":"allow","record":7,"hash":"{}"}}"#,
            "ab".repeat(32)
        );
        for (before, after) in [
            (
                r#"{"id":1,"result":{ "a" : 1.0 }}"#,
                format!(r#"{{"id":1,"result":{{"_meta":{{{ours}}}, "a" : 1.0 }}}}"#),
            ),
            (r#"{"result":{},"id":1}"#, format!(r#"{{"result":{{"_meta":{{{ours}}}}},"id":1}}"#)),
            (r#"{"result":{"_meta":{"x":1}}}"#, format!(r#"{{"result":{{"_meta":{{{ours},"x":1}}}}}}"#)),
            (r#"{"result":{"_meta":{}}}"#, format!(r#"{{"result":{{"_meta":{{{ours}}}}}}}"#)),
            (
                r#"{"result":{"_meta":{"dev.framegate/record":{"record":1}}}}"#,
                format!(r#"{{"result":{{"_meta":{{{ours}}}}}}}"#),
            ),
        ] {
            assert_eq!(annotated(before), Some(after), "{before}");
        }
        for body in [
            r#"{"error":{"code":1}}"#,
            r#"{"result":[]}"#,
            r#"{"result":{"_meta":{},"_meta":{}}}"#,
            r#"{"result":{"_meta":1}}"#,
        ] {
            assert_eq!(annotated(body), None, "{body}");
        }
    }
}
