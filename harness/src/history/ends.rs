//! Ends of calls made again: what their answers made of the state.
//!
//! An end is a record of its own, some time after its call's, and what it made of the state may be another one. What the call
//! may do then is known from its decision made again, so that is kept until its end has come.

use std::collections::BTreeMap;
use std::sync::Arc;

use framegate_guard::ledger::Transition;
use framegate_guard::state::Noted;
use framegate_guard::store::StoreError;
use framegate_guard::store::read::Record;
use framegate_guard::store::retrace::{Maybe, Missing, Retracer};
use framegate_guard::trace::Difference;

use super::again::Again;
use super::call::RecordedCall;
use super::file::RecordFile;
use crate::redact;

/// Calls whose ends are waited for; of those before them nobody saw the end.
const OPEN_MAX: usize = 8192;

/// The end of a call made again.
#[derive(Debug)]
pub(crate) struct EndAgain {
    pub(crate) call: RecordedCall,
    pub(crate) how: String,
    pub(crate) made: Maybe<Vec<Difference>>,
    /// What looks like a credential in the call's arguments.
    pub(crate) secrets: Vec<String>,
}

/// Calls whose ends have not come yet.
#[derive(Debug, Default)]
pub(super) struct Ends {
    open: BTreeMap<u64, Open>,
    made: Vec<EndAgain>,
}

#[derive(Debug)]
struct Open {
    call: RecordedCall,
    transition: Option<Arc<Transition>>,
    met: Option<Arc<Noted>>,
    secrets: Vec<String>,
    end: Option<Record>,
    /// It came before the end.
    state: Option<Record>,
}

impl Ends {
    /// Its decision is made again: its end comes later.
    pub(super) fn watch(&mut self, call: &RecordedCall, again: &Again) {
        if call.record.text("sent") == Some("no") {
            return;
        }
        let (transition, met) = (again.transition.clone(), again.recorded.state.clone());
        let secrets = redact::secrets(&again.recorded.arguments);
        let open = Open { call: call.clone(), transition, met, secrets, end: None, state: None };
        self.open.insert(call.seq(), open);
        if self.open.len() > OPEN_MAX {
            self.open.pop_first();
        }
    }

    /// An end has come, or what one made of the state.
    pub(super) fn see(
        &mut self,
        retracer: &mut Retracer<'_, RecordFile>,
        record: Record,
    ) -> Result<(), StoreError> {
        let Some(seq) = record.count("call") else { return Ok(()) };
        let Some(open) = self.open.get_mut(&seq) else { return Ok(()) };
        if record.kind() == "state" {
            open.state = Some(record);
        } else if record.text("how") == Some("task") {
            // A handle: the outcome ends it.
            return Ok(());
        } else if record.text("sent") == Some("no") {
            self.open.remove(&seq);
            return Ok(());
        } else {
            open.end = Some(record);
        }
        let state = open.state.as_ref().or(open.end.as_ref());
        let is_told = state.is_some_and(|state| state.commitment("state").is_some());
        let (Some(end), true) = (&open.end, is_told) else {
            // Nothing follows from most ends, and none of them is told.
            let is_over = open.end.as_ref().is_some_and(|end| !open.must_tell(end));
            if is_over {
                self.open.remove(&seq);
            }
            return Ok(());
        };
        let made = match (&open.transition, state) {
            (Some(transition), Some(state)) => retracer.end((transition, open.met.as_deref()), end, state)?,
            _ => Ok(vec![Difference {
                what: "state after the answer".to_owned(),
                then: "something".to_owned(),
                now: String::new(),
            }]),
        };
        if let Some(open) = self.open.remove(&seq) {
            self.made.push(open.made(made));
        }
        Ok(())
    }

    /// Those that were made again since this was asked last.
    pub(super) fn take(&mut self) -> Vec<EndAgain> {
        std::mem::take(&mut self.made)
    }

    /// All records were seen: what was not told is not told.
    pub(super) fn finish(&mut self) {
        let open = std::mem::take(&mut self.open).into_values();
        self.made.extend(open.filter(|open| open.end.is_some()).map(|open| open.made(Err(Missing::NoEnd))));
    }
}

impl Open {
    /// Whether the record of such an end says what came of it.
    fn must_tell(&self, end: &Record) -> bool {
        let how = end.text("how").unwrap_or_default();
        self.transition.as_ref().is_some_and(|transition| transition.tells_end(how))
    }

    fn made(self, made: Maybe<Vec<Difference>>) -> EndAgain {
        let how = self.end.as_ref().and_then(|end| end.text("how")).unwrap_or_default().to_owned();
        EndAgain { call: self.call, how, made, secrets: self.secrets }
    }
}
