//! Contents read back: the other half of what is written beside a call.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::decision::{Approval, Outcome};
use crate::finding::{Effect, Evidence, Finding, NextStep};
use crate::json::{Document, Limits};
use crate::program::{Answer, AskedKey, Said, Score};
use crate::proposal::CallKey;
use crate::schema::{Change, Edit};
use crate::store::chain::Hash;
use crate::world::{Answers, Instant, Unknown};

/// Names under which a call is refused that no rule was asked about, or whatever the rules said.
pub(super) const UNJUDGED: &[&str] = &["approval", "decision_time", "internal", "listing", "record"];

pub(super) fn outcome(name: &str) -> Option<Outcome> {
    Some(match name {
        "allow" => Outcome::Allow,
        "ask" => Outcome::Ask,
        "deny" => Outcome::Deny,
        _ => return None,
    })
}

pub(super) fn names(bytes: &[u8]) -> Option<Vec<String>> {
    serde_json::from_slice(bytes).ok()
}

/// Each value as it was written: a number keeps its text.
pub(super) fn facts(bytes: Bytes) -> Option<BTreeMap<String, Option<Bytes>>> {
    let document = Document::read(bytes, &Limits::default()).ok()?;
    let text = |value: crate::json::Value<'_>| document.source().slice(value.span());
    Some(document.root().members().map(|(name, value)| (name.to_owned(), Some(text(value)))).collect())
}

pub(super) fn findings(bytes: &[u8]) -> Option<Vec<Finding>> {
    let list: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    list.iter().map(finding).collect()
}

fn finding(value: &Value) -> Option<Finding> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or_default();
    let evidence = value.get("evidence").and_then(Value::as_array).into_iter().flatten();
    Some(Finding {
        check: text("check"),
        effect: effect(value.get("effect")?.as_str()?)?,
        reason: text("reason"),
        because: text("because"),
        advice: value.get("advice").and_then(Value::as_str).map(str::to_owned),
        next: next(value.get("next")?.as_str()?)?,
        is_rule: flag("is_rule"),
        monitor: flag("monitor"),
        evidence: evidence.map(quoted).collect::<Option<_>>()?,
    })
}

fn quoted(value: &Value) -> Option<Evidence> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let place = |key: &str| value.get(key).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
    Some(Evidence {
        about: text("about")?,
        quote: text("quote")?,
        start: place("start")?,
        end: place("end")?,
        source: text("source")?,
        message: value.get("message").and_then(Value::as_u64),
    })
}

fn effect(name: &str) -> Option<Effect> {
    Some(match name {
        "ask" => Effect::Ask,
        "deny" => Effect::Deny,
        "unevaluated" => Effect::Unevaluated,
        _ => return None,
    })
}

fn next(name: &str) -> Option<NextStep> {
    Some(match name {
        "ask_first" => NextStep::AskFirst,
        "confirm_first" => NextStep::ConfirmFirst,
        "do_not_repeat" => NextStep::DoNotRepeat,
        "fix_arguments" => NextStep::FixArguments,
        "nobody_to_ask" => NextStep::NobodyToAsk,
        "not_evaluated" => NextStep::NotEvaluated,
        "not_follow" => NextStep::NotFollow,
        "not_from_tools" => NextStep::NotFromTools,
        "not_offered" => NextStep::NotOffered,
        "tell_user" => NextStep::TellUser,
        "use_as_written" => NextStep::UseAsWritten,
        _ => return None,
    })
}

pub(super) fn answers(bytes: &[u8]) -> Option<Answers> {
    let all: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    let why = |value: &Value| Some(Unknown(value.get("unknown")?.as_str()?.to_owned()));
    let now = match all.get("now") {
        Some(now) => Some(match now.get("is") {
            Some(time) => Ok(Instant(time.as_i64()?)),
            None => Err(why(now)?),
        }),
        None => None,
    };
    let path = |(path, real): (&String, &Value)| {
        let real = match real.get("is") {
            Some(real) => Ok(real.as_str()?.to_owned()),
            None => Err(why(real)?),
        };
        Some((path.clone(), real))
    };
    let paths = all.get("paths").and_then(Value::as_object).into_iter().flatten();
    let programs = all.get("programs").and_then(Value::as_array).into_iter().flatten();
    Some(Answers {
        paths: paths.map(path).collect::<Option<_>>()?,
        now,
        programs: programs.map(program).collect::<Option<_>>()?,
    })
}

fn program(value: &Value) -> Option<(AskedKey, Result<Answer, Unknown>)> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let asked: Hash = text(value, "asked")?.parse().ok()?;
    let key = AskedKey { program: text(value, "program")?, digest: asked.0 };
    let Some(is) = value.get("is") else { return Some((key, Err(Unknown(text(value, "unknown")?)))) };
    let said = match is.get("allow") {
        Some(allows) => Said::Allow(allows.as_bool()?),
        None => Said::Score(Score::new(text(is, "score")?.parse().ok()?)?),
    };
    Some((key, Ok(Answer { said, reason: text(is, "reason")? })))
}

pub(super) fn changes(bytes: &[u8]) -> Option<(Vec<Edit>, Vec<Change>)> {
    let all: Value = serde_json::from_slice(bytes).ok()?;
    let place = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let edit = |value: &Value| {
        let range = place(value.get(0)?)?..place(value.get(1)?)?;
        Some(Edit { range, bytes: Bytes::copy_from_slice(value.get(2)?.as_str()?.as_bytes()) })
    };
    let change = |value: &Value| {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        Some(Change { path: text("path")?, pointer: text("pointer")?, from: text("from")?, to: text("to")? })
    };
    let edits = all.get("edits")?.as_array()?.iter().map(edit).collect::<Option<_>>()?;
    Some((edits, all.get("changes")?.as_array()?.iter().map(change).collect::<Option<_>>()?))
}

pub(super) fn approval(bytes: &[u8]) -> Option<Approval> {
    let all: Value = serde_json::from_slice(bytes).ok()?;
    let text = |key: &str| all.get(key).and_then(Value::as_str).map(str::to_owned);
    let findings = all.get("findings").and_then(Value::as_array)?.iter().map(finding);
    let call: Hash = all.get("call")?.as_str()?.parse().ok()?;
    Some(Approval {
        by: text("by")?,
        key: text("key")?,
        call: CallKey::from_bytes(call.0),
        call_id: text("call_id"),
        findings: findings.collect::<Option<_>>()?,
    })
}
