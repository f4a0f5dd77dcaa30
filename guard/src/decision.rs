//! A decision: what is to happen to a call, why, and what exactly is sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::finding::{Effect, Evidence, Finding, NextStep};
use crate::json::Value;
use crate::ledger::Transition;
use crate::proposal::CallKey;
use crate::schema::{Change, Edit};
use crate::state::Noted;
use crate::store::chain::Hash;
use crate::world::Answers;

/// What is to happen. Ordered: the greater one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Sent on.
    Allow,
    /// A person is asked.
    Ask,
    /// Refused.
    Deny,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Allow => "allow",
            Outcome::Ask => "ask",
            Outcome::Deny => "deny",
        })
    }
}

/// The check that a person who was asked said no.
pub(crate) const APPROVAL: &str = "approval";

/// A person's yes to what was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// [`Decision::approval_key`] of what was shown.
    pub key: String,
    /// The call that was shown.
    pub call: CallKey,
    /// Its own id.
    pub call_id: Option<String>,
    /// All that stood against it.
    pub findings: Vec<Finding>,
}

impl Approval {
    /// A yes to this decision.
    #[must_use]
    pub fn of(shown: &Decision, by: &str) -> Approval {
        Approval {
            by: by.to_owned(),
            key: shown.approval_key.clone(),
            call: shown.call,
            call_id: shown.call_id.clone(),
            findings: shown.findings.clone(),
        }
    }

    fn covers(&self, decision: &Decision) -> bool {
        let shown = |finding: &Finding| {
            let same = |other: &&Finding| other.check == finding.check && other.reason == finding.reason;
            finding.effect != Effect::Deny && self.findings.iter().any(|other| same(&other))
        };
        self.call == decision.call
            && self.call_id == decision.call_id
            && decision.findings.iter().filter(|finding| !finding.monitor).all(shown)
    }
}

/// What was decided on one call. Plain data: that a call may be made is proved by a [`crate::permit::Permit`].
#[derive(Debug, Clone)]
pub struct Decision {
    /// What is to happen.
    pub outcome: Outcome,
    /// What would happen if nothing were set to *monitor* and nobody had approved; `outcome <= would`.
    pub would: Outcome,
    /// The tool, as called.
    pub tool: String,
    /// The call's own id, when it came with one.
    pub call_id: Option<String>,
    /// Every check that did not pass, in deciding order: denies, asks, what could not be evaluated. Those that
    /// are only monitored are among them.
    pub findings: Vec<Finding>,
    /// Changes to the arguments as sent, as ranges of their document's source; empty when they go on byte for
    /// byte, as they always do where the tool or the whole is only monitored.
    pub edits: Vec<Edit>,
    /// The same changes for people; under *monitor*, those that would have been made.
    pub changes: Vec<Change>,
    /// The JSON text of the arguments that was decided on and is sent.
    pub arguments: Bytes,
    /// Tool and arguments by value.
    pub call: CallKey,
    /// By which a call is told from one that was made before: for a tool that is called `once` with the defaults that
    /// its schema gives for what was not sent, else the same.
    pub made_as: CallKey,
    /// That very call was made before, and is not known to have failed.
    pub was_made: bool,
    /// What the world was asked.
    pub answers: Answers,
    /// [`crate::policy::Policy::digest`] of the policy that decided; zeros without one.
    pub policy: [u8; 32],
    /// The yes of a person, by which it is allowed although something stands against it.
    pub approval: Option<Approval>,
    /// What a person approves who approves: this tool, this call, these arguments, these reasons. Empty when
    /// nothing stands against the call.
    pub approval_key: String,
    /// Required arguments that are not there, where nothing else denies the call: instead of being refused it can be
    /// completed by a person ([`crate::Guard::form`]). It is denied as long as it is not.
    pub missing: Vec<String>,
    /// What the call does to the state of its session once it is sent.
    pub transition: Option<Arc<Transition>>,
    /// The state that it met, and the one that it would make; nothing where its policy has none.
    pub state: Option<Arc<Noted>>,
}

impl Decision {
    /// Orders the findings and draws the conclusion: any deny beats every ask, wherever it stands, and what
    /// could not be evaluated asks only when nothing failed.
    pub(crate) fn conclude(
        tool: &str,
        call_id: Option<&str>,
        arguments: Value<'_>,
        mut findings: Vec<Finding>,
    ) -> Decision {
        // Stable: within one effect the deciding order stays.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.effect));
        // Once: arguments may be megabytes.
        let call = CallKey::of(tool, arguments);
        let mut decision = Decision {
            outcome: outcome_of(findings.iter().filter(|finding| !finding.monitor)),
            would: outcome_of(findings.iter()),
            tool: tool.to_owned(),
            call_id: call_id.map(str::to_owned),
            findings,
            edits: Vec::new(),
            changes: Vec::new(),
            arguments: arguments.document().source().slice(arguments.span()),
            call,
            made_as: call,
            was_made: false,
            answers: Answers::default(),
            policy: [0; 32],
            approval: None,
            approval_key: String::new(),
            missing: Vec::new(),
            transition: None,
            state: None,
        };
        if decision.would != Outcome::Allow {
            decision.approval_key = approval_key(&decision);
        }
        decision
    }

    /// A call that could not be judged: refused by this check alone.
    #[must_use]
    pub fn refused(
        tool: &str,
        call_id: Option<&str>,
        arguments: Value<'_>,
        check: &str,
        reason: &str,
    ) -> Decision {
        let finding = Finding::new(check, Effect::Deny, NextStep::TellUser, reason);
        Decision::conclude(tool, call_id, arguments, vec![finding])
    }

    /// The decision where nothing follows from any finding.
    #[must_use]
    pub fn observed(mut self) -> Decision {
        self.findings.iter_mut().for_each(|finding| finding.monitor = true);
        self.outcome = Outcome::Allow;
        self
    }

    /// The decision where no policy was given: nothing stands against any call.
    #[must_use]
    pub fn by_no_policy(mut self) -> Decision {
        (self.outcome, self.would, self.policy) = (Outcome::Allow, Outcome::Allow, [0; 32]);
        self.findings.clear();
        self.edits.clear();
        self.changes.clear();
        self.approval_key.clear();
        self.missing.clear();
        (self.transition, self.state) = (None, None);
        self
    }

    /// What a standing approval of this call covers: the same call by value, whatever its id, and the very reasons
    /// that stand against it.
    #[must_use]
    pub fn standing_key(&self) -> Hash {
        standing_key(&self.call, &self.findings)
    }

    /// The decision with a person's yes as a further input. It allows only this very call, and only if everything
    /// that stands against it is among what was shown; it never overrides a deny.
    #[must_use]
    pub fn with_approval(mut self, approval: Approval) -> Decision {
        if self.outcome == Outcome::Ask && approval.covers(&self) {
            self.outcome = Outcome::Allow;
            self.approval = Some(approval);
        }
        self
    }

    /// The decision after a person's no, with what that person said to it; may be empty.
    #[must_use]
    pub fn declined(mut self, by: &str, note: &str) -> Decision {
        let note = if note.is_empty() { String::new() } else { format!(": {note}") };
        let reason = format!("{by} was asked and declined the call{note}");
        self.findings.insert(0, Finding::new(APPROVAL, Effect::Deny, NextStep::TellUser, reason));
        (self.outcome, self.would, self.approval) = (Outcome::Deny, Outcome::Deny, None);
        self.missing.clear();
        self
    }

    /// The findings that decide, or would: what could not be evaluated is none when something failed. What is
    /// only monitored takes no weight from what decides.
    pub fn deciding(&self) -> impl Iterator<Item = &Finding> {
        let failed = |also_monitored: bool| {
            let counted = self.findings.iter().filter(|finding| also_monitored || !finding.monitor);
            counted.map(|finding| finding.effect).any(|effect| effect > Effect::Unevaluated)
        };
        let (any, enforced) = (failed(true), failed(false));
        let decides = move |finding: &&Finding| {
            finding.effect > Effect::Unevaluated || !(if finding.monitor { any } else { enforced })
        };
        self.findings.iter().filter(decides)
    }

    /// The findings that stand against the call as it was decided; where all are only monitored, those that
    /// would.
    pub fn standing(&self) -> impl Iterator<Item = &Finding> {
        let enforces = self.findings.iter().any(|finding| !finding.monitor);
        self.deciding().filter(move |finding| !enforces || !finding.monitor)
    }

    /// Names of the checks that failed, each once, denies first; of [`Decision::standing`].
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.standing().filter(|finding| finding.effect > Effect::Unevaluated);
        let mut told: Vec<&str> = Vec::new();
        failed.map(|finding| finding.check.as_str()).filter(move |name| {
            let is_new = !told.contains(name);
            told.extend(is_new.then_some(*name));
            is_new
        })
    }

    /// The same, and where none failed those that could not be evaluated: what the call was held for.
    pub fn held_by(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = Vec::new();
        for finding in self.standing() {
            if !names.contains(&finding.check.as_str()) {
                names.push(&finding.check);
            }
        }
        let failed: Vec<&str> = self.failed().collect();
        if failed.is_empty() { names.into_iter() } else { failed.into_iter() }
    }

    /// Why, in English, denies first; of [`Decision::standing`].
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.standing().map(|finding| finding.reason.as_str())
    }

    /// All quotations.
    pub fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.findings.iter().flat_map(|finding| &finding.evidence)
    }

    /// Only rules of the policy ask, and all of them could be evaluated: what a standing approval may cover.
    #[must_use]
    pub fn policy_only(&self) -> bool {
        self.would == Outcome::Ask
            && self.findings.iter().all(|finding| finding.is_rule && finding.effect == Effect::Ask)
    }
}

fn outcome_of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Outcome {
    match findings.map(|finding| finding.effect).max() {
        None => Outcome::Allow,
        Some(Effect::Unevaluated | Effect::Ask) => Outcome::Ask,
        Some(Effect::Deny) => Outcome::Deny,
    }
}

/// [`Decision::standing_key`] of a call against which this stands.
#[must_use]
pub fn standing_key(call: &CallKey, findings: &[Finding]) -> Hash {
    let mut hash = Sha256::new();
    hash.update(call.as_bytes());
    for finding in findings.iter().filter(|finding| !finding.monitor) {
        for part in [&finding.check, &finding.reason] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update([u8::from(finding.effect == Effect::Unevaluated), u8::from(finding.is_rule)]);
    }
    Hash(hash.finalize().into())
}

/// 32 hex digits over the call by value, its id, and the reasons, each with its length before it.
fn approval_key(decision: &Decision) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(decision.call.as_bytes());
    part(decision.call_id.as_deref().unwrap_or_default().as_bytes());
    decision.findings.iter().for_each(|finding| part(finding.reason.as_bytes()));
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Limits};

    fn conclude(findings: Vec<Finding>) -> Decision {
        let arguments = Document::read(r#"{"a":1}"#.into(), &Limits::default()).unwrap();
        Decision::conclude("t", Some("c1"), arguments.root(), findings)
    }

    fn finding(check: &str, effect: Effect) -> Finding {
        Finding::new(check, effect, NextStep::TellUser, format!("because of {check}"))
    }

    #[test]
    fn a_deny_beats_every_ask_wherever_it_stands() {
        use Effect::{Ask, Deny, Unevaluated};
        let decision = conclude(vec![
            finding("a", Ask),
            finding("b", Unevaluated),
            finding("c", Deny),
            finding("d", Ask),
            finding("e", Deny),
        ]);
        assert_eq!(decision.outcome, Outcome::Deny);
        assert_eq!(decision.failed().collect::<Vec<_>>(), ["c", "e", "a", "d"]);
        assert_eq!(
            decision.reasons().count(),
            4,
            "what could not be evaluated is no reason beside a failure"
        );
        assert_eq!(conclude(vec![finding("a", Unevaluated)]).outcome, Outcome::Ask);
        assert_eq!(conclude(vec![finding("a", Unevaluated)]).reasons().count(), 1);
        assert_eq!(conclude(Vec::new()).outcome, Outcome::Allow);
    }

    #[test]
    fn monitored_findings_decide_nothing_and_are_kept() {
        let mut seen = finding("a", Effect::Deny);
        seen.monitor = true;
        let decision = conclude(vec![finding("b", Effect::Ask), seen.clone()]);
        assert_eq!((decision.outcome, decision.would), (Outcome::Ask, Outcome::Deny));
        let decision = conclude(vec![seen]);
        assert_eq!((decision.outcome, decision.would), (Outcome::Allow, Outcome::Deny));
    }

    #[test]
    fn a_yes_counts_only_where_all_that_stands_against_the_call_was_shown() {
        use Effect::{Ask, Deny, Unevaluated};
        let shown = || vec![finding("a", Ask), finding("b", Ask), finding("u", Unevaluated)];
        let yes = Approval::of(&conclude(shown()), "someone");
        let now = |findings| conclude(findings).with_approval(yes.clone());
        let outcome = |findings| now(findings).outcome;
        assert_eq!(outcome(shown()), Outcome::Allow);
        assert_eq!(now(shown()).would, Outcome::Ask, "without the yes");
        assert_eq!(now(shown()).approval.as_ref(), Some(&yes));
        // Less than was shown is covered; anything else is not.
        assert_eq!(outcome(vec![finding("b", Ask)]), Outcome::Allow);
        assert_eq!(outcome([shown(), vec![finding("c", Ask)]].concat()), Outcome::Ask);
        assert_eq!(outcome([shown(), vec![finding("c", Unevaluated)]].concat()), Outcome::Ask);
        let mut other = finding("a", Ask);
        other.reason.push('!');
        assert_eq!(outcome(vec![other]), Outcome::Ask, "the same check, for another reason");
        assert_eq!(outcome([shown(), vec![finding("d", Deny)]].concat()), Outcome::Deny);
        assert_eq!(outcome(vec![finding("a", Deny)]), Outcome::Deny, "what asked denies now");
        let mut observed = finding("d", Deny);
        observed.monitor = true;
        assert_eq!(
            outcome([shown(), vec![observed]].concat()),
            Outcome::Allow,
            "on trial it decides nothing"
        );
        let unneeded = now(Vec::new());
        assert_eq!((unneeded.outcome, unneeded.approval), (Outcome::Allow, None));
    }

    #[test]
    fn a_standing_approval_is_for_one_call_by_value_and_the_same_reasons() {
        let of = |id, arguments: &str, findings| {
            let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
            Decision::conclude("t", id, arguments.root(), findings).standing_key()
        };
        let asks = || vec![finding("a", Effect::Ask)];
        let key = of(Some("c1"), r#"{"a":1}"#, asks());
        assert_eq!(key, of(Some("c2"), r#"{ "a":1.0}"#, asks()));
        let mut observed = finding("b", Effect::Deny);
        observed.monitor = true;
        assert_eq!(key, of(None, r#"{"a":1}"#, vec![observed, finding("a", Effect::Ask)]));
        for (arguments, findings) in [
            (r#"{"a":2}"#, asks()),
            (r#"{"a":1}"#, vec![finding("b", Effect::Ask)]),
            (r#"{"a":1}"#, [asks(), vec![finding("b", Effect::Ask)]].concat()),
            (r#"{"a":1}"#, vec![finding("a", Effect::Unevaluated)]),
        ] {
            assert_ne!(key, of(Some("c1"), arguments, findings));
        }
    }

    #[test]
    fn a_yes_is_for_one_tool_one_id_and_these_arguments() {
        let of = |tool, id, arguments: &str| {
            let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
            Decision::conclude(tool, id, arguments.root(), vec![finding("a", Effect::Ask)])
        };
        let yes = Approval::of(&of("t", Some("c1"), r#"{"a":1}"#), "someone");
        let outcome = |decision: Decision| decision.with_approval(yes.clone()).outcome;
        assert_eq!(outcome(of("t", Some("c1"), r#"{ "a":1.0}"#)), Outcome::Allow, "the same by value");
        for other in [
            of("t", Some("c2"), r#"{"a":1}"#),
            of("t", None, r#"{"a":1}"#),
            of("T", Some("c1"), r#"{"a":1}"#),
            of("t", Some("c1"), r#"{"a":2}"#),
            of("t", Some("c1"), r#"{"a":1,"b":null}"#),
        ] {
            assert_eq!(outcome(other), Outcome::Ask);
        }
        let denied = of("t", Some("c1"), r#"{"a":1}"#).declined("someone", "");
        assert_eq!(outcome(denied), Outcome::Deny, "a no is not taken back");
    }

    #[test]
    fn an_approval_is_for_this_call_and_these_reasons() {
        let key = |findings| conclude(findings).approval_key;
        let one = key(vec![finding("a", Effect::Ask)]);
        assert_eq!(one.len(), 32);
        assert_eq!(one, key(vec![finding("a", Effect::Ask)]));
        assert_ne!(one, key(vec![finding("b", Effect::Ask)]));
        assert_ne!(one, key(vec![finding("a", Effect::Ask), finding("b", Effect::Ask)]));
        assert_eq!(key(Vec::new()), "");
    }
}
