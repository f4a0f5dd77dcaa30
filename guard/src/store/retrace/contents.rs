//! What lies beside one record, and a decision read from it.

use std::sync::Arc;

use bytes::Bytes;

use super::{Maybe, Missing, Source, parse};
use crate::decision::{Decision, Outcome};
use crate::json::{Document, Limits};
use crate::proposal::CallKey;
use crate::state::seen_of;
use crate::store::error::StoreError;
use crate::store::read::{Kept, Record};
use crate::trace::{ListedAs, PraxiomTrace};
use crate::world::Answers;

/// What a redacted text has in the place of what was taken out.
const REDACTED: &str = "***";

/// What lies beside one record.
pub(super) struct Contents {
    kept: Vec<Kept>,
    /// What looked like a secret was taken out of it before it was written.
    is_redacted: bool,
}

/// What a decision was made from, as far as the call's own record says it.
pub(super) struct Inputs {
    pub(super) arguments: Bytes,
    pub(super) start: usize,
    pub(super) listed: ListedAs,
    pub(super) decision: Decision,
    pub(super) praxiom: Option<PraxiomTrace>,
    pub(super) has_findings: bool,
}

impl Contents {
    pub(super) fn of(
        source: &impl Source,
        record: &Record,
        is_redacted: bool,
    ) -> Result<Contents, StoreError> {
        Ok(Contents { kept: source.contents(record.seq())?, is_redacted })
    }

    pub(super) fn content(&self, record: &Record, field: &str) -> Maybe<Option<Bytes>> {
        let Some(commitment) = record.commitment(field) else { return Ok(None) };
        let Some(kept) = self.kept.iter().find(|kept| kept.field == field) else {
            let is_dropped = record.was_dropped(field);
            return Err(if is_dropped {
                Missing::NeverKept(field.into())
            } else {
                Missing::Removed(field.into())
            });
        };
        if kept.commitment() != commitment {
            return Err(Missing::Changed(field.into()));
        }
        if self.is_redacted && memchr::memmem::find(&kept.bytes, REDACTED.as_bytes()).is_some() {
            return Err(Missing::Redacted(field.into()));
        }
        Ok(Some(kept.bytes.clone()))
    }

    /// A content in its JSON form; the default where the record has none.
    fn parsed<T: Default>(
        &self,
        record: &Record,
        field: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Maybe<T> {
        match self.content(record, field)? {
            Some(bytes) => read(&bytes).ok_or_else(|| Missing::Unreadable(field.into())),
            None => Ok(T::default()),
        }
    }

    pub(super) fn inputs(&self, call: &Record) -> Maybe<Inputs> {
        if let Some(name) = call.texts("failed").find(|name| parse::UNJUDGED.contains(name)) {
            return Err(Missing::Unjudged(name.to_owned()));
        }
        if call.value("tool_sha256").is_some() {
            return Err(Missing::Clipped("tool"));
        }
        let arguments = self.content(call, "arguments")?.unwrap_or_else(|| Bytes::from_static(b"{}"));
        let listed = match call.text("listed") {
            Some("missing") => ListedAs::Missing { names: self.parsed(call, "names", parse::names)? },
            Some("tool") => ListedAs::Tool { definition: None, doubt: call.text("doubt").map(str::to_owned) },
            _ => ListedAs::Unknown,
        };
        let decision = self.decision(call, &arguments)?;
        let has_findings =
            !matches!(self.content(call, "findings"), Err(Missing::Removed(_) | Missing::NeverKept(_)));
        let start = call.number("start").and_then(|start| usize::try_from(start).ok()).unwrap_or_default();
        let praxiom = self
            .parsed(call, "praxiom", |bytes| PraxiomTrace::of(str::from_utf8(bytes).ok()?).ok().map(Some))?;
        Ok(Inputs { arguments, start, listed, decision, praxiom, has_findings })
    }

    fn decision(&self, call: &Record, arguments: &Bytes) -> Maybe<Decision> {
        let unreadable = |what: &str| Missing::Unreadable(what.to_owned());
        let outcome = call.text("outcome").and_then(parse::outcome).ok_or_else(|| unreadable("outcome"))?;
        let would: Outcome = call.text("would").and_then(parse::outcome).unwrap_or(outcome);
        let tool = call.text("tool").unwrap_or_default();
        let whole = Limits::again();
        let sent = self.content(call, "edited")?.unwrap_or_else(|| arguments.clone());
        let read = Document::read(sent.clone(), &whole).map_err(|_| unreadable("arguments"))?;
        let findings = match self.parsed(call, "findings", parse::findings) {
            Err(Missing::Removed(_) | Missing::NeverKept(_)) => Vec::new(),
            findings => findings?,
        };
        let (edits, changes) = self.parsed(call, "changes", parse::changes)?;
        let approval = self.parsed(call, "approval", |bytes| parse::approval(bytes).map(Some))?;
        Ok(Decision {
            outcome,
            would,
            tool: tool.to_owned(),
            call_id: call.text("call_id").map(str::to_owned),
            findings,
            edits,
            changes,
            arguments: sent,
            call: CallKey::of(tool, read.root()),
            made_as: CallKey::of(tool, read.root()),
            was_made: call.flag("made"),
            answers: self.parsed::<Answers>(call, "answers", parse::answers)?,
            policy: [0; 32],
            approval,
            approval_key: String::new(),
            missing: Vec::new(),
            transition: None,
            state: self.parsed(call, "state", |bytes| seen_of(bytes).map(Some))?.map(Arc::new),
        })
    }
}
