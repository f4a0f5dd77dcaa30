//! A guarded agent without any protocol: the guard, what was said, what was done, and the functions it may call.
//!
//! ```text
//!              check ─────────────► Receipt ── record ─┐
//!  a call ─┬─► call  ── runs here ─► Returned          ├─► the session, the ledger
//!          └─► permit ─ made elsewhere ─ record/settle ┘
//!
//!  an ask ──── resolve ──► Receipt ── run, or record/settle
//! ```
//!
//! Each decision is one step of the ledger. A call counts as made from the step that sends it: an answer that is
//! lost does not prove that nothing ran. What [`Agent::check`] decided counts only when it is recorded.

mod ends;
mod error;
mod look;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::authorize::Authorizer;
use crate::decision::{Approval, Decision, Outcome};
use crate::facts::Facts;
use crate::function::{CallError, Function, Returned};
use crate::guard::{Call, Guard};
use crate::json::{Document, Limits};
use crate::ledger::{Ledger, LedgerFailure, MemoryLedger, Receipt, SessionKey, Settled, Snapshot, Step};
use crate::permit::{self, Permit};
use crate::policy::Policy;
use crate::proposal::CallKey;
use crate::rust_matcher::RustMatcher;
use crate::rust_rule::{RuleError, RustRule};
use crate::session::Session;
use crate::trace::Trace;
use crate::world::{NoWorld, World};

pub use error::{RecordError, Refused, ResolveError};

/// Decisions whose end is awaited. Beyond it the oldest is forgotten: it can be resolved and recorded no more, and
/// what it sent counts as made.
pub const OPEN_MAX: usize = 4096;

/// See the [module](self).
pub struct Agent {
    guard: Guard,
    session: Session,
    ledger: Arc<dyn Ledger>,
    key: SessionKey,
    world: Arc<dyn World>,
    functions: BTreeMap<String, Function>,
    /// By their place in the ledger; `open.len() <= OPEN_MAX`.
    open: BTreeMap<u64, Open>,
    /// How many of these calls were sent and did not fail.
    sent: BTreeMap<CallKey, u32>,
    warnings: Vec<String>,
}

/// A decision that something may follow on.
struct Open {
    decision: Arc<Decision>,
    stage: Stage,
}

enum Stage {
    /// A person is to be asked about these arguments.
    Asked(Document),
    /// Allowed, and not made as far as is known.
    Checked,
    /// On its way, with its permit until that is handed out.
    Sent(Option<Permit>),
}

/// What becomes of an allowed call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Look,
    Send,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Agent");
        out.field("guard", &self.guard).field("session", &self.session).field("key", &self.key);
        out.field("functions", &self.functions).finish_non_exhaustive()
    }
}

// === putting it together ===

impl Agent {
    /// An agent with nothing said, a ledger in memory, and no files or clock. What the user says is what it is told
    /// ([`Agent::add_user`], [`Agent::add_message`]): what nobody told it was not said.
    #[must_use]
    pub fn new(guard: Guard) -> Agent {
        Agent {
            session: Session::new(guard.policy().window()).knowing_user(true),
            guard,
            ledger: Arc::new(MemoryLedger::default()),
            key: SessionKey { principal: String::new(), name: String::new() },
            world: Arc::new(NoWorld),
            functions: BTreeMap::new(),
            open: BTreeMap::new(),
            sent: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// A tool that runs here; its schema is the tool's listing. A second one of the same name that differs makes
    /// the calls ask: which one was meant is not certain.
    #[must_use]
    pub fn function(mut self, function: Function) -> Agent {
        let schema = function.schema().root();
        let description = schema.get("description").map_or(r#""""#, |text| text.raw());
        let name = Json::from(function.name());
        let listing =
            format!(r#"{{"name":{name},"description":{description},"inputSchema":{}}}"#, schema.raw());
        // One level more than the schema, which was read before.
        let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let (guard, warnings) = match Document::read(listing.into(), &limits) {
            Ok(definition) => self.guard.with_tool(function.name(), definition),
            // It stays unknown, and its calls are refused.
            Err(fault) => (self.guard.clone(), vec![format!("tool {name}: {fault}; its calls are refused")]),
        };
        self.guard = guard;
        self.warnings.extend(warnings);
        self.functions.insert(function.name().to_owned(), function);
        self
    }

    /// A rule in Rust, beside those of the policy.
    ///
    /// # Errors
    /// [`RuleError`] when its name is empty or taken.
    pub fn rule(mut self, rule: RustRule) -> Result<Agent, RuleError> {
        self.guard = self.guard.with_rule(rule)?;
        Ok(self)
    }

    /// A matcher in Rust, in the place of what the policy's `ground` says of its argument.
    ///
    /// # Errors
    /// [`RuleError`] when its name is empty or taken.
    pub fn matcher(mut self, matcher: RustMatcher) -> Result<Agent, RuleError> {
        self.guard = self.guard.with_matcher(matcher)?;
        Ok(self)
    }

    /// Who judges whether the conversation authorizes a call, in the place of the command under the policy's
    /// `authorizer`.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Agent {
        self.guard = self.guard.with_authorizer(authorizer);
        self
    }

    /// Another ledger, and whose history in it.
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>, key: SessionKey) -> Agent {
        (self.ledger, self.key) = (ledger, key);
        self
    }

    /// Files and clock.
    #[must_use]
    pub fn world(mut self, world: Arc<dyn World>) -> Agent {
        self.world = world;
        self
    }

    /// Goes on from a session.
    #[must_use]
    pub fn from_session(mut self, session: Session) -> Agent {
        self.session = session;
        self
    }

    /// Another policy or other facts from here on. Tools, rules in Rust and what was said stay.
    pub fn under(&mut self, policy: Policy, facts: Facts) {
        let (guard, warnings) = self.guard.under(policy, facts);
        self.guard = guard;
        self.warnings = warnings;
    }

    /// What a person should know of the policy beside these tools.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

// === deciding ===

impl Agent {
    /// Decides, and nothing follows: the call counts only if it is recorded.
    ///
    /// # Errors
    /// [`LedgerFailure`]: nothing may be called then.
    pub fn check<'c>(&mut self, call: impl Into<Call<'c>>) -> Result<Receipt, LedgerFailure> {
        self.step(&call.into(), Then::Look, None)
    }

    /// [`Agent::check`] with all it was decided from.
    ///
    /// # Errors
    /// [`LedgerFailure`].
    pub fn check_traced<'c>(&mut self, call: impl Into<Call<'c>>) -> Result<(Receipt, Trace), LedgerFailure> {
        let call = call.into();
        let receipt = self.check(call)?;
        let trace = Trace::of(&self.guard, &call, &self.session, &receipt.decision);
        Ok((receipt, trace))
    }

    /// Decides, and if the call is allowed runs the tool's function with exactly the arguments decided on. Its
    /// result, or error, becomes part of the session. A panic of the function passes through here; the call
    /// counts as made.
    ///
    /// # Errors
    /// [`Refused`]; its text is for the model.
    pub fn call<'c>(&mut self, call: impl Into<Call<'c>>) -> Result<Returned, Refused> {
        let call = call.into();
        let then = if self.functions.contains_key(call.tool) { Then::Send } else { Then::Look };
        let receipt = self.step(&call, then, None)?;
        self.go(&receipt)?;
        self.run(&receipt)
    }

    /// Decides on a call that is made elsewhere, and counts it as made at once. How it ended is told by
    /// [`Agent::record`] or [`Agent::settle`].
    ///
    /// # Errors
    /// [`Refused`]; its text is for the model.
    pub fn permit<'c>(&mut self, call: impl Into<Call<'c>>) -> Result<(Receipt, Permit), Refused> {
        let receipt = self.step(&call.into(), Then::Send, None)?;
        self.go(&receipt)?;
        let permit = self.hand_out(&receipt)?;
        Ok((receipt, permit))
    }

    /// Answers an ask, once. On a yes the call is decided again as things stand now, with the approval as input:
    /// it is allowed, and counts as made, only if everything that stands against it is among what was shown; a
    /// deny stays a deny. What is allowed then is for [`Agent::run`], or is made elsewhere.
    ///
    /// # Errors
    /// [`ResolveError`] for what is no ask, or was answered before.
    pub fn resolve(&mut self, receipt: &Receipt, approved: bool, by: &str) -> Result<Receipt, ResolveError> {
        if receipt.decision.outcome != Outcome::Ask {
            return Err(ResolveError::NotAsked(receipt.decision.outcome));
        }
        let asked = self.take(receipt, |stage| matches!(stage, Stage::Asked(_)));
        let Some(Open { decision, stage: Stage::Asked(arguments) }) = asked else {
            return Err(ResolveError::Answered);
        };
        if !approved {
            let declined = Arc::new(Decision::clone(&decision).declined(by, ""));
            let step = &mut |_: &Snapshot<'_>| Step {
                decision: Arc::clone(&declined),
                is_sent: false,
                record: None,
            };
            return Ok(self.ledger.step(&self.key, step)?.wait()?);
        }
        let (tool, id) = (decision.tool.as_str(), decision.call_id.as_deref());
        let call = Call { tool, id, arguments: arguments.root() };
        Ok(self.step(&call, Then::Send, Some(&Approval::of(&decision, by)))?)
    }

    /// Runs the function of a call that [`Agent::resolve`] allowed, once.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn run(&mut self, receipt: &Receipt) -> Result<Returned, Refused> {
        let tool = receipt.decision.tool.as_str();
        if !self.functions.contains_key(tool) {
            return Err(Refused::NoFunction(tool.to_owned()));
        }
        let permit = self.hand_out(receipt)?;
        let Some(function) = self.functions.get(tool) else {
            return Err(Refused::NoFunction(tool.to_owned()));
        };
        let result = function.call(permit);
        let how = match &result {
            Ok(_) => Settled::Done,
            Err(CallError::Result { .. }) => Settled::Lost,
            Err(_) => Settled::Failed,
        };
        let text = match &result {
            Ok(returned) => returned.text(),
            Err(error) => error.to_string(),
        };
        let told = ends::Told { is_error: how == Settled::Failed, text: &text };
        let is_lost = how == Settled::Lost;
        self.end(receipt, how, (!is_lost).then_some(&told))?;
        self.heard(receipt, how, text);
        Ok(result?)
    }

    fn step(
        &mut self,
        call: &Call<'_>,
        then: Then,
        approval: Option<&Approval>,
    ) -> Result<Receipt, LedgerFailure> {
        let (guard, session, world) = (&self.guard, &self.session, &*self.world);
        let (receipt, permit) = permit::step(&*self.ledger, &self.key, &mut |past| {
            let mut decision = guard.decide(call, session, past, world);
            if let Some(approval) = approval {
                decision = decision.with_approval(approval.clone());
            }
            let is_sent = decision.outcome == Outcome::Allow && then == Then::Send;
            Step { decision: Arc::new(decision), is_sent, record: None }
        })?;
        let stage = match (receipt.decision.outcome, then) {
            (Outcome::Deny, _) => return Ok(receipt),
            (Outcome::Ask, _) => match own(call) {
                Some(arguments) => Stage::Asked(arguments),
                None => return Ok(receipt),
            },
            (Outcome::Allow, Then::Look) => Stage::Checked,
            (Outcome::Allow, Then::Send) => {
                self.count(receipt.decision.call);
                Stage::Sent(permit)
            }
        };
        self.keep(&receipt, stage);
        Ok(receipt)
    }

    /// Nothing, if the call is allowed.
    fn go(&self, receipt: &Receipt) -> Result<(), Refused> {
        match receipt.decision.outcome {
            Outcome::Allow => Ok(()),
            Outcome::Ask | Outcome::Deny => {
                let message = self.message(&receipt.decision);
                Err(Refused::Decided { receipt: receipt.clone(), message })
            }
        }
    }

    fn hand_out(&mut self, receipt: &Receipt) -> Result<Permit, Refused> {
        let open = self.open.get_mut(&receipt.sequence);
        let open = open.filter(|open| Arc::ptr_eq(&open.decision, &receipt.decision));
        match open.map(|open| &mut open.stage) {
            Some(Stage::Sent(permit)) => permit.take().ok_or(Refused::Used),
            _ => Err(Refused::Used),
        }
    }

    fn keep(&mut self, receipt: &Receipt, stage: Stage) {
        self.open.insert(receipt.sequence, Open { decision: Arc::clone(&receipt.decision), stage });
        while self.open.len() > OPEN_MAX {
            self.open.pop_first();
        }
    }

    /// Only a receipt of this agent's own, and only once.
    fn take(&mut self, receipt: &Receipt, fits: impl Fn(&Stage) -> bool) -> Option<Open> {
        let open = self.open.get(&receipt.sequence)?;
        let is_ours = Arc::ptr_eq(&open.decision, &receipt.decision) && fits(&open.stage);
        is_ours.then(|| self.open.remove(&receipt.sequence))?
    }

    fn count(&mut self, call: CallKey) {
        *self.sent.entry(call).or_default() += 1;
        self.session.record_made(call);
    }
}

/// The arguments as a document of their own.
fn own(call: &Call<'_>) -> Option<Document> {
    let source = call.arguments.document().source().slice(call.arguments.span());
    Document::read(source, &Limits { depth: Limits::DEPTH_MAX, ..Limits::default() }).ok()
}
