//! Decisions by a policy of praxiom: its machine is one check more, and its words are the whole refusal.

use std::borrow::Cow;
use std::sync::Arc;

use super::Guard;
use crate::decision::Decision;
use crate::finding::{Effect, Finding, NextStep};
use crate::json::Value;
use crate::ledger::{Snapshot, Transition};
use crate::policy::Policy;
use crate::praxiom::{self, Dialect, Praxiom};

/// Before the name of a guard, an invariant or a variable in a finding: no action can be called like a check of ours.
const CHECK: &str = "praxiom:";

impl Guard {
    /// Tools are called by their whole names (`fs__read_file`), as a policy of praxiom names them. Means nothing under
    /// another policy.
    #[must_use]
    pub fn with_whole_names(mut self) -> Guard {
        self.has_whole_names = true;
        self
    }

    /// What a policy of praxiom calls a tool, and its server.
    #[must_use]
    pub fn whole_name<'t>(&'t self, tool: &'t str) -> (Cow<'t, str>, &'t str) {
        match tool.split_once("__").filter(|_| self.has_whole_names) {
            Some((server, _)) => (tool.into(), server),
            None if self.has_whole_names => (tool.into(), &self.server),
            None => (Praxiom::prefixed(&self.server, tool).into(), &self.server),
        }
    }

    /// Asks the machine of such a policy; what it finds joins the findings.
    pub(super) fn by_praxiom(
        &self,
        tool: &str,
        arguments: Value<'_>,
        past: &Snapshot<'_>,
        findings: &mut Vec<Finding>,
    ) -> Option<Arc<Transition>> {
        let praxiom = self.policy.praxiom()?;
        let (tool, upstream) = self.whole_name(tool);
        let call = praxiom::Call { tool: &tool, upstream, arguments: Some(arguments) };
        let step = praxiom.step(past.remembered().praxiom(), &call);
        findings.extend(step.denied.map(|denied| {
            let check = format!("{CHECK}{}", denied.rule.as_deref().unwrap_or("state"));
            let finding = Finding::new(&check, Effect::Deny, NextStep::TellUser, denied.reason);
            Finding { is_rule: true, ..finding }
        }));
        Some(Arc::new(Transition::Praxiom(Arc::new(step.transition))))
    }

    /// The refusal in that gateway's words, where its machine is why.
    pub(super) fn said_by_praxiom(&self, decision: &Decision) -> Option<String> {
        self.policy.praxiom()?;
        let denied = decision.standing().find(|finding| is_praxioms(finding))?;
        Some(praxiom::refusal(&self.whole_name(&decision.tool).0, &denied.reason))
    }

    /// What an error of the policy that is about no one tool does to every call: that gateway cannot ask anybody.
    pub(super) fn effect_of_faults(&self) -> Effect {
        if self.policy.praxiom().is_some() { Effect::Deny } else { Effect::Ask }
    }

    /// Whether doubts about a tool's definition count: the original looks at none.
    pub(super) fn doubts_definitions(&self) -> bool {
        dialect(&self.policy) != Some(Dialect::Original)
    }
}

fn dialect(policy: &Policy) -> Option<Dialect> {
    policy.praxiom().map(|praxiom| praxiom.dialect())
}

fn is_praxioms(finding: &Finding) -> bool {
    finding.is_rule && finding.effect == Effect::Deny && finding.check.starts_with(CHECK)
}
