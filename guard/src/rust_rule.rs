//! Rules as Rust closures, beside those of the policy file.
//!
//! They decide in the same order as a policy's rules, those that deny before those that ask. Where the arguments
//! are not valid they are not asked: there is nothing certain to read. A closure that reports an error, or
//! panics, cannot be evaluated and asks; it can never allow by failing. It learns what it needs from its
//! [`RuleInput`] alone, so that its judgement can be repeated from the record.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::facts::Facts;
use crate::finding::{Effect, Finding, NextStep};
use crate::json::Value;
use crate::messages::Conversation;
use crate::policy::{Glob, GlobError, Otherwise};
use crate::refusal::OnFailure;
use crate::session::Session;
use crate::world::World;

/// What a rule may look at.
#[derive(Clone, Copy)]
pub struct RuleInput<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool, as called.
    pub tool: &'a str,
    /// The arguments that would be sent: after a repair, if there was one. Always an object.
    pub arguments: Value<'a>,
    /// What was given from outside.
    pub facts: &'a Facts,
    /// What was said, and the calls made.
    pub session: &'a Session,
    /// Files and clock. What is asked of anything else is not in the record, and a replay does not know it.
    pub world: &'a dyn World,
}

impl RuleInput<'_> {
    /// What was said, as one text.
    #[must_use]
    pub fn conversation(&self) -> Arc<Conversation> {
        self.session.conversation()
    }
}

impl fmt::Debug for RuleInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RuleInput");
        out.field("server", &self.server).field("tool", &self.tool).field("arguments", &self.arguments);
        out.finish_non_exhaustive()
    }
}

/// What must hold: `Ok(false)` fails the call, `Err` asks.
pub type Judge = dyn Fn(&RuleInput<'_>) -> Result<bool, String> + Send + Sync;

/// One rule.
///
/// ```
/// use framegate_guard::RustRule;
/// use framegate_guard::policy::Otherwise;
///
/// let small = RustRule::new("small_payments", ["pay", "transfer_*"], |input| {
///     let amount = input.arguments.get("amount").and_then(|amount| amount.number());
///     let amount: f64 = amount.ok_or("no amount")?.parse().map_err(|_| "not a number")?;
///     Ok(amount <= 100.0)
/// })?;
/// let small = RustRule {
///     otherwise: Otherwise::Ask,
///     because: "A person decides on payments over 100.".into(),
///     ..small
/// };
/// assert!(small.names("bank", "transfer_now") && !small.names("bank", "read"));
/// # Ok::<(), framegate_guard::policy::GlobError>(())
/// ```
#[derive(Clone)]
pub struct RustRule {
    /// Its name, unlike that of every other rule and check.
    pub name: String,
    /// The tools it is for; empty: every tool.
    pub tools: Vec<Glob>,
    /// What must hold.
    pub that: Arc<Judge>,
    /// What follows when it does not.
    pub otherwise: Otherwise,
    /// Why, for the model and for people.
    pub because: String,
    /// What to do next, for the model.
    pub advice: Option<String>,
}

impl fmt::Debug for RustRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RustRule");
        out.field("name", &self.name).field("tools", &self.tools).field("otherwise", &self.otherwise);
        out.finish_non_exhaustive()
    }
}

/// Why a rule is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It has no name.
    #[error("a rule needs a name")]
    NoName,
    /// Another rule, or a check of the guard's own, has its name.
    #[error("there is a rule or check called `{0}` already")]
    Taken(String),
}

impl RustRule {
    /// A rule that denies.
    ///
    /// # Errors
    /// [`GlobError`] when a pattern is empty or too long.
    pub fn new<'t>(
        name: &str,
        tools: impl IntoIterator<Item = &'t str>,
        that: impl Fn(&RuleInput<'_>) -> Result<bool, String> + Send + Sync + 'static,
    ) -> Result<RustRule, GlobError> {
        Ok(RustRule {
            name: name.to_owned(),
            tools: tools.into_iter().map(Glob::parse).collect::<Result<_, _>>()?,
            that: Arc::new(that),
            otherwise: Otherwise::Deny,
            because: String::new(),
            advice: None,
        })
    }

    /// Whether it is for this tool.
    #[must_use]
    pub fn names(&self, server: &str, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.matches(server, tool))
    }

    pub(crate) fn on_failure(&self) -> OnFailure {
        self.otherwise.into()
    }

    pub(crate) fn judge(&self, input: &RuleInput<'_>) -> Option<Finding> {
        // Nothing of ours is left half done by a panic in here: the input is only read.
        let held = catch_unwind(AssertUnwindSafe(|| (self.that)(input)));
        let (effect, next, reason) = match held {
            Ok(Ok(true)) => return None,
            Ok(Ok(false)) => (self.effect(), NextStep::TellUser, self.reason()),
            Ok(Err(why)) => self.unevaluated(&why),
            Err(_) => self.unevaluated("it panicked"),
        };
        let mut finding = Finding { is_rule: true, ..Finding::new(&self.name, effect, next, reason) };
        if effect != Effect::Unevaluated {
            finding.because.clone_from(&self.because);
            finding.advice.clone_from(&self.advice);
        }
        Some(finding)
    }

    fn effect(&self) -> Effect {
        self.otherwise.into()
    }

    fn reason(&self) -> String {
        match self.because.as_str() {
            "" => format!("{}: it does not hold", self.name),
            because => format!("{}: {because}", self.name),
        }
    }

    fn unevaluated(&self, why: &str) -> (Effect, NextStep, String) {
        let reason = format!("{}: cannot be evaluated: {why}", self.name);
        (Effect::Unevaluated, NextStep::NotEvaluated, reason)
    }
}
