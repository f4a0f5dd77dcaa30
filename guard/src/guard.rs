//! The guard of one server: a policy, facts, and the tools that the server listed. It decides calls.

use std::sync::Arc;

use crate::call_shape::{CallShape, ParsedCall};
use crate::catalogue::{Catalogue, Tool};
use crate::check::arguments::{self, Checked};
use crate::check::env::CallEnv;
use crate::check::rules;
use crate::decision::{APPROVAL, Decision, Outcome};
use crate::definition::{CheckInfo, Definition, in_deciding_order, rules_text};
use crate::facts::Facts;
use crate::finding::{Effect, Finding, NextStep};
use crate::json::{Document, Value};
use crate::ledger::Snapshot;
use crate::messages::Conversation;
use crate::policy::{Arguments, Mode, Otherwise, Passage, Policy, ToolOptions};
use crate::refusal::{FindingView, Language, OnFailure, REASON_CHARS_MAX, REASONS_MAX, Refusal, plain};
use crate::rust_rule::{RuleError, RuleInput, RustRule};
use crate::schema::{Coerced, Mismatch};
use crate::session::Session;
use crate::trace::Trace;
use crate::world::{Recorded, World};

/// The check that a tool is offered at all.
const KNOWN_TOOL: &str = "known_tool";
/// The check that a tool is what it was when it was first listed.
const TOOL_CERTAIN: &str = "tool_certain";
/// The check that the policy makes sense for a tool.
const POLICY_FITS: &str = "policy_fits";

/// The guard's own checks: no rule may be called like one.
pub(crate) const CHECKS: [&str; 6] =
    [KNOWN_TOOL, TOOL_CERTAIN, POLICY_FITS, arguments::SCHEMA, arguments::NAME, APPROVAL];

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

/// A request that is no call.
#[derive(Debug, Clone, Copy)]
pub struct MethodCall<'a> {
    /// The method.
    pub method: &'a str,
    /// Its params.
    pub params: Option<Value<'a>>,
    /// The server sent it; otherwise the client did.
    pub is_servers: bool,
}

/// What becomes of a request that is no call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What is to happen.
    pub outcome: Outcome,
    /// What would happen if nothing were set to *monitor*; `outcome <= would`.
    pub would: Outcome,
    /// Why, for people; empty when it passes.
    pub text: String,
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
    /// In deciding order: those that deny, then those that ask.
    rust_rules: Arc<[RustRule]>,
}

impl Guard {
    /// A guard that does not know the server's tools yet.
    #[must_use]
    pub fn new(policy: Policy, server: &str, facts: Facts) -> Guard {
        let language = Arc::new(Language::english());
        let (server, rust_rules) = (server.into(), Arc::new([]));
        Guard {
            policy,
            server,
            facts,
            catalogue: None,
            language,
            is_monitoring: false,
            has_resources: false,
            rust_rules,
        }
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
        if names.any(|name| *name == rule.name)
            || own.any(|name| *name == rule.name)
            || CHECKS.contains(&rule.name.as_str())
        {
            return Err(RuleError::Taken(rule.name));
        }
        let mut rules: Vec<RustRule> = self.rust_rules.iter().cloned().chain([rule]).collect();
        rules.sort_by_key(|rule| rule.otherwise);
        Ok(Guard { rust_rules: rules.into(), ..self.clone() })
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

    /// The guard after this definition of a listed tool was shown to the client, which is another than the one
    /// its calls are judged by: they ask. And what a person should know of it.
    #[must_use]
    pub fn doubt(&self, tool: &str, definition: &Document) -> (Guard, String) {
        let (catalogue, warning) = self.catalogue.clone().unwrap_or_default().doubting(tool, definition);
        (Guard { catalogue: Some(Arc::new(catalogue)), ..self.clone() }, warning)
    }

    /// The tools of the server's last listing.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.catalogue.iter().flat_map(|catalogue| catalogue.names())
    }

    /// Whether a client is shown this tool: by the policy alone, so that it never changes within a session.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        self.policy.tool(&self.server, tool).is_some_and(|options| !options.hidden)
    }

    /// The options in force for a tool; nothing when it is not offered.
    #[must_use]
    pub fn options(&self, tool: &str) -> Option<Arc<ToolOptions>> {
        match self.tool(tool) {
            Some(tool) => tool.bound.options.clone(),
            None => self.policy.tool(&self.server, tool),
        }
    }

    /// Whether deciding on this tool's calls may take longer than a pump's thread should.
    #[must_use]
    pub fn is_expensive(&self, tool: &str) -> bool {
        self.tool(tool).is_some_and(|tool| tool.schema.as_ref().is_ok_and(|schema| schema.expensive()))
    }

    /// Whether any rule reads what was said: then tool outputs belong into the session.
    #[must_use]
    pub fn reads_conversation(&self) -> bool {
        if !self.rust_rules.is_empty() {
            return true;
        }
        let definitions = self.policy.definitions().iter().map(|definition| &definition.value);
        let rules =
            self.policy.rules().iter().flat_map(|rule| rule.when.iter().chain(std::iter::once(&rule.that)));
        let mut variables =
            rules.chain(definitions).flat_map(|condition| &condition.expression.reads().variables);
        variables.any(|name| name == "conversation" || name == "user_request")
    }

    /// The guard as it was when `trace` was made, as far as the record says: this policy, these rules and words,
    /// the record's server, facts and tool.
    pub(crate) fn as_of(&self, trace: &Trace, facts: Facts) -> Guard {
        let (policy, server) = (self.policy.clone(), Arc::<str>::from(trace.server.as_str()));
        let catalogue = Catalogue::of(&trace.listed, &trace.tool, (&policy, &server)).map(Arc::new);
        Guard { policy, server, facts, catalogue, is_monitoring: trace.is_monitoring, ..self.clone() }
    }

    /// [`Guard::monitoring`] alone.
    pub(crate) fn is_set_to_monitor(&self) -> bool {
        self.is_monitoring
    }

    fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.catalogue.as_ref()?.tool(name)
    }

    /// Decides on a call. `past` is what the ledger's step knows of this session.
    #[must_use]
    pub fn decide(
        &self,
        call: &Call<'_>,
        session: &Session,
        past: &Snapshot<'_>,
        world: &dyn World,
    ) -> Decision {
        // No check reads the past yet; `once` and budgets will.
        let _ = past;
        let recorded = Recorded::new(world);
        let mut findings = Vec::new();
        let coerced = self.judge(call, session, &recorded, &mut findings);
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
        world: &dyn World,
        findings: &mut Vec<Finding>,
    ) -> Option<(Coerced, Document)> {
        let options = match self.offered(call.tool) {
            Ok(options) => options,
            // What is not offered is judged no further: there is nothing to judge it by.
            Err(finding) => {
                findings.push(*finding);
                return None;
            }
        };
        let tool = self.tool(call.tool).cloned();
        // Without a listing a policy still decides, by what it says itself.
        let unlisted =
            tool.is_none().then(|| self.policy.bind(&self.server, &crate::policy::Listing::unknown()).0);
        let bound = match &tool {
            Some(tool) => Some(Arc::clone(&tool.bound)),
            None => unlisted.and_then(|bound| bound.tool(call.tool)),
        };
        let Some(bound) = bound else {
            findings.push(Finding::new(
                KNOWN_TOOL,
                Effect::Deny,
                NextStep::NotOffered,
                "the tool is not known",
            ));
            return None;
        };
        let own = options.schema.as_ref().filter(|_| tool.is_none()).map(|schema| {
            crate::schema::Schema::compile(schema.document().root())
                .map(Arc::new)
                .map_err(|why| why.to_string())
        });
        let schema = tool.as_ref().map(|tool| &tool.schema).or(own.as_ref());
        if let Some(doubt) = tool.as_ref().and_then(|tool| tool.doubt.as_ref()) {
            findings.push(Finding::new(
                TOOL_CERTAIN,
                Effect::Ask,
                NextStep::TellUser,
                format!("`{}`: {doubt}", call.tool),
            ));
        }
        for problem in &bound.problems {
            let reason = format!("the policy cannot be applied to this tool: {}", problem.message());
            findings.push(Finding::new(POLICY_FITS, Effect::Ask, NextStep::TellUser, reason));
        }
        let Checked { findings: found, coerced, are_valid } = match schema {
            Some(schema) => {
                arguments::check(&options, schema.as_deref().map_err(String::as_str), call.arguments)
            }
            None => self.unlisted_arguments(&options, call.arguments),
        };
        findings.extend(found);
        let decided =
            coerced.as_ref().map_or(call.arguments, |(_, document): &(_, Document)| document.root());
        let mut env =
            CallEnv::new((&self.policy, &self.server, call.tool), decided, &self.facts, session, world);
        env.schema = schema.and_then(|schema| schema.as_deref().ok());
        env.definitions = &bound.definitions;
        rules::check(&bound.rules, &env, are_valid, findings);
        if are_valid {
            let (facts, server, tool) = (&self.facts, &*self.server, call.tool);
            let input = RuleInput { server, tool, arguments: decided, facts, session, world };
            let named = self.rust_rules.iter().filter(|rule| rule.names(server, tool));
            findings.extend(named.filter_map(|rule| rule.judge(&input)));
        }
        coerced
    }

    /// Nothing is known of the schema: only what holds for all arguments is checked; that no others may come is
    /// then not to be told, and asks.
    fn unlisted_arguments(&self, options: &ToolOptions, arguments: Value<'_>) -> Checked {
        let unchecked = ToolOptions { arguments: Arguments::Unchecked, ..options.clone() };
        arguments::check(&unchecked, Err("it was not listed"), arguments)
    }

    /// Whether a tool may be called at all; compared byte for byte with what the server listed.
    fn offered(&self, name: &str) -> Result<Arc<ToolOptions>, Box<Finding>> {
        let deny = |next, reason| Box::new(Finding::new(KNOWN_TOOL, Effect::Deny, next, reason));
        if let Some(catalogue) = &self.catalogue
            && catalogue.tool(name).is_none()
        {
            return Err(match catalogue.resembled(name).filter(|(listed, _)| self.offers(listed)) {
                Some((listed, how)) => deny(
                    NextStep::UseAsWritten,
                    format!("there is no tool of this name; it {how} from `{listed}`"),
                ),
                None => deny(NextStep::NotOffered, "the server lists no tool of this name".to_owned()),
            });
        }
        let hidden = || deny(NextStep::NotOffered, "the policy does not offer this tool".to_owned());
        match self.options(name) {
            Some(options) if !options.hidden => Ok(options),
            _ => Err(hidden()),
        }
    }

    /// Decides on a request that is no call, by `methods:` and `server_requests:`.
    #[must_use]
    pub fn method(&self, call: &MethodCall<'_>, session: &Session, world: &dyn World) -> Ruled {
        let (would, text) = self.rule_on(call, session, world);
        Ruled { outcome: if self.is_monitoring() { Outcome::Allow } else { would }, would, text }
    }

    fn rule_on(&self, call: &MethodCall<'_>, session: &Session, world: &dyn World) -> (Outcome, String) {
        let methods = if call.is_servers { self.policy.server_requests() } else { self.policy.methods() };
        let ruling = match methods.of(call.method) {
            Passage::Pass => return (Outcome::Allow, String::new()),
            Passage::Deny => {
                return (Outcome::Deny, format!("the policy does not let `{}` pass", call.method));
            }
            Passage::Ruled(ruling) => ruling,
        };
        let none = Document::empty_object();
        let mut env =
            CallEnv::new((&self.policy, &self.server, ""), none.root(), &self.facts, session, world);
        env.params = Some(call.params.unwrap_or(none.root()));
        env.method = call.method;
        let (outcome, why) = match rules::holds(&ruling.that.expression, &env) {
            Ok(true) => return (Outcome::Allow, String::new()),
            Ok(false) if ruling.because.is_empty() => {
                (outcome_of(ruling.otherwise), format!("`{}` does not hold", ruling.that.expression.source()))
            }
            Ok(false) => (outcome_of(ruling.otherwise), ruling.because.clone()),
            Err(failure) => {
                let why = format!("the policy's ruling cannot be evaluated: {}", failure.message);
                (Outcome::Ask, why)
            }
        };
        (outcome, format!("`{}` was not passed on: {why}", call.method))
    }

    /// What a refused call says to the model: what failed, then what to do next.
    #[must_use]
    pub fn message(&self, decision: &Decision) -> String {
        let mut text = self.with_refusal(decision, |refusal| refusal.message());
        for line in advice(decision) {
            text.push_str("\n- ");
            text.push_str(&line);
        }
        text
    }

    /// What the model should do next, alone: by kind of failure, then in the policy author's words.
    #[must_use]
    pub fn advice(&self, decision: &Decision) -> String {
        let mut lines = vec![self.with_refusal(decision, |refusal| refusal.advice())];
        lines.extend(advice(decision).into_iter().map(|line| format!("- {line}")));
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// What failed, alone.
    #[must_use]
    pub fn summary(&self, decision: &Decision) -> String {
        self.with_refusal(decision, |refusal| refusal.summary())
    }

    /// Runs over the refusal that a decision makes, for its other forms ([`Refusal::feedback`]).
    pub fn with_refusal<T>(&self, decision: &Decision, then: impl FnOnce(&Refusal<'_>) -> T) -> T {
        let views: Vec<FindingView<'_>> = decision.standing().map(view).collect();
        then(&Refusal { tool: &decision.tool, findings: &views, language: &self.language })
    }

    /// A listed tool as a model is shown it, with the rules its calls are held to. Nothing when it is not listed
    /// or not offered.
    #[must_use]
    pub fn definition(&self, tool: &str, shape: CallShape) -> Option<String> {
        let options = self.options(tool).filter(|options| !options.hidden)?;
        let definition = self.tool_definition(tool)?.root();
        let none = Document::empty_object();
        let schema = match &options.schema {
            Some(schema) => schema.document().root(),
            None => definition.get("inputSchema").unwrap_or(none.root()),
        };
        let description = definition.get("description").and_then(Value::as_str).unwrap_or_default();
        let rules = rules_text(&self.language, &self.checks_of(tool));
        Some(Definition { name: tool, description, schema }.json(shape, rules.as_deref()))
    }

    /// The checks that a tool's calls pass through, in deciding order.
    #[must_use]
    pub fn checks_of(&self, tool: &str) -> Vec<CheckInfo> {
        let bound = match self.tool(tool) {
            Some(tool) => Some(Arc::clone(&tool.bound)),
            None => self.policy.bind(&self.server, &crate::policy::Listing::unknown()).0.tool(tool),
        };
        let Some(bound) = bound else { return Vec::new() };
        let rule = |bound: &crate::policy::BoundRule| CheckInfo {
            name: bound.rule.name.clone(),
            reason: bound.rule.because.clone(),
            on_failure: match bound.rule.otherwise {
                Otherwise::Ask => OnFailure::Ask,
                Otherwise::Deny => OnFailure::Deny,
            },
        };
        let own = self.rust_rules.iter().filter(|rule| rule.names(&self.server, tool));
        let own = own.map(|rule| CheckInfo {
            name: rule.name.clone(),
            reason: rule.because.clone(),
            on_failure: rule.on_failure(),
        });
        in_deciding_order(bound.rules.iter().map(rule).chain(own).collect())
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

fn outcome_of(otherwise: Otherwise) -> Outcome {
    match otherwise {
        Otherwise::Ask => Outcome::Ask,
        Otherwise::Deny => Outcome::Deny,
    }
}

/// The policy author's advice, each once, as many as there are reasons.
fn advice(decision: &Decision) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for advice in decision.standing().filter_map(|finding| finding.advice.as_deref()) {
        let line = plain::line(advice, REASON_CHARS_MAX);
        if lines.len() < REASONS_MAX && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn view(finding: &Finding) -> FindingView<'_> {
    FindingView {
        name: &finding.check,
        reason: if finding.because.is_empty() { &finding.reason } else { &finding.because },
        on_failure: if finding.effect == Effect::Deny { OnFailure::Deny } else { OnFailure::Ask },
        next: finding.next,
    }
}
