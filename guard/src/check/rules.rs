//! The policy's rules, in deciding order.

use super::env::CallEnv;
use super::purse::Purse;
use crate::cel::{Env, Expression, Failure};
use crate::finding::{Effect, Finding, NextStep};
use crate::policy::{BoundRule, Mode, Otherwise};

/// Variables that stand for the arguments: a rule that reads one makes no sense where they are not valid.
const OF_ARGUMENTS: [&str; 4] = ["args", "defs", "payload", "texts"];

/// Judges the call by each rule. Where the arguments are not valid, only rules that read none are evaluated.
pub(crate) fn check<'r>(
    rules: impl IntoIterator<Item = &'r BoundRule>,
    env: &CallEnv<'_>,
    are_valid: bool,
    findings: &mut Vec<Finding>,
) {
    let mut purse = Purse::default();
    for bound in rules {
        let reads_arguments = || {
            let conditions = bound.when.iter().chain(std::iter::once(&bound.that));
            conditions
                .flat_map(|condition| &condition.reads().variables)
                .any(|name| OF_ARGUMENTS.contains(&name.as_str()))
        };
        if !are_valid && reads_arguments() {
            continue;
        }
        if let Some(mut finding) = judge(bound, env, &mut purse) {
            finding.monitor |= bound.rule.mode == Mode::Monitor;
            findings.push(finding);
        }
    }
}

fn judge<'a>(bound: &'a BoundRule, env: &'a dyn Env, purse: &mut Purse<'a>) -> Option<Finding> {
    let mut holds = |condition: &'a Expression| purse.holds(&bound.rule.name, condition, env);
    if let Some(when) = &bound.when {
        match holds(when) {
            Ok(false) => return None,
            Ok(true) => {}
            Err(failure) => return Some(unevaluated(bound, "when", &failure)),
        }
    }
    match holds(&bound.that) {
        Ok(true) => None,
        Ok(false) => Some(failed(bound)),
        Err(failure) => Some(unevaluated(bound, "that", &failure)),
    }
}

fn failed(bound: &BoundRule) -> Finding {
    let rule = &bound.rule;
    let effect = match rule.otherwise {
        Otherwise::Ask => Effect::Ask,
        Otherwise::Deny => Effect::Deny,
    };
    let reason = match rule.because.as_str() {
        "" => format!("{}: `{}` does not hold", rule.name, bound.that.source()),
        because => format!("{}: {because}", rule.name),
    };
    Finding {
        because: rule.because.clone(),
        advice: rule.advice.clone(),
        is_rule: true,
        ..Finding::new(&rule.name, effect, NextStep::TellUser, reason)
    }
}

/// An error inside a rule is never an allow: it asks.
fn unevaluated(bound: &BoundRule, part: &str, failure: &Failure) -> Finding {
    let rule = &bound.rule;
    let what = if failure.unknown { "is unknown" } else { "failed" };
    let reason = format!("{}: cannot be evaluated, `{part}` {what}: {}", rule.name, failure.message);
    Finding { is_rule: true, ..Finding::new(&rule.name, Effect::Unevaluated, NextStep::NotEvaluated, reason) }
}
