//! The policy's rules, in deciding order.

use super::env::CallEnv;
use super::met::{Met, worlds};
use super::purse::Purse;
use crate::cel::{Expression, Failure};
use crate::finding::Finding;
use crate::policy::{BoundRule, Mode};

/// Variables that stand for the arguments: a rule that reads one makes no sense where they are not valid.
const OF_ARGUMENTS: [&str; 4] = ["args", "defs", "payload", "texts"];

/// Judges the call by each rule. Where the arguments are not valid, only rules that read none are evaluated.
pub(crate) fn check<'a>(
    rules: &[&'a BoundRule],
    env: &'a CallEnv<'a>,
    are_valid: bool,
    purse: &mut Purse<'a>,
    findings: &mut Vec<Finding>,
) {
    for bound in rules.iter().filter(|bound| !bound.rule.has_effects_only) {
        if !are_valid && reads_arguments(bound) {
            continue;
        }
        if let Some(mut finding) = judge(bound, env, purse) {
            finding.monitor |= bound.rule.mode == Mode::Monitor;
            findings.push(finding);
        }
    }
}

/// Whether a rule's conditions read the arguments.
pub(crate) fn reads_arguments(bound: &BoundRule) -> bool {
    bound.when.iter().chain([&bound.that]).any(|condition| reads_of_arguments(condition))
}

pub(crate) fn reads_of_arguments(expression: &Expression) -> bool {
    let reads = expression.reads();
    reads.variables.iter().any(|name| OF_ARGUMENTS.contains(&name.as_str())) || !reads.programs.is_empty()
}

fn conditions(bound: &BoundRule) -> impl Iterator<Item = &Expression> + Clone {
    bound.when.iter().chain([&bound.that]).map(|condition| &**condition)
}

/// It must hold in every state that may be.
fn judge<'a>(bound: &'a BoundRule, env: &'a CallEnv<'a>, purse: &mut Purse<'a>) -> Option<Finding> {
    let Some(view) = env.state else { return found(bound, env, once(bound, env, purse)) };
    let mut worst = Held::Holds;
    let visited = worlds(view, conditions(bound), purse, &mut |purse| {
        let held = once(bound, env, purse);
        if held.is_worse(&worst) {
            worst = held;
        }
    });
    match visited {
        Ok(()) => found(bound, env, worst),
        Err(failure) => found(bound, env, Held::Unknown("that", failure)),
    }
}

/// What a rule comes to in one state.
enum Held {
    Holds,
    Unknown(&'static str, Failure),
    Fails,
}

impl Held {
    fn is_worse(&self, than: &Held) -> bool {
        let rank = |held: &Held| match held {
            Held::Holds => 0,
            Held::Unknown(..) => 1,
            Held::Fails => 2,
        };
        rank(self) > rank(than)
    }
}

fn once<'a>(bound: &'a BoundRule, env: &'a CallEnv<'a>, purse: &mut Purse<'a>) -> Held {
    let mut holds = |condition: &'a Expression| purse.holds(&bound.rule.name, condition, env);
    if let Some(when) = &bound.when {
        match holds(when) {
            Ok(false) => return Held::Holds,
            Ok(true) => {}
            Err(failure) => return Held::Unknown("when", failure),
        }
    }
    match holds(&bound.that) {
        Ok(true) => Held::Holds,
        Ok(false) => Held::Fails,
        Err(failure) => Held::Unknown("that", failure),
    }
}

/// An error inside a rule is never an allow: it asks.
fn found(bound: &BoundRule, env: &CallEnv<'_>, held: Held) -> Option<Finding> {
    let met = || env.state.map(|view| Met::of(view, conditions(bound))).unwrap_or_default();
    match held {
        Held::Holds => None,
        Held::Unknown(part, failure) => Some(met().unevaluated(&bound.rule.name, part, &failure)),
        Held::Fails => Some(failed(bound, env, &met())),
    }
}

fn failed(bound: &BoundRule, env: &CallEnv<'_>, met: &Met) -> Finding {
    let rule = &bound.rule;
    let own = format!("`{}` does not hold", bound.that.source());
    let because = if rule.because.is_empty() { &own } else { &rule.because };
    let mut finding = met.failed(&rule.name, rule.otherwise, because, rule.advice.clone());
    for said in bound.that.reads().programs.iter().filter_map(|program| env.objection(program)) {
        finding.reason = format!("{} ({said})", finding.reason);
    }
    // Without the author's words the model is told the rule's name and what it says, as ever.
    if rule.because.is_empty() { Finding { because: String::new(), ..finding } } else { finding }
}
