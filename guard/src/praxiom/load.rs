//! From the file's text to a checked policy.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::glob::{GLOB_CHARS_MAX, Glob};
use super::lower::{List, Scope, compile, listed};
use super::machine::{Action, Invariant};
use super::program::Program;
use super::python::repr;
use super::shape::{self, File, Named, Text};
use super::value::{Kept, Sort};
use super::{Dialect, Praxiom, State};
use crate::policy::problem::{Problem, Source};
use crate::policy::tree::{self, FILE_BYTES_MAX, Node, Value};
use crate::policy::{PolicyErrors, Severity};

const RESERVED: [&str; 4] = ["payload", "tool", "upstream", "result"];

/// Whether a text is a policy of this format: one of its top-level keys, and none that only a policy of our own has
/// (whose author forgot `framegate: 1` is to be told that).
pub(crate) fn looks_like(text: &str) -> bool {
    const KEYS: [&str; 5] = ["actions", "invariants", "patterns", "state", "default"];
    const OURS: [&str; 3] = ["framegate", "tools", "rules"];
    let has = |keys: &BTreeSet<&str>, any: &[&str]| any.iter().any(|known| keys.contains(known));
    let named = |keys: &BTreeSet<&str>| !has(keys, &OURS) && has(keys, &KEYS);
    if text.len() <= FILE_BYTES_MAX
        && let (Some(root), _) = tree::read_last_wins(&Source::new("", text))
    {
        let Value::Map(pairs) = &root.value else { return false };
        return named(&pairs.iter().map(|(key, _)| key.text.as_str()).collect());
    }
    // Broken YAML still has lines: whose reader is to complain?
    let keys = text.lines().filter_map(|line| line.split_once(':'));
    named(&keys.map(|(key, _)| key.trim_matches(['"', '\'', '\u{feff}'])).collect())
}

impl Praxiom {
    /// Reads and checks a file; everything wrong is found.
    ///
    /// # Errors
    /// The original's messages, each with its place.
    pub fn load(name: &str, bytes: &[u8], dialect: Dialect) -> Result<Praxiom, PolicyErrors> {
        let whole =
            |message: String| PolicyErrors::new(vec![Problem::error(&Source::new(name, ""), 0..0, message)]);
        if bytes.len() > FILE_BYTES_MAX {
            return Err(whole(format!("policy {name} is larger than {FILE_BYTES_MAX} bytes")));
        }
        let text = str::from_utf8(bytes)
            .map_err(|why| whole(format!("policy {name} is not UTF-8: byte {} is not", why.valid_up_to())))?;
        let source = Source::new(name, text);
        let root = document(&source).map_err(PolicyErrors::new)?;
        let context = format!("policy {name}");
        let (file, problems) = shape::read(&source, &context, &root);
        if !problems.is_empty() {
            return Err(PolicyErrors::new(problems));
        }
        let mut loader = Loader { source: &source, context, dialect, problems: Vec::new() };
        let policy = loader.policy(file);
        if loader.problems.iter().any(|problem| problem.severity() == Severity::Error) {
            return Err(PolicyErrors::new(loader.problems));
        }
        Ok(policy)
    }
}

/// The file's one mapping.
fn document(source: &Arc<Source>) -> Result<std::rc::Rc<Node>, Vec<Problem>> {
    let name = source.name();
    let (root, problems) = tree::read_last_wins(source);
    let whole = |message: String| vec![Problem::error(source, 0..0, message)];
    let null = |node: &Node| matches!(&node.value, Value::Scalar(scalar) if scalar.is_null());
    match root {
        Some(root) if null(&root) && problems.is_empty() => Err(whole(format!("policy {name} is empty"))),
        Some(root) if !problems.is_empty() => {
            let _ = root;
            Err(problems.into_iter().map(|problem| invalid(name, problem)).collect())
        }
        Some(root) if matches!(root.value, Value::Map(_)) => Ok(root),
        Some(root) => {
            let message = format!("policy {name}: expected a mapping at the top level");
            Err(vec![Problem::error(source, root.span.clone(), message)])
        }
        None if source.text().lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) => {
            Err(whole(format!("policy {name} is empty")))
        }
        None => Err(problems.into_iter().map(|problem| invalid(name, problem)).collect()),
    }
}

fn invalid(name: &str, problem: Problem) -> Problem {
    problem.prefixed(&format!("policy {name} is not valid YAML: "))
}

struct Loader<'s> {
    source: &'s Arc<Source>,
    context: String,
    dialect: Dialect,
    problems: Vec<Problem>,
}

/// What the parts of a file are checked against.
struct Known {
    variables: Vec<(String, Sort)>,
    patterns: BTreeMap<String, List>,
}

impl Loader<'_> {
    fn error(&mut self, span: &Range<usize>, message: String) {
        self.problems.push(Problem::error(self.source, span.clone(), message));
    }

    fn policy(&mut self, file: File) -> Praxiom {
        let known = Known { variables: self.variables(&file), patterns: self.patterns(&file) };
        let invariants: Vec<Invariant> =
            file.invariants.iter().filter_map(|entry| self.invariant(entry, &known)).collect();
        let actions: Vec<Action> = file.actions.iter().map(|entry| self.action(entry, &known)).collect();
        self.labels(&file);
        let guards = file.actions.iter().any(|action| !action.value.requires.is_empty());
        if file.invariants.is_empty() && !guards {
            let message =
                format!("{}: no invariants and no guards, so nothing can ever be denied", self.context);
            self.error(&(0..0), message);
        }
        let dialect = self.dialect;
        let values = file.state.into_iter().map(|variable| match variable.value.1 {
            Kept::Str(text) => (Kept::Str(dialect.text(&text).into()), Kept::Str(text)),
            kept => (kept.clone(), kept),
        });
        let (read, written): (Vec<Kept>, Vec<Kept>) = values.unzip();
        let initial = State::initial(read, &written);
        let collisions = collisions(&known.variables);
        let policy = Praxiom {
            dialect,
            deny: file.deny,
            variables: known.variables.into(),
            initial,
            invariants,
            actions,
            patterns: known.patterns,
            collisions,
        };
        if self.problems.is_empty() {
            self.initial(&policy, &file.invariants);
        }
        policy
    }

    fn variables(&mut self, file: &File) -> Vec<(String, Sort)> {
        for variable in &file.state {
            if RESERVED.contains(&variable.name.as_str()) {
                let name = repr(&variable.name);
                let message = format!("{}: state.{}: {name} is a reserved name", self.context, variable.name);
                self.error(&variable.span, message);
            }
        }
        let variables: Vec<(String, Sort)> =
            file.state.iter().map(|variable| (variable.name.clone(), variable.value.0)).collect();
        if self.dialect == Dialect::Safe {
            for (first, second) in collisions(&variables) {
                let (Some(first), Some(second)) = (file.state.get(first), file.state.get(second)) else {
                    continue;
                };
                let message = format!(
                    "{}: state.{}: praxiom takes this variable for the next value of {}, and then decides \
                     neither; rename one",
                    self.context,
                    second.name,
                    repr(&first.name)
                );
                self.error(&second.span, message);
            }
        }
        variables
    }

    fn patterns(&mut self, file: &File) -> BTreeMap<String, List> {
        let mut lists = BTreeMap::new();
        for list in &file.patterns {
            match List::new(list.value.iter().map(String::as_str), self.dialect) {
                Ok(ready) => {
                    lists.insert(list.name.clone(), ready.named(&list.name));
                }
                Err(why) => {
                    self.error(&list.span, format!("{}: patterns.{}: {why}", self.context, list.name))
                }
            }
        }
        lists
    }

    /// An expression, with its place in the messages' words.
    fn compile(&mut self, text: &Text, scope: &Scope<'_>, context: &str) -> Option<(Program, Sort)> {
        match compile(&text.text, scope) {
            Ok(compiled) => Some(compiled),
            Err(fault) => {
                self.error(&text.place.place(&fault.span), format!("{context}: {}", fault.message));
                None
            }
        }
    }

    fn condition(&mut self, text: &Text, scope: &Scope<'_>, context: &str) -> Option<Program> {
        let (program, sort) = self.compile(text, scope, context)?;
        if sort == Sort::Bool {
            return Some(program);
        }
        let message = format!("{context}: expected a boolean condition, got {}", repr(&text.text));
        self.error(&text.place.span, message);
        None
    }

    fn invariant(&mut self, entry: &Named<Text>, known: &Known) -> Option<Invariant> {
        let scope = Scope {
            variables: &known.variables,
            arguments: &[],
            context: false,
            result: false,
            patterns: &known.patterns,
            dialect: self.dialect,
        };
        let context = format!("{}, invariant {}", self.context, repr(&entry.name));
        let program = self.condition(&entry.value, &scope, &context)?;
        Some(Invariant { name: entry.name.clone(), source: entry.value.text.clone(), program })
    }

    fn action(&mut self, entry: &Named<shape::Action>, known: &Known) -> Action {
        let context = format!("{}, action {}", self.context, repr(&entry.name));
        let arguments: Vec<(String, Sort)> =
            entry.value.arguments.iter().map(|argument| (argument.name.clone(), argument.value)).collect();
        for argument in &entry.value.arguments {
            if known.variables.iter().any(|(name, _)| *name == argument.name) {
                let message =
                    format!("{context}: argument {} shadows a state variable", repr(&argument.name));
                self.error(&argument.span, message);
            }
        }
        let scope = Scope {
            variables: &known.variables,
            arguments: &arguments,
            context: true,
            result: false,
            patterns: &known.patterns,
            dialect: self.dialect,
        };
        let mut guards = Vec::new();
        for (at, text) in entry.value.requires.iter().enumerate() {
            if let Some(program) = self.condition(text, &scope, &format!("{context}, requires")) {
                guards.push((label(entry, at), program));
            }
        }
        let effect = self.transition(&entry.value.effect, &scope, &context, "effect");
        let after = Scope { result: true, ..scope };
        let on_result = self.transition(&entry.value.on_result, &after, &context, "on_result");
        let globs = self.globs(&entry.value.globs, &context);
        let span = entry.value.globs.first().map_or(entry.span.clone(), |glob| glob.place.span.clone());
        Action { name: entry.name.clone(), span, globs, arguments, guards, effect, on_result }
    }

    fn globs(&mut self, texts: &[Text], context: &str) -> Vec<Glob> {
        let mut globs = Vec::with_capacity(texts.len());
        for text in texts {
            match Glob::new(&text.text) {
                Some(glob) => globs.push(glob),
                None => {
                    let message = format!("{context}, match: longer than {GLOB_CHARS_MAX} characters");
                    self.error(&text.place.span, message);
                }
            }
        }
        globs
    }

    fn transition(
        &mut self,
        assignments: &[Named<Text>],
        scope: &Scope<'_>,
        context: &str,
        what: &str,
    ) -> Vec<(usize, Program)> {
        let mut transition = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let name = repr(&assignment.name);
            let position = scope.variables.iter().position(|(known, _)| *known == assignment.name);
            let variable = position.and_then(|at| scope.variables.get(at).map(|(_, sort)| (at, *sort)));
            let Some((at, wanted)) = variable else {
                let known: BTreeSet<&str> = scope.variables.iter().map(|(name, _)| name.as_str()).collect();
                let known = listed(known, "<none declared>");
                let message =
                    format!("{context}: {what} on unknown state variable {name}; declared: {known}");
                self.error(&assignment.span, message);
                continue;
            };
            let inner = format!("{context}, {what} on {name}");
            let Some((program, sort)) = self.compile(&assignment.value, scope, &inner) else { continue };
            if sort == wanted {
                transition.push((at, program));
                continue;
            }
            let source = repr(&assignment.value.text);
            let (wanted, got) = (wanted.word(), sort.name());
            let message =
                format!("{context}: {what} on {name} must produce {wanted}, got {got} from {source}");
            self.error(&assignment.value.place.span, message);
        }
        transition
    }

    /// Two guards of one label cannot be told apart in a denial; the original fails at each call.
    fn labels(&mut self, file: &File) {
        let mut seen = BTreeSet::new();
        for action in &file.actions {
            for at in 0..action.value.requires.len() {
                let label = label(action, at);
                if !seen.insert(label.clone()) {
                    let message = format!(
                        "{}: two guards are called {}: praxiom would fail at every call; rename an action",
                        self.context,
                        repr(&label)
                    );
                    self.error(&action.span, message);
                }
            }
        }
    }

    fn initial(&mut self, policy: &Praxiom, entries: &[Named<Text>]) {
        let Some((name, undecided)) = policy.broken_at_start() else { return };
        let span = entries.iter().find(|entry| entry.name == name).map_or(0..0, |entry| entry.span.clone());
        let message = match undecided {
            None => format!("the initial state violates Φ_safe: {name}"),
            Some(why) => format!("the initial state does not decide Φ_safe: {name}: {why}"),
        };
        self.error(&span, message);
    }
}

/// A guard is called as its action; of several each has a number.
fn label(action: &Named<shape::Action>, at: usize) -> String {
    match action.value.requires.len() {
        1 => action.name.clone(),
        _ => format!("{}#{}", action.name, at + 1),
    }
}

/// Variables `x` and `x_next` of one type, which the original cannot tell apart.
fn collisions(variables: &[(String, Sort)]) -> Vec<(usize, usize)> {
    let places: BTreeMap<(&str, &str), usize> =
        variables.iter().enumerate().map(|(at, (name, sort))| ((name.as_str(), sort.word()), at)).collect();
    let next = |(at, (name, sort)): (usize, &(String, Sort))| {
        places.get(&(format!("{name}_next").as_str(), sort.word())).map(|next| (at, *next))
    };
    variables.iter().enumerate().filter_map(next).collect()
}
