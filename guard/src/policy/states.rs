//! `state`, `invariants`, and what rules do to the state: what is typed there, and what it means.

mod allowance;
pub(in crate::policy) mod conflicts;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use granit_parser::ScalarStyle;

use super::check::Checker;
use super::locate::Cel;
use super::raw::MODES;
use super::raw::OTHERWISE;
use super::read::{At, Fields, Keys, Reader};
use super::tree::{Key, Node, Value as Typed};
use super::{Condition, Mode, Otherwise};
use crate::cel::{self, Expression, Scope as Names};
use crate::decimal::Decimal;
use crate::state::{Combine, ITEMS_MAX, Kind, Machine, Scope, VARIABLES_MAX, Value, Variable};
use crate::world::Instant;

pub use allowance::{Allowance, PER_DAYS_MAX};
pub(crate) use allowance::{OPTIONS, allowance_rule};

/// Keys of a rule that are read here.
pub(crate) const RULE_KEYS: [&str; 4] = ["set", "after", "lost", "on_error"];

/// Strings in a list or set whose policy does not say how many.
const ITEMS_DEFAULT: usize = 100;

const VARIABLE: Keys = Keys::known("a state variable", &["type", "init", "scope", "max", "per", "combine"]);
const INVARIANT: Keys =
    Keys::known("an invariant", &["name", "that", "otherwise", "because", "advice", "mode"]);

const TYPES: [&str; 8] = ["bool", "int", "decimal", "string", "list", "set", "timestamp", "window"];
const SCOPES: &[(&str, Scope)] = &[("session", Scope::Session), ("store", Scope::Store)];
const ON_ERROR: &[(&str, bool)] = &[("keep", false), ("undo", true)];
const COMBINES: &[(&str, Combine)] = &[
    ("or", Combine::Or),
    ("and", Combine::And),
    ("max", Combine::Max),
    ("min", Combine::Min),
    ("add", Combine::Add),
    ("union", Combine::Union),
];

/// What must hold in every state that a call would make.
#[derive(Debug, Clone)]
pub struct Invariant {
    /// Its name, unlike that of any rule.
    pub name: String,
    /// What must hold.
    pub that: Condition,
    /// What follows when it would not.
    pub otherwise: Otherwise,
    /// Why, in the author's words.
    pub because: String,
    /// What to do next, in the author's words.
    pub advice: Option<String>,
    /// Whether anything follows from it.
    pub mode: Mode,
    pub(crate) span: Range<usize>,
}

/// One effect of a rule.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The variable.
    pub variable: Arc<Variable>,
    /// What it is to hold; for one that combines, what it is combined with.
    pub value: Condition,
    /// Of an `after` effect: what it holds where no answer comes.
    pub lost: Option<Value>,
}

/// What a rule does to the state.
#[derive(Debug, Clone, Default)]
pub struct RuleEffects {
    /// When the call is sent.
    pub set: Vec<Effect>,
    /// When its answer is in.
    pub after: Vec<Effect>,
    /// `on_error: undo`: what it set is taken back when the call failed.
    pub is_undone: bool,
    pub(crate) undo: Option<Range<usize>>,
}

impl RuleEffects {
    /// Nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.after.is_empty()
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.set.iter().chain(&self.after).map(|effect| &effect.value)
    }
}

#[derive(Debug)]
pub(crate) struct RawVariable {
    kind: Kind,
    init: Option<At<String>>,
    scope: Scope,
    combine: Option<At<Combine>>,
}

#[derive(Debug)]
pub(crate) struct RawInvariant {
    name: At<String>,
    that: Cel,
    otherwise: Otherwise,
    because: String,
    advice: Option<String>,
    mode: Mode,
}

#[derive(Debug, Default)]
pub(crate) struct RawEffects {
    set: Vec<(Key, Cel)>,
    after: Vec<(Key, Cel)>,
    lost: Vec<(Key, At<String>)>,
    on_error: Option<At<bool>>,
}

impl RawEffects {
    /// One variable is set to what `cel` says.
    fn of(variable: &str, cel: Cel, undo: Option<Range<usize>>) -> RawEffects {
        let key = Key { text: variable.to_owned(), span: cel.span.clone(), style: ScalarStyle::Plain };
        let on_error = undo.map(|span| At { value: true, span });
        RawEffects { set: vec![(key, cel)], on_error, ..RawEffects::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.after.is_empty()
    }
}

// === what is typed ===

impl Reader<'_> {
    pub(crate) fn states(&mut self, fields: &Fields<'_>) -> Vec<(Key, RawVariable)> {
        self.named(fields, "state", |reader, key, node| {
            if !reader.identifier(key) {
                return None;
            }
            if matches!(node.value, Typed::Scalar(_)) {
                let kind = reader.kind(key, node, None)?;
                return Some(RawVariable { kind, init: None, scope: Scope::Session, combine: None });
            }
            let fields = reader.fields(node, &VARIABLE)?;
            let Some(kind) = fields.get("type") else {
                let message = format!("the state variable `{}` has no type", key.text);
                reader.error_hint(&key.span, message, "add `type: bool`");
                return None;
            };
            let kind = reader.kind(key, kind, Some(&fields));
            let init = fields.get("init").and_then(|node| reader.json_at(node));
            let scope = fields
                .get("scope")
                .map_or(Some(Scope::Session), |node| reader.choice(node, SCOPES).map(|at| at.value));
            let combine = fields.get("combine").map(|node| reader.choice(node, COMBINES));
            let combine = match combine {
                Some(read) => Some(read?),
                None => None,
            };
            Some(RawVariable { kind: kind?, init, scope: scope?, combine })
        })
    }

    fn kind(&mut self, key: &Key, node: &Node, fields: Option<&Fields<'_>>) -> Option<Kind> {
        let words: Vec<(&'static str, &'static str)> = TYPES.iter().map(|word| (*word, *word)).collect();
        let word = self.choice(node, &words)?;
        let get = |key| fields.and_then(|fields| fields.get(key));
        let (max, per) = (get("max"), get("per"));
        if let Some(max) = max.filter(|_| !matches!(word.value, "list" | "set")) {
            self.error(&max.span, format!("`max` is for a list or a set, not for a {}", word.value));
        }
        if let Some(per) = per.filter(|_| word.value != "window") {
            self.error(&per.span, format!("`per` is for a window, not for a {}", word.value));
        }
        Some(match word.value {
            "bool" => Kind::Bool,
            "int" => Kind::Int,
            "decimal" => Kind::Decimal,
            "string" => Kind::String,
            "timestamp" => Kind::Timestamp,
            "window" => {
                let Some(per) = per else {
                    let message = format!("the window `{}` does not say how long it is", key.text);
                    self.error_hint(&key.span, message, "add `per: hour`");
                    return None;
                };
                Kind::Window { per_us: self.per(per)? }
            }
            word => {
                let max = match max {
                    Some(node) => self.items_max(node)?,
                    None => ITEMS_DEFAULT,
                };
                if word == "list" { Kind::List { max } } else { Kind::Set { max } }
            }
        })
    }

    fn items_max(&mut self, node: &Node) -> Option<usize> {
        let text = self.text(node, "how many items it has at most")?;
        let max = text.value.parse().ok().filter(|max| (1..=ITEMS_MAX).contains(max));
        if max.is_none() {
            self.error(&text.span, format!("`max` is a whole number from 1 to {ITEMS_MAX}"));
        }
        max
    }

    pub(crate) fn invariants(&mut self, fields: &Fields<'_>) -> Vec<RawInvariant> {
        let Some(node) = fields.get("invariants") else { return Vec::new() };
        let nodes = self.list(node, "a list of invariants").unwrap_or_default();
        self.few(&node.span, "invariants", nodes.len());
        nodes.iter().take(super::ENTRIES_MAX).filter_map(|node| self.invariant(node)).collect()
    }

    fn invariant(&mut self, node: &Node) -> Option<RawInvariant> {
        let fields = self.fields(node, &INVARIANT)?;
        let name = self.required(&fields, "name").and_then(|node| self.rule_name(node));
        let that = self.required(&fields, "that").and_then(|node| self.cel(node));
        let otherwise = fields.get("otherwise").and_then(|node| self.choice(node, OTHERWISE));
        let because = fields.get("because").and_then(|node| self.words(node, "a reason for people"));
        let advice = fields.get("advice").and_then(|node| self.words(node, "advice for the model"));
        let mode = fields.get("mode").and_then(|node| self.choice(node, MODES));
        Some(RawInvariant {
            name: name?,
            that: that?,
            otherwise: otherwise.map(|at| at.value).unwrap_or_default(),
            because: because.map(|at| at.value).unwrap_or_default(),
            advice: advice.map(|at| at.value),
            mode: mode.map(|at| at.value).unwrap_or_default(),
        })
    }

    /// `set`, `after`, `lost` and `on_error` of a rule.
    pub(crate) fn effects(&mut self, fields: &Fields<'_>) -> RawEffects {
        let cel = |reader: &mut Self, _: &Key, node: &Node| reader.cel(node);
        let effects = RawEffects {
            set: self.named(fields, "set", cel),
            after: self.named(fields, "after", cel),
            lost: self.named(fields, "lost", |reader, _, node| reader.json_at(node)),
            on_error: fields.get("on_error").and_then(|node| self.choice(node, ON_ERROR)),
        };
        if let Some(undo) = effects.on_error.as_ref().filter(|_| effects.set.is_empty()) {
            self.error(&undo.span, "`on_error` is about what `set` sets, and there is nothing set here");
        }
        effects
    }
}

// === what it means ===

impl Checker<'_, '_> {
    pub(super) fn machine(&mut self, raw: &[(Key, RawVariable)], allowances: &[Allowance]) -> Machine {
        let made: Vec<Variable> = allowances.iter().map(Allowance::variable).collect();
        let declared: Vec<Variable> = raw.iter().filter_map(|(key, raw)| self.variable(key, raw)).collect();
        for variable in &made {
            let other = raw.iter().find(|(key, _)| key.text == *variable.name);
            if let Some((key, _)) = other {
                let message = format!("`{}` is the name of a limit or budget under `tools`", variable.name);
                self.reader.error_hint(&key.span, message, "give the state variable another name");
            }
        }
        let all: Vec<Variable> = declared.into_iter().chain(made).collect();
        if all.len() > VARIABLES_MAX {
            let at = raw.first().map_or(0..0, |(key, _)| key.span.clone());
            let message = format!("more than {VARIABLES_MAX} state variables, limits and budgets counted");
            self.reader.error(&at, message);
        }
        Machine::new(all)
    }

    fn variable(&mut self, key: &Key, raw: &RawVariable) -> Option<Variable> {
        if let Some(combine) = &raw.combine
            && !combine.value.fits(raw.kind)
        {
            let message =
                format!("`{}` cannot combine values of {}", combine.value.name(), raw.kind.with_article());
            self.reader.error(&combine.span, message);
            return None;
        }
        let init = match &raw.init {
            Some(init) => self.value(init, raw.kind)?,
            None => Value::first(raw.kind),
        };
        Some(Variable {
            name: key.text.as_str().into(),
            kind: raw.kind,
            init,
            scope: raw.scope,
            combine: raw.combine.as_ref().map(|at| at.value),
        })
    }

    /// A value that is written out.
    fn value(&mut self, typed: &At<String>, kind: Kind) -> Option<Value> {
        let document = self.document(&typed.value, &typed.span)?;
        let wrong = |why: String| format!("expected {}: {why}", kind.with_article());
        let value = match kind {
            Kind::Window { .. } => Err("a window begins empty: leave `init` out".to_owned()),
            Kind::Timestamp => document
                .root()
                .as_str()
                .and_then(|text| text.parse::<jiff::Timestamp>().ok())
                .map(|time| Value::Timestamp(Instant(time.as_microsecond())))
                .ok_or_else(|| wrong("write a time such as \"2026-01-31T00:00:00Z\"".to_owned())),
            _ => Value::of(&cel::Value::owned(document.root()), kind).map_err(|why| wrong(why.to_string())),
        };
        value.map_err(|message| self.reader.error(&typed.span, message)).ok()
    }

    pub(super) fn invariants(&mut self, raw: Vec<RawInvariant>, names: &Names) -> Vec<Arc<Invariant>> {
        raw.into_iter()
            .filter_map(|raw| {
                let that = self.condition(raw.that, names)?;
                Some(Arc::new(Invariant {
                    name: raw.name.value,
                    that,
                    otherwise: raw.otherwise,
                    because: raw.because,
                    advice: raw.advice,
                    mode: raw.mode,
                    span: raw.name.span,
                }))
            })
            .collect()
    }

    pub(super) fn effects(&mut self, raw: RawEffects, machine: &Machine, names: &Scopes) -> RuleEffects {
        let lost: BTreeMap<&str, &At<String>> =
            raw.lost.iter().map(|(key, value)| (key.text.as_str(), value)).collect();
        for (key, _) in &raw.lost {
            if !raw.after.iter().any(|(other, _)| other.text == key.text) {
                let message =
                    format!("`lost` is for a variable that `after` sets, and `{}` is none", key.text);
                self.reader.error(&key.span, message);
            }
        }
        let set = raw.set.iter().filter_map(|(key, cel)| self.effect(key, cel, machine, &names.call, None));
        let set: Vec<Effect> = set.collect();
        let after = raw.after.iter().filter_map(|(key, cel)| {
            self.effect(key, cel, machine, &names.after, lost.get(key.text.as_str()).copied())
        });
        let after: Vec<Effect> = after.collect();
        let undo = raw.on_error.filter(|at| at.value);
        RuleEffects { set, after, is_undone: undo.is_some(), undo: undo.map(|at| at.span) }
    }

    fn effect(
        &mut self,
        key: &Key,
        cel: &Cel,
        machine: &Machine,
        names: &Names,
        lost: Option<&At<String>>,
    ) -> Option<Effect> {
        let Some(variable) = machine.variable(&key.text) else {
            let known = machine.variables().iter().map(|variable| &*variable.name);
            let hint = super::problem::did_you_mean(&key.text, known)
                .unwrap_or_else(|| format!("declare it: `state: {{ {}: … }}`", key.text));
            self.reader.error_hint(&key.span, format!("unknown state variable `{}`", key.text), hint);
            return None;
        };
        let expression = self.compile(cel, names)?;
        if let Err(problem) = must_be(&expression, variable) {
            self.reader.problems.push(cel.problem(self.reader.source, problem));
            return None;
        }
        let lost = match lost {
            // Of a window that is an amount.
            Some(typed) if matches!(variable.kind, Kind::Window { .. }) => {
                let amount = self.value(typed, Kind::Decimal)?;
                if matches!(&amount, Value::Decimal(number) if number.is_negative()) {
                    self.reader
                        .error(&typed.span, "a window only adds: the amount cannot be below zero".to_owned());
                    return None;
                }
                Some(amount)
            }
            Some(typed) => Some(self.value(typed, variable.kind)?),
            None => None,
        };
        let value = Condition { expression: Arc::new(expression), cel: cel.clone() };
        Some(Effect { variable: Arc::clone(variable), value, lost })
    }
}

/// What the expressions of a rule may use.
pub(crate) struct Scopes {
    /// Those over a call.
    pub(crate) call: Names,
    /// Those over its answer.
    pub(crate) after: Names,
}

/// What an effect gives must be what its variable holds; what may turn out to be anything is found out when it is
/// evaluated.
pub(crate) fn must_be(expression: &Expression, variable: &Variable) -> Result<(), cel::Problem> {
    let (gives, holds) = (expression.result(), variable.kind.cel());
    if gives.meets(&holds) {
        return Ok(());
    }
    Err(cel::Problem {
        message: format!("`{}` is {}, this is a {gives}", variable.name, variable.kind.with_article()),
        hint: None,
        span: 0..expression.source().len(),
    })
}

/// A number as a policy writes it.
fn number(text: &str) -> Option<Decimal> {
    Decimal::parse(text.trim()).filter(|number| !number.is_negative())
}

/// The members of a mapping.
fn members(node: &Node) -> Option<&[(Key, Rc<Node>)]> {
    match &node.value {
        Typed::Map(members) => Some(members),
        _ => None,
    }
}
