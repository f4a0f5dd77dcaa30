//! `arguments_from_user`: a value that only a tool gave, where the user's words were asked for; a person decides.

use super::trail::{Trail, first_tainted, says, shown};
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::policy::provenance::{Instructions, ToolValues};
use crate::session::Session;

/// The check's name.
pub(crate) const NAME: &str = "arguments_from_user";

/// Judges what was looked for.
pub(crate) fn check(trail: &Trail<'_>, options: &Provenance, session: &Session, findings: &mut Vec<Finding>) {
    if options.tool_values == ToolValues::Deny {
        return;
    }
    let only_by_tools = trail.values.iter().filter(|traced| traced.is_missing() && traced.broke.is_none());
    for traced in only_by_tools {
        let Some(place) = &traced.by_tool else { continue };
        let names: Vec<&str> = traced.ground.from.names().collect();
        let mut reason = format!(
            "{} is not in the words of the {}, only in {}",
            traced.named.shown(),
            names.join(" or the "),
            place.shown()
        );
        // Whoever decides should know what else was said there.
        let own = place.kept.carries_instructions().then_some(place.kept);
        let tainted = own.or_else(|| first_tainted(session));
        if let Some(kept) = tainted.filter(|_| options.instructions() != Instructions::Off) {
            let whose = if own.is_some() { "which".to_owned() } else { shown(kept) };
            reason = format!("{reason}, {whose} {}", says(kept));
        }
        findings.push(Finding {
            evidence: vec![place.evidence(&traced.named.path)],
            ..Finding::new(NAME, Effect::Ask, NextStep::NotFromTools, reason)
        });
    }
}
