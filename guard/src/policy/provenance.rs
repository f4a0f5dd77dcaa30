//! Where values come from, and what tools may say: `ground` and the options around it, as they are meant.

mod fit;
mod needs;
mod read;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::locate::Cel;
use super::read::At;
use super::{Condition, Otherwise};
use crate::cel::Expression;
use crate::ground::Matcher;
use crate::messages::Role;
use crate::words::Intent;

pub(in crate::policy) use fit::{contradictions, misfits, unfitting_patterns};
pub(in crate::policy) use needs::{Needs, reads_said};
pub use read::instructions_name;
pub(crate) use read::{OF_AN_ARGUMENT, OPTIONS};

/// Whose words may support a value. The assistant's never do: it would support what it made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct From {
    /// Facts: values that the policy's user gave.
    pub facts: bool,
    /// Who deployed the agent.
    pub system: bool,
    /// Tool outputs.
    pub tool: bool,
    /// The user.
    pub user: bool,
}

impl Default for From {
    fn default() -> From {
        From { facts: false, system: true, tool: true, user: true }
    }
}

impl From {
    /// Whether this role's words may support a value.
    #[must_use]
    pub fn has(self, role: Role) -> bool {
        match role {
            Role::Assistant => false,
            Role::System => self.system,
            Role::Tool => self.tool,
            Role::User => self.user,
        }
    }

    /// The roles by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [Role::User, Role::Tool, Role::System].into_iter().filter(move |role| self.has(*role)).map(Role::name)
    }
}

/// How and where the value of an argument must stand in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ground {
    /// What counts as the value being written there.
    pub matcher: Matcher,
    /// The program that says it instead.
    pub program: Option<Arc<str>>,
    /// Whose words count.
    pub from: From,
    /// Of the user's messages only the last so many count.
    pub last: Option<usize>,
    /// What follows when it stands nowhere.
    pub otherwise: Otherwise,
}

/// Which arguments must be grounded, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grounds {
    /// By argument: its name, or a path into it (`invoice.iban`).
    pub named: BTreeMap<String, Ground>,
    /// Every text and number that is sent, where no other name leads to it and the schema lists no choices for it.
    pub others: Option<Ground>,
    /// Those that need not be.
    pub free: Vec<String>,
}

impl Grounds {
    /// Whether nothing must be grounded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.others.is_none()
    }

    /// Every way in which something must be.
    pub fn all(&self) -> impl Iterator<Item = &Ground> {
        self.named.values().chain(&self.others)
    }
}

/// What becomes of a value that only tools gave where `from` does not name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolValues {
    /// A person is asked.
    Ask,
    /// It is as if it stood nowhere.
    #[default]
    Deny,
}

/// What instruction-like text in a tool output leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// While there is any, every call asks.
    Any,
    /// Calls ask whose values such text may have chosen.
    Flow,
    /// Calls ask whose grounded values only tools gave.
    Grounded,
    /// Nothing.
    Off,
}

/// The user's yes to a message that names what the call will do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Confirm {
    /// What follows without it.
    pub otherwise: Otherwise,
    /// The arguments that must be named; `None`: each text and number that is sent.
    pub arguments: Option<Vec<String>>,
    /// What counts as naming them, and by argument where it differs.
    pub matcher: Matcher,
    /// See [`Confirm::matcher`].
    pub matchers: BTreeMap<String, Matcher>,
    /// Other words by which an argument's value may be named.
    pub named: BTreeMap<String, Naming>,
    /// Only the user's last so many messages can be that yes.
    pub last: Option<usize>,
}

/// An expression over `value` that gives other words for it: a text, a number, or a list of such.
#[derive(Clone)]
pub struct Naming {
    cel: Cel,
    condition: Option<Condition>,
}

impl std::fmt::Debug for Naming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Naming").field(&self.cel.text).finish()
    }
}

impl PartialEq for Naming {
    fn eq(&self, other: &Naming) -> bool {
        self.cel.text == other.cel.text
    }
}

impl Naming {
    /// The expression; a loaded policy always has it.
    #[must_use]
    pub fn expression(&self) -> Option<&Arc<Expression>> {
        self.condition.as_ref().map(|condition| &condition.expression)
    }

    pub(crate) fn cel(&self) -> &Cel {
        &self.cel
    }

    pub(crate) fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    pub(crate) fn compiled(&mut self, expression: Expression) {
        self.condition = Some(Condition { expression: Arc::new(expression), cel: self.cel.clone() });
    }
}

/// The user must have asked for this kind of action, in their own words.
#[derive(Debug, Clone)]
pub struct Request {
    /// Any of these.
    pub intents: Vec<Intent>,
    /// The same for people: `send or share`.
    pub what: String,
    /// The last part of the check's name: `send_or_share`.
    pub name: String,
    /// What follows when they did not.
    pub otherwise: Otherwise,
}

impl PartialEq for Request {
    fn eq(&self, other: &Request) -> bool {
        let names =
            |request: &Request| request.intents.iter().map(Intent::name).collect::<Vec<_>>().join("\n");
        self.otherwise == other.otherwise && names(self) == names(other)
    }
}

/// The options about where values come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Provenance {
    /// See [`Grounds`].
    pub ground: Grounds,
    /// See [`ToolValues`].
    pub tool_values: ToolValues,
    /// As written; see [`Provenance::instructions`].
    pub instructions: Option<Instructions>,
    /// The same call is made once; again it asks.
    pub once: bool,
    /// See [`Confirm`].
    pub confirm: Option<Confirm>,
    /// See [`Request`].
    pub request: Option<Request>,
    /// What the user says near instruction-like text, as where a page was pasted, supports no value unasked.
    pub scan_user: bool,
    /// The authorizer is asked.
    pub authorize: bool,
    /// Whether a call changes something or carries data out, where the policy says so: `instructions: flow` judges those
    /// that do.
    pub acts: Option<bool>,
}

impl Provenance {
    /// What instruction-like text leads to: unless it is said, what needs `ground` where there is any.
    #[must_use]
    pub fn instructions(&self) -> Instructions {
        match self.instructions {
            Some(instructions) => instructions,
            None if self.ground.is_empty() => Instructions::Off,
            None => Instructions::Grounded,
        }
    }

    /// Whether a decision depends on what tools said.
    #[must_use]
    pub fn reads_outputs(&self) -> bool {
        !self.ground.is_empty() || self.scans() || self.authorize
    }

    /// Whether a decision depends on instruction-like text in what tools said.
    #[must_use]
    pub fn scans(&self) -> bool {
        self.instructions() != Instructions::Off
    }

    /// The checks that are in force, as the policy calls them.
    pub fn checks(&self) -> impl Iterator<Item = &'static str> {
        let instructions = match self.instructions() {
            Instructions::Any => Some("instructions: any"),
            Instructions::Flow => Some("instructions: flow"),
            Instructions::Grounded => Some("instructions: grounded"),
            Instructions::Off => None,
        };
        let all = [
            (!self.ground.is_empty()).then_some("ground"),
            instructions,
            self.once.then_some("once"),
            self.confirm.is_some().then_some("confirm"),
            self.request.is_some().then_some("require_request"),
        ];
        all.into_iter().flatten()
    }

    /// The options for which the user's words must be known; without them the tool's calls ask.
    pub fn needs_user(&self) -> impl Iterator<Item = &'static str> {
        // Where tools may support a value too, one that they gave needs no user.
        let is_ground = self.ground.all().any(|ground| ground.from.user && !ground.from.tool);
        let needs = [
            ("ground", is_ground),
            ("confirm", self.confirm.is_some()),
            ("require_request", self.request.is_some()),
            ("authorize", self.authorize),
        ];
        needs.into_iter().filter_map(|(key, needs)| needs.then_some(key))
    }
}

/// `context:`, how much of a conversation is kept; 0 is all of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawContext {
    pub(crate) messages: Option<usize>,
    pub(crate) chars: Option<usize>,
    /// Where it says so, answers to the server's questions count as the user's words.
    pub(crate) answers: Option<At<bool>>,
}

/// The arguments that the options name, each with the option that names it.
fn arguments(options: &Provenance) -> impl Iterator<Item = (&'static str, &str)> {
    let named = options.ground.named.keys().chain(&options.ground.free);
    let ground = named.map(|name| ("ground", name.as_str()));
    let confirm = options.confirm.iter().flat_map(|confirm| {
        let listed = confirm.arguments.iter().flatten().map(String::as_str);
        let other = confirm.named.keys().chain(confirm.matchers.keys()).map(String::as_str);
        listed.chain(other).map(|name| ("confirm", name))
    });
    ground.chain(confirm)
}

/// Where an option stands, for what is wrong with it beside a listing.
pub(crate) struct Place<'p> {
    pub(crate) span: &'p Range<usize>,
    /// The entry names this one tool.
    pub(crate) is_exact: bool,
}
