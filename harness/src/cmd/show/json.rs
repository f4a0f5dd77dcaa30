//! One record in full, for programs: the members of its body, its contents, and of a call all that other records say
//! of it.

use bytes::Bytes;
use framegate_guard::store::StoreError;
use framegate_guard::store::chain::hex;
use framegate_guard::store::read::{Record, Row};
use framegate_guard::store::retrace::{Retracer, Source as _};
use serde_json::{Map, Value, json};

use crate::args::ShownArguments;
use crate::history::after::After;
use crate::history::file::RecordFile;
use crate::history::line::utc;
use crate::history::reply;
use crate::redact;

pub(super) fn of(file: &RecordFile, row: &Row, shown: ShownArguments) -> Result<Value, StoreError> {
    let record = row.record()?;
    let mut writer = Writer { file, retracer: Retracer::new(file), shown, secrets: Vec::new() };
    writer.learn(&record)?;
    let mut out = writer.record(&record)?;
    out.insert("hash".into(), row.hash.to_string().into());
    if let Some(session) = writer.retracer.session(&record)? {
        let session = json!({ "seq": session.seq, "server": session.server, "name": session.name });
        out.insert("session".into(), session);
    }
    if record.kind() == "call" {
        writer.call(&record, &mut out)?;
    }
    Ok(Value::Object(out))
}

struct Writer<'f> {
    file: &'f RecordFile,
    retracer: Retracer<'f, RecordFile>,
    shown: ShownArguments,
    /// What looks like a credential in the arguments: what was found, asked, changed quotes it without its name.
    secrets: Vec<String>,
}

impl Writer<'_> {
    fn learn(&mut self, record: &Record) -> Result<(), StoreError> {
        for name in ["arguments", "params"] {
            if let Ok(Some(bytes)) = self.retracer.kept(record, name)? {
                self.secrets.extend(redact::secrets(&bytes));
            }
        }
        Ok(())
    }

    /// A record by itself.
    fn record(&mut self, record: &Record) -> Result<Map<String, Value>, StoreError> {
        let members: Map<String, Value> = record
            .members()
            .filter(|(name, _)| !matches!(*name, "seq" | "time" | "kind" | "x"))
            .map(|(name, value)| (name.to_owned(), self.clean(value.clone())))
            .collect();
        let (mut contents, mut missing) = (Map::new(), Map::new());
        for name in record.fields().map(str::to_owned).collect::<Vec<_>>() {
            match self.retracer.kept(record, &name)? {
                Ok(kept) => {
                    let value = kept.map_or(Value::Null, |bytes| self.content(record, &name, &bytes));
                    contents.insert(name, value);
                }
                Err(why) => {
                    missing.insert(name, why.to_string().into());
                }
            }
        }
        let mut out = Map::new();
        out.insert("seq".into(), record.seq().into());
        out.insert("time".into(), utc(record.time().0).into());
        out.insert("kind".into(), record.kind().into());
        out.insert("body".into(), members.into());
        out.insert("contents".into(), contents.into());
        out.insert("missing".into(), missing.into());
        Ok(out)
    }

    /// What other records say of a call.
    fn call(&mut self, call: &Record, out: &mut Map<String, Value>) -> Result<(), StoreError> {
        let after = After::of(self.file, call)?;
        let before = match call.count("again") {
            Some(first) => self.file.row(first)?.map(|row| row.record()).transpose()?,
            None => None,
        };
        let of_before = before.as_ref().map(|first| After::of(self.file, first)).transpose()?;
        let replies = of_before.map(|before| before.replies).unwrap_or_default();
        let clean = |text: &str| self.text(text);
        let approvals: Value =
            replies.iter().chain(&after.replies).map(|said| reply::json(said, clean)).collect();
        out.insert("approvals".into(), approvals);
        for (name, other) in [("again", &before), ("then", &after.again)] {
            let other =
                other.as_ref().map(|other| json!({ "seq": other.seq(), "outcome": other.text("outcome") }));
            out.insert(name.into(), other.unwrap_or_default());
        }
        out.insert("policy".into(), self.policy(call)?);
        let end = after.end.as_ref().map(|end| self.record(end)).transpose()?;
        out.insert("end".into(), end.map(Value::Object).unwrap_or_default());
        Ok(())
    }

    /// Which policy, where its text is, and where in it the rules stand that decided.
    fn policy(&mut self, call: &Record) -> Result<Value, StoreError> {
        let Ok(context) = self.retracer.context(call)? else { return Ok(Value::Null) };
        let row = self.file.row(context.seq)?.map(|row| row.record()).transpose()?;
        let row = row.as_ref();
        let of = |key: &str| row.and_then(|row| row.value(key)).cloned();
        let (name, lines, missing) = match self.retracer.policy(&context)? {
            Ok(policy) => {
                let names = call.texts("failed").chain(call.texts("observed"));
                let lines = names.filter_map(|name| Some((name.to_owned(), policy.rule_line(name)?.into())));
                (Some(policy.name().to_owned()), lines.collect::<Map<String, Value>>(), None)
            }
            Err(why) => (None, Map::new(), Some(why.to_string())),
        };
        Ok(json!({
            "name": name, "text": of("policy"), "sha256": of("policy_sha256"), "mode": of("mode"),
            "rule_lines": lines, "missing": missing,
        }))
    }

    fn content(&self, record: &Record, name: &str, bytes: &Bytes) -> Value {
        // Policies and definitions are no call's.
        if self.shown == ShownArguments::None && record.kind() != "text" {
            return Value::Null;
        }
        if name == "frame" || name == "out" {
            return hex(bytes).into();
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if self.is_full() {
            return serde_json::from_slice(bytes).unwrap_or_else(|_| text(bytes).into());
        }
        match redact::json(bytes.clone()) {
            Ok(redacted) => {
                let value = serde_json::from_slice(&redacted.bytes);
                value.map_or_else(|_| text(&redacted.bytes).into(), |value| self.unquoted(value))
            }
            // What two readers may read differently is shown as it is written.
            Err(_) => self.text(&text(bytes)).into(),
        }
    }

    fn is_full(&self) -> bool {
        self.shown == ShownArguments::Full
    }

    fn text(&self, text: &str) -> String {
        if self.is_full() {
            return text.to_owned();
        }
        redact::without(&redact::text(text), &self.secrets)
    }

    fn clean(&self, value: Value) -> Value {
        map_texts(value, &|text| self.text(&text))
    }

    fn unquoted(&self, value: Value) -> Value {
        map_texts(value, &|text| redact::without(&text, &self.secrets))
    }
}

/// Every string in a value; serde reads no deeper than 128.
fn map_texts(value: Value, map: &impl Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => map(text).into(),
        Value::Array(items) => items.into_iter().map(|item| map_texts(item, map)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (map(name), map_texts(value, map))).collect()
        }
        plain => plain,
    }
}
