//! The policy file: what was typed, checked wholly at load, and what it means for one server's tools.
//!
//! [`Policy::load`] reads YAML and CEL and finds everything that can be found without a server; several errors
//! are reported at once, each with its place and a hint ([`Problem`]). [`Policy::bind`] meets it with a real
//! listing: options and rules per tool, rules type-checked against each tool's schema, and what in the policy
//! cannot mean anything there. A [`Policy`] never changes; a new file is a new one.
//!
//! ```
//! use framegate_guard::policy::{Listing, Policy};
//!
//! let text = r#"
//! framegate: 1
//! tools:
//!   read_text_file: {}
//! rules:
//!   - name: inside_work
//!     tools: [read_text_file]
//!     that: within(args.path, "/work")
//!     because: Only files under /work may be read.
//! "#;
//! let loaded = Policy::load("framegate.yaml", text.as_bytes(), &mut |file| Err(format!("no file `{file}`")))?;
//! let bound = loaded.policy.bind("files", &Listing::unknown()).0;
//! assert!(bound.tool("read_text_file").is_some());
//! assert!(loaded.policy.tool("files", "delete_file").is_none());
//! # Ok::<(), framegate_guard::policy::PolicyErrors>(())
//! ```

mod advice;
mod asks;
mod bind;
pub(crate) mod check;
mod facts;
mod foreign;
mod glob;
mod lint;
pub(crate) mod locate;
mod merge;
mod methods;
mod misplaced;
mod options;
pub(crate) mod problem;
mod programs;
mod properties;
pub mod provenance;
mod raw;
pub(crate) mod read;
mod rules;
mod scope;
mod size;
mod slips;
mod states;
pub(crate) mod tree;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub use advice::Beside;
pub use bind::{Bound, BoundDefinition, BoundEffect, BoundRule, BoundTool, Listed, Listing};
pub use check::DEFINITIONS_MAX;
pub use facts::{Fact, FactKind};
pub use glob::{Glob, GlobError, Literalness, PATTERN_BYTES_MAX};
pub use merge::Conflict;
pub use methods::{Methods, Passage, Ruling};
pub use options::{
    Approve, Arguments, Ask, AskField, Definitions, Invisible, InvisibleBy, Missing, Mode, Remember, Schema,
    ToolOptions, Undeclared,
};
pub use problem::{PROBLEMS_MAX, PolicyErrors, Problem, Severity};
pub use programs::{Authorizing, PROGRAMS_MAX, Program, Reads, TASK_BYTES_MAX, TIMEOUT_SECONDS};
pub use properties::{Property, read_properties};
pub use provenance::Provenance;
pub use raw::{ENTRIES_MAX, RULE_PATTERNS_MAX};
pub use rules::{Condition, Definition, Otherwise, Rule};
pub use states::{Allowance, Effect, Invariant, PER_DAYS_MAX, RuleEffects};
pub use tree::{FILE_BYTES_MAX, NESTING_MAX, VALUES_MAX};

pub(crate) use bind::arguments_of;
use problem::Source;
pub(crate) use read::listed;

use crate::praxiom::{Dialect, Praxiom};

/// What happens to tools that no entry under `tools:` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unnamed {
    /// Hidden in the listing and refused when called.
    #[default]
    Deny,
    /// Forwarded, under `defaults:` and the rules.
    Allow,
}

/// Which of the server's capabilities a client sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Surface {
    /// All of them.
    #[default]
    All,
    /// Tools only.
    Tools,
}

/// `limits:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Bytes of one call's frame.
    pub call_bytes: usize,
    /// Nested arrays and objects in one call.
    pub depth: usize,
    /// Digits of one number.
    pub number_digits: usize,
    /// Questions that a person is asked within a minute.
    pub asks_per_minute: usize,
    /// Questions that a person is asked in a session.
    pub asks_per_session: usize,
}

impl CallLimits {
    /// What `call_bytes` may be.
    pub const CALL_BYTES: std::ops::RangeInclusive<usize> = 1024..=64 * 1024 * 1024;
    /// What `depth` may be.
    pub const DEPTH: std::ops::RangeInclusive<usize> = 4..=crate::json::Limits::DEPTH_MAX;
    /// What `asks_per_minute` and `asks_per_session` may be.
    pub const ASKS: std::ops::RangeInclusive<usize> = 1..=10_000;
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits {
            call_bytes: 16 * 1024 * 1024,
            depth: 64,
            number_digits: 1000,
            asks_per_minute: 10,
            asks_per_session: 100,
        }
    }
}

/// A checked policy file. Cheap to clone and to share.
#[derive(Debug, Clone)]
pub struct Policy(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Arc<Source>,
    digest: [u8; 32],
    /// Where the file is one of praxiom: what decides beside the options below.
    praxiom: Option<Arc<Praxiom>>,
    /// Schema files by the path written in the policy.
    files: BTreeMap<String, String>,
    unnamed: Unnamed,
    surface: Surface,
    mode: Mode,
    language: String,
    limits: CallLimits,
    window: crate::session::Window,
    /// Where it says that answers to the server's questions count.
    answers: Option<Range<usize>>,
    facts: BTreeMap<String, Fact>,
    lists: Arc<crate::json::Document>,
    definitions: Vec<Arc<Definition>>,
    tools: merge::Entries,
    /// In deciding order: those that deny, then those that ask; each group as in the file.
    rules: Vec<Arc<Rule>>,
    machine: Arc<crate::state::Machine>,
    invariants: Vec<Arc<Invariant>>,
    properties: Vec<Property>,
    /// Of those rules, and of the definitions.
    reads_said: bool,
    methods: Methods,
    server_requests: Methods,
    scope: crate::cel::Scope,
    /// Where facts, lists and definitions are named: by variable and name.
    names: BTreeMap<(&'static str, String), std::ops::Range<usize>>,
    secrets: crate::form::Secrets,
    /// Where `secrets.ask: true` stands.
    secrets_asked: Option<std::ops::Range<usize>>,
    authorizer: Option<Authorizing>,
    programs: BTreeMap<String, Program>,
}

impl Inner {
    /// Names of the variables that `state:` declares.
    fn states_of_the_file(&self) -> impl Iterator<Item = &str> {
        let is_made = |name: &str| self.tools.allowances().any(|allowance| allowance.name == name);
        self.machine.variables().iter().map(|variable| &*variable.name).filter(move |name| !is_made(name))
    }
}

/// A policy and what is odd about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The policy.
    pub policy: Policy,
    /// By position.
    pub warnings: Vec<Problem>,
}

impl Policy {
    /// The line of a rule's name in the file, from 1.
    #[must_use]
    pub fn rule_line(&self, name: &str) -> Option<usize> {
        let rule = self.rules().iter().find(|rule| rule.name == name)?;
        let before = self.text().get(..rule.spans.name.start)?;
        Some(before.bytes().filter(|byte| *byte == b'\n').count() + 1)
    }

    /// Reads a policy file: one of our own, or one of praxiom (told by its keys). `name` stands in messages; `read` gives
    /// the schema files it names, by the path written there (relative to the policy file).
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(
        name: &str,
        text: &[u8],
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Loaded, PolicyErrors> {
        Policy::load_in(Dialect::Safe, name, text, read)
    }

    /// The same, where a policy of praxiom decides in this dialect.
    ///
    /// # Errors
    /// As [`Policy::load`]; and another dialect than the usual one means nothing to a policy of our own.
    pub fn load_in(
        dialect: Dialect,
        name: &str,
        text: &[u8],
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Loaded, PolicyErrors> {
        let source = Source::read(name, text).map_err(|problem| PolicyErrors::new(vec![*problem]))?;
        if Praxiom::looks_like(source.text()) {
            return foreign::load(name, text, dialect);
        }
        if dialect != Dialect::Safe {
            let message = "this is no policy of praxiom, so there is no dialect to decide it in";
            let problem = Problem::error(&source, 0..0, message).hint("take `--compat` away");
            return Err(PolicyErrors::new(vec![problem]));
        }
        check::load(&source, read)
    }

    /// What the file is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.source.name()
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.source.text()
    }

    /// The schema files it names, by the path written there: with [`Policy::text`] all that [`Policy::load`] needs.
    pub fn schema_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// SHA-256 of all that decides: the file's bytes and the schema files it names.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    /// `default:`
    #[must_use]
    pub fn unnamed(&self) -> Unnamed {
        self.0.unnamed
    }

    /// `surface:`
    #[must_use]
    pub fn surface(&self) -> Surface {
        self.0.surface
    }

    /// `mode:`, for what is about no tool; a tool's own is in its options.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.0.mode
    }

    /// `language:` of the texts for the model.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.0.language
    }

    /// `limits:`
    #[must_use]
    pub fn limits(&self) -> CallLimits {
        self.0.limits
    }

    /// `context:`, how much of a conversation a session keeps.
    #[must_use]
    pub fn window(&self) -> crate::session::Window {
        self.0.window
    }

    /// `context.answers`: what the user answers to a question of the server's may ground a value.
    #[must_use]
    pub fn hears_answers(&self) -> bool {
        self.0.answers.is_some()
    }

    /// Whether any tool's decision depends on what tools said, by the options about where values come from.
    #[must_use]
    pub fn reads_outputs(&self) -> bool {
        self.0.tools.needs().outputs
    }

    /// Whether a rule or a definition reads what was said.
    #[must_use]
    pub fn reads_said(&self) -> bool {
        self.0.reads_said
    }

    /// Whether instruction-like text in what tools said counts for any tool.
    #[must_use]
    pub fn scans_outputs(&self) -> bool {
        self.0.tools.needs().scans
    }

    /// Whether it is followed where what such text asks for goes, for any tool.
    #[must_use]
    pub fn follows_outputs(&self) -> bool {
        self.0.tools.needs().follows
    }

    /// `authorizer:`
    #[must_use]
    pub fn authorizer(&self) -> Option<&Authorizing> {
        self.0.authorizer.as_ref()
    }

    /// `programs:` by name.
    #[must_use]
    pub fn programs(&self) -> &BTreeMap<String, Program> {
        &self.0.programs
    }

    /// The programs that are asked, each with what asks it, in words: `tool \`pay\``, `rule \`night\``.
    #[must_use]
    pub fn programs_asked(&self) -> BTreeMap<String, Vec<String>> {
        programs::asked(&self.0)
    }

    /// Whether `authorize` is set for any tool.
    #[must_use]
    pub fn authorizes(&self) -> bool {
        self.0.tools.needs().authorizer
    }

    /// Whether any tool's decision depends on the user's words, by the options about where values come from.
    #[must_use]
    pub fn needs_user(&self) -> bool {
        self.0.tools.needs().user
    }

    /// `facts:` that may be given.
    #[must_use]
    pub fn facts(&self) -> &BTreeMap<String, Fact> {
        &self.0.facts
    }

    /// `lists:` as one JSON object. Expressions hold them as constants already.
    #[must_use]
    pub fn lists(&self) -> &Arc<crate::json::Document> {
        &self.0.lists
    }

    /// `define:`, each after those it reads.
    #[must_use]
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.0.definitions
    }

    /// All rules in deciding order: those that deny before those that ask, otherwise as in the file.
    #[must_use]
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.0.rules
    }

    /// `state:`, and the variables of limits and budgets.
    #[must_use]
    pub fn machine(&self) -> &Arc<crate::state::Machine> {
        &self.0.machine
    }

    /// `properties:`, which decide nothing: see [`crate::prove`].
    #[must_use]
    pub fn properties(&self) -> &[Property] {
        &self.0.properties
    }

    /// `invariants:`
    #[must_use]
    pub fn invariants(&self) -> &[Arc<Invariant>] {
        &self.0.invariants
    }

    /// Whether the answer of a call may change the state.
    #[must_use]
    pub fn reads_answers(&self) -> bool {
        self.0.rules.iter().any(|rule| !rule.effects.after.is_empty())
    }

    /// The rules that name a tool in their `tools:`. Those without `tools:` need its schema: [`Policy::bind`].
    pub fn rules_for<'a>(&'a self, server: &'a str, tool: &'a str) -> impl Iterator<Item = &'a Arc<Rule>> {
        self.0.rules.iter().filter(move |rule| rule.names(server, tool))
    }

    /// `secrets:`, which arguments no form asks for.
    #[must_use]
    pub fn secrets(&self) -> &crate::form::Secrets {
        &self.0.secrets
    }

    /// What a property over the state and a call may use; see [`crate::prove`].
    pub(crate) fn property_scope(&self) -> crate::cel::Scope {
        let types = check::types_of(&self.0.definitions);
        scope::of_call(&self.0.scope, crate::cel::Type::map(crate::cel::Type::Dyn), &types)
    }

    fn globs(&self) -> impl Iterator<Item = &Glob> {
        let named = self.0.tools.all().iter().map(|entry| &entry.glob);
        named.chain(self.0.rules.iter().flat_map(|rule| &rule.tools))
    }

    /// Whether it speaks of other servers than this one by name: their calls share a session's state with it.
    #[must_use]
    pub fn names_others(&self, server: &str) -> bool {
        self.globs().any(|glob| !glob.matches_server(server))
    }

    /// All patterns of tool names that speak of this server.
    pub(crate) fn tool_patterns(&self, server: &str) -> impl Iterator<Item = &Glob> {
        self.globs().filter(move |glob| glob.matches_server(server))
    }

    /// Whether `show_rules` is set for any tool.
    #[must_use]
    pub fn shows_rules(&self) -> bool {
        self.0.tools.shows_rules()
    }

    /// Whether `definitions: hide` is set for any tool: what a client is shown depends on the listing then.
    #[must_use]
    pub fn hides_by_definition(&self) -> bool {
        self.0.tools.hides_by_definition()
    }

    /// Whether `approve: terminal` is set for any tool.
    #[must_use]
    pub fn approves_at_terminal(&self) -> bool {
        self.0.tools.approves_at_terminal()
    }

    /// `methods:`: what becomes of a client's other requests.
    #[must_use]
    pub fn methods(&self) -> &Methods {
        &self.0.methods
    }

    /// `server_requests:`: what becomes of the server's own requests.
    #[must_use]
    pub fn server_requests(&self) -> &Methods {
        &self.0.server_requests
    }

    /// The options of a tool; nothing for one that is neither named nor let through by `default: allow`.
    /// It merges all entries on each call: [`Bound::tool`] holds the answer for a listed tool.
    ///
    /// # Errors
    /// [`Conflict`] when two equally literal entries say different things: its calls ask.
    pub fn options(&self, server: &str, tool: &str) -> Result<Option<Arc<ToolOptions>>, Conflict> {
        let named = self.0.tools.names(server, tool);
        if !named && self.0.unnamed == Unnamed::Deny {
            return Ok(None);
        }
        self.0.tools.merged(server, tool).map(|options| Some(Arc::new(options)))
    }

    /// [`Policy::options`] for callers that treat a conflict as not named.
    #[must_use]
    pub fn tool(&self, server: &str, tool: &str) -> Option<Arc<ToolOptions>> {
        self.options(server, tool).ok().flatten()
    }

    /// Meets a server's listing: options and rules of each tool, and what is wrong about the policy there. An
    /// error with a [`Problem::tools`] makes their calls ask; another one is an error of the file.
    #[must_use]
    pub fn bind(&self, server: &str, listing: &Listing<'_>) -> (Bound, Vec<Problem>) {
        bind::bind(self, server, listing)
    }
}

/// Reads any bytes as a policy, and binds what is one.
///
/// # Panics
/// Never; that is what it is for.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let mut read = |_: &str| Ok("{\"type\":\"object\"}".to_owned());
    match Policy::load("fuzz.yaml", bytes, &mut read) {
        Ok(loaded) => {
            let (bound, problems) = loaded.policy.bind("server", &Listing::unknown());
            let _ = (bound.tool("read_file"), problems.iter().map(ToString::to_string).count());
            let _ = loaded.warnings.iter().map(ToString::to_string).count();
        }
        Err(errors) => drop(errors.to_string()),
    }
}

fn digest(source: &Source, files: &BTreeMap<String, String>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in
        std::iter::once(source.text()).chain(files.iter().flat_map(|(path, text)| [path.as_str(), text]))
    {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
