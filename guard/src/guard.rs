//! The guard of one server: a policy, facts, and the tools that the server listed. It decides calls.

mod decide;
mod form;
mod method;
mod praxiom;
mod told;
mod words;

use std::sync::Arc;

use crate::authorize::Authorizer;
use crate::call_shape::ParsedCall;
use crate::catalogue::{Catalogue, Tool};
use crate::facts::Facts;
use crate::json::{Document, Value};
use crate::messages::Conversation;
use crate::policy::{Definitions, Mode, Policy, ToolOptions};
use crate::refusal::Language;
use crate::rust_matcher::RustMatcher;
use crate::rust_rule::{RuleError, RustRule};
use crate::schema::Mismatch;
use crate::session::{Preparing, Session};
use crate::trace::Trace;

pub(crate) use decide::is_check;
pub use form::Incomplete;
pub use method::{MethodCall, Ruled};

/// A call to decide on.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool, as called.
    pub tool: &'a str,
    /// The call's own id, if it has one: an approval is for it alone.
    pub id: Option<&'a str>,
    /// The arguments; missing or null ones are the empty object ([`Document::empty_object`]).
    pub arguments: Value<'a>,
}

impl<'a> From<&'a ParsedCall> for Call<'a> {
    fn from(call: &'a ParsedCall) -> Call<'a> {
        Call { tool: &call.name, id: call.id.as_deref(), arguments: call.arguments.root() }
    }
}

/// What of what a session heard decisions depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Hearing {
    /// Nothing.
    #[default]
    Nothing,
    /// What was said.
    Words,
    /// That, and by which call with which arguments.
    Sources,
}

/// Decides calls to one server. Immutable; cheap to clone.
#[derive(Debug, Clone)]
pub struct Guard {
    policy: Policy,
    server: Arc<str>,
    facts: Facts,
    /// Nothing while the server's tools are not known.
    catalogue: Option<Arc<Catalogue>>,
    language: Arc<Language>,
    is_monitoring: bool,
    /// The server offers resources: files may leave by a way that no call takes.
    has_resources: bool,
    /// [`Guard::with_whole_names`]
    has_whole_names: bool,
    /// In deciding order: those that deny, then those that ask.
    rust_rules: Arc<[RustRule]>,
    rust_matchers: Arc<[RustMatcher]>,
    /// In the place of the policy's command.
    authorizer: Option<Arc<dyn Authorizer>>,
}

impl Guard {
    /// A guard that does not know the server's tools yet.
    #[must_use]
    pub fn new(policy: Policy, server: &str, facts: Facts) -> Guard {
        let language = Arc::new(Language::english());
        let server = server.into();
        Guard {
            policy,
            server,
            facts,
            catalogue: None,
            language,
            is_monitoring: false,
            has_resources: false,
            has_whole_names: false,
            rust_rules: Arc::new([]),
            rust_matchers: Arc::new([]),
            authorizer: None,
        }
    }

    /// Somebody who judges whether the conversation authorizes a call, in the place of the command under the policy's
    /// `authorizer`, which says when that is asked and what it takes. It is asked inside the decision: one that takes
    /// its time holds up the other calls of the session.
    #[must_use]
    pub fn with_authorizer(&self, authorizer: Arc<dyn Authorizer>) -> Guard {
        Guard { authorizer: Some(authorizer), ..self.clone() }
    }

    /// The same that asks nobody: what was asked before is in the answers.
    pub(crate) fn without_authorizer(&self) -> Guard {
        Guard { authorizer: None, ..self.clone() }
    }

    /// One rule more, beside those of the policy.
    ///
    /// # Errors
    /// [`RuleError`] when its name is empty or taken.
    pub fn with_rule(&self, rule: RustRule) -> Result<Guard, RuleError> {
        if rule.name.is_empty() {
            return Err(RuleError::NoName);
        }
        let mut names = self.policy.rules().iter().map(|other| &other.name);
        let mut own = self.rust_rules.iter().map(|other| &other.name);
        if names.any(|name| *name == rule.name) || own.any(|name| *name == rule.name) || is_check(&rule.name)
        {
            return Err(RuleError::Taken(rule.name));
        }
        let mut rules: Vec<RustRule> = self.rust_rules.iter().cloned().chain([rule]).collect();
        rules.sort_by_key(|rule| rule.otherwise);
        Ok(Guard { rust_rules: rules.into(), ..self.clone() })
    }

    /// One matcher more, in the place of what the policy's `ground` says of its argument.
    ///
    /// # Errors
    /// [`RuleError`] when its name is empty or taken.
    pub fn with_matcher(&self, matcher: RustMatcher) -> Result<Guard, RuleError> {
        if matcher.name.is_empty() {
            return Err(RuleError::NoName);
        }
        if self.rust_matchers.iter().any(|other| other.name == matcher.name) {
            return Err(RuleError::Taken(matcher.name));
        }
        let matchers: Vec<RustMatcher> = self.rust_matchers.iter().cloned().chain([matcher]).collect();
        Ok(Guard { rust_matchers: matchers.into(), ..self.clone() })
    }

    /// The matchers given in Rust.
    #[must_use]
    pub fn rust_matchers(&self) -> &[RustMatcher] {
        &self.rust_matchers
    }

    /// The rules given in Rust, in deciding order.
    #[must_use]
    pub fn rust_rules(&self) -> &[RustRule] {
        &self.rust_rules
    }

    /// Decides, and lets nothing follow: every finding is one that is only observed.
    #[must_use]
    pub fn monitoring(mut self, is_monitoring: bool) -> Guard {
        self.is_monitoring = is_monitoring;
        self
    }

    /// Whether the server offers resources: a policy with path rules is warned about them.
    #[must_use]
    pub fn with_resources(mut self, has_resources: bool) -> Guard {
        self.has_resources = has_resources;
        self
    }

    /// Other words for the model.
    #[must_use]
    pub fn in_language(mut self, language: Language) -> Guard {
        self.language = Arc::new(language);
        self
    }

    /// The guard with a listing: name and definition of each tool (all pages), or why a definition cannot be
    /// read. And what a person should know of it.
    #[must_use]
    pub fn adopt(
        &self,
        listing: impl IntoIterator<Item = (String, Result<Document, String>)>,
    ) -> (Guard, Vec<String>) {
        let before = self.catalogue.clone().unwrap_or_default();
        let (catalogue, warnings) = before.adopt((&self.policy, &self.server), self.has_resources, listing);
        (Guard { catalogue: Some(Arc::new(catalogue)), ..self.clone() }, warnings)
    }

    /// The guard under another policy, with the tools it knows.
    #[must_use]
    pub fn under(&self, policy: Policy, facts: Facts) -> (Guard, Vec<String>) {
        let next = Guard { policy, facts, ..self.clone() };
        let Some(catalogue) = &self.catalogue else { return (next, Vec::new()) };
        let (catalogue, warnings) = catalogue.under(&next.policy, &next.server, next.has_resources);
        (Guard { catalogue: Some(Arc::new(catalogue)), ..next }, warnings)
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The facts.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Nothing follows from any decision, by [`Guard::monitoring`] or the policy's own `mode`.
    #[must_use]
    pub fn is_monitoring(&self) -> bool {
        self.is_monitoring || self.policy.mode() == Mode::Monitor
    }

    /// Errors that show in the policy beside the server's listing and are about no one tool: a rule that is for
    /// none of them. While there is one, every call asks.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        self.catalogue.as_deref().map_or(&[], Catalogue::faults)
    }

    /// Whether the server's tools are known.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.catalogue.is_some()
    }

    /// Whether the server's last listing has this tool.
    #[must_use]
    pub fn lists(&self, tool: &str) -> bool {
        self.catalogue.as_ref().is_some_and(|catalogue| catalogue.tool(tool).is_some())
    }

    /// Whether a definition is the one by which this tool's calls are judged.
    #[must_use]
    pub fn knows(&self, tool: &str, definition: &Document) -> bool {
        self.catalogue.as_ref().is_some_and(|catalogue| catalogue.knows(tool, definition))
    }

    /// The guard with one tool more than it knows. A tool it knows, defined otherwise, is doubted: its calls ask.
    #[must_use]
    pub fn with_tool(&self, name: &str, definition: Document) -> (Guard, Vec<String>) {
        let before = self.catalogue.clone().unwrap_or_default();
        let (catalogue, warnings) = before.with(&self.policy, &self.server, name, definition);
        (Guard { catalogue: Some(Arc::new(catalogue)), ..self.clone() }, warnings)
    }

    /// The definition by which a listed tool's calls are judged.
    #[must_use]
    pub fn tool_definition(&self, tool: &str) -> Option<&Arc<Document>> {
        self.tool(tool)?;
        self.catalogue.as_ref()?.definition(tool)
    }

    /// Why a listed tool cannot be relied on, if so.
    #[must_use]
    pub fn doubt_of(&self, tool: &str) -> Option<&str> {
        self.tool(tool)?.doubt.as_deref()
    }

    /// The guard after these definitions of listed tools were shown to the client, `None` where one cannot be
    /// read for certain: where they are others than those the calls are judged by, the calls ask. And what a
    /// person should know of it.
    #[must_use]
    pub fn doubt<'a>(
        &self,
        shown: impl IntoIterator<Item = (&'a str, Option<&'a Document>)>,
    ) -> (Guard, Vec<String>) {
        let (catalogue, warnings) = self.catalogue.clone().unwrap_or_default().doubting(shown);
        (Guard { catalogue: Some(Arc::new(catalogue)), ..self.clone() }, warnings)
    }

    /// The tools of the server's last listing.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.catalogue.iter().flat_map(|catalogue| catalogue.names())
    }

    /// What in a listed tool's definition `definitions: hide` hides it for, if it does: for a person, never for the model.
    #[must_use]
    pub fn hidden_for(&self, tool: &str) -> Option<&str> {
        let tool = self.tool(tool)?;
        let hides =
            tool.bound.options.as_ref().is_some_and(|options| options.definitions == Definitions::Hide);
        tool.instructs.as_deref().filter(|_| hides)
    }

    /// Whether a client is shown this tool: by the policy, and the definition that was first listed, so that it never
    /// changes within a session.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        self.hidden_for(tool).is_none()
            && self.policy.tool(&self.server, tool).is_some_and(|options| !options.hidden)
    }

    /// The options in force for a tool; nothing when it is not offered.
    #[must_use]
    pub fn options(&self, tool: &str) -> Option<Arc<ToolOptions>> {
        match self.tool(tool) {
            Some(tool) => tool.bound.options.clone(),
            None => self.policy.tool(&self.server, tool),
        }
    }

    /// Whether deciding on this call may take longer than a pump's thread should.
    #[must_use]
    pub fn is_expensive(&self, call: &Call<'_>) -> bool {
        let schema = self.tool(call.tool).and_then(|tool| tool.schema.as_ref().ok());
        schema.is_some_and(|schema| schema.is_expensive_for(call.arguments))
    }

    /// Whether any decision depends on what was said: then tool outputs, and the user's words where they can be
    /// had, belong into the session.
    #[must_use]
    pub fn reads_conversation(&self) -> bool {
        self.hearing() != Hearing::Nothing
    }

    /// What of what was said decisions depend on.
    #[must_use]
    pub fn hearing(&self) -> Hearing {
        let is_of_rust = !self.rust_rules.is_empty() || !self.rust_matchers.is_empty();
        if is_of_rust || self.policy.reads_outputs() {
            return Hearing::Sources;
        }
        if self.policy.reads_said() || self.policy.needs_user() { Hearing::Words } else { Hearing::Nothing }
    }

    /// How far what a session hears must be made ready for any tool ([`crate::session::Kept::prepare`]): worth doing
    /// before the next call comes.
    #[must_use]
    pub fn preparing(&self) -> Preparing {
        Preparing { scans: self.policy.scans_outputs(), follows: self.policy.follows_outputs() }
    }

    /// Whether any decision depends on the user's own words. Where a session does not know them, such calls ask.
    #[must_use]
    pub fn reads_user(&self) -> bool {
        self.policy.needs_user() || self.rust_matchers.iter().any(|matcher| !matcher.ground.from.tool)
    }

    /// The options of a tool for which the user's words must be known, as the policy calls them; none for a tool that is
    /// not offered. Where a session does not know them, the tool's calls ask.
    #[must_use]
    pub fn needs_user(&self, tool: &str) -> Vec<&'static str> {
        let options = self.options(tool).filter(|options| !options.hidden);
        options.map_or_else(Vec::new, |options| options.provenance.needs_user().collect())
    }

    /// What the server says of a listed tool: that it changes nothing.
    #[must_use]
    pub fn is_read_only(&self, tool: &str) -> Option<bool> {
        crate::catalogue::read_only(self.tool_definition(tool)?.root())
    }

    /// The guard as it was when `trace` was made, as far as the record says: this policy, these rules and words,
    /// the record's server, facts and tool.
    pub(crate) fn as_of(&self, trace: &Trace, facts: Facts) -> Guard {
        let (policy, server) = (self.policy.clone(), Arc::<str>::from(trace.server.as_str()));
        let catalogue = Catalogue::of(&trace.listed, &trace.tool, (&policy, &server));
        // Whether a rule is for none of the tools shows in the whole listing, and the record has one tool of it. Under
        // the policy of then it is known from what was found then.
        let is_same = trace.decision.policy == policy.digest();
        let faults = if is_same { decide::faults(&trace.decision.findings) } else { Vec::new() };
        let catalogue = catalogue.map(|catalogue| Arc::new(catalogue.with_faults(faults)));
        Guard {
            policy,
            server,
            facts,
            catalogue,
            is_monitoring: trace.is_monitoring,
            authorizer: None,
            ..self.clone()
        }
    }

    /// [`Guard::monitoring`] alone.
    pub(crate) fn is_set_to_monitor(&self) -> bool {
        self.is_monitoring
    }

    fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.catalogue.as_ref()?.tool(name)
    }

    /// What of a result's `structuredContent` does not fit the tool's `outputSchema`. Nothing follows from it.
    #[must_use]
    pub fn check_output(&self, tool: &str, structured: bytes::Bytes) -> Vec<Mismatch> {
        let output = self.tool(tool).and_then(|tool| tool.output.as_ref());
        output.map_or_else(Vec::new, |schema| schema.check_text(structured))
    }

    /// Whether a tool says what its results look like.
    #[must_use]
    pub fn has_output_schema(&self, tool: &str) -> bool {
        self.tool(tool).is_some_and(|tool| tool.output.is_some())
    }

    /// What rules read as `conversation` and `user_request`.
    #[must_use]
    pub fn conversation(&self, session: &Session) -> Arc<Conversation> {
        session.conversation()
    }
}
