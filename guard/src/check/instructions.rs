//! `no_instructions_in_tool_outputs`: nothing in the conversation's tool outputs reads like an instruction.

use super::trail::{first_passage, first_tainted, says, shown};
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::policy::provenance::Instructions;
use crate::session::Session;

/// The check's name.
pub(crate) const NAME: &str = "no_instructions_in_tool_outputs";

/// Asks while there is any.
pub(crate) fn check(options: &Provenance, session: &Session, findings: &mut Vec<Finding>) {
    if options.instructions() != Instructions::Any {
        return;
    }
    let Some(kept) = first_tainted(session) else { return };
    let reason = format!("{} {}", shown(kept), says(kept));
    findings.push(Finding {
        evidence: first_passage(kept).iter().map(|place| place.evidence("instructions")).collect(),
        ..Finding::new(NAME, Effect::Ask, NextStep::NotFollow, reason)
    });
}
