//! A policy beside one server's real listing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check::{definitions_read, must_be_bool};
use super::problem::{Problem, sort};
use super::provenance::misfits;
use super::states::{Effect, Scopes, conflicts, must_be};
use super::{Condition, Definition, Policy, Rule, ToolOptions, lint, scope};
use crate::cel::{Expression, Object, Scope, Type};
use crate::json;
use crate::state::{Value, Variable};

/// One tool of a listing.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Its name, unescaped.
    pub name: &'a str,
    /// Its input schema, when it has one that can be read.
    pub schema: Option<json::Value<'a>>,
}

/// What a server offers.
#[derive(Debug, Clone, Default)]
pub struct Listing<'a> {
    /// Its tools, all pages; nothing when they are not known.
    pub tools: Option<Vec<Listed<'a>>>,
    /// Whether it offers resources.
    pub resources: bool,
}

impl<'a> Listing<'a> {
    /// Nothing is known: any tool may exist, with any arguments.
    #[must_use]
    pub fn unknown() -> Listing<'a> {
        Listing::default()
    }

    /// These tools.
    #[must_use]
    pub fn of(tools: Vec<Listed<'a>>) -> Listing<'a> {
        Listing { tools: Some(tools), resources: false }
    }
}

/// A policy as it holds for one server.
#[derive(Debug, Clone)]
pub struct Bound {
    policy: Policy,
    server: String,
    /// By name; nothing when the listing is not known.
    tools: Option<BTreeMap<String, Arc<BoundTool>>>,
}

impl Bound {
    /// What holds for a tool; nothing for one that the server did not list.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Arc<BoundTool>> {
        match &self.tools {
            Some(tools) => tools.get(name).cloned(),
            None => {
                let tool = Listed { name, schema: None };
                Some(Arc::new(bind_tool(&self.policy, &self.server, &tool, &mut Memo::default())))
            }
        }
    }

    /// All listed tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<BoundTool>> {
        self.tools.iter().flat_map(BTreeMap::values)
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }
}

/// What a policy says about one tool of one server.
#[derive(Debug)]
pub struct BoundTool {
    /// Its name.
    pub name: String,
    /// Its options; nothing when the policy neither names it nor lets unnamed tools through.
    pub options: Option<Arc<ToolOptions>>,
    /// Its rules in deciding order, checked against its schema.
    pub rules: Vec<BoundRule>,
    /// The definitions its rules read, each after those it reads, checked against its schema.
    pub definitions: Vec<BoundDefinition>,
    /// Errors of the policy for this tool: while there is one, its calls ask.
    pub problems: Vec<Problem>,
    /// Rules without `tools` that are not this tool's by its schema, with the arguments they read that the schema
    /// does not declare: a call that sends one of them all the same is held to the rule.
    undeclared: Vec<(Vec<String>, BoundRule)>,
    /// Names of rules that are this tool's and cannot be evaluated on it: one of `problems` says why.
    broken: BTreeSet<String>,
}

impl BoundTool {
    /// Whether this rule is the tool's, evaluated or not.
    pub(crate) fn has_rule(&self, name: &str) -> bool {
        self.broken.contains(name) || self.rules.iter().any(|bound| bound.rule.name == name)
    }

    /// Rules that hold for a call which sends one of these arguments, although the tool does not declare it.
    pub(crate) fn undeclared(&self) -> impl Iterator<Item = (&[String], &BoundRule)> + Clone {
        self.undeclared.iter().map(|(names, rule)| (names.as_slice(), rule))
    }

    /// The rules that a call with these arguments is held to, in deciding order.
    pub(crate) fn rules_for<'b>(&'b self, arguments: json::Value<'b>) -> impl Iterator<Item = &'b BoundRule> {
        // Put together once: looking up each rule's names in a call of ten thousand is a hostile caller's to ask.
        let sent: BTreeSet<&str> = match self.undeclared.as_slice() {
            [] => BTreeSet::new(),
            _ => arguments.members().map(|(name, _)| name).collect(),
        };
        let is_sent = move |(names, _): &&(Vec<String>, BoundRule)| {
            names.iter().any(|name| sent.contains(name.as_str()))
        };
        self.rules.iter().chain(self.undeclared.iter().filter(is_sent).map(|(_, rule)| rule))
    }

    /// Whether the listing shows it (outside of monitor mode).
    #[must_use]
    pub fn visible(&self) -> bool {
        self.options.as_ref().is_some_and(|options| !options.hidden)
    }
}

/// A rule for one tool.
#[derive(Debug, Clone)]
pub struct BoundRule {
    /// The rule.
    pub rule: Arc<Rule>,
    /// It counts only where this holds.
    pub when: Option<Arc<Expression>>,
    /// What must hold.
    pub that: Arc<Expression>,
    /// What it does to the state when the call is sent.
    pub set: Vec<BoundEffect>,
    /// And when its answer is in.
    pub after: Vec<BoundEffect>,
}

/// An effect for one tool.
#[derive(Debug, Clone)]
pub struct BoundEffect {
    /// The variable.
    pub variable: Arc<Variable>,
    /// What it is to hold.
    pub value: Arc<Expression>,
    /// Of an `after` effect: what it holds where no answer comes.
    pub lost: Option<Value>,
}

impl BoundEffect {
    /// As it was checked without a schema.
    fn as_loaded(effect: &Effect) -> BoundEffect {
        BoundEffect {
            variable: Arc::clone(&effect.variable),
            value: Arc::clone(&effect.value.expression),
            lost: effect.lost.clone(),
        }
    }
}

/// A definition for one tool.
#[derive(Debug, Clone)]
pub struct BoundDefinition {
    /// `defs.NAME`
    pub name: String,
    /// What it stands for.
    pub value: Arc<Expression>,
}

pub(crate) fn bind(policy: &Policy, server: &str, listing: &Listing<'_>) -> (Bound, Vec<Problem>) {
    let bound = |tools| Bound { policy: policy.clone(), server: server.to_owned(), tools };
    let Some(listed) = &listing.tools else { return (bound(None), Vec::new()) };
    let mut memo = Memo::default();
    let tools: Vec<Arc<BoundTool>> =
        listed.iter().map(|tool| Arc::new(bind_tool(policy, server, tool, &mut memo))).collect();
    let mut problems = together(&tools);
    problems.extend(lint::bound(policy, server, listing, &tools));
    problems.extend(policy.beside_listing(server, listing));
    sort(&mut problems);
    let tools = tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
    (bound(Some(tools)), problems)
}

/// The problems of all tools; one that several tools have is told once.
fn together(tools: &[Arc<BoundTool>]) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    let mut places: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for (tool, problem) in
        tools.iter().flat_map(|tool| tool.problems.iter().map(move |problem| (tool, problem)))
    {
        let place = (problem.start(), problem.message().to_owned());
        let index = *places.entry(place).or_insert(found.len());
        match found.get_mut(index) {
            Some(first) => first.also_about_tool(&tool.name),
            None => found.push(problem.clone()),
        }
    }
    found
}

fn bind_tool(policy: &Policy, server: &str, tool: &Listed<'_>, memo: &mut Memo) -> BoundTool {
    let mut bound = BoundTool {
        name: tool.name.to_owned(),
        options: None,
        rules: Vec::new(),
        definitions: Vec::new(),
        problems: Vec::new(),
        undeclared: Vec::new(),
        broken: BTreeSet::new(),
    };
    match policy.options(server, tool.name) {
        Ok(options) => bound.options = options,
        Err(conflict) => {
            let problem = Problem::error(&policy.0.source, conflict.span(), conflict.to_string());
            bound.problems.push(problem.about_tool(tool.name));
            // The calls ask; what is not in conflict is as strict as the defaults.
            bound.options = Some(Arc::new(policy.0.tools.defaults().clone()));
        }
    }
    let Some(options) = bound.options.clone() else { return bound };
    let own = options.schema.as_ref().map(|schema| schema.document().root());
    let schema = own.or(tool.schema);
    if let Some(schema) = schema {
        let place = (&policy.0.source, &policy.0.tools);
        bound.problems.extend(misfits(place, (server, tool.name), &options.provenance, schema));
    }
    Binder { policy, server, schema, bound: &mut bound, memo }.bind();
    bound
}

/// Expressions already checked, by their place in the file and the types they saw: most tools of a server have
/// the same few arguments, and a check costs more than a decision.
type Memo = BTreeMap<usize, Vec<(Vec<Option<Type>>, Arc<Expression>)>>;

/// The types that an expression finds for the arguments and definitions it names. Equal types, equal check.
fn seen_types(expression: &Expression, scope: &Scope) -> Vec<Option<Type>> {
    let reads = expression.reads();
    let mut types = Vec::new();
    for path in reads.paths.iter().chain(&reads.tested) {
        let [variable, rest @ ..] = path.as_slice() else { continue };
        if !matches!(variable.as_str(), "args" | "defs") {
            continue;
        }
        let whole = scope.variable(variable);
        types.push(match (whole, rest.first()) {
            (Some(Type::Object(object)), Some(name)) => {
                let one = object.fields.get(name).map(|field| (name.clone(), field.clone()));
                Some(Type::Object(Arc::new(Object { fields: one.into_iter().collect(), open: object.open })))
            }
            (whole, _) => whole.cloned(),
        });
    }
    types
}

struct Binder<'p, 'b> {
    policy: &'p Policy,
    server: &'p str,
    schema: Option<json::Value<'p>>,
    bound: &'b mut BoundTool,
    memo: &'b mut Memo,
}

impl Binder<'_, '_> {
    fn bind(&mut self) {
        let rules: Vec<Arc<Rule>> =
            self.policy.rules().iter().filter(|rule| self.applies(rule)).cloned().collect();
        let arguments = self.schema.map_or_else(|| Type::map(Type::Dyn), Type::of_schema);
        let types = self.definitions(&rules, &arguments);
        let stated = &self.policy.0.scope;
        let scopes = Scopes {
            after: scope::of_answer(stated, arguments.clone()),
            call: scope::of_call(stated, arguments, &types),
        };
        for rule in rules {
            match self.rule(&rule, &scopes) {
                Some(bound) => self.bound.rules.push(bound),
                None => drop(self.bound.broken.insert(rule.name.clone())),
            }
        }
        self.effect_conflicts();
        self.undeclared();
    }

    fn rule(&mut self, rule: &Arc<Rule>, scopes: &Scopes) -> Option<BoundRule> {
        let when = rule.when.as_ref().map(|condition| self.condition(condition, &scopes.call));
        let that = self.condition(&rule.that, &scopes.call);
        let set = self.effects(&rule.effects.set, &scopes.call);
        let after = self.effects(&rule.effects.after, &scopes.after);
        let when = when.map_or(Some(None), |when| when.map(Some))?;
        Some(BoundRule { rule: Arc::clone(rule), when, that: that?, set: set?, after: after? })
    }

    fn effects(&mut self, effects: &[Effect], scope: &Scope) -> Option<Vec<BoundEffect>> {
        let bound = |effect: &Effect| {
            let value = self.compile(&effect.value, scope)?;
            if let Err(problem) = must_be(&value, &effect.variable) {
                self.problem(&effect.value, problem);
                return None;
            }
            Some(BoundEffect { variable: Arc::clone(&effect.variable), value, lost: effect.lost.clone() })
        };
        // All of them, so that all faults are seen.
        let bound: Vec<Option<BoundEffect>> = effects.iter().map(bound).collect();
        bound.into_iter().collect()
    }

    /// Two rules that are both this tool's and may set one variable to different values.
    fn effect_conflicts(&mut self) {
        let rules = self.bound.rules.iter().map(|bound| &*bound.rule);
        for (span, message) in conflicts::clashes_of(rules, |_, _| true) {
            let problem = Problem::error(&self.policy.0.source, span, message).about_tool(&self.bound.name);
            self.bound.problems.push(problem.hint(conflicts::HINT));
        }
    }

    /// A schema may let arguments through that it does not declare, and servers read such.
    fn undeclared(&mut self) {
        let Some(schema) = self.schema else { return };
        for rule in self.policy.rules() {
            if !rule.tools.is_empty() || self.applies(rule) {
                continue;
            }
            let wanted = arguments_of(self.policy, rule);
            let names = wanted.needed.union(&wanted.optional).filter(|name| !schema_has(schema, name));
            let names: Vec<String> = names.cloned().collect();
            let expression = |condition: &Condition| Arc::clone(&condition.expression);
            let (when, that) = (rule.when.as_ref().map(expression), expression(&rule.that));
            let effects = |effects: &[Effect]| effects.iter().map(BoundEffect::as_loaded).collect();
            let (set, after) = (effects(&rule.effects.set), effects(&rule.effects.after));
            let rule = Arc::clone(rule);
            self.bound.undeclared.push((names, BoundRule { rule, when, that, set, after }));
        }
    }

    fn applies(&self, rule: &Rule) -> bool {
        if let Some(key) = rule.made_of {
            // One of its own that a more literal entry has takes its place, as with every option.
            let options = self.bound.options.as_deref();
            let named = options.and_then(|options| match key {
                "limit" => options.limit.as_deref(),
                _ => options.budget.as_deref(),
            });
            return named == Some(rule.name.as_str());
        }
        if !rule.tools.is_empty() {
            return rule.names(self.server, &self.bound.name);
        }
        let Some(schema) = self.schema else { return true };
        let wanted = arguments_of(self.policy, rule);
        let has = |name: &String| schema_has(schema, name);
        wanted.needed.iter().all(has)
            && (!wanted.needed.is_empty() || wanted.is_empty() || wanted.optional.iter().any(has))
    }

    /// The definitions these rules need, with their types.
    fn definitions(&mut self, rules: &[Arc<Rule>], arguments: &Type) -> BTreeMap<String, Type> {
        let mut types = super::check::types_of(self.policy.definitions());
        for definition in needed(self.policy, rules.iter().map(AsRef::as_ref)) {
            let scope = scope::of_call(&self.policy.0.scope, arguments.clone(), &types);
            let Some(value) = self.compile(&definition.value, &scope) else { continue };
            types.insert(definition.name.clone(), value.result().clone());
            self.bound.definitions.push(BoundDefinition { name: definition.name.clone(), value });
        }
        types
    }

    fn condition(&mut self, condition: &Condition, scope: &Scope) -> Option<Arc<Expression>> {
        let expression = self.compile(condition, scope)?;
        if let Err(problem) = must_be_bool(&expression) {
            self.problem(condition, problem);
            return None;
        }
        Some(expression)
    }

    /// An expression that looks at no argument is the same for every tool.
    fn compile(&mut self, condition: &Condition, scope: &Scope) -> Option<Arc<Expression>> {
        let variables = &condition.expression.reads().variables;
        if self.schema.is_none() || !(variables.contains("args") || variables.contains("defs")) {
            return Some(Arc::clone(&condition.expression));
        }
        let key = seen_types(&condition.expression, scope);
        let known = self.memo.entry(condition.cel.span.start).or_default();
        if let Some((_, expression)) = known.iter().find(|(types, _)| *types == key) {
            return Some(Arc::clone(expression));
        }
        match Expression::compile(&condition.cel.text, scope) {
            Ok(expression) => {
                let expression = Arc::new(expression);
                known.push((key, Arc::clone(&expression)));
                Some(expression)
            }
            Err(problems) => {
                problems.into_iter().for_each(|problem| self.problem(condition, problem));
                None
            }
        }
    }

    fn problem(&mut self, condition: &Condition, problem: crate::cel::Problem) {
        let problem = condition.cel.problem(&self.policy.0.source, problem).about_tool(&self.bound.name);
        self.bound.problems.push(problem);
    }
}

/// The definitions that rules read, also through each other, in the file's deciding order.
fn needed<'p, 'r>(policy: &'p Policy, rules: impl Iterator<Item = &'r Rule>) -> Vec<&'p Arc<Definition>> {
    let mut names: BTreeSet<String> = rules
        .flat_map(Rule::conditions)
        .flat_map(|condition| definitions_read(&condition.expression))
        .collect();
    let mut found: Vec<&Arc<Definition>> = Vec::new();
    // Each stands after those it reads: backwards, every reader is met before what it reads.
    for definition in policy.definitions().iter().rev() {
        if names.contains(&definition.name) {
            names.extend(definition.reads.iter().cloned());
            found.push(definition);
        }
    }
    found.reverse();
    found
}

/// The arguments a rule reads, definitions followed.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Those it reads without asking first whether they are there.
    pub(crate) needed: BTreeSet<String>,
    /// Those it asks for with `has()`.
    pub(crate) optional: BTreeSet<String>,
}

impl Wanted {
    pub(crate) fn is_empty(&self) -> bool {
        self.needed.is_empty() && self.optional.is_empty()
    }
}

pub(crate) fn arguments_of(policy: &Policy, rule: &Rule) -> Wanted {
    let definitions = needed(policy, std::iter::once(rule));
    let definitions = definitions.into_iter().map(|definition| &definition.value);
    let mut wanted = Wanted::default();
    for condition in rule.conditions().chain(definitions) {
        let reads = condition.expression.reads();
        wanted.needed.extend(reads.paths.iter().filter_map(|path| argument(path)));
        wanted.optional.extend(reads.tested.iter().filter_map(|path| argument(path)));
    }
    wanted.needed.retain(|name| !wanted.optional.contains(name));
    wanted
}

fn argument(path: &[String]) -> Option<String> {
    match path {
        [variable, name, ..] if variable == "args" => Some(name.clone()),
        _ => None,
    }
}

/// Whether a schema knows an argument. Where it is put together from parts, a name anywhere in them counts: a
/// rule that applies too widely asks, one that applies too narrowly lets pass.
pub(crate) fn schema_has(schema: json::Value<'_>, argument: &str) -> bool {
    const PARTS: [&str; 11] = [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "dependencies",
        "patternProperties",
        "extends",
    ];
    let has =
        |value: json::Value<'_>| value.get("properties").is_some_and(|names| names.get(argument).is_some());
    if has(schema) || schema.get("patternProperties").is_some_and(|patterns| !patterns.is_empty()) {
        return true;
    }
    let values = schema.get("additionalProperties").is_some_and(|more| more.kind() == json::Kind::Object);
    if values && schema.get("properties").is_none() {
        return true;
    }
    PARTS.iter().any(|part| schema.get(part).is_some()) && inner(schema).any(has)
}

/// Every object in a schema.
fn inner(schema: json::Value<'_>) -> impl Iterator<Item = json::Value<'_>> {
    let span = schema.span();
    let inside = move |value: &json::Value<'_>| {
        let other = value.span();
        other.start >= span.start && other.end <= span.end
    };
    schema.document().all().filter(inside).filter(|value| value.kind() == json::Kind::Object)
}
