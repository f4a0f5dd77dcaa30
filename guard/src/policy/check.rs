//! From what was typed to what is meant.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::facts::Fact;
use super::glob::{Pattern, Steps};
use super::locate::Cel;
use super::merge::{Entries, Entry, Set, Setting};
use super::methods::{MethodEntry, Methods, Passage, Ruling};
use super::problem::{PolicyErrors, Problem, Severity, Source, sort};
use super::programs::{self, RawPrograms};
use super::provenance::{self, RawContext};
use super::raw::{File, RawFact, RawPassage, RawRule, ReadFile};
use super::read::{At, Reader, quoted};
use super::rules::RuleSpans;
use super::states::{Allowance, Invariant, Scopes, allowance_rule, conflicts};
use super::tree::{self, Key};
use super::{CallLimits, Condition, Definition, Inner, Loaded, Policy, Rule, lint, scope};
use crate::cel::{self, Expression, Scope, Type};
use crate::json::{Document, Kind, Limits};
use crate::session::Window;
use crate::state::Machine;

/// Definitions in one file: they may read each other, so this is also how long a chain can be.
pub const DEFINITIONS_MAX: usize = 64;

pub(crate) fn load(source: &Arc<Source>, read: &mut ReadFile<'_>) -> Result<Loaded, PolicyErrors> {
    let (root, problems) = tree::read(source);
    let Some(root) = root else { return Err(PolicyErrors::new(problems)) };
    let mut files = BTreeMap::new();
    let mut reader = Reader { source, problems };
    let file = reader.file(&root, &mut |path| {
        let text = read(path)?;
        files.insert(path.to_owned(), text.clone());
        Ok(text)
    });
    let checked = file.map(|file| Checker { reader: &mut reader }.policy(file, &files));
    let mut problems = reader.problems;
    let warns_only =
        |problems: &[Problem]| problems.iter().all(|problem| problem.severity() == Severity::Warning);
    if let Some(inner) = &checked
        && warns_only(&problems)
    {
        problems.extend(lint::file(inner));
    }
    sort(&mut problems);
    match checked {
        Some(inner) if warns_only(&problems) => {
            Ok(Loaded { policy: Policy(Arc::new(inner)), warnings: problems })
        }
        _ => Err(PolicyErrors::new(problems)),
    }
}

pub(super) struct Checker<'r, 's> {
    pub(super) reader: &'r mut Reader<'s>,
}

impl Checker<'_, '_> {
    fn policy(&mut self, file: File, files: &BTreeMap<String, String>) -> Inner {
        let names = names(&file);
        let mode = file.mode.map(|at| at.value).unwrap_or_default();
        let default_limits = CallLimits::default();

        let facts = self.facts(file.facts);
        let lists = self.lists(&file.lists);
        let common = scope::common(&facts, &lists);
        let allowances: Vec<Allowance> = allowances_of(&file.tools);
        let machine = Arc::new(self.machine(&file.states, &allowances));
        let stated = scope::with_state(common.clone(), &machine);
        let definitions = self.definitions(file.define, &stated);
        let types = types_of(&definitions);
        let call = scope::of_call(&stated, Type::map(Type::Dyn), &types);
        let request = scope::of_request(&common);
        let language = self.language(file.language);
        let (secrets, secrets_asked) = file.secrets.unwrap_or_default();
        let (mut defaults, mut tools) = (file.defaults, file.tools);
        let settings = tools.iter_mut().flat_map(|(_, settings)| settings);
        self.namings(defaults.iter_mut().chain(settings), &call);
        let tools = self.tools(mode, defaults, tools);
        let scopes = Scopes { call, after: scope::of_answer(&stated, Type::map(Type::Dyn)) };
        let invariants = self.invariants(file.invariants, &scope::of_state(&stated));
        let properties = self.properties(file.properties, &scopes.call);
        let raw = file.rules.into_iter().chain(allowances.iter().map(allowance_rule)).collect();
        let rules = self.rules(raw, &scopes, &machine, &invariants);
        programs::check_names(self.reader, &file.programs, &tools, (&rules, &definitions));
        let RawPrograms { authorizer, programs, .. } = file.programs;
        let reads_said =
            provenance::reads_said(rules.iter().map(Arc::as_ref), definitions.iter().map(Arc::as_ref));
        Inner {
            source: Arc::clone(self.reader.source),
            digest: super::digest(self.reader.source, files),
            praxiom: None,
            files: files.clone(),
            unnamed: file.unnamed.map(|at| at.value).unwrap_or_default(),
            surface: file.surface.map(|at| at.value).unwrap_or_default(),
            mode,
            language,
            limits: CallLimits {
                call_bytes: file.call_bytes.map_or(default_limits.call_bytes, |at| at.value),
                depth: file.depth.map_or(default_limits.depth, |at| at.value),
                number_digits: default_limits.number_digits,
                asks_per_minute: file.asks_per_minute.map_or(default_limits.asks_per_minute, |at| at.value),
                asks_per_session: file
                    .asks_per_session
                    .map_or(default_limits.asks_per_session, |at| at.value),
            },
            window: window(&file.context),
            answers: file.context.answers.as_ref().filter(|at| at.value).map(|at| at.span.clone()),
            tools,
            rules,
            reads_said,
            methods: self.methods(file.methods, &request, true),
            server_requests: self.methods(file.server_requests, &request, false),
            facts,
            lists: Arc::new(lists),
            definitions,
            machine,
            invariants,
            properties,
            scope: stated,
            names,
            secrets,
            secrets_asked,
            authorizer,
            programs: programs.into_iter().map(|(name, program)| (name, program.value)).collect(),
        }
    }

    fn language(&mut self, given: Option<At<String>>) -> String {
        let Some(language) = given else { return "en".to_owned() };
        // Texts come from a table; a language that is not in it would silently be another one.
        if language.value != "en" {
            let message = format!("there are no texts in the language `{}`", language.value);
            self.reader.error_hint(&language.span, message, "write `en`");
        }
        language.value
    }

    fn facts(&mut self, raw: Vec<(Key, RawFact)>) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        for (key, raw) in raw {
            let mut fact = Fact { kind: raw.kind, default: None, one_of: Vec::new() };
            let one_of: Vec<_> =
                raw.one_of.iter().filter_map(|value| self.fact_value(&fact, value)).collect();
            fact.one_of = one_of;
            fact.default = raw.default.and_then(|value| self.fact_value(&fact, &value));
            facts.insert(key.text, fact);
        }
        facts
    }

    fn fact_value(&mut self, fact: &Fact, value: &At<String>) -> Option<Arc<Document>> {
        let document = self.document(&value.value, &value.span)?;
        if let Err(message) = fact.check(document.root()) {
            self.reader.error(&value.span, message);
            return None;
        }
        Some(Arc::new(document))
    }

    pub(super) fn document(&mut self, json: &str, span: &Range<usize>) -> Option<Document> {
        let document = Document::read(json.to_owned().into(), &Limits::default());
        document
            .map_err(|fault| self.reader.error(span, format!("this value cannot be used: {}", fault.kind)))
            .ok()
    }

    /// All lists as one JSON object.
    fn lists(&mut self, raw: &[(Key, std::rc::Rc<tree::Node>)]) -> Document {
        let mut members = Vec::new();
        for (key, node) in raw {
            if self.reader.list(node, "a list").is_none() {
                continue;
            }
            let Some(json) = self.reader.json(node) else { continue };
            let Some(document) = self.document(&json, &node.span) else { continue };
            let kinds: BTreeSet<&str> = document.root().items().map(|item| kind_word(item.kind())).collect();
            if kinds.iter().any(|kind| !matches!(*kind, "text" | "number")) || kinds.len() > 1 {
                let hint = "put words such as `null`, `true` and numbers that are meant as text in quotes";
                let message = format!("the list `{}` must hold only text, or only numbers", key.text);
                self.reader.error_hint(&key.span, message, hint);
                continue;
            }
            members.push(format!("{}:{json}", quoted(&key.text)));
        }
        let object = format!("{{{}}}", members.join(","));
        Document::read(object.into(), &Limits::default()).unwrap_or_else(|_| Document::empty_object())
    }

    fn definitions(&mut self, raw: Vec<(Key, Cel)>, common: &Scope) -> Vec<Arc<Definition>> {
        if let Some((key, _)) = raw.get(DEFINITIONS_MAX) {
            self.reader.error(&key.span, format!("more than {DEFINITIONS_MAX} definitions"));
            return Vec::new();
        }
        let unknown: BTreeMap<String, Type> =
            raw.iter().map(|(key, _)| (key.text.clone(), Type::Dyn)).collect();
        let untyped = scope::of_call(common, Type::map(Type::Dyn), &unknown);
        let mut waiting = Vec::new();
        for (key, cel) in raw {
            if let Some(expression) = self.compile(&cel, &untyped) {
                waiting.push((key, cel, definitions_read(&expression)));
            }
        }
        self.in_order(waiting, common)
    }

    /// Each after those it reads, with their types known. What is left waits in a circle.
    fn in_order(
        &mut self,
        mut waiting: Vec<(Key, Cel, Vec<String>)>,
        common: &Scope,
    ) -> Vec<Arc<Definition>> {
        let mut done: Vec<Arc<Definition>> = Vec::new();
        let mut types: BTreeMap<String, Type> = BTreeMap::new();
        let names: BTreeSet<String> = waiting.iter().map(|(key, _, _)| key.text.clone()).collect();
        loop {
            let ready =
                |reads: &[String]| reads.iter().all(|name| types.contains_key(name) || !names.contains(name));
            let Some(next) = waiting.iter().position(|(_, _, reads)| ready(reads)) else { break };
            let (key, cel, reads) = waiting.remove(next);
            let scope = scope::of_call(common, Type::map(Type::Dyn), &types);
            let Some(expression) = self.compile(&cel, &scope) else {
                types.insert(key.text, Type::Dyn);
                continue;
            };
            types.insert(key.text.clone(), expression.result().clone());
            let value = Condition { expression: Arc::new(expression), cel };
            done.push(Arc::new(Definition { name: key.text, value, reads }));
        }
        for (key, _, reads) in waiting {
            let through = super::read::list(reads.iter().map(String::as_str));
            self.reader.error(&key.span, format!("`{}` needs itself, through {through}", key.text));
        }
        done
    }

    pub(super) fn compile(&mut self, cel: &Cel, scope: &Scope) -> Option<Expression> {
        match Expression::compile(&cel.text, scope) {
            Ok(expression) => Some(expression),
            Err(problems) => {
                let source = self.reader.source;
                self.reader.problems.extend(problems.into_iter().map(|problem| cel.problem(source, problem)));
                None
            }
        }
    }

    pub(super) fn condition(&mut self, cel: Cel, scope: &Scope) -> Option<Condition> {
        let expression = self.compile(&cel, scope)?;
        if let Err(problem) = must_be_bool(&expression) {
            self.reader.problems.push(cel.problem(self.reader.source, problem));
            return None;
        }
        Some(Condition { expression: Arc::new(expression), cel })
    }

    /// The expressions of `confirm.named`: what a rule may use, and the `value`.
    fn namings<'s>(&mut self, settings: impl Iterator<Item = &'s mut Setting>, call: &Scope) {
        let scope = call.clone().with("value", Type::Dyn);
        let named = settings.filter_map(|setting| match &mut setting.value {
            Set::Confirm(Some(confirm)) => Some(confirm.named.values_mut()),
            _ => None,
        });
        for naming in named.flatten() {
            if let Some(expression) = self.compile(naming.cel(), &scope) {
                naming.compiled(expression);
            }
        }
    }

    fn tools(
        &mut self,
        mode: super::Mode,
        mut defaults: Vec<Setting>,
        raw: Vec<(At<super::Glob>, Vec<Setting>)>,
    ) -> Entries {
        if !defaults.iter().any(|setting| setting.key == "mode") {
            defaults.push(Setting { key: "mode", value: Set::Mode(mode), span: 0..0 });
        }
        let entry =
            |(glob, settings): (At<super::Glob>, _)| Entry { glob: glob.value, span: glob.span, settings };
        let entries = Entries::new(defaults, raw.into_iter().map(entry).collect());
        for conflict in entries.conflicts() {
            let hint = format!("name `{}` itself, or make one of the two more literal", conflict.tool);
            self.reader.error_hint(&conflict.span(), conflict.to_string(), hint);
        }
        entries
    }

    fn rules(
        &mut self,
        raw: Vec<RawRule>,
        scopes: &Scopes,
        machine: &Machine,
        invariants: &[Arc<Invariant>],
    ) -> Vec<Arc<Rule>> {
        let mut names = BTreeSet::new();
        for invariant in invariants {
            if !names.insert(invariant.name.clone()) {
                let message = format!("a second invariant with the name `{}`", invariant.name);
                self.reader.error(&invariant.span, message);
            }
        }
        let mut rules = Vec::new();
        for (position, raw) in raw.into_iter().enumerate() {
            if !names.insert(raw.name.value.clone()) {
                let message = match raw.made_of {
                    Some(key) => {
                        format!("`{}` is the name of this {key}'s rule, and taken", raw.name.value)
                    }
                    None => format!("a second rule with the name `{}`", raw.name.value),
                };
                self.reader.error(&raw.name.span, message);
            }
            rules.extend(self.rule(position, raw, scopes, machine).map(Arc::new));
        }
        self.effect_conflicts(&rules);
        rules.sort_by_key(|rule| (rule.otherwise, rule.position));
        rules
    }

    /// Two rules whose patterns meet; the others are told apart beside a listing.
    fn effect_conflicts(&mut self, rules: &[Arc<Rule>]) {
        let mut steps = Steps::default();
        let globs: BTreeMap<&str, &[super::Glob]> =
            rules.iter().map(|rule| (rule.name.as_str(), rule.tools.as_slice())).collect();
        let globs_of = |rule: &str| globs.get(rule).copied().unwrap_or_default();
        let meet = |first: &str, second: &str| {
            let pairs = globs_of(first).iter().flat_map(|a| globs_of(second).iter().map(move |b| (a, b)));
            pairs.into_iter().any(|(a, b)| a.common(b, &mut steps).is_some())
        };
        for (span, message) in conflicts::clashes_of(rules.iter().map(Arc::as_ref), meet) {
            self.reader.error_hint(&span, message, conflicts::HINT);
        }
    }

    fn rule(&mut self, position: usize, raw: RawRule, scopes: &Scopes, machine: &Machine) -> Option<Rule> {
        let scope = &scopes.call;
        let when = raw.when.map(|cel| self.condition(cel, scope));
        let has_effects_only = raw.that.is_none();
        let that = raw.that.unwrap_or_else(|| Cel::made("true".to_owned(), raw.name.span.clone()));
        let that = self.condition(that, scope);
        let effects = self.effects(raw.effects, machine, scopes);
        let spans = RuleSpans {
            name: raw.name.span,
            tools: raw.tools.iter().map(|glob| glob.span.clone()).collect(),
        };
        Some(Rule {
            name: raw.name.value,
            position,
            tools: raw.tools.into_iter().map(|glob| glob.value).collect(),
            when: match when {
                Some(checked) => Some(checked?),
                None => None,
            },
            that: that?,
            otherwise: raw.otherwise,
            because: raw.because,
            advice: raw.advice,
            mode: raw.mode,
            has_effects_only,
            effects,
            made_of: raw.made_of,
            spans,
        })
    }

    fn methods(&mut self, raw: Vec<(Key, RawPassage)>, scope: &Scope, client: bool) -> Methods {
        let mut entries: Vec<MethodEntry> = Vec::new();
        for (key, passage) in raw {
            let Some(pattern) = self.method_pattern(&key, client) else { continue };
            let passage = match passage {
                RawPassage::Deny => Passage::Deny,
                RawPassage::Pass => Passage::Pass,
                RawPassage::Ruled { that, otherwise, because } => {
                    let Some(that) = self.condition(that, scope) else { continue };
                    if !that.expression.reads().programs.is_empty() {
                        let message = "programs are asked about calls, not about other requests";
                        self.reader.error(&that.cel.span, message);
                    }
                    Passage::Ruled(Box::new(Ruling { that, otherwise, because }))
                }
            };
            entries.push(MethodEntry { text: key.text, pattern, span: key.span, passage });
        }
        self.method_conflicts(&entries);
        Methods::new(entries)
    }

    fn method_pattern(&mut self, key: &Key, client: bool) -> Option<Pattern> {
        if client && key.text == "tools/call" {
            self.reader.error_hint(&key.span, "calls are not ruled here", "use `tools` and `rules`");
            return None;
        }
        if client && matches!(key.text.as_str(), "initialize" | "server/discover" | "ping" | "tools/list") {
            let message = format!("`{}` cannot be ruled: nothing works without it", key.text);
            self.reader.error(&key.span, message);
            return None;
        }
        Pattern::parse(&key.text).map_err(|error| self.reader.error(&key.span, error.to_string())).ok()
    }

    fn method_conflicts(&mut self, entries: &[MethodEntry]) {
        let mut steps = Steps::default();
        for (index, second) in entries.iter().enumerate() {
            for first in entries.get(..index).unwrap_or_default() {
                let same = matches!(
                    (&first.passage, &second.passage),
                    (Passage::Pass, Passage::Pass) | (Passage::Deny, Passage::Deny)
                );
                if same || first.pattern.literalness() != second.pattern.literalness() {
                    continue;
                }
                let Some(common) = first.pattern.common(&second.pattern, &mut steps) else { continue };
                let message = format!(
                    "`{}` and `{}` are equally literal and both match `{common}`",
                    first.text, second.text
                );
                self.reader.error(&second.span, message);
            }
        }
    }
}

/// The limits and budgets of all entries.
fn allowances_of(tools: &[(At<super::Glob>, Vec<Setting>)]) -> Vec<Allowance> {
    let settings = tools.iter().flat_map(|(_, settings)| settings);
    let allowances = settings.filter_map(|setting| match &setting.value {
        Set::Limit(allowance) | Set::Budget(allowance) => Some(allowance.clone()),
        _ => None,
    });
    allowances.collect()
}

/// `context:`, and what a session keeps otherwise.
fn window(context: &RawContext) -> Window {
    let standard = Window::default();
    Window {
        max_messages: context.messages.unwrap_or(standard.max_messages),
        max_chars: context.chars.unwrap_or(standard.max_chars),
    }
}

fn names(file: &File) -> BTreeMap<(&'static str, String), Range<usize>> {
    let facts = file.facts.iter().map(|(key, _)| ("facts", key));
    let lists = file.lists.iter().map(|(key, _)| ("lists", key));
    let definitions = file.define.iter().map(|(key, _)| ("defs", key));
    let states = file.states.iter().map(|(key, _)| ("state", key));
    let place = |(variable, key): (&'static str, &Key)| ((variable, key.text.clone()), key.span.clone());
    facts.chain(lists).chain(definitions).chain(states).map(place).collect()
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "text",
        Kind::Number => "number",
        _ => "other",
    }
}

pub(crate) fn types_of(definitions: &[Arc<Definition>]) -> BTreeMap<String, Type> {
    let kind = |definition: &Arc<Definition>| definition.value.expression.result().clone();
    definitions.iter().map(|definition| (definition.name.clone(), kind(definition))).collect()
}

/// Names that an expression reads as `defs.NAME`.
pub(crate) fn definitions_read(expression: &Expression) -> Vec<String> {
    let reads = expression.reads();
    let paths = reads.paths.iter().chain(&reads.tested);
    let names =
        paths.filter(|path| path.first().is_some_and(|name| name == "defs")).filter_map(|path| path.get(1));
    names.collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

/// A condition is true or false; what may turn out to be anything is found out when it is evaluated.
pub(crate) fn must_be_bool(expression: &Expression) -> Result<(), cel::Problem> {
    match expression.result() {
        Type::Bool | Type::Dyn => Ok(()),
        other => Err(cel::Problem {
            message: format!("a condition must be true or false, this is a {other}"),
            hint: None,
            span: 0..expression.source().len(),
        }),
    }
}
