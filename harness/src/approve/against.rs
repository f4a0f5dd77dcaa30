//! What stands against a call, as it is kept between a question and its answer.

use framegate_guard::decision::Decision;
use framegate_guard::finding::{Effect, Finding, NextStep};
use serde::{Deserialize, Serialize};

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Against {
    check: String,
    effect: Kind,
    reason: String,
    because: String,
    is_rule: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ask,
    Deny,
    Unevaluated,
}

impl Against {
    /// All that stands against a call.
    pub(crate) fn of(decision: &Decision) -> Vec<Against> {
        let one = |finding: &Finding| Against {
            check: finding.check.clone(),
            effect: match finding.effect {
                Effect::Ask => Kind::Ask,
                Effect::Deny => Kind::Deny,
                Effect::Unevaluated => Kind::Unevaluated,
            },
            reason: finding.reason.clone(),
            because: finding.because.clone(),
            is_rule: finding.is_rule,
        };
        decision.findings.iter().filter(|finding| !finding.monitor).map(one).collect()
    }

    /// The finding.
    pub(crate) fn finding(&self) -> Finding {
        let effect = match self.effect {
            Kind::Ask => Effect::Ask,
            Kind::Deny => Effect::Deny,
            Kind::Unevaluated => Effect::Unevaluated,
        };
        let finding = Finding::new(&self.check, effect, NextStep::TellUser, self.reason.as_str());
        Finding { because: self.because.clone(), is_rule: self.is_rule, ..finding }
    }
}
