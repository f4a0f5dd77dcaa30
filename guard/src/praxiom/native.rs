//! A policy of praxiom as one of our own, for `framegate import praxiom`.
//!
//! Each guard becomes a rule, each invariant an invariant, effects and `on_result` become `set` and `after`. Where the
//! two languages differ the text says the stricter thing, and what cannot be said at all becomes a rule that denies: an
//! action whose guard silently stayed behind would let everything through.

mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use self::tools::Tools;
use super::glob::Glob;
use super::shape::{self, Action, File, Named, Text};
use super::to_cel::{self, Names, translate};
use super::value::{Kept, Sort};
use super::{Dialect, Praxiom};
use crate::cel::{Expression, Scope, Type};
use crate::import::{Imported, Left, quoted};
use crate::policy::problem::{Problem, Source};
use crate::policy::{FILE_BYTES_MAX, PolicyErrors, tree};
use crate::refusal::{NAME_CHARS_MAX, plain};

/// Characters of a rule's name.
const RULE_NAME_CHARS_MAX: usize = 100;

/// Writes a policy of praxiom as one of our own. `servers`: what its servers are called there; nothing: those that its
/// globs begin with.
///
/// # Errors
/// What is wrong with the file; or that its globs name no server, and none was given.
pub(crate) fn import(name: &str, bytes: &[u8], servers: &[String]) -> Result<Imported, PolicyErrors> {
    let text = String::from_utf8_lossy(bytes.get(..FILE_BYTES_MAX).unwrap_or(bytes));
    let source = Source::new(name, &text);
    if let Some(at) = at_line_start(&text, "framegate:") {
        let message = "this is one of Framegate's own policies already";
        let problem = Problem::error(&source, at..at + "framegate".len(), message);
        return Err(PolicyErrors::new(vec![problem.hint("`run --policy` takes it as it is")]));
    }
    let policy = Praxiom::load(name, bytes, Dialect::Safe)?;
    let (root, problems) = tree::read_last_wins(&source);
    let Some(root) = root else { return Err(PolicyErrors::new(problems)) };
    let (file, _) = shape::read(&source, &format!("policy {name}"), &root);
    let whole = |message: &str, hint: &str| {
        Err(PolicyErrors::new(vec![Problem::error(&source, 0..0, message).hint(hint)]))
    };
    let servers = if servers.is_empty() { policy.servers() } else { servers.to_vec() };
    if servers.is_empty() {
        let message = "its globs begin with wildcards, so they do not say for which servers it is";
        return whole(message, "give the name that `run` will be given: `--name NAME`, once for each server");
    }
    if let Some(odd) = file.state.iter().map(|variable| &variable.name).find(|name| !is_identifier(name)) {
        let message =
            format!("the state variable `{}` has a name that our expressions cannot use", shown(odd));
        return whole(&message, "rename it: letters, digits and `_` of ASCII");
    }
    let variables: Vec<(String, Sort)> =
        file.state.iter().map(|variable| (variable.name.clone(), variable.value.0)).collect();
    let lists = file.patterns.iter().map(|list| (list.name.clone(), list.value.clone())).collect();
    let writer = Writer {
        source: &source,
        servers: &servers,
        variables,
        lists,
        names: BTreeSet::new(),
        left: Vec::new(),
        rules: String::new(),
    };
    Ok(writer.write(name, &file))
}

/// Where the first line begins that begins so.
fn at_line_start(text: &str, start: &str) -> Option<usize> {
    if text.starts_with(start) { Some(0) } else { text.find(&format!("\n{start}")).map(|at| at + 1) }
}

struct Writer<'s> {
    source: &'s std::sync::Arc<Source>,
    servers: &'s [String],
    variables: Vec<(String, Sort)>,
    lists: BTreeMap<String, Vec<String>>,
    /// Of rules and invariants.
    names: BTreeSet<String>,
    left: Vec<Left>,
    rules: String,
}

/// One action, and for which tools it is.
struct Covering<'f> {
    action: &'f Named<Action>,
    globs: Vec<Glob>,
    tools: Tools,
    arguments: Vec<(String, Sort)>,
}

/// An effect or an `on_result` of one action.
struct Effect<'f> {
    covering: &'f Covering<'f>,
    cel: String,
}

/// `set` or `after`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Sent,
    Answered,
}

impl When {
    fn key(self) -> &'static str {
        match self {
            When::Sent => "set",
            When::Answered => "after",
        }
    }

    fn of(self, action: &Action) -> &[Named<Text>] {
        match self {
            When::Sent => &action.effect,
            When::Answered => &action.on_result,
        }
    }
}

impl Writer<'_> {
    fn write(mut self, name: &str, file: &File) -> Imported {
        let mut covering = Vec::new();
        for action in &file.actions {
            let globs: Vec<Glob> =
                action.value.globs.iter().filter_map(|text| Glob::new(&text.text)).collect();
            let tools = Tools::of(&globs, self.servers);
            if tools.is_empty() {
                let why = format!("its globs are for no tool of {}", self.servers.join(", "));
                self.left(&action.span, &format!("actions.{}", action.name), &why);
                continue;
            }
            let arguments = action.value.arguments.iter().map(|one| (one.name.clone(), one.value)).collect();
            covering.push(Covering { action, globs, tools, arguments });
        }
        let invariants: String =
            file.invariants.iter().filter_map(|invariant| self.invariant(invariant, &covering)).collect();
        for one in &covering {
            self.arguments(one);
            self.guards(one);
        }
        for when in [When::Sent, When::Answered] {
            for at in 0..self.variables.len() {
                self.effects(when, at, &covering);
            }
        }
        if file.deny {
            self.uncovered(&covering);
        }
        let mut policy = head(name, file.deny, self.servers);
        policy.push_str(&self.lists_text());
        policy.push_str(&state(&file.state, &large(file)));
        if !invariants.is_empty() {
            let _ = write!(policy, "invariants:\n{invariants}");
        }
        if file.deny {
            policy.push_str(&offered(&covering));
        }
        if !self.rules.is_empty() {
            let _ = write!(policy, "rules:\n{}", self.rules);
        }
        self.left.sort_by_key(|left| left.line);
        Imported { policy, client: None, left: self.left }
    }

    fn left(&mut self, span: &std::ops::Range<usize>, key: &str, why: &str) {
        let line = Problem::warning(self.source, span.clone(), "").line();
        self.left.push(Left { line, key: plain::line(key, NAME_CHARS_MAX * 2), why: why.to_owned() });
    }

    /// An expression as CEL that our policies take, or why there is none.
    fn cel(&self, source: &str, of: Option<(&Covering<'_>, When)>) -> Result<String, String> {
        let names = Names {
            variables: &self.variables,
            arguments: of.map_or(&[], |(covering, _)| &covering.arguments),
            lists: &self.lists,
            context: of.is_some(),
            result: of.is_some_and(|(_, when)| when == When::Answered),
        };
        let text = translate(source, &names)?;
        let kind = |sort: &Sort| match sort {
            Sort::Bool => Type::Bool,
            Sort::Int => Type::Number,
            Sort::Str => Type::String,
        };
        let state = self.variables.iter().map(|(name, sort)| (name.clone(), kind(sort)));
        let lists = self.lists.keys().map(|name| (name.clone(), Type::list(Type::String)));
        let scope = Scope::new()
            .with("state", Type::object(state))
            .with("lists", Type::object(lists))
            .with("args", Type::map(Type::Dyn))
            .with("tool", Type::String)
            .with("server", Type::String)
            .with("result", Type::object([("text", Type::String)]));
        match Expression::compile(&text, &scope) {
            Ok(_) => Ok(text),
            Err(problems) => {
                let first = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
                Err(format!("as CEL our policies do not take it: {first}"))
            }
        }
    }

    fn invariant(&mut self, invariant: &Named<Text>, covering: &[Covering<'_>]) -> Option<String> {
        let name = self.name(&invariant.name);
        match self.cel(&invariant.value.text, None) {
            Ok(cel) => {
                let because =
                    format!("It violates the invariant {} ({}).", invariant.name, invariant.value.text);
                let (that, because) = (quoted(&cel), quoted(&plain::line(&because, 400)));
                Some(format!("  - name: {name}\n    that: {that}\n    because: {because}\n"))
            }
            Err(why) => {
                self.left(&invariant.span, &format!("invariants.{}", invariant.name), &instead(&why));
                if let Some(tools) = covered(covering) {
                    self.denies(&name, &tools, &invariant.name);
                }
                None
            }
        }
    }

    /// What a call lacks is a denial of its own, also where no guard reads it.
    fn arguments(&mut self, of: &Covering<'_>) {
        if of.arguments.is_empty() {
            return;
        }
        let is = |(name, sort): &(String, Sort)| {
            let word = match sort {
                Sort::Bool => "bool",
                Sort::Int => "int",
                Sort::Str => "string",
            };
            format!("json_type(args, {}) == \"{word}\"", text(name))
        };
        let that: Vec<String> = of.arguments.iter().map(is).collect();
        let wanted: Vec<String> =
            of.arguments.iter().map(|(name, sort)| format!("{name} ({})", sort.word())).collect();
        let name = self.name(&format!("{}.args", of.action.name));
        let because =
            format!("The action {} requires these arguments: {}.", of.action.name, wanted.join(", "));
        self.rule(&name, &of.tools, &[("that", that.join(" && "))], &because);
    }

    fn guards(&mut self, of: &Covering<'_>) {
        let guards = &of.action.value.requires;
        for (at, guard) in guards.iter().enumerate() {
            let (label, name) = match guards.len() {
                1 => (of.action.name.clone(), self.name(&of.action.name)),
                _ => {
                    let number = at + 1;
                    let name = self.name(&format!("{}.{number}", of.action.name));
                    (format!("{}#{number}", of.action.name), name)
                }
            };
            match self.cel(&guard.text, Some((of, When::Sent))) {
                Ok(cel) => {
                    let because = format!("It fails the guard {label} ({}).", guard.text);
                    self.rule(&name, &of.tools, &[("that", cel)], &because);
                }
                Err(why) => {
                    let key = format!("actions.{}.requires", of.action.name);
                    self.left(&guard.place.span, &key, &instead(&why));
                    self.denies(&name, &of.tools, &label);
                }
            }
        }
    }

    /// What calls do to one variable. Where several actions that may cover one tool do something to it, the last one
    /// declared wins: one rule says all of them, since ours must agree.
    fn effects(&mut self, when: When, at: usize, all: &[Covering<'_>]) {
        let Some((variable, _)) = self.variables.get(at).cloned() else { return };
        let mut effects: Vec<Effect<'_>> = Vec::new();
        for covering in all {
            let Some(text) = when.of(&covering.action.value).iter().find(|one| one.name == variable) else {
                continue;
            };
            match self.cel(&text.value.text, Some((covering, when))) {
                Ok(cel) => effects.push(Effect { covering, cel }),
                Err(why) => {
                    let key = format!("actions.{}.{}.{variable}", covering.action.name, when.key());
                    self.left(&text.span, &key, &instead(&why));
                    let name = self.name(&format!("{}.{variable}", covering.action.name));
                    self.denies(&name, &covering.tools, &format!("{} on {variable}", covering.action.name));
                }
            }
        }
        for group in groups(effects) {
            self.together(when, &variable, &group);
        }
    }

    /// One rule for actions whose tools meet.
    fn together(&mut self, when: When, variable: &str, group: &[Effect<'_>]) {
        let Some((first, later)) = group.split_first() else { return };
        let (mut tools, mut cel) = (first.covering.tools.clone(), first.cel.clone());
        for effect in later {
            tools = tools.and(&effect.covering.tools);
            cel = format!("({}) ? ({}) : ({cel})", effect.covering.tools.condition, effect.cel);
        }
        let names: Vec<&str> = group.iter().map(|effect| effect.covering.action.name.as_str()).collect();
        let name = self.name(&format!("{}.{}.{variable}", names.join("-"), when.key()));
        let effect = format!("{{ {variable}: {} }}", quoted(&cel));
        self.rule(&name, &tools, &[(when.key(), effect)], "");
    }

    /// With `default: deny` a pattern that says more than its glob would offer tools that no action covers.
    fn uncovered(&mut self, covering: &[Covering<'_>]) {
        let Some(tools) = covered(covering) else { return };
        if let Some(covered) = &tools.exact {
            let name = self.name("default");
            let whole = Tools { exact: None, ..tools.clone() };
            let because = "No action of the policy covers this tool.";
            self.rule(&name, &whole, &[("that", covered.clone())], because);
        }
    }

    fn denies(&mut self, name: &str, tools: &Tools, what: &str) {
        let because = format!("{what} of the old policy could not be carried over, so nothing passes here.");
        self.rule(name, tools, &[("that", "false".to_owned())], &because);
    }

    fn rule(&mut self, name: &str, tools: &Tools, says: &[(&str, String)], because: &str) {
        let patterns: Vec<String> = tools.patterns.iter().map(|pattern| quoted(pattern)).collect();
        let _ = write!(self.rules, "  - name: {name}\n    tools: [{}]\n", patterns.join(", "));
        if let Some(exact) = &tools.exact {
            let _ = writeln!(self.rules, "    when: {}", quoted(exact));
        }
        for (key, value) in says {
            let value = if *key == "that" { quoted(value) } else { value.clone() };
            let _ = writeln!(self.rules, "    {key}: {value}");
        }
        if !because.is_empty() {
            let _ = writeln!(self.rules, "    because: {}", quoted(&plain::line(because, 400)));
        }
    }

    /// A name that no other rule has, of characters that a rule's may have.
    fn name(&mut self, wanted: &str) -> String {
        let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
        let mut name: String = wanted.chars().take(RULE_NAME_CHARS_MAX).map(fine).collect();
        // YAML takes `1` for a number and `-` for a list.
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "a_");
        }
        let is_taken =
            |name: &str| self.names.contains(name) || crate::guard::is_check(name) || is_yaml_word(name);
        let mut free = name.clone();
        let mut number = 1;
        while is_taken(&free) {
            number += 1;
            free = format!("{name}_{number}");
        }
        self.names.insert(free.clone());
        free
    }

    fn lists_text(&self) -> String {
        if self.lists.is_empty() {
            return String::new();
        }
        let mut out = String::from("lists:\n");
        for (name, items) in &self.lists {
            let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
            let _ = writeln!(out, "  {}: [{}]", quoted(name), items.join(", "));
        }
        out
    }
}

/// Effects on one variable in groups, so that those of two groups are never for one tool.
fn groups(effects: Vec<Effect<'_>>) -> Vec<Vec<Effect<'_>>> {
    let mut groups: Vec<Vec<Effect<'_>>> = Vec::new();
    for effect in effects {
        let meets = |group: &[Effect<'_>]| {
            let globs = |of: &Effect<'_>| of.covering.globs.clone();
            let mine = globs(&effect);
            group.iter().flat_map(globs).any(|one| mine.iter().any(|other| one.meets(other)))
        };
        let (mut joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| meets(group));
        groups = apart;
        // Partition keeps the order of groups, and within them that of the file; across them it is restored.
        let mut group: Vec<Effect<'_>> = joined.drain(..).flatten().collect();
        group.push(effect);
        group.sort_by_key(|effect| effect.covering.action.span.start);
        groups.push(group);
    }
    groups.sort_by_key(|group| group.first().map(|effect| effect.covering.action.span.start));
    groups
}

fn head(name: &str, deny: bool, servers: &[String]) -> String {
    let default = if deny { "deny" } else { "allow" };
    let command = servers.iter().map(|server| format!("framegate run --name {server} --policy FILE -- …"));
    format!(
        "# From {}, a policy of praxiom. Rules name tools by `server/tool`, so the server's name counts:\n{}\
         framegate: 1\n\
         default: {default}\n\
         # It looked at no schema and no character; remove these two lines to have arguments checked.\n\
         arguments: unchecked\n\
         invisible: allow\n",
        plain::line(name, NAME_CHARS_MAX),
        command.map(|line| format!("#   {}\n", plain::line(&line, 200))).collect::<String>()
    )
}

/// `large`: numbers that 64 bits may not hold.
fn state(variables: &[Named<(Sort, Kept)>], large: &BTreeSet<String>) -> String {
    if variables.is_empty() {
        return String::new();
    }
    let mut out = String::from("state:\n");
    for Named { name, value: (sort, init), .. } in variables {
        let (kind, init) = match init {
            Kept::Bool(value) => ("bool", value.to_string()),
            // What has 64 bits there had none here.
            Kept::Int(value) if large.contains(name) => ("decimal", value.to_string()),
            Kept::Int(value) => ("int", value.to_string()),
            Kept::Str(text) => ("string", quoted(text)),
            Kept::Unknown(_) => (sort.word(), "null".to_owned()),
        };
        let _ = writeln!(out, "  {name}: {{ type: {kind}, init: {init} }}");
    }
    out
}

/// Numbers that 64 bits may not hold: what is as large at first, is multiplied or taken from a call, or from such a one.
/// What is only counted up never gets there.
fn large(file: &File) -> BTreeSet<String> {
    let is_large = |kept: &Kept| matches!(kept, Kept::Int(value) if i64::try_from(value).is_err());
    let mut large: BTreeSet<String> =
        file.state.iter().filter(|one| is_large(&one.value.1)).map(|one| one.name.clone()).collect();
    let actions = || file.actions.iter().map(|action| &action.value);
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !(c == '_' || c.is_alphanumeric())).map(str::to_owned).collect()
    };
    loop {
        let before = large.len();
        for action in actions() {
            for effect in action.effect.iter().chain(&action.on_result) {
                let (text, read) = (&effect.value.text, words(&effect.value.text));
                let reads_call = action.arguments.iter().any(|argument| read.contains(&argument.name));
                if reads_call || text.contains('*') || read.iter().any(|name| large.contains(name)) {
                    large.insert(effect.name.clone());
                }
            }
        }
        if large.len() == before {
            return large;
        }
    }
}

/// The tools of all actions together.
fn covered(covering: &[Covering<'_>]) -> Option<Tools> {
    covering.iter().map(|one| one.tools.clone()).reduce(|all, one| all.and(&one))
}

/// With `default: deny` only tools that are named are offered.
fn offered(covering: &[Covering<'_>]) -> String {
    let mut patterns: Vec<&String> = covering.iter().flat_map(|one| &one.tools.patterns).collect();
    patterns.sort_unstable();
    patterns.dedup();
    let lines: String = patterns.iter().map(|pattern| format!("  {}: {{}}\n", quoted(pattern))).collect();
    if lines.is_empty() { lines } else { format!("tools:\n{lines}") }
}

fn instead(why: &str) -> String {
    format!("{why}: a rule that denies stands in its place")
}

fn is_identifier(name: &str) -> bool {
    let word = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    word && !name.starts_with(|c: char| c.is_ascii_digit())
        && !matches!(name, "true" | "false" | "null" | "in")
}

/// What YAML takes for something else than text.
fn is_yaml_word(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    )
}

fn shown(text: &str) -> String {
    plain::line(text, NAME_CHARS_MAX)
}

/// A text in an expression.
fn text(text: &str) -> String {
    to_cel::quoted(text)
}
