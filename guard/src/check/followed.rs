//! `no_followed_instructions`: the call does not do what a tool output asks for, nor takes its values from there.

use super::env::CallEnv;
use super::trail::Place;
use crate::finding::{Effect, Finding, NextStep};
use crate::flow::{self, Flowing, Heard};
use crate::policy::Provenance;
use crate::policy::provenance::Instructions;
use crate::session::Kept;

/// The check's name.
pub(crate) const NAME: &str = "no_followed_instructions";

/// `is_read_only`: what the server says of the tool. Only that it is not counts: nobody can be taken at their word
/// that a tool does no harm.
pub(crate) fn check(
    env: &CallEnv<'_>,
    options: &Provenance,
    is_read_only: Option<bool>,
    findings: &mut Vec<Finding>,
) {
    if options.instructions() != Instructions::Flow {
        return;
    }
    let kept: Vec<&Kept> = env.session.messages().filter(|kept| kept.role().is_some()).collect();
    let heard: Vec<Heard<'_>> = kept.iter().filter_map(|kept| told(kept)).collect();
    let acts = is_read_only == Some(false) || flow::acts(env.tool, env.arguments);
    let (tool, arguments, user_known) = (env.tool, env.arguments, env.session.knows_user());
    let Some(flow) = flow::judge(&Flowing { heard: &heard, tool, acts, arguments, user_known }) else {
        return;
    };
    let about = flow.argument.as_deref().unwrap_or("call");
    let places = flow.evidence.iter().enumerate().filter_map(|(nth, (at, range))| {
        let place = Place { kept: kept.get(*at)?, range: range.clone() };
        Some(place.evidence(if nth == 0 { "instructions" } else { about }))
    });
    findings.push(Finding {
        evidence: places.collect(),
        ..Finding::new(NAME, Effect::Ask, NextStep::NotFollow, flow.reason)
    });
}

fn told(kept: &Kept) -> Option<Heard<'_>> {
    Some(Heard {
        role: kept.role()?,
        tool: kept.tool(),
        arguments: kept.arguments(),
        text: kept.text(),
        index: kept.index(),
    })
}
