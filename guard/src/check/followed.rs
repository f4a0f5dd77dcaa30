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
    let all = env.session.left().chain(env.session.spoken());
    let mut kept: Vec<&Kept> = all.filter(|kept| kept.role().is_some()).collect();
    kept.sort_by_key(|kept| kept.number());
    let heard: Vec<Heard<'_>> = kept.iter().filter_map(|kept| told(kept)).collect();
    let seems = || is_read_only == Some(false) || flow::acts(env.tool, env.arguments);
    let acts = options.acts.unwrap_or_else(seems);
    let (tool, arguments, user_known) = (env.tool, env.arguments, env.session.knows_user());
    let found = flow::judge(&Flowing { heard: &heard, tool, acts, arguments, user_known });
    let is_lost = acts && env.session.is_left_lost();
    let Some(flow) = found.or_else(|| is_lost.then(flow::lost)) else { return };
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
