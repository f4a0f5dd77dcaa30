//! What a program says: yes, no, how certain it is, or nothing that counts.

use std::cmp::Ordering;

use bytes::Bytes;

use crate::json::{Document, Kind, Limits, Value};
use crate::refusal::plain;
use crate::world::Unknown;

/// The longest line that answers.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Characters that are kept of a reason.
const REASON_CHARS_MAX: usize = 300;

/// A degree of certainty: a number from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub struct Score(f64);

impl Score {
    /// Nothing for what is no number from 0 to 1.
    #[must_use]
    pub fn new(score: f64) -> Option<Score> {
        // No `-0.0`: what is equal is written alike.
        (0.0..=1.0).contains(&score).then(|| Score(score.abs()))
    }

    /// The number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Score) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What a program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Yes or no.
    Allow(bool),
    /// How certain it is of a yes.
    Score(Score),
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub said: Said,
    /// Why, for people; may be empty.
    pub reason: String,
}

impl Answer {
    /// As a degree of certainty.
    #[must_use]
    pub fn certainty(&self) -> f64 {
        match self.said {
            Said::Allow(allows) => f64::from(u8::from(allows)),
            Said::Score(score) => score.value(),
        }
    }
}

/// Reads a line that answers: the id, and what it says or why that is no answer.
///
/// # Errors
/// Why it answers nothing: no JSON, or no id.
pub fn read_answer(line: &[u8]) -> Result<(u64, Result<Answer, Unknown>), String> {
    if line.len() > ANSWER_BYTES_MAX {
        return Err(format!("it is longer than {ANSWER_BYTES_MAX} bytes"));
    }
    let read = Document::read(Bytes::copy_from_slice(line), &Limits::default());
    let read = read.map_err(|fault| format!("it is no strict JSON: {fault}"))?;
    let object = read.root();
    if object.kind() != Kind::Object {
        return Err(format!("it is a JSON {}, not an object", object.kind()));
    }
    let id = object.get("id").ok_or("it has no `id`")?;
    let id = id.raw().parse().map_err(|_| "its `id` is none that was asked under".to_owned())?;
    Ok((id, said(object).map_err(Unknown)))
}

/// Reads what somebody states that a program says: `true`, `false`, a score, `{"allow"}`, `{"score"}` with a `reason`, or
/// `{"unknown": why}`.
///
/// # Errors
/// What is wrong with it.
pub fn read_stated(stated: Value<'_>) -> Result<Result<Answer, Unknown>, String> {
    let plain = |said| Ok(Ok(Answer { said, reason: String::new() }));
    match stated.kind() {
        Kind::Bool => plain(Said::Allow(stated.as_bool() == Some(true))),
        Kind::Number => {
            let score = stated.number().and_then(|number| number.parse().ok()).and_then(Score::new);
            plain(Said::Score(score.ok_or_else(|| format!("`{}` is no number from 0 to 1", stated.raw()))?))
        }
        Kind::Object => match stated.get("unknown") {
            Some(why) => Ok(Err(Unknown(why.as_str().ok_or("`unknown` says why, in a string")?.to_owned()))),
            None => said(stated).map(Ok),
        },
        kind => Err(format!("an answer is true, false, a number or an object, not a JSON {kind}")),
    }
}

fn said(answer: Value<'_>) -> Result<Answer, String> {
    if let Some(error) = answer.get("error") {
        let error = error.as_str().unwrap_or("it does not say which");
        return Err(format!("it reports an error: {}", plain::line(error, REASON_CHARS_MAX)));
    }
    let reason = match answer.get("reason").filter(|reason| reason.kind() != Kind::Null) {
        None => String::new(),
        Some(reason) => plain::line(reason.as_str().ok_or("its `reason` is no string")?, REASON_CHARS_MAX),
    };
    let said = match (answer.get("allow"), answer.get("score")) {
        (Some(allow), None) => Said::Allow(allow.as_bool().ok_or("its `allow` is neither true nor false")?),
        (None, Some(score)) => {
            let number = score.number().and_then(|number| number.parse().ok()).and_then(Score::new);
            Said::Score(number.ok_or("its `score` is no number from 0 to 1")?)
        }
        (Some(_), Some(_)) => return Err("it has both `allow` and `score`".into()),
        (None, None) => return Err("it has neither `allow` nor `score`".into()),
    };
    Ok(Answer { said, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_answer_for_certain_is_none() {
        for bad in
            ["", "yes", "[1]", "null", "{}", r#"{"allow":true}"#, r#"{"id":"1","allow":true}"#, "{\"id\":1"]
        {
            assert!(read_answer(bad.as_bytes()).is_err(), "{bad}");
        }
        for bad in [
            r#"{"id":1}"#,
            r#"{"id":1,"allow":"true"}"#,
            r#"{"id":1,"allow":1}"#,
            r#"{"id":1,"allow":null}"#,
            r#"{"id":1,"score":1.01}"#,
            r#"{"id":1,"score":-0.1}"#,
            r#"{"id":1,"score":"1"}"#,
            r#"{"id":1,"allow":true,"score":1}"#,
            r#"{"id":1,"allow":true,"reason":7}"#,
            r#"{"id":1,"allow":true,"error":"x"}"#,
        ] {
            assert!(read_answer(bad.as_bytes()).unwrap().1.is_err(), "{bad}");
        }
        assert!(read_answer(br#"{"id":1,"allow":true,"allow":false}"#).is_err(), "which one counts?");
        for (good, certainty) in
            [(r#""allow":true"#, 1.0), (r#""allow":false"#, 0.0), (r#""score":0.25"#, 0.25)]
        {
            let (id, answer) = read_answer(format!("{{\"id\":9,{good},\"more\":1}}").as_bytes()).unwrap();
            assert_eq!((id, answer.unwrap().certainty()), (9, certainty), "{good}");
        }
    }

    #[test]
    fn answers_end_at_their_limit() {
        let of = |bytes: usize| {
            let head = r#"{"id":1,"allow":true,"reason":""#;
            format!("{head}{}\"}}", "x".repeat(bytes - head.len() - 2))
        };
        for (bytes, is_read) in
            [(ANSWER_BYTES_MAX - 1, true), (ANSWER_BYTES_MAX, true), (ANSWER_BYTES_MAX + 1, false)]
        {
            let line = of(bytes);
            assert_eq!((line.len(), read_answer(line.as_bytes()).is_ok()), (bytes, is_read));
        }
    }

    proptest! {
        #[test]
        fn no_line_panics_and_none_is_a_yes_by_chance(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((_, Ok(answer))) = read_answer(&line) {
                let text = String::from_utf8(line).unwrap();
                prop_assert!(text.contains("allow") || text.contains("score"), "{text}: {answer:?}");
            }
        }
    }
}
