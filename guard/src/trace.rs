//! All that a decision was made from, and the same decision made again from that alone.
//!
//! A [`Trace`] is plain data: whoever keeps records writes it down as it likes. A replay asks no file and no clock:
//! the world is what the record says it answered, and what the record does not say is unknown, so that a rule
//! which reads it asks. Under the policy of then a replay gives the decision of then; under another one it says
//! what would have been different.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;

use crate::decision::Decision;
use crate::facts::Facts;
use crate::finding::Finding;
use crate::guard::{Call, Guard};
use crate::json::{Document, Fault, Limits, Value};
use crate::ledger::{Past, Snapshot};
use crate::praxiom;
use crate::schema::Edit;
use crate::session::Session;
use crate::state::Noted;
use crate::store::chain::hex;
use crate::world::{Beyond, World};

/// How the server had listed the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedAs {
    /// Not among these.
    Missing {
        /// The names that it had listed.
        names: Vec<String>,
    },
    /// As this.
    Tool {
        /// The definition that counted, as JSON; nothing when it could not be read.
        definition: Option<Bytes>,
        /// Why it could not be relied on.
        doubt: Option<String>,
    },
    /// Its tools were not known.
    Unknown,
}

/// One decision with its inputs.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The server's name.
    pub server: String,
    /// The tool, as called.
    pub tool: String,
    /// The call's own id.
    pub call_id: Option<String>,
    /// The JSON text of the arguments, as they came.
    pub arguments: Bytes,
    /// Where they stood in the text they came in: [`Decision::edits`] count from its start.
    pub arguments_start: usize,
    /// The tool.
    pub listed: ListedAs,
    /// The facts as JSON; `None` was not given.
    pub facts: BTreeMap<String, Option<Bytes>>,
    /// What was kept of the conversation, and the calls made before.
    pub session: Session,
    /// This very call, with the schema's defaults, was made before and not known to have failed.
    pub is_made: bool,
    /// Whether [`Guard::monitoring`] was set.
    pub is_monitoring: bool,
    /// Names of the rules given in Rust, then those of the matchers. What they do is not in the record.
    pub rust_rules: Vec<String>,
    /// The state under a policy of praxiom; nothing under one of our own, which has it in its decision.
    pub praxiom: Option<PraxiomTrace>,
    /// What was decided: findings, what the world answered, the policy's digest, an approval.
    pub decision: Decision,
}

/// What a policy of praxiom remembered before a call, and what followed.
#[derive(Debug, Clone)]
pub struct PraxiomTrace {
    /// Before.
    pub met: praxiom::Past,
    /// [`praxiom::Transition::record`]
    pub record: String,
}

impl PraxiomTrace {
    /// From what a record says of it.
    ///
    /// # Errors
    /// It is not what this version writes.
    pub fn of(record: &str) -> Result<PraxiomTrace, praxiom::StateError> {
        Ok(PraxiomTrace { met: praxiom::Past::recorded(record)?, record: record.to_owned() })
    }
}

/// A decision made again.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// What is decided now.
    pub decision: Decision,
    /// How it differs from then; empty when it does not.
    pub differences: Vec<Difference>,
}

/// One thing that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What.
    pub what: String,
    /// As recorded; empty: not at all.
    pub then: String,
    /// As it is now; empty: not at all.
    pub now: String,
}

impl Difference {
    pub(crate) fn new(what: &str, then: impl Display, now: impl Display) -> Difference {
        Difference { what: what.to_owned(), then: then.to_string(), now: now.to_string() }
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |text: &'_ str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
        write!(f, "{}: then {}, now {}", self.what, shown(&self.then), shown(&self.now))
    }
}

impl Trace {
    /// What `guard` decided on `call` in `session`, before the decision changed any of them.
    #[must_use]
    pub fn of(guard: &Guard, call: &Call<'_>, session: &Session, decision: &Decision) -> Trace {
        let text = |value: Value<'_>| value.document().source().slice(value.span());
        let by = decision.transition.as_ref().and_then(|transition| transition.praxiom());
        Trace {
            server: guard.server().to_owned(),
            tool: call.tool.to_owned(),
            call_id: call.id.map(str::to_owned),
            arguments: text(call.arguments),
            arguments_start: call.arguments.span().start,
            listed: listed(guard, call.tool),
            facts: guard.facts().iter().map(|(name, value)| (name.to_owned(), value.map(text))).collect(),
            session: session.clone(),
            is_made: decision.was_made,
            is_monitoring: guard.is_set_to_monitor(),
            rust_rules: in_rust(guard),
            praxiom: by.and_then(|transition| PraxiomTrace::of(&transition.record()).ok()),
            decision: decision.clone(),
        }
    }
}

fn listed(guard: &Guard, tool: &str) -> ListedAs {
    if !guard.is_listed() {
        return ListedAs::Unknown;
    }
    if !guard.lists(tool) {
        return ListedAs::Missing { names: guard.tools().map(str::to_owned).collect() };
    }
    let definition = guard.tool_definition(tool).map(|definition| {
        let root = definition.root();
        definition.source().slice(root.span())
    });
    ListedAs::Tool { definition, doubt: guard.doubt_of(tool).map(str::to_owned) }
}

impl Guard {
    /// Decides again what was decided, from the record alone, by this guard's policy and rules.
    ///
    /// # Errors
    /// [`Fault`] when the recorded arguments cannot be read.
    pub fn replay(&self, trace: &Trace) -> Result<Replayed, Fault> {
        self.replay_in(trace, &trace.decision.answers)
    }

    /// The same, where paths of which the record says nothing lead where `stated` says.
    ///
    /// # Errors
    /// [`Fault`] when the recorded arguments cannot be read.
    pub fn replay_beyond(&self, trace: &Trace, stated: &dyn World) -> Result<Replayed, Fault> {
        self.replay_in(trace, &Beyond { noted: &trace.decision.answers, stated })
    }

    fn replay_in(&self, trace: &Trace, world: &dyn World) -> Result<Replayed, Fault> {
        let whole = Limits::again();
        let arguments = Document::read(trace.arguments.clone(), &whole)?;
        let (facts, lost) = Facts::replayed(self.policy(), &trace.facts);
        let guard = self.as_of(trace, facts);
        let call = Call { tool: &trace.tool, id: trace.call_id.as_deref(), arguments: arguments.root() };
        let past = match (&trace.praxiom, self.policy().praxiom()) {
            (Some(state), Some(_)) => Past::recorded_by_praxiom(state.met.clone()),
            // Variables of two kinds of policy are not the same, whatever they are called: nothing is known of ours. As if
            // they were at their first values, an imported policy was once said to allow what the old one had denied.
            (Some(_), None) => Past::recorded(None),
            (None, _) => Past::recorded(trace.decision.state.as_deref()),
        };
        let past = Snapshot::replayed(&past, trace.is_made);
        let mut decision = guard.decide(&call, &trace.session, &past, world);
        if let Some(approval) = &trace.decision.approval {
            decision = decision.with_approval(approval.clone());
        }
        decision.edits.iter_mut().for_each(|edit| moved(edit, trace.arguments_start));
        let mut differences = rules(trace, &guard);
        differences.extend(lost.iter().map(|name| Difference::new(&format!("fact `{name}`"), "given", "")));
        differences.extend(compare(&trace.decision, &decision));
        differences.extend(by_praxiom(trace, &decision));
        Ok(Replayed { decision, differences })
    }
}

fn moved(edit: &mut Edit, by: usize) {
    edit.range = edit.range.start.saturating_add(by)..edit.range.end.saturating_add(by);
}

/// Names of what is given in Rust: rules, then matchers.
fn in_rust(guard: &Guard) -> Vec<String> {
    let matchers = guard.rust_matchers().iter().map(|matcher| &matcher.name);
    guard.rust_rules().iter().map(|rule| &rule.name).chain(matchers).cloned().collect()
}

fn rules(trace: &Trace, guard: &Guard) -> Vec<Difference> {
    let now = in_rust(guard);
    if now == trace.rust_rules {
        return Vec::new();
    }
    vec![Difference::new("rules in Rust", trace.rust_rules.join(", "), now.join(", "))]
}

fn compare(then: &Decision, now: &Decision) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: &str, then: &dyn Display, now: &dyn Display| {
        let (then, now) = (then.to_string(), now.to_string());
        if then != now {
            found.push(Difference::new(what, then, now));
        }
    };
    differ("policy", &start(&then.policy), &start(&now.policy));
    differ("outcome", &then.outcome, &now.outcome);
    // Where nothing is monitored that is the same once more.
    if then.would != then.outcome || now.would != now.outcome {
        differ("outcome if enforced", &then.would, &now.would);
    }
    let text = |decision: &Decision| String::from_utf8_lossy(&decision.arguments).into_owned();
    differ("arguments", &text(then), &text(now));
    states(then, now, &mut differ);
    let edits = |decision: &Decision| format!("{:?}", decision.edits);
    differ("edits", &edits(then), &edits(now));
    let (before, after) = (&then.findings, &now.findings);
    for finding in before.iter().filter(|finding| !after.contains(finding)) {
        let other = after.iter().find(|other| is_same_check(other, finding));
        found.push(Difference::new(&what(finding), told(finding), other.map(told).unwrap_or_default()));
    }
    let is_new = |finding: &&Finding| !before.iter().any(|other| is_same_check(other, finding));
    found.extend(after.iter().filter(is_new).map(|new| Difference::new(&what(new), "", told(new))));
    found
}

/// What the call makes of the state: then, and now.
fn states(then: &Decision, now: &Decision, differ: &mut dyn FnMut(&str, &dyn Display, &dyn Display)) {
    let none = Noted::default();
    let (then, now) = (then.state.as_deref().unwrap_or(&none), now.state.as_deref().unwrap_or(&none));
    let names: BTreeSet<&Arc<str>> = then.after.iter().chain(&now.after).map(|(name, _)| name).collect();
    for name in names {
        let of = |noted: &Noted| {
            noted.after.iter().find(|(other, _)| other == name).map(|(_, belief)| crate::state::short(belief))
        };
        let (then, now) = (of(then), of(now));
        let shown =
            |value: &Option<serde_json::Value>| value.as_ref().map(ToString::to_string).unwrap_or_default();
        // Of a value that is too long for a record only its hash is there, on both sides.
        differ(&format!("state `{name}`"), &shown(&then), &shown(&now));
    }
}

/// What a policy of praxiom met and what follows, as the record says it.
fn by_praxiom(trace: &Trace, now: &Decision) -> Option<Difference> {
    let then = trace.praxiom.as_ref().map(|state| state.record.as_str()).unwrap_or_default();
    let now = now.transition.as_ref().and_then(|transition| transition.praxiom());
    let now = now.map(|transition| transition.record()).unwrap_or_default();
    (then != now).then(|| Difference::new("state", then, now))
}

/// A check may find several things: the same one again is told by its reason.
fn is_same_check(a: &Finding, b: &Finding) -> bool {
    a.check == b.check && (a.is_rule || a.reason == b.reason)
}

fn what(finding: &Finding) -> String {
    format!("{} `{}`", if finding.is_rule { "rule" } else { "check" }, finding.check)
}

fn told(finding: &Finding) -> String {
    let effect = format!("{:?}", finding.effect).to_lowercase();
    let monitored = if finding.monitor { ", monitored" } else { "" };
    format!("{effect}{monitored}: {}", finding.reason)
}

/// Enough of a digest to tell it from another.
fn start(digest: &[u8; 32]) -> String {
    hex(digest.first_chunk::<8>().map_or(&[], |start| start.as_slice()))
}
