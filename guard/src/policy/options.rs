//! What a policy says about one tool, all entries that match it merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Provenance;
use crate::json;

/// Whether decisions have consequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// They have.
    #[default]
    Enforce,
    /// Everything passes unchanged; what would have happened is recorded.
    Monitor,
}

/// What happens to arguments that do not fit the tool's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arguments {
    /// Refused.
    #[default]
    Strict,
    /// `"2"` for a number and the like are rewritten, the rest is refused.
    Coerce,
    /// Not looked at.
    Unchecked,
}

/// What happens to arguments that the tool's schema does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undeclared {
    /// What the schema says.
    #[default]
    Schema,
    /// Refused, whatever the schema says.
    Refuse,
}

/// What happens to arguments with invisible characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Invisible {
    /// Refused, except joiners where a script needs them.
    #[default]
    Refuse,
    /// Let through.
    Allow,
}

/// [`Invisible`] by argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InvisibleBy {
    /// For every argument not named.
    pub otherwise: Invisible,
    /// By the argument's name.
    pub arguments: BTreeMap<String, Invisible>,
}

impl InvisibleBy {
    /// What holds for an argument.
    #[must_use]
    pub fn of(&self, argument: &str) -> Invisible {
        self.arguments.get(argument).copied().unwrap_or(self.otherwise)
    }
}

/// What follows from a tool whose definition reads like an instruction to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Definitions {
    /// Its calls ask.
    Ask,
    /// It is hidden in the listing, and refused when called.
    Hide,
    /// A person is told when it is listed.
    #[default]
    Report,
    /// Nothing: definitions are not read for it.
    Unread,
}

/// What happens to a call that lacks required arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// A person is asked for them.
    #[default]
    Ask,
    /// Sent on as it is.
    Pass,
    /// Refused, with the names.
    Refuse,
}

/// Who may say yes to a call that asks, beside whoever asks in a window of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approve {
    /// The client's user.
    #[default]
    Client,
    /// That one, or the approver at a terminal.
    Terminal,
}

/// What a standing approval may cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Remember {
    /// The same arguments, against which the same stands.
    #[default]
    Arguments,
    /// Nothing: each call is asked about.
    Never,
    /// All calls of the tool that nothing but the same rules asks about.
    Tool,
}

/// How a person is asked for what a call lacks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    /// What the person reads instead of the usual sentence.
    pub message: Option<String>,
    /// Required besides what the schema requires; blank and empty values of these count as missing.
    pub required: Vec<String>,
    /// Blank and empty values of every required argument count as missing.
    pub empty_is_missing: bool,
    /// What is said of an argument instead of, or besides, its own schema.
    pub fields: BTreeMap<String, AskField>,
}

/// `ask.fields.NAME` as keywords of JSON Schema.
#[derive(Debug, Clone)]
pub struct AskField(pub(crate) Arc<json::Document>);

impl PartialEq for AskField {
    fn eq(&self, other: &AskField) -> bool {
        self.0.root() == other.0.root()
    }
}

impl AskField {
    /// The keywords.
    #[must_use]
    pub fn document(&self) -> &Arc<json::Document> {
        &self.0
    }
}

/// The options of one tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOptions {
    /// See [`Arguments`].
    pub arguments: Arguments,
    /// See [`Undeclared`].
    pub undeclared: Undeclared,
    /// See [`InvisibleBy`].
    pub invisible: InvisibleBy,
    /// The schema that counts instead of the server's.
    pub schema: Option<Schema>,
    /// See [`Mode`].
    pub mode: Mode,
    /// Hidden in the listing, refused when called.
    pub hidden: bool,
    /// See [`Definitions`].
    pub definitions: Definitions,
    /// The listing's description says by which rules calls are refused.
    pub show_rules: bool,
    /// See [`Approve`].
    pub approve: Approve,
    /// See [`Remember`].
    pub remember: Remember,
    /// As it is written, if it is: [`ToolOptions::missing`] says what holds.
    pub missing: Option<Missing>,
    /// See [`Ask`].
    pub ask: Ask,
    /// See [`Provenance`].
    pub provenance: Provenance,
    /// The rule that its `limit` stands for.
    pub limit: Option<Arc<str>>,
    /// The rule that its `budget` stands for.
    pub budget: Option<Arc<str>>,
}

impl ToolOptions {
    /// What happens to a call that lacks required arguments. Where the policy does not say, it is asked about; with
    /// `arguments: unchecked` it is sent on, unless the policy itself requires something: arguments that are not looked
    /// at lack nothing.
    #[must_use]
    pub fn missing(&self) -> Missing {
        let requires = !self.ask.required.is_empty() || self.ask.empty_is_missing;
        let looks = self.arguments != Arguments::Unchecked || requires;
        self.missing.unwrap_or(if looks { Missing::Ask } else { Missing::Pass })
    }
}

/// A JSON Schema given in the policy.
#[derive(Debug, Clone)]
pub struct Schema(pub(crate) Arc<json::Document>);

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.0.root() == other.0.root()
    }
}

impl Schema {
    /// The schema as JSON.
    #[must_use]
    pub fn document(&self) -> &Arc<json::Document> {
        &self.0
    }
}
