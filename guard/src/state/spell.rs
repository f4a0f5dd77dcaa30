//! Values as JSON: for the record, and for what outlives a process.
//!
//! A value says itself of which type it is, so that it can be read under another policy than the one it was made under:
//! `true`, `5`, `"text"`, `["a"]` (a list), `{"decimal":"1.5"}`, `{"set":["a"]}`, `{"time":0}` (microseconds since
//! 1970), `{"window":[[time,"amount",step],…]}` (`{"unclear":"why"}` for an amount that nobody knows), `{"count":1,"per":60000000,"sum":"5","until":0}` (what was seen of a window, `per` in microseconds),
//! `{"either":[false,true]}`, `{"unknown":"why"}`, `{"sha256":"…"}` (longer than a record keeps), and
//! `{"in_flight":["tool"],"is":…}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::window::Entry;
use super::{Belief, ENTRIES_MAX, ITEMS_MAX, Noted, Seen, Summary, Value, Window};
use crate::decimal::Decimal;
use crate::store::chain::hex;
use crate::world::Instant;

/// Bytes of one value in a record; of a longer one there is its hash.
const RECORDED_BYTES_MAX: usize = 4096;

/// How the reason begins for which a value that was too long for a record is not known.
const ONLY_HASH: &str = "the record keeps only its hash ";

/// Text that is no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the state cannot be read: {0}")]
pub struct Unreadable(pub String);

/// All of it, by name, in one canonical spelling.
#[must_use]
pub fn encode<'v>(values: impl IntoIterator<Item = (&'v Arc<str>, &'v Belief)>) -> String {
    object(values.into_iter().map(|(name, belief)| (&**name, spelled(belief))))
}

/// What [`encode`] made.
///
/// # Errors
/// [`Unreadable`].
pub fn decode(text: &str) -> Result<BTreeMap<Arc<str>, Belief>, Unreadable> {
    let read: Json = serde_json::from_str(text).map_err(|why| Unreadable(why.to_string()))?;
    let Json::Object(members) = read else { return Err(Unreadable("it is no object".to_owned())) };
    let belief = |(name, value): (String, Json)| {
        let belief = belief(&value).ok_or_else(|| Unreadable(format!("`{name}` has no value")))?;
        Ok((Arc::from(name), belief))
    };
    members.into_iter().map(belief).collect()
}

/// What a record says of a state before and after a call.
pub(crate) fn noted(noted: &Noted) -> Json {
    let before = noted.before.iter().map(|(name, seen)| {
        let is = short(&seen.belief);
        let tools = || seen.in_flight.iter().map(|tool| Json::from(&**tool)).collect::<Vec<_>>();
        let value = if seen.in_flight.is_empty() { is } else { json!({ "in_flight": tools(), "is": is }) };
        (name.to_string(), value)
    });
    let after = noted.after.iter().map(|(name, belief)| (name.to_string(), short(belief)));
    json!({ "before": before.collect::<Map<_, _>>(), "after": after.collect::<Map<_, _>>() })
}

/// What [`noted`] made.
pub(crate) fn seen_of(text: &[u8]) -> Option<Noted> {
    let read: Json = serde_json::from_slice(text).ok()?;
    let members = |key: &str| read.get(key)?.as_object();
    let seen = |(name, value): (&String, &Json)| {
        let in_flight = value.get("in_flight").and_then(Json::as_array);
        let tools = in_flight.into_iter().flatten().map(|tool| tool.as_str().map(Arc::from));
        let in_flight: Vec<Arc<str>> = tools.collect::<Option<_>>()?;
        let is = if in_flight.is_empty() { value } else { value.get("is")? };
        Some((Arc::from(name.as_str()), Seen { belief: belief(is)?, in_flight }))
    };
    let after = |(name, value): (&String, &Json)| Some((Arc::from(name.as_str()), belief(value)?));
    Some(Noted {
        before: members("before")?.iter().map(seen).collect::<Option<_>>()?,
        after: members("after")?.iter().map(after).collect::<Option<_>>()?,
    })
}

/// For people.
pub(crate) fn shown(belief: &Belief) -> String {
    match belief {
        Belief::Either => "true or false".to_owned(),
        Belief::Unknown(why) => format!("unknown ({why})"),
        Belief::Known(value) => match value {
            Value::Bool(value) => value.to_string(),
            Value::Decimal(number) => number.to_string(),
            Value::Int(number) => number.to_string(),
            Value::List(items) => format!("{} items", items.len()),
            Value::Set(items) => format!("{} items", items.len()),
            Value::String(text) => format!("{:?}", clipped(text)),
            Value::Summary(summary) => summary.sum.to_string(),
            Value::Timestamp(instant) => time(*instant),
            Value::Window(window) => match window.unclear() {
                Some(why) => format!("unknown ({why})"),
                None => window.total().to_string(),
            },
        },
    }
}

/// An instant as people read it.
pub(crate) fn time(instant: Instant) -> String {
    let shown = jiff::Timestamp::from_microsecond(instant.0).map(|time| {
        let second = time.round(jiff::Unit::Second).unwrap_or(time);
        second.to_string()
    });
    shown.unwrap_or_else(|_| format!("{} µs", instant.0))
}

fn clipped(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        text.to_owned()
    } else {
        text.chars().take(SHOWN).chain(['…']).collect()
    }
}

fn object<'n>(members: impl Iterator<Item = (&'n str, Json)>) -> String {
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).collect()).to_string()
}

/// Of a value that was too long for a record its hash is there, and nothing else.
pub(super) fn is_only_hash(belief: &Belief) -> bool {
    matches!(belief, Belief::Unknown(why) if why.starts_with(ONLY_HASH))
}

/// A value as a record has it.
pub(crate) fn short(belief: &Belief) -> Json {
    let value = match belief {
        Belief::Known(Value::Window(window)) if window.unclear().is_none() => {
            // Of no span of time: what is left of it is said when it is read next.
            json!({ "count": window.entries().count(), "per": 0, "sum": window.total().to_string() })
        }
        Belief::Known(Value::Window(window)) => json!({ "unknown": window.unclear().map(|why| &**why) }),
        Belief::Unknown(why) if why.starts_with(ONLY_HASH) => {
            return json!({ "sha256": why.strip_prefix(ONLY_HASH) });
        }
        belief => spelled(belief),
    };
    let text = value.to_string();
    if text.len() <= RECORDED_BYTES_MAX { value } else { json!({ "sha256": hex(&Sha256::digest(text)) }) }
}

pub(super) fn spelled(belief: &Belief) -> Json {
    match belief {
        Belief::Either => json!({ "either": [false, true] }),
        Belief::Unknown(why) => json!({ "unknown": &**why }),
        Belief::Known(value) => match value {
            Value::Bool(value) => json!(value),
            Value::Decimal(number) => json!({ "decimal": number.to_string() }),
            Value::Int(number) => json!(number),
            Value::List(items) => items.iter().map(|item| Json::from(&**item)).collect(),
            Value::Set(items) => json!({ "set": items.iter().map(|item| &**item).collect::<Vec<&str>>() }),
            Value::String(text) => json!(&**text),
            Value::Summary(summary) => summarised(summary),
            Value::Timestamp(instant) => json!({ "time": instant.0 }),
            Value::Window(window) => {
                json!({ "window": window.entries().map(spelled_entry).collect::<Vec<_>>() })
            }
        },
    }
}

pub(super) fn spelled_entry(entry: &Entry) -> Json {
    let amount = match &entry.unclear {
        Some(why) => json!({ "unclear": &**why }),
        None => json!(entry.amount.to_string()),
    };
    match entry.step {
        0 => json!([entry.at.0, amount]),
        step => json!([entry.at.0, amount, step]),
    }
}

fn summarised(summary: &Summary) -> Json {
    let (count, sum, per) = (summary.count, summary.sum.to_string(), summary.per_us);
    match summary.until {
        Some(until) => json!({ "count": count, "per": per, "sum": sum, "until": until.0 }),
        None => json!({ "count": count, "per": per, "sum": sum }),
    }
}

pub(super) fn belief(value: &Json) -> Option<Belief> {
    let known = |value| Some(Belief::Known(value));
    match value {
        Json::Bool(value) => known(Value::Bool(*value)),
        Json::Number(number) => known(Value::Int(number.as_i64()?)),
        Json::String(text) => known(Value::String(text.as_str().into())),
        Json::Array(items) => known(Value::List(texts(items)?.into())),
        Json::Null => None,
        Json::Object(members) => {
            if let Some(why) = members.get("unknown") {
                return Some(Belief::unknown(why.as_str()?));
            }
            if let Some(hash) = members.get("sha256") {
                return Some(Belief::unknown(format!("{ONLY_HASH}{}", hash.as_str()?)));
            }
            if members.contains_key("either") {
                return Some(Belief::Either);
            }
            known(composed(members)?)
        }
    }
}

fn composed(members: &Map<String, Json>) -> Option<Value> {
    let decimal = |value: &Json| Decimal::parse(value.as_str()?);
    if let Some(number) = members.get("decimal") {
        return decimal(number).map(Value::Decimal);
    }
    if let Some(items) = members.get("set") {
        return Some(Value::Set(Arc::new(texts(items.as_array()?)?.into_iter().collect())));
    }
    if let Some(time) = members.get("time") {
        return Some(Value::Timestamp(Instant(time.as_i64()?)));
    }
    if let Some(sum) = members.get("sum") {
        let count = usize::try_from(members.get("count")?.as_u64()?).ok()?;
        let until = members.get("until").map(|until| until.as_i64().map(Instant));
        let until = match until {
            Some(until) => Some(until?),
            None => None,
        };
        let per_us = members.get("per")?.as_i64()?;
        return Some(Value::Summary(Summary { sum: decimal(sum)?, count, until, per_us }));
    }
    let entries = members.get("window")?.as_array().filter(|entries| entries.len() <= ENTRIES_MAX)?;
    let mut window = Window::default();
    for entry in entries {
        read_entry(&mut window, entry)?;
    }
    Some(Value::Window(Arc::new(window)))
}

/// Adds what [`spelled_entry`] made.
pub(super) fn read_entry(window: &mut Window, entry: &Json) -> Option<()> {
    // So wide that nothing is too old for it.
    const WIDE: i64 = i64::MAX;
    let (at, amount) = (Instant(entry.get(0)?.as_i64()?), entry.get(1)?);
    let step = entry.get(2).map_or(Some(0), Json::as_u64)?;
    match amount.get("unclear") {
        Some(why) => window.push_unclear(WIDE, at, &why.as_str()?.into(), step),
        None => window.push(WIDE, at, Decimal::parse(amount.as_str()?)?, step).ok()?,
    }
    Some(())
}

fn texts(items: &[Json]) -> Option<Vec<Arc<str>>> {
    let text = |item: &Json| item.as_str().map(Arc::from);
    (items.len() <= ITEMS_MAX).then(|| items.iter().map(text).collect())?
}
