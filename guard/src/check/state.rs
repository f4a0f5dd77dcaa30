//! What a call does to the state, and whether the state that it would make may be.

use std::sync::Arc;

use super::env::CallEnv;
use super::met::{Met, worlds};
use super::purse::Purse;
use super::rules::{reads_arguments, reads_of_arguments};
use crate::cel::Failure;
use crate::finding::{Effect, Finding, NextStep};
use crate::json::Document;
use crate::ledger::Transition;
use crate::policy::{BoundEffect, BoundRule, Invariant, Mode};
use crate::state::{After, AfterCall, Belief, Changed, Effects, Kind, Noted, Refused, Value, View, add};
use crate::world::{Instant, Unknown};

/// The check that no variable goes beyond what it can hold.
pub(crate) const OVERFLOW: &str = "state_overflow";

/// What a call does to the state, and that state before and after.
pub(crate) type Outcome = (Option<Arc<Transition>>, Arc<Noted>);

/// What a call is, beside the arguments that are sent.
pub(crate) struct Of<'a> {
    pub(crate) server: &'a Arc<str>,
    pub(crate) now: Result<Instant, Unknown>,
    pub(crate) are_valid: bool,
}

/// What the rules make of the state, and whether it holds by the invariants. `purse` was the rules'.
pub(crate) fn check<'a>(
    rules: &[&'a BoundRule],
    env: &'a CallEnv<'a>,
    of: Of<'a>,
    mut purse: Purse<'a>,
    findings: &mut Vec<Finding>,
) -> Option<Outcome> {
    let view = env.state?;
    let mut noted = Noted { before: view.noted(), after: Vec::new() };
    view.change();
    if !view.is_quiet() {
        purse.forget();
    }
    let mut making = Making { env, view, of, changed: Vec::new(), after: Vec::new(), findings };
    for bound in rules.iter().filter(|bound| !(bound.set.is_empty() && bound.after.is_empty())) {
        making.rule(bound, &mut purse);
    }
    noted.after = making.made();
    let Making { changed, after, of, .. } = making;
    if !env.policy.invariants().is_empty() {
        invariants(env, &view.after(&noted.after), &purse, findings);
    }
    let effects = Effects {
        machine: Arc::clone(env.policy.machine()),
        tool: env.tool.into(),
        call: (!after.is_empty()).then(|| call_of(env, &of, &after)),
        changed,
        after,
    };
    let transition = (!effects.is_empty()).then(|| Arc::new(Transition::Native(Arc::new(effects))));
    Some((transition, Arc::new(noted)))
}

/// What the effects of an answer read of its call.
fn call_of(env: &CallEnv<'_>, of: &Of<'_>, after: &[After]) -> AfterCall {
    let reads_time = after.iter().any(|after| after.expression.reads().variables.contains("now"));
    AfterCall {
        arguments: env.arguments.document().source().slice(env.arguments.span()),
        facts: env.facts.clone(),
        server: Arc::clone(of.server),
        now: if reads_time { env.world.now() } else { of.now.clone() },
    }
}

struct Making<'a, 'f> {
    env: &'a CallEnv<'a>,
    view: &'a View<'a>,
    of: Of<'a>,
    changed: Vec<Changed>,
    after: Vec<After>,
    findings: &'f mut Vec<Finding>,
}

/// What one effect gives in one state; `None`: its rule is not for the call there.
type Given = Result<Option<Value>, Wrong>;

#[derive(Debug, Clone, PartialEq)]
enum Wrong {
    Failed(Failure),
    Refused(Refused),
}

impl<'a> Making<'a, '_> {
    fn rule(&mut self, bound: &'a BoundRule, purse: &mut Purse<'a>) {
        for effect in &bound.set {
            let belief = match self.given(bound, effect, purse) {
                Ok(None) => continue,
                Ok(Some(belief)) => belief,
                Err(wrong) => {
                    let why = self.wrong(bound, effect, &wrong);
                    Belief::unknown(why)
                }
            };
            let now = self.of.now.as_ref().ok().copied();
            let is_undone = bound.rule.effects.is_undone;
            add(&mut self.changed, Changed::of(&effect.variable, belief, now, is_undone));
        }
        self.answers(bound, purse);
    }

    /// What an effect gives, in all the states that may be.
    fn given(
        &self,
        bound: &'a BoundRule,
        effect: &'a BoundEffect,
        purse: &mut Purse<'a>,
    ) -> Result<Option<Belief>, Wrong> {
        if !self.of.are_valid && (reads_arguments(bound) || reads_of_arguments(&effect.value)) {
            return Err(Wrong::Failed(Failure::unknown("the arguments are not valid")));
        }
        let read = || bound.when.as_deref().into_iter().chain([&*effect.value]);
        let mut given: Vec<Given> = Vec::new();
        worlds(self.view, read(), purse, &mut |purse| given.push(self.in_one(bound, effect, purse)))
            .map_err(Wrong::Failed)?;
        let first = given.first().cloned().unwrap_or(Ok(None));
        if given.iter().all(|other| *other == first) {
            return first.map(|value| value.map(Belief::Known));
        }
        if let Some(wrong) = given.into_iter().find_map(Result::err) {
            return Err(wrong);
        }
        let uncertain = || Belief::unknown("it depends on what is not certain");
        Ok(Some(if effect.variable.kind == Kind::Bool { Belief::Either } else { uncertain() }))
    }

    fn in_one(&self, bound: &'a BoundRule, effect: &'a BoundEffect, purse: &mut Purse<'a>) -> Given {
        let name = bound.rule.name.as_str();
        if let Some(when) = &bound.when
            && !purse.holds(name, when, self.env).map_err(Wrong::Failed)?
        {
            return Ok(None);
        }
        let value = purse.value(name, &effect.value, self.env).map_err(Wrong::Failed)?;
        Value::of(&value, effect.variable.kind).map(Some).map_err(Wrong::Refused)
    }

    /// The effects of the answer, where the rule is for this call, or may be.
    fn answers(&mut self, bound: &'a BoundRule, purse: &mut Purse<'a>) {
        if bound.after.is_empty() {
            return;
        }
        let mut is_for: Vec<Result<bool, Failure>> = Vec::new();
        let found = match &bound.when {
            None => {
                is_for.push(Ok(true));
                Ok(())
            }
            Some(_) if !self.of.are_valid && reads_arguments(bound) => {
                Err(Failure::unknown("the arguments are not valid"))
            }
            Some(when) => worlds(self.view, [&**when].into_iter(), purse, &mut |purse| {
                is_for.push(purse.holds(&bound.rule.name, when, self.env));
            }),
        };
        if let Some(failure) = found.err().or_else(|| is_for.iter().find_map(|one| one.clone().err())) {
            self.unevaluated(bound, "when", &failure.message);
            is_for = vec![Ok(true), Ok(false)];
        }
        if is_for.iter().all(|one| *one == Ok(false)) {
            return;
        }
        let is_certain = is_for.iter().all(|one| *one == Ok(true));
        let rule: Arc<str> = bound.rule.name.as_str().into();
        self.after.extend(bound.after.iter().map(|effect| After {
            rule: Arc::clone(&rule),
            variable: Arc::clone(&effect.variable),
            expression: Arc::clone(&effect.value),
            lost: effect.lost.clone(),
            is_certain,
        }));
    }

    /// What is wrong with an effect, as a finding; and in words.
    fn wrong(&mut self, bound: &BoundRule, effect: &BoundEffect, wrong: &Wrong) -> String {
        let name = &effect.variable.name;
        match wrong {
            Wrong::Refused(refused @ Refused::Overflow(_)) => {
                self.overflow(&bound.rule.name, bound.rule.mode, name, refused)
            }
            Wrong::Refused(refused) => {
                self.unevaluated(bound, &format!("set` of `{name}"), &refused.to_string())
            }
            Wrong::Failed(failure) => self.unevaluated(bound, &format!("set` of `{name}"), &failure.message),
        }
    }

    fn overflow(&mut self, rule: &str, mode: Mode, variable: &str, why: &Refused) -> String {
        let reason = format!("{rule}: `state.{variable}` cannot hold what this call makes of it: {why}");
        let finding = Finding::new(OVERFLOW, Effect::Deny, NextStep::TellUser, reason);
        self.findings.push(Finding { monitor: mode == Mode::Monitor, ..finding });
        why.to_string()
    }

    fn unevaluated(&mut self, bound: &BoundRule, part: &str, why: &str) -> String {
        let rule = &bound.rule;
        let reason = format!("{}: cannot be evaluated, `{part}` failed: {why}", rule.name);
        let is_told = self.findings.iter().any(|finding| finding.reason == reason);
        if !is_told {
            let finding = Finding::new(&rule.name, Effect::Unevaluated, NextStep::NotEvaluated, reason);
            self.findings.push(Finding { is_rule: true, monitor: rule.mode == Mode::Monitor, ..finding });
        }
        why.to_owned()
    }

    /// What each changed variable would hold.
    fn made(&mut self) -> Vec<(Arc<str>, Belief)> {
        let mut made: Vec<(Arc<str>, Belief)> = Vec::new();
        let mut refused = Vec::new();
        for changed in &self.changed {
            let name = &changed.variable.name;
            let known = made.iter().position(|(other, _)| other == name);
            let before = match known.and_then(|at| made.get(at)) {
                Some((_, belief)) => belief.clone(),
                None => self.view.seen(name).map(|(_, seen)| seen.belief.clone()).unwrap_or(Belief::Either),
            };
            let after = changed.apply(before).unwrap_or_else(|why| {
                let belief = Belief::unknown(why.to_string());
                refused.push((Arc::clone(name), why));
                belief
            });
            match known.and_then(|at| made.get_mut(at)) {
                Some((_, belief)) => *belief = after,
                None => made.push((Arc::clone(name), after)),
            }
        }
        for (name, why) in refused {
            self.overflow("state", Mode::Enforce, &name, &why);
        }
        made.sort_by(|(a, _), (b, _)| a.cmp(b));
        made
    }
}

/// The invariants, in the state that the call would make.
fn invariants(env: &CallEnv<'_>, next: &View<'_>, purse: &Purse<'_>, findings: &mut Vec<Finding>) {
    let nothing = Document::empty_object();
    let mut own =
        CallEnv::new((env.policy, env.server, env.tool), nothing.root(), env.facts, env.session, env.world);
    own.state = Some(next);
    let mut purse = purse.rest();
    for invariant in env.policy.invariants() {
        let found = holds(invariant, &own, next, &mut purse);
        findings.extend(found.map(|finding| Finding {
            is_rule: true,
            monitor: invariant.mode == Mode::Monitor,
            ..finding
        }));
    }
}

fn holds<'a>(
    invariant: &'a Invariant,
    env: &'a CallEnv<'a>,
    next: &View<'_>,
    purse: &mut Purse<'a>,
) -> Option<Finding> {
    let (name, that) = (invariant.name.as_str(), &*invariant.that.expression);
    let mut held: Vec<Result<bool, Failure>> = Vec::new();
    let found = worlds(next, [that].into_iter(), purse, &mut |purse| held.push(purse.holds(name, that, env)));
    if held.contains(&Ok(false)) {
        let met = Met::of(next, [that].into_iter());
        let because = match invariant.because.as_str() {
            "" => format!("the call would make a state in which `{}` does not hold", that.source()),
            because => because.to_owned(),
        };
        return Some(met.failed(name, invariant.otherwise, &because, invariant.advice.clone()));
    }
    let failure = found.err().or_else(|| held.into_iter().find_map(Result::err))?;
    let met = Met::of(next, [that].into_iter());
    Some(met.unevaluated(name, "that", &failure))
}
