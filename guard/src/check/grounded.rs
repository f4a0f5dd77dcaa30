//! `arguments_grounded`: what `ground` names is written in the conversation, by somebody whose words count.

use super::trail::{Place, Traced, Trail};
use super::values::VALUES_MAX;
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::Provenance;
use crate::policy::provenance::{From, Ground, ToolValues};
use crate::session::Session;

/// The check's name.
pub(crate) const NAME: &str = "arguments_grounded";

/// Values that a reason tells; the others are counted.
const TOLD_MAX: usize = 8;

/// Judges what was looked for.
pub(crate) fn check(trail: &Trail<'_>, options: &Provenance, session: &Session, findings: &mut Vec<Finding>) {
    let unevaluated = |why: String| Finding::new(NAME, Effect::Unevaluated, NextStep::NotEvaluated, why);
    if trail.is_cut {
        let why = format!("the call has more than {VALUES_MAX} values that must be in the conversation");
        findings.push(unevaluated(why));
    }
    let mut broken: Vec<&str> = Vec::new();
    for why in
        trail.values.iter().filter(|traced| traced.is_missing()).filter_map(|traced| traced.broke.as_deref())
    {
        // One program for many values is broken once.
        if !broken.contains(&why) {
            broken.push(why);
            findings.push(unevaluated(why.to_owned()));
        }
    }
    let goes_to_a_person =
        |traced: &Traced<'_>| traced.by_tool.is_some() && options.tool_values == ToolValues::Ask;
    let missing = trail.values.iter().filter(|traced| traced.is_missing() && traced.broke.is_none());
    let (unknown, missing): (Vec<_>, Vec<_>) = missing
        .filter(|traced| !goes_to_a_person(traced))
        .partition(|traced| !session.knows_user() && traced.ground.from.user && !traced.is_blank);
    if let Some(reason) =
        told(&unknown, "nobody told what the user said, so whether these are theirs is not known")
    {
        findings.push(unevaluated(reason));
    }
    let groups = grouped(&missing);
    for (ground, group) in groups {
        let Some(reason) = told(&group, &nowhere(&ground)) else { continue };
        let evidence = group.iter().filter_map(|traced| {
            let place = traced.too_old.as_ref().or(traced.by_tool.as_ref())?;
            Some(place.evidence(&traced.named.path))
        });
        findings.push(Finding {
            evidence: evidence.collect(),
            ..Finding::new(NAME, ground.otherwise.into(), next(&ground, &group), reason)
        });
    }
}

/// Those whose values count in the same words, in the order of the first of each.
fn grouped<'t, 'a>(missing: &[&'t Traced<'a>]) -> Vec<(Ground, Vec<&'t Traced<'a>>)> {
    let mut groups: Vec<(Ground, Vec<&Traced<'a>>)> = Vec::new();
    for traced in missing {
        let ground = &traced.ground;
        let same = |(other, _): &&mut (Ground, Vec<_>)| {
            (other.from, other.last, other.otherwise) == (ground.from, ground.last, ground.otherwise)
        };
        match groups.iter_mut().find(same) {
            Some((_, group)) => group.push(traced),
            None => groups.push((ground.clone(), vec![traced])),
        }
    }
    groups
}

/// Where a tool gave all of them and none counts, to copy them more exactly would not help.
fn next(ground: &Ground, group: &[&Traced<'_>]) -> NextStep {
    let is_tools = |traced: &&Traced<'_>| traced.by_tool.is_some() && traced.too_old.is_none();
    if !ground.from.tool && group.iter().all(is_tools) {
        NextStep::NotFromTools
    } else {
        NextStep::UseAsWritten
    }
}

fn nowhere(ground: &Ground) -> String {
    let whose = if ground.from == From::default() {
        "not in the conversation".to_owned()
    } else {
        let names: Vec<&str> = ground.from.names().collect();
        let fact = if ground.from.facts { ", and no fact" } else { "" };
        format!("not in the words of the {}{fact}", names.join(" or the "))
    };
    match ground.last {
        Some(1) => format!("{whose}, of the user's only the last message counts"),
        Some(last) => format!("{whose}, of the user's only the last {last} messages count"),
        None => whose,
    }
}

/// `HEAD: `to` "A", `n` 5 (empty)`
fn told(values: &[&Traced<'_>], head: &str) -> Option<String> {
    if values.is_empty() {
        return None;
    }
    let one = |traced: &&Traced<'_>| {
        let places = [traced.too_old.as_ref(), traced.by_tool.as_ref()];
        let places: Vec<String> = places.into_iter().flatten().map(Place::shown).collect();
        match &*places {
            _ if traced.is_blank => format!("{} (empty)", traced.named.shown()),
            [] => traced.named.shown(),
            places => format!("{} (only in {})", traced.named.shown(), places.join(" and ")),
        }
    };
    let mut all: Vec<String> = values.iter().take(TOLD_MAX).map(one).collect();
    if values.len() > TOLD_MAX {
        all.push(format!("and {} more", values.len() - TOLD_MAX));
    }
    Some(format!("{head}: {}", all.join(", ")))
}
