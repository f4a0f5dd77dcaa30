//! What lies beside a call's record as JSON: findings, what the world answered, changes, an approval, facts.
//!
//! | field | JSON |
//! |---|---|
//! | `findings` | `[{"check","effect":"deny"\|"ask"\|"unevaluated","reason","because","advice","next","is_rule","monitor","evidence":[{"about","quote","start","end","source","message"}]}]`; empty strings, nulls, `false` and empty lists are left out |
//! | `answers` | `{"now":A,"paths":{path:A},"programs":[{"program","asked",A}]}`, where `A` is `{"is":value}` or `{"unknown":why}`; the time is in µs since 1970; `asked` is the SHA-256 of the question, and what a program said `{"allow":bool,"reason"}` or `{"score":text,"reason"}` |
//! | `changes` | `{"edits":[[start,end,text]],"changes":[{"path","pointer","from","to"}]}`; `start` and `end` count from the frame's start |
//! | `approval` | `{"by","key","call":hex,"call_id","findings":[…]}` |
//! | `facts` | `{name:value}`, each value as it was given; a fact that was declared and not given is left out |

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::chain::Hash;
use crate::decision::{Approval, Decision};
use crate::facts::Facts;
use crate::finding::{Effect, Evidence, Finding, NextStep};
use crate::program::{Answer, AskedKey, Said};
use crate::world::{Answers, Unknown};

/// `findings`.
pub(super) fn findings(findings: &[Finding]) -> Value {
    findings.iter().map(finding).collect()
}

fn finding(finding: &Finding) -> Value {
    let mut out = Map::new();
    let mut member = |key: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        if !is_empty {
            out.insert(key.to_owned(), value);
        }
    };
    member("check", finding.check.as_str().into());
    member("effect", effect(finding.effect).into());
    member("reason", finding.reason.as_str().into());
    member("because", finding.because.as_str().into());
    member("advice", finding.advice.as_deref().into());
    member("next", next(finding.next).into());
    member("is_rule", finding.is_rule.into());
    member("monitor", finding.monitor.into());
    member("evidence", finding.evidence.iter().map(evidence).collect());
    Value::Object(out)
}

fn evidence(evidence: &Evidence) -> Value {
    let Evidence { about, quote, start, end, source, message } = evidence;
    let mut out = json!({ "about": about, "quote": quote, "start": start, "end": end, "source": source });
    if let (Some(message), Some(out)) = (message, out.as_object_mut()) {
        out.insert("message".to_owned(), (*message).into());
    }
    out
}

/// An effect's name.
#[must_use]
pub fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Ask => "ask",
        Effect::Deny => "deny",
        Effect::Unevaluated => "unevaluated",
    }
}

/// The name of what to do next.
#[must_use]
pub fn next(next: NextStep) -> &'static str {
    match next {
        NextStep::AskFirst => "ask_first",
        NextStep::ConfirmFirst => "confirm_first",
        NextStep::DoNotRepeat => "do_not_repeat",
        NextStep::FixArguments => "fix_arguments",
        NextStep::NobodyToAsk => "nobody_to_ask",
        NextStep::NotEvaluated => "not_evaluated",
        NextStep::NotFollow => "not_follow",
        NextStep::NotFromTools => "not_from_tools",
        NextStep::NotOffered => "not_offered",
        NextStep::TellUser => "tell_user",
        NextStep::UseAsWritten => "use_as_written",
    }
}

/// `answers`; nothing when nothing was asked.
pub(super) fn answers(answers: &Answers) -> Option<Value> {
    if answers.paths.is_empty() && answers.now.is_none() && answers.programs.is_empty() {
        return None;
    }
    let mut out = Map::new();
    if let Some(now) = &answers.now {
        out.insert("now".to_owned(), answer(now.as_ref().map(|now| now.0.into())));
    }
    if !answers.paths.is_empty() {
        let told = |real: &Result<String, Unknown>| answer(real.as_ref().map(|path| path.as_str().into()));
        let paths: Map<String, Value> =
            answers.paths.iter().map(|(path, real)| (path.clone(), told(real))).collect();
        out.insert("paths".to_owned(), Value::Object(paths));
    }
    if !answers.programs.is_empty() {
        out.insert("programs".to_owned(), answers.programs.iter().map(program).collect());
    }
    Some(Value::Object(out))
}

fn program((key, said): (&AskedKey, &Result<Answer, Unknown>)) -> Value {
    let told = |said: &Answer| match said.said {
        Said::Allow(allows) => json!({ "allow": allows, "reason": said.reason }),
        // As text: what reads it back must come to the very same number.
        Said::Score(score) => json!({ "score": score.value().to_string(), "reason": said.reason }),
    };
    let mut out = answer(said.as_ref().map(told));
    if let Some(out) = out.as_object_mut() {
        out.insert("program".to_owned(), key.program.as_str().into());
        out.insert("asked".to_owned(), Hash(key.digest).to_string().into());
    }
    out
}

fn answer(answer: Result<Value, &Unknown>) -> Value {
    match answer {
        Ok(value) => json!({ "is": value }),
        Err(why) => json!({ "unknown": why.0 }),
    }
}

/// `changes`; nothing when nothing was, or would have been, changed.
pub(super) fn changes(decision: &Decision) -> Option<Value> {
    if decision.edits.is_empty() && decision.changes.is_empty() {
        return None;
    }
    let edits = decision
        .edits
        .iter()
        .map(|edit| json!([edit.range.start, edit.range.end, String::from_utf8_lossy(&edit.bytes)]));
    let changes = decision.changes.iter().map(|change| {
        json!({ "path": change.path, "pointer": change.pointer, "from": change.from, "to": change.to })
    });
    Some(json!({ "edits": edits.collect::<Value>(), "changes": changes.collect::<Value>() }))
}

/// `approval`.
pub(super) fn approval(approval: &Approval) -> Value {
    json!({
        "by": approval.by,
        "key": approval.key,
        "call": Hash(*approval.call.as_bytes()).to_string(),
        "call_id": approval.call_id,
        "findings": findings(&approval.findings),
    })
}

/// `facts`.
pub(super) fn facts(facts: &Facts) -> Option<Bytes> {
    let mut text = String::new();
    for (name, value) in facts.iter() {
        if let Some(value) = value {
            let head = if text.is_empty() { '{' } else { ',' };
            let _ = write!(text, "{head}{}:{}", Value::from(name), value.raw());
        }
    }
    if text.is_empty() {
        return None;
    }
    text.push('}');
    Some(text.into())
}
