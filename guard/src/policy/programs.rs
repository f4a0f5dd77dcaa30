//! `authorizer` and `programs`: long-lived commands that a policy asks, as they are meant and as they are typed.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use super::merge::Entries;
use super::problem::{Problem, did_you_mean};
use super::read::{At, Fields, Keys, Reader};
use super::tree::{Key, Node, Value};
use super::{Definition, Inner, Rule};
use crate::authorize::{PERTURB_MAX, Settings};
use crate::program::AUTHORIZER;

/// Programs in one file.
pub const PROGRAMS_MAX: usize = 32;
/// What a `timeout` may be, in seconds.
pub const TIMEOUT_SECONDS: RangeInclusive<f64> = 0.05..=300.0;
/// Bytes of a `task`.
pub const TASK_BYTES_MAX: usize = 4096;

/// A limit that is not given.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A threshold that is not given: with `allow` alone, the one that counts is any over 0.
const THRESHOLD: f64 = 0.9;
/// How often it is asked again where the file does not say.
const PERTURB: usize = 2;
/// Words of one command.
const WORDS_MAX: usize = 100;

const PROGRAM: Keys = Keys::known("a program", &["command", "timeout"]);
const AUTHORIZER_KEYS: Keys =
    Keys::known("`authorizer`", &["command", "reads", "task", "perturb", "threshold", "timeout"]);
const BY_PROGRAM: Keys = Keys::known("a definition", &["program"]);
const READS: &[(&str, Reads)] =
    &[("conversation", Reads::Conversation), ("user_request", Reads::UserRequest)];

/// A long-lived command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments; no shell. Empty: an authorizer that is given in Rust.
    pub command: Vec<String>,
    /// How long it may take for one answer.
    pub timeout: Duration,
}

/// What an authorizer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// All that was said.
    #[default]
    Conversation,
    /// What the user said.
    UserRequest,
}

/// `authorizer:`
#[derive(Debug, Clone, PartialEq)]
pub struct Authorizing {
    /// Who is asked.
    pub program: Program,
    /// See [`Reads`].
    pub reads: Reads,
    /// What the agent is for.
    pub task: Option<String>,
    /// When a call counts as authorized.
    pub settings: Settings,
}

/// Both, as typed.
#[derive(Debug, Default)]
pub(crate) struct RawPrograms {
    pub(crate) authorizer: Option<Authorizing>,
    /// Where the file has one, whether it could be read or not.
    pub(crate) authorizer_at: Option<Range<usize>>,
    pub(crate) programs: BTreeMap<String, At<Program>>,
}

impl Reader<'_> {
    /// `authorizer:` and `programs:`
    pub(crate) fn programs(&mut self, fields: &Fields<'_>) -> RawPrograms {
        let member = fields.member("authorizer");
        let authorizer_at = member.map(|(key, _)| key.span.clone());
        let authorizer = member.and_then(|(key, node)| self.authorizer(key, node));
        let mut programs = BTreeMap::new();
        let Some(node) = fields.get("programs") else {
            return RawPrograms { authorizer, authorizer_at, programs };
        };
        let members = self.mapping(node, "a mapping of programs").unwrap_or_default();
        if let Some((key, _)) = members.get(PROGRAMS_MAX) {
            self.error(&key.span, format!("more than {PROGRAMS_MAX} programs"));
        }
        for (key, node) in members.iter().take(PROGRAMS_MAX) {
            if let Some(value) = self.program(key, node) {
                programs.insert(key.text.clone(), At { value, span: key.span.clone() });
            }
        }
        RawPrograms { authorizer, authorizer_at, programs }
    }

    fn program(&mut self, key: &Key, node: &Node) -> Option<Program> {
        let is_plain = key.text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if key.text == AUTHORIZER || key.text.is_empty() || key.text.len() > 64 || !is_plain {
            let message = format!("`{}` cannot be a program's name", key.text);
            self.error_hint(&key.span, message, "use letters, digits, `_` and `-`, and not `authorizer`");
            return None;
        }
        let fields = self.fields(node, &PROGRAM)?;
        let timeout = self.timeout(&fields)?;
        let Some(command) = fields.get("command") else {
            self.error_hint(
                &key.span,
                format!("the program `{}` has no command", key.text),
                "add `command: [python3, judge.py]`",
            );
            return None;
        };
        Some(Program { command: self.command(command)?, timeout })
    }

    fn authorizer(&mut self, key: &Key, node: &Node) -> Option<Authorizing> {
        let fields = self.fields(node, &AUTHORIZER_KEYS)?;
        if AUTHORIZER_KEYS.known.iter().all(|name| fields.get(name).is_none()) {
            let hint =
                "add `command: [python3, judge.py]`; where somebody in Rust is asked, write `threshold: 0.9`";
            self.error_hint(&key.span, "`authorizer` does not say who is asked", hint);
            return None;
        }
        let command = fields.get("command").map(|node| self.command(node));
        let reads = fields.get("reads").map(|node| self.choice(node, READS));
        let task = fields.get("task").map(|node| self.task(node));
        let timeout = self.timeout(&fields);
        let perturb = fields.get("perturb").map(|node| self.perturb(node));
        let threshold = fields.get("threshold").map(|node| self.threshold(node));
        Some(Authorizing {
            program: Program { command: command.unwrap_or(Some(Vec::new()))?, timeout: timeout? },
            reads: reads.map_or(Some(Reads::default()), |at| Some(at?.value))?,
            task: task.map_or(Some(None), |task| task.map(Some))?,
            settings: Settings {
                threshold: threshold.unwrap_or(Some(THRESHOLD))?,
                perturb: perturb.unwrap_or(Some(PERTURB))?,
            },
        })
    }

    /// The words of a command. No shell reads them.
    fn command(&mut self, node: &Node) -> Option<Vec<String>> {
        if let Value::Scalar(word) = &node.value
            && !word.is_null()
        {
            let words: Vec<&str> = word.text.split_whitespace().collect();
            let hint = format!("write `[{}]`: no shell reads it", words.join(", "));
            self.expected_hint("a list of words", node, Some(hint));
            return None;
        }
        let items = self.list(node, "a list of words: the program and its arguments")?;
        let mut words = Vec::new();
        for item in items.iter().take(WORDS_MAX) {
            let word = self.text(item, "a word of the command")?;
            if word.value.contains('\0') {
                self.error(&word.span, "a word of a command cannot hold a NUL character");
                return None;
            }
            words.push(word.value);
        }
        let at = node.span.start..node.span.start;
        if items.len() > WORDS_MAX {
            self.error(&at, format!("more than {WORDS_MAX} words in a command"));
        }
        if words.first().is_none_or(|program| program.is_empty()) {
            self.error_hint(&at, "a command without a program", "write `[python3, judge.py]`");
            return None;
        }
        Some(words)
    }

    fn task(&mut self, node: &Node) -> Option<String> {
        let task = self.words(node, "what the agent is for, in words")?;
        if task.value.len() > TASK_BYTES_MAX {
            self.error(&task.span, format!("a task of more than {TASK_BYTES_MAX} bytes"));
            return None;
        }
        Some(task.value)
    }

    fn timeout(&mut self, fields: &Fields<'_>) -> Option<Duration> {
        let Some(node) = fields.get("timeout") else { return Some(TIMEOUT) };
        let hint = "write seconds, such as `5` or `0.5`";
        self.within(node, &TIMEOUT_SECONDS, hint).map(Duration::from_secs_f64)
    }

    fn threshold(&mut self, node: &Node) -> Option<f64> {
        let hint = "write the certainty from which on a call is authorized, such as `0.9`";
        let number = self.within(node, &(0.0..=1.0), hint)?;
        if number == 0.0 {
            self.error_hint(&node.span, "a threshold of 0 is reached by a plain no", hint);
            return None;
        }
        Some(number)
    }

    fn perturb(&mut self, node: &Node) -> Option<usize> {
        let text = self.words(node, "a number")?;
        let number = text.value.parse().ok().filter(|number| *number <= PERTURB_MAX);
        if number.is_none() {
            let message = format!("`{}` is no whole number from 0 to {PERTURB_MAX}", text.value);
            self.error_hint(&text.span, message, "write how often it is asked again; 0 for never");
        }
        number
    }

    fn within(&mut self, node: &Node, range: &RangeInclusive<f64>, hint: &str) -> Option<f64> {
        let text = self.words(node, "a number")?;
        let number = text.value.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let (least, most) = (range.start(), range.end());
            let message = format!("`{}` is no number from {least} to {most}", text.value);
            self.error_hint(&text.span, message, hint);
        }
        number
    }

    /// `{ program: NAME }` in the place of an expression, as the expression that it is short for.
    pub(crate) fn cel_or_program(&mut self, node: &Node) -> Option<super::locate::Cel> {
        if !matches!(node.value, Value::Map(_)) {
            return self.cel(node);
        }
        let fields = self.fields(node, &BY_PROGRAM)?;
        let Some(program) = fields.get("program") else {
            self.expected_hint("an expression", node, Some("or write `{ program: NAME }`".to_owned()));
            return None;
        };
        self.asks(program)
    }

    /// The expression that asks a program.
    pub(crate) fn asks(&mut self, node: &Node) -> Option<super::locate::Cel> {
        let name = self.words(node, "the name of a program")?;
        Some(super::locate::Cel::made(format!("program({})", super::read::quoted(&name.value)), name.span))
    }

    /// What of `that` and `program` a rule has.
    pub(crate) fn that_or_program(&mut self, fields: &Fields<'_>) -> Option<super::locate::Cel> {
        match (fields.get("that"), fields.member("program")) {
            (Some(_), Some((key, _))) => {
                self.error_hint(
                    &key.span,
                    "`that` and `program` in one rule",
                    "write `that: program(\"NAME\") && …`",
                );
                None
            }
            (None, Some((_, node))) => self.asks(node),
            (_, None) => self.required(fields, "that").and_then(|node| self.cel(node)),
        }
    }
}

/// What asks a program that there is not, and programs that nothing asks.
pub(super) fn check_names(
    reader: &mut Reader<'_>,
    programs: &RawPrograms,
    tools: &Entries,
    (rules, definitions): (&[Arc<Rule>], &[Arc<Definition>]),
) {
    let conditions = rules.iter().flat_map(|rule| rule.conditions());
    let conditions = conditions.chain(definitions.iter().map(|definition| &definition.value));
    let mut asked: Vec<(String, Range<usize>)> = Vec::new();
    for condition in conditions {
        let names = condition.expression.reads().programs.iter().cloned();
        asked.extend(names.map(|name| (name, condition.cel.span.clone())));
    }
    for (ground, span) in tools.grounds() {
        asked.extend(ground.program.iter().map(|name| (name.to_string(), span.clone())));
    }
    for (name, span) in &asked {
        if !programs.programs.contains_key(name) {
            let near = did_you_mean(name, programs.programs.keys().map(String::as_str));
            let hint = near.unwrap_or_else(|| format!("add `programs: {{ {name}: {{ command: […] }} }}`"));
            reader.error_hint(span, format!("there is no program `{name}`"), hint);
        }
    }
    for (name, at) in &programs.programs {
        if !asked.iter().any(|(other, _)| other == name) {
            let message = format!("nothing asks the program `{name}`");
            reader.problems.push(Problem::warning(reader.source, at.span.clone(), message));
        }
    }
    let (authorize, authorizer) = (tools.authorize(), programs.authorizer_at.as_ref());
    if let (None, Some(at), true) = (&authorize, authorizer, programs.authorizer.is_some()) {
        let hint = "write `authorize: true` at the tools whose calls it judges";
        let problem = Problem::warning(reader.source, at.clone(), "nothing asks the authorizer");
        reader.problems.push(problem.hint(hint));
    }
    // One that is there and cannot be read has an error of its own.
    if let Some(span) = authorize.filter(|_| authorizer.is_none()) {
        let hint = "add `authorizer: { command: […] }` to the policy";
        reader.error_hint(&span, "`authorize` needs an authorizer", hint);
    }
}

/// What asks each program.
pub(super) fn asked(inner: &Inner) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut note = |program: &str, by: String| {
        let by_this = all.entry(program.to_owned()).or_default();
        if !by_this.contains(&by) {
            by_this.push(by);
        }
    };
    let entries =
        inner.tools.all().iter().map(|entry| (format!("tool `{}`", entry.glob), entry.provenance()));
    let defaults = std::iter::once(("every tool".to_owned(), inner.tools.defaults().provenance.clone()));
    for (by, options) in defaults.chain(entries) {
        if options.authorize {
            note(AUTHORIZER, by.clone());
        }
        options
            .ground
            .all()
            .filter_map(|ground| ground.program.as_deref())
            .for_each(|program| note(program, by.clone()));
    }
    let rules = inner
        .rules
        .iter()
        .flat_map(|rule| rule.conditions().map(|condition| (format!("rule `{}`", rule.name), condition)));
    let definitions = inner.definitions.iter().map(|it| (format!("definition `{}`", it.name), &it.value));
    for (by, condition) in rules.chain(definitions) {
        condition.expression.reads().programs.iter().for_each(|program| note(program, by.clone()));
    }
    all
}
