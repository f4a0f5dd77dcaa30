//! The decision on a call: which checks run, and on what.

use std::sync::Arc;

use super::{Call, Guard};
use crate::authorize::InRust;
use crate::catalogue::Tool;
use crate::check::arguments::{self, Checked};
use crate::check::env::CallEnv;
use crate::check::provenance::{self, Input};
use crate::check::purse::Purse;
use crate::check::{
    authorized, confirmed, followed, grounded, injected, instructions, once, rules, state, tool_values,
};
use crate::decision::{APPROVAL, Decision};
use crate::finding::{Effect, Finding, NextStep};
use crate::json::{Document, Value};
use crate::ledger::{Snapshot, Transition};
use crate::policy::{Arguments, BoundRule, Definitions, Mode, ToolOptions};
use crate::proposal::CallKey;
use crate::rust_rule::RuleInput;
use crate::schema::{Coerced, Schema};
use crate::session::Session;
use crate::state::{Noted, View};
use crate::world::{Recorded, Unknown, World};

/// The check that a tool is offered at all.
const KNOWN_TOOL: &str = "known_tool";
/// The check that a tool is what it was when it was first listed.
const TOOL_CERTAIN: &str = "tool_certain";
/// The check that a tool's definition gives the model no orders.
const DEFINITION_CLEAN: &str = "definition_clean";
/// What the model reads of it. The passage itself stands in the warning at the listing alone: quoted here, the order
/// would reach the model after all.
const INSTRUCTS: &str = "the server's definition of this tool reads like an instruction to you";
/// The check that the policy makes sense for a tool.
const POLICY_FITS: &str = "policy_fits";
/// How the reason begins that is about no one tool.
const IN_ERROR: &str = "the policy is in error, so nothing can be told for certain: ";

/// The guard's own checks: no rule may be called like one.
const CHECKS: [&str; 16] = [
    state::OVERFLOW,
    KNOWN_TOOL,
    TOOL_CERTAIN,
    DEFINITION_CLEAN,
    POLICY_FITS,
    arguments::SCHEMA,
    arguments::NAME,
    grounded::NAME,
    tool_values::NAME,
    injected::NAME,
    instructions::NAME,
    followed::NAME,
    once::NAME,
    confirmed::NAME,
    authorized::NAME,
    APPROVAL,
];

/// Whether one of the guard's own checks is called so.
pub(crate) fn is_check(name: &str) -> bool {
    CHECKS.contains(&name)
}

/// What judging a call comes to.
#[derive(Default)]
struct Judged {
    findings: Vec<Finding>,
    /// What was rewritten in its arguments.
    coerced: Option<(Coerced, Document)>,
    /// What it lacks, where that is all that is wrong with its arguments.
    missing: Vec<String>,
    /// The state before and after it.
    state: Option<Arc<Noted>>,
    /// Nothing for a call that is judged no further.
    made_as: Option<CallKey>,
    /// What it does to the state.
    transition: Option<Arc<Transition>>,
}

/// By what a call is known that was made before: what is not sent is what the schema gives for it. `None`: that is
/// too much work to say.
fn made_as(tool: &str, arguments: Value<'_>, schema: Option<&Schema>) -> Option<CallKey> {
    match schema {
        Some(schema) => CallKey::filled(tool, arguments, schema),
        None => Some(CallKey::of(tool, arguments)),
    }
}

impl Guard {
    /// Decides on a call. `past` is what the ledger's step knows of this session.
    #[must_use]
    pub fn decide(
        &self,
        call: &Call<'_>,
        session: &Session,
        past: &Snapshot<'_>,
        world: &dyn World,
    ) -> Decision {
        let in_rust = self.authorizer.as_deref().map(|authorizer| InRust { authorizer, inner: world });
        let recorded = Recorded::new(in_rust.as_ref().map_or(world, |in_rust| in_rust));
        let mut judged = Judged::default();
        self.judge(call, session, past, &recorded, &mut judged);
        let Judged { mut findings, coerced, missing, made_as, state, transition } = judged;
        let monitors = self.is_monitoring() || self.tool_monitors(call.tool);
        if monitors {
            findings.iter_mut().for_each(|finding| finding.monitor = true);
        }
        // Monitoring changes no byte: rules saw the repaired values, the server gets what was written.
        let sent = coerced.as_ref().filter(|_| !monitors);
        let arguments = sent.map_or(call.arguments, |(_, document)| document.root());
        let mut decision = Decision::conclude(call.tool, call.id, arguments, findings);
        if let Some((coerced, _)) = coerced {
            decision.edits = if monitors { Vec::new() } else { coerced.edits };
            decision.changes = coerced.changes;
        }
        decision.made_as = made_as.unwrap_or(decision.call);
        decision.was_made = past.is_made(&decision.made_as);
        let denies = |finding: &Finding| {
            finding.effect == Effect::Deny
                && finding.check != arguments::NAME
                && (monitors || !finding.monitor)
        };
        if !decision.findings.iter().any(denies) {
            decision.missing = missing;
        }
        (decision.transition, decision.state) = (transition, state);
        decision.answers = recorded.into_answers();
        decision.policy = self.policy.digest();
        decision
    }

    /// Whether the policy only observes this tool. Where its entries contradict each other it enforces: the
    /// defaults that stand in for them may be laxer than each of them.
    fn tool_monitors(&self, tool: &str) -> bool {
        let observes = |options: &ToolOptions| options.mode == Mode::Monitor;
        match self.tool(tool) {
            Some(tool) => !tool.is_contradicted && tool.bound.options.as_deref().is_some_and(observes),
            None => self.policy.tool(&self.server, tool).as_deref().is_some_and(observes),
        }
    }

    fn judge(
        &self,
        call: &Call<'_>,
        session: &Session,
        past: &Snapshot<'_>,
        world: &dyn World,
        judged: &mut Judged,
    ) {
        let findings = &mut judged.findings;
        let options = match self.offered(call.tool) {
            Ok(options) => options,
            // What is not offered is judged no further: there is nothing to judge it by.
            Err(finding) => {
                findings.push(*finding);
                return;
            }
        };
        // Without a listing a policy still decides, by what it says itself.
        let unlisted = || Tool::unlisted(&self.policy, &self.server, call.tool, &options).map(Arc::new);
        let Some(tool) = self.tool(call.tool).cloned().or_else(unlisted) else {
            findings.push(Finding::new(
                KNOWN_TOOL,
                Effect::Deny,
                NextStep::NotOffered,
                "nothing is known of it",
            ));
            return;
        };
        if self.doubts_definitions() {
            doubts(&tool, call.tool, findings);
        }
        for fault in self.faults() {
            let reason = format!("{IN_ERROR}{fault}");
            findings.push(Finding::new(POLICY_FITS, self.effect_of_faults(), NextStep::TellUser, reason));
        }
        let schema = tool.schema.as_deref();
        let is_unknown = options.schema.is_none() && !self.lists(call.tool);
        let Checked { findings: found, coerced, are_valid, missing } = if is_unknown {
            // Only what holds for all arguments is checked. That no others may come cannot be told, and asks.
            let unchecked = ToolOptions { arguments: Arguments::Unchecked, ..(*options).clone() };
            arguments::check(&unchecked, schema.map_err(String::as_str), call.arguments)
        } else {
            arguments::check(&options, schema.map_err(String::as_str), call.arguments)
        };
        findings.extend(found);
        let decided =
            coerced.as_ref().map_or(call.arguments, |(_, document): &(_, Document)| document.root());
        // It costs as much as reading the call again: only where it is asked.
        let is_asked = are_valid && options.provenance.once;
        let made_as = if is_asked { made_as(call.tool, decided, schema.ok()) } else { None };
        let mut env =
            CallEnv::new((&self.policy, &self.server, call.tool), decided, &self.facts, session, world);
        env.schema = schema.ok();
        env.definitions = &tool.bound.definitions;
        let (options, matchers) = (&options.provenance, &*self.rust_matchers);
        let was_made = made_as.map(|made_as| past.is_made(&made_as));
        let is_read_only = self.is_read_only(call.tool);
        let input = Input { env: &env, options, matchers, are_valid, was_made, is_read_only };
        provenance::check(&input, findings);
        let machine = self.policy.machine();
        let has_state = !machine.is_empty() || !self.policy.invariants().is_empty();
        let now = if machine.reads_time() { world.now() } else { Err(Unknown("it was not asked".into())) };
        let view = has_state.then(|| View::new(machine, past.kept(), &now));
        env.state = view.as_ref();
        let env = env;
        let rules: Vec<&BoundRule> = tool.bound.rules_for(decided).collect();
        let mut purse = Purse::default();
        rules::check(&rules, &env, are_valid, &mut purse, findings);
        let of = state::Of { server: &self.server, now, are_valid };
        let (native, noted) = state::check(&rules, &env, of, purse, findings).unzip();
        judged.state = noted;
        if are_valid {
            let (facts, server, tool) = (&self.facts, &*self.server, call.tool);
            let input = RuleInput { server, tool, arguments: decided, facts, session, world };
            let named = self.rust_rules.iter().filter(|rule| rule.names(server, tool));
            findings.extend(named.filter_map(|rule| rule.judge(&input)));
            authorized::check(&env, options, self.policy.authorizer(), findings);
        }
        judged.transition = self.by_praxiom(call.tool, decided, past, findings).or(native.flatten());
        judged.made_as = made_as;
        judged.coerced = coerced;
        judged.missing = missing;
    }

    /// Whether a tool may be called at all; compared byte for byte with what the server listed.
    fn offered(&self, name: &str) -> Result<Arc<ToolOptions>, Box<Finding>> {
        let deny = |next, reason| Box::new(Finding::new(KNOWN_TOOL, Effect::Deny, next, reason));
        if let Some(catalogue) = &self.catalogue
            && catalogue.tool(name).is_none()
        {
            return Err(match catalogue.resembled(name).filter(|(listed, _)| self.offers(listed)) {
                Some((listed, how)) => {
                    // Escaped, or the two names would look the same here as well.
                    let (shown, listed) = (shown(name), shown(listed));
                    let reason =
                        format!("there is no tool `{shown}`; it could be taken for `{listed}`, but {how}");
                    deny(NextStep::NotOffered, reason)
                }
                None => deny(NextStep::NotOffered, "the server lists no tool of this name".to_owned()),
            });
        }
        let hidden = || deny(NextStep::NotOffered, "the policy does not offer this tool".to_owned());
        if self.hidden_for(name).is_some() {
            return Err(deny(NextStep::NotOffered, format!("it is not offered: {INSTRUCTS}")));
        }
        match self.options(name) {
            Some(options) if !options.hidden => Ok(options),
            _ => Err(hidden()),
        }
    }
}

/// What makes it uncertain what this tool is, or what the policy says of it.
/// The policy's errors that are about no one tool, from what was found while they were there.
pub(super) fn faults(found: &[Finding]) -> Vec<String> {
    let fits = found.iter().filter(|finding| finding.check == POLICY_FITS);
    fits.filter_map(|finding| finding.reason.strip_prefix(IN_ERROR)).map(str::to_owned).collect()
}

fn doubts(tool: &Tool, name: &str, findings: &mut Vec<Finding>) {
    let ask = |check, reason| Finding::new(check, Effect::Ask, NextStep::TellUser, reason);
    if let Some(doubt) = &tool.doubt {
        findings.push(ask(TOOL_CERTAIN, format!("`{name}`: {doubt}")));
    }
    let asks = tool.bound.options.as_ref().is_some_and(|options| options.definitions == Definitions::Ask);
    if asks && tool.instructs.is_some() {
        let reason = format!("{INSTRUCTS} (it is quoted in the warning at the listing, for people)");
        findings.push(Finding::new(DEFINITION_CLEAN, Effect::Ask, NextStep::NotFollow, reason));
    }
    for problem in &tool.bound.problems {
        let reason = format!("the policy cannot be applied to this tool: {}", problem.message());
        findings.push(ask(POLICY_FITS, reason));
    }
}

/// A name in printable ASCII, the rest as escapes.
fn shown(name: &str) -> String {
    name.chars().take(128).flat_map(char::escape_default).collect()
}
