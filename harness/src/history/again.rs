//! Recorded decisions made again: under the policy of then, where nothing may differ, or under another one, to see
//! what would.
//!
//! Each policy is loaded once. Nothing is looked up anywhere but in the record: what another policy asks that was
//! not asked then is *unknown*, and is told apart from what it decides.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use framegate_guard::decision::Decision;
use framegate_guard::finding::Effect;
use framegate_guard::ledger::Transition;
use framegate_guard::policy::Policy;
use framegate_guard::store::StoreError;
use framegate_guard::store::read::Record;
use framegate_guard::store::retrace::{Context, Maybe, Missing, Retraced, Retracer};
use framegate_guard::trace::{Difference, Replayed};
use framegate_guard::{Facts, Guard, Hearing, Outcome};

use super::call::{RecordedCall, RowKind};
use super::ends::{EndAgain, Ends};
use super::file::RecordFile;
use super::reach::Reach;
use super::stated::Stated;

/// Why a conversation is not known.
const UNHEARD: &str = "the record does not say what was said: no rule of then read it";

/// Another policy, and what is given for it.
#[derive(Debug)]
pub(crate) struct Other {
    pub(crate) policy: Policy,
    pub(crate) facts: BTreeMap<String, Bytes>,
    pub(crate) stated: Stated,
}

/// One decision made again.
#[derive(Debug, Clone)]
pub(crate) struct Again {
    pub(crate) then: Outcome,
    pub(crate) now: Outcome,
    /// What differs from the record; under another policy most does.
    pub(crate) differences: Vec<Difference>,
    /// By what it is decided now.
    pub(crate) by: Vec<String>,
    /// Those of them that could not be evaluated.
    pub(crate) unevaluated: Vec<String>,
    /// It asks only since the record does not say what the policy wants to know; the first such reason.
    pub(crate) unknown: Option<String>,
    /// The decision of then, as far as it is recorded.
    pub(crate) recorded: Decision,
    /// What the call does to the state, now and when it ends.
    pub(crate) transition: Option<Arc<Transition>>,
}

/// Makes decisions again.
#[derive(Debug)]
pub(crate) struct Replayer<'f> {
    pub(crate) retracer: Retracer<'f, RecordFile>,
    guards: HashMap<u64, Maybe<Arc<Guard>>>,
    other: Option<(Other, Arc<Guard>)>,
    /// What the other policy's rules are for.
    reach: Option<Reach>,
    /// Sessions of which it is not known what was said, from the first call on that no rule of then listened for.
    unheard: HashSet<u64>,
    ends: Ends,
}

impl<'f> Replayer<'f> {
    pub(crate) fn new(file: &'f RecordFile, other: Option<Other>) -> Replayer<'f> {
        let guarded = |other: Other| {
            let guard = Guard::new(other.policy.clone(), "", Facts::default());
            (other, Arc::new(guard))
        };
        let reach = other.as_ref().map(|other| Reach::of(other.policy.clone()));
        Replayer {
            retracer: Retracer::new(file),
            guards: HashMap::new(),
            other: other.map(guarded),
            reach,
            unheard: HashSet::new(),
            ends: Ends::default(),
        }
    }

    /// The end of this call is to be made again as well. Under another policy the state was another one.
    pub(crate) fn watch(&mut self, call: &RecordedCall, again: &Again) {
        if self.other.is_none() {
            self.ends.watch(call, again);
        }
    }

    /// Ends that were made again since this was asked last.
    pub(crate) fn ends(&mut self) -> Vec<EndAgain> {
        self.ends.take()
    }

    /// Each recorded call in its order, after all records before it were seen.
    pub(crate) fn calls(
        &mut self,
        file: &RecordFile,
        mut take: impl FnMut(&mut Self, RecordedCall) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for row in file.from(0) {
            let row = row?;
            match RowKind::of(&row) {
                RowKind::Call => {
                    let call = RecordedCall::of(&row)?;
                    self.listen(&call)?;
                    take(self, call)?;
                }
                RowKind::End | RowKind::State => {
                    let record = row.record()?;
                    self.retracer.see(&record);
                    self.ends.see(&mut self.retracer, record)?;
                }
                RowKind::Frame | RowKind::Message => self.retracer.see(&row.record()?),
                RowKind::Approval | RowKind::Aside | RowKind::Close | RowKind::Other => {}
            }
        }
        self.ends.finish();
        Ok(())
    }

    /// One recorded call, after all records before it were seen.
    pub(crate) fn call(&mut self, call: &Record) -> Result<Maybe<Again>, StoreError> {
        let context = match self.retracer.context(call)? {
            Ok(context) => context,
            Err(why) => return Ok(Err(why)),
        };
        let guard = match self.guard(&context)? {
            Ok(guard) => guard,
            Err(why) => return Ok(Err(why)),
        };
        let is_unheard = call.count("session").is_some_and(|session| self.unheard.contains(&session));
        let reads = if is_unheard { Hearing::Nothing } else { guard.hearing() };
        let mut retraced = match self.retracer.trace(call, reads)? {
            Ok(retraced) => retraced,
            Err(why) => return Ok(Err(why)),
        };
        let has_state = |guard: &Guard| {
            guard.policy().praxiom().is_some_and(|praxiom| praxiom.variables().next().is_some())
        };
        if has_state(&guard) && retraced.trace.praxiom.is_none() {
            return Ok(Err(Missing::NoState));
        }
        if is_unheard {
            retraced.trace.session.set_unheard(UNHEARD);
        }
        if let Some(reach) = &mut self.reach {
            reach.see(&retraced.trace);
        }
        let then = self.prepare(&mut retraced);
        let replayed = match &self.other {
            Some((other, guard)) => guard.replay_beyond(&retraced.trace, &other.stated),
            None => guard.replay(&retraced.trace),
        };
        Ok(match replayed {
            Ok(replayed) => Ok(again(then, replayed, retraced)),
            Err(_) => Err(Missing::Unreadable("arguments".into())),
        })
    }

    /// What a session heard was kept for rules that read it. Where none did, nothing is known of it: not even that it
    /// was nothing.
    fn listen(&mut self, call: &RecordedCall) -> Result<(), StoreError> {
        let is_wanted = self.other.as_ref().is_some_and(|(_, guard)| guard.reads_conversation());
        if !is_wanted || self.unheard.contains(&call.session()) {
            return Ok(());
        }
        let heard = match self.retracer.context(&call.record)? {
            Ok(context) if !context.rust_rules.is_empty() => true,
            Ok(context) => self.recorded(&context)?.is_ok_and(|guard| guard.reads_conversation()),
            Err(_) => false,
        };
        if !heard {
            self.unheard.insert(call.session());
        }
        Ok(())
    }

    /// What answers beyond the record, and how often it did.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.other.iter().flat_map(|(other, _)| other.stated.notes()).collect()
    }

    /// Rules of the other policy that were for none of the calls' tools.
    pub(crate) fn unreached(&self) -> impl Iterator<Item = &str> {
        self.reach.iter().flat_map(Reach::unreached)
    }

    fn guard(&mut self, context: &Context) -> Result<Maybe<Arc<Guard>>, StoreError> {
        if let Some((_, guard)) = &self.other {
            return Ok(Ok(Arc::clone(guard)));
        }
        self.recorded(context)
    }

    /// The guard of then.
    fn recorded(&mut self, context: &Context) -> Result<Maybe<Arc<Guard>>, StoreError> {
        if let Some(guard) = self.guards.get(&context.seq) {
            return Ok(guard.clone());
        }
        let policy = self.retracer.policy(context)?;
        let guard = policy.map(|policy| Arc::new(Guard::new(policy, "", Facts::default())));
        self.guards.insert(context.seq, guard.clone());
        Ok(guard)
    }

    /// What another policy is asked is what it would enforce; and it is held against what the one of then would
    /// have decided, where nothing followed from that.
    fn prepare(&self, retraced: &mut Retraced) -> Outcome {
        let trace = &mut retraced.trace;
        let Some((other, _)) = &self.other else { return trace.decision.outcome };
        let then = if trace.is_monitoring { trace.decision.would } else { trace.decision.outcome };
        trace.is_monitoring = false;
        trace.rust_rules.clear();
        for (name, value) in &other.facts {
            trace.facts.insert(name.clone(), Some(value.clone()));
        }
        then
    }
}

fn again(then: Outcome, replayed: Replayed, retraced: Retraced) -> Again {
    let Replayed { decision, mut differences } = replayed;
    if !retraced.has_findings {
        differences.retain(|difference| {
            !difference.what.starts_with("rule ") && !difference.what.starts_with("check ")
        });
    }
    let mut by: Vec<String> = Vec::new();
    for finding in decision.standing() {
        if !by.contains(&finding.check) {
            by.push(finding.check.clone());
        }
    }
    let open = decision.standing().filter(|finding| finding.effect == Effect::Unevaluated);
    let unevaluated = open.map(|finding| finding.check.clone()).collect();
    let asks = decision.outcome == Outcome::Ask;
    let is_unknown = asks && decision.standing().all(|finding| finding.effect == Effect::Unevaluated);
    let unknown = decision.reasons().next().filter(|_| is_unknown).map(str::to_owned);
    Again {
        then,
        now: decision.outcome,
        differences,
        by,
        unevaluated,
        unknown,
        recorded: retraced.trace.decision,
        transition: decision.transition,
    }
}
