//! `limit: 5 per hour` and `budget: {of: args.amount, max: 100, per: day}`: a variable and a rule, made from one line.

use std::ops::Range;

use super::super::locate::Cel;
use super::super::merge::{Set, Setting};
use super::super::raw::{OTHERWISE, RawRule};
use super::super::read::{At, Fields, Keys, Reader};
use super::super::tree::Node;
use super::super::{Glob, Mode, Otherwise};
use super::{ON_ERROR, RawEffects, SCOPES, members, number};
use crate::decimal::Decimal;
use crate::state::{Combine, ENTRIES_MAX, Kind, Scope, Value, Variable, span};

/// Options of a tool that are read here.
pub(crate) const OPTIONS: [&str; 2] = ["limit", "budget"];

/// The longest window, in days.
pub const PER_DAYS_MAX: i64 = 366;

const LIMIT: Keys = Keys::known("a limit", &["max", "per", "scope", "otherwise", "because", "on_error"]);
const BUDGET: Keys =
    Keys::known("a budget", &["of", "max", "per", "scope", "otherwise", "because", "on_error"]);

/// How long it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Per {
    Session,
    Micros(i64),
}

/// A limit or a budget of one entry under `tools`.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// `limit` or `budget`.
    pub key: &'static str,
    /// Of its variable, and of its rule.
    pub name: String,
    /// The tools that share it.
    pub tools: Glob,
    pub(crate) tools_span: Range<usize>,
    pub(crate) of: Option<Cel>,
    max: Decimal,
    per: Per,
    scope: Scope,
    pub(crate) otherwise: Otherwise,
    because: Option<String>,
    pub(crate) undo: Option<Range<usize>>,
    pub(crate) span: Range<usize>,
}

/// Each entry's is its own.
impl PartialEq for Allowance {
    fn eq(&self, other: &Allowance) -> bool {
        (self.key, &self.name) == (other.key, &other.name)
    }
}

impl Allowance {
    /// Its variable.
    #[must_use]
    pub fn variable(&self) -> Variable {
        let is_limit = self.of.is_none();
        let (kind, combine) = match self.per {
            Per::Micros(per_us) => (Kind::Window { per_us }, None),
            Per::Session => (if is_limit { Kind::Int } else { Kind::Decimal }, Some(Combine::Add)),
        };
        let name = self.name.as_str().into();
        Variable { name, kind, init: Value::first(kind), scope: self.scope, combine }
    }

    /// What its rule says must hold.
    #[must_use]
    pub fn that(&self) -> String {
        let (name, max) = (&self.name, &self.max);
        match &self.of {
            None => format!("state.{name} < {max}"),
            Some(of) => format!("({0}) >= 0 && state.{name} + ({0}) <= {max}", of.text.trim()),
        }
    }

    /// What its rule sets.
    #[must_use]
    pub fn set(&self) -> &str {
        self.of.as_ref().map_or("1", |of| of.text.trim())
    }

    /// Why, in the author's words or in ours.
    #[must_use]
    pub fn because(&self) -> String {
        if let Some(because) = &self.because {
            return because.clone();
        }
        let per = match self.per {
            Per::Session => "in one session".to_owned(),
            Per::Micros(per_us) => format!("within {}", span(per_us)),
        };
        match &self.of {
            None if self.max == Decimal::from(1) => format!("`{}` may be called once {per}.", self.tools),
            None => format!("`{}` may be called {} times {per}.", self.tools, self.max),
            Some(of) => {
                format!("`{}` of `{}` may come to {} {per}.", of.text.trim(), self.tools, self.max)
            }
        }
    }
}

/// The rule that a limit or a budget stands for.
pub(crate) fn allowance_rule(allowance: &Allowance) -> RawRule {
    let span = || allowance.span.clone();
    let set = match &allowance.of {
        Some(of) => of.clone(),
        None => Cel::made(allowance.set().to_owned(), span()),
    };
    RawRule {
        name: At { value: allowance.name.clone(), span: span() },
        tools: vec![At { value: allowance.tools.clone(), span: allowance.tools_span.clone() }],
        when: None,
        that: Some(Cel::made(allowance.that(), span())),
        otherwise: allowance.otherwise,
        because: allowance.because(),
        advice: None,
        mode: Mode::Enforce,
        effects: RawEffects::of(&allowance.name, set, allowance.undo.clone()),
        made_of: Some(allowance.key),
    }
}

impl Reader<'_> {
    /// The limit and the budget of one entry, as settings.
    pub(crate) fn allowances(
        &mut self,
        (glob, at): (&Glob, &Range<usize>),
        fields: &Fields<'_>,
    ) -> Vec<Setting> {
        let mut settings = Vec::new();
        for key in OPTIONS {
            let Some(node) = fields.get(key) else { continue };
            let Some(allowance) = self.allowance(key, node, (glob, at)) else { continue };
            let set = if key == "limit" { Set::Limit(allowance) } else { Set::Budget(allowance) };
            settings.push(Setting { key, value: set, span: node.span.clone() });
        }
        settings
    }

    fn allowance(
        &mut self,
        key: &'static str,
        node: &Node,
        (glob, at): (&Glob, &Range<usize>),
    ) -> Option<Allowance> {
        let blank = |max, per| Allowance {
            key,
            name: format!("{key}_{}", plain(glob.as_str())),
            tools: glob.clone(),
            tools_span: at.clone(),
            of: None,
            max,
            per,
            scope: Scope::Session,
            otherwise: Otherwise::Deny,
            because: None,
            undo: None,
            span: node.span.clone(),
        };
        if members(node).is_none() {
            if key == "budget" {
                self.expected("a budget: `{of: args.amount, max: 100, per: day}`", node);
                return None;
            }
            let text = self.words(node, "a limit such as `5 per hour`")?;
            let parts = text.value.split_once(" per ").map(|(max, per)| (number(max), per_of(per)));
            let Some((Some(max), Some(per))) = parts else {
                let message = format!("`{}` is no limit", text.value);
                let hint = "write `5 per hour`, `5 per 10 minutes` or `5 per session`";
                self.error_hint(&text.span, message, hint);
                return None;
            };
            return self.counted(blank(max, per));
        }
        let fields = self.fields(node, if key == "limit" { &LIMIT } else { &BUDGET })?;
        let of = if key == "budget" {
            Some(self.required(&fields, "of").and_then(|node| self.cel(node))?)
        } else {
            None
        };
        let max = self.required(&fields, "max").and_then(|node| self.max(node))?;
        let per = self.required(&fields, "per").and_then(|node| self.per_or_session(node))?;
        let scope = fields.get("scope").map(|node| self.choice(node, SCOPES));
        let otherwise = fields.get("otherwise").map(|node| self.choice(node, OTHERWISE));
        let because = fields.get("because").map(|node| self.words(node, "a reason for people"));
        let undo = fields.get("on_error").map(|node| self.choice(node, ON_ERROR));
        let mut allowance = Allowance { of, ..blank(max, per) };
        if let Some(scope) = scope {
            allowance.scope = scope?.value;
        }
        if let Some(otherwise) = otherwise {
            allowance.otherwise = otherwise?.value;
        }
        if let Some(because) = because {
            allowance.because = Some(because?.value);
        }
        if let Some(undo) = undo {
            allowance.undo = Some(undo?).filter(|at| at.value).map(|at| at.span);
        }
        if allowance.scope == Scope::Store && per == Per::Session {
            self.error(&node.span, "`per: session` and `scope: store` contradict each other");
            return None;
        }
        self.counted(allowance)
    }

    fn counted(&mut self, allowance: Allowance) -> Option<Allowance> {
        let is_limit = allowance.of.is_none();
        let max = allowance.max.to_i64().and_then(|max| usize::try_from(max).ok());
        if is_limit && !max.is_some_and(|max| (1..=ENTRIES_MAX).contains(&max)) {
            let message = format!("a limit is a whole number from 1 to {ENTRIES_MAX}");
            self.error(&allowance.span, message);
            return None;
        }
        Some(allowance)
    }

    fn max(&mut self, node: &Node) -> Option<Decimal> {
        let text = self.words(node, "a number")?;
        let max = number(&text.value);
        if max.is_none() {
            self.error(&text.span, format!("`{}` is no number from 0 on", text.value));
        }
        max
    }

    fn per_or_session(&mut self, node: &Node) -> Option<Per> {
        let text = self.words(node, "a span of time such as `hour`")?;
        let per = per_of(&text.value);
        if per.is_none() {
            self.no_per(&text.value, &text.span);
        }
        per
    }

    /// The length of a window in microseconds.
    pub(super) fn per(&mut self, node: &Node) -> Option<i64> {
        let text = self.words(node, "a span of time such as `hour`")?;
        match per_of(&text.value) {
            Some(Per::Micros(micros)) => Some(micros),
            _ => {
                self.no_per(&text.value, &text.span);
                None
            }
        }
    }

    fn no_per(&mut self, typed: &str, span: &Range<usize>) {
        let message = format!("`{typed}` is no span of time");
        let hint =
            format!("write `minute`, `10 minutes`, `hour`, `day` or `week`, at most {PER_DAYS_MAX} days");
        self.error_hint(span, message, hint);
    }
}

/// `hour`, `10 minutes`, `session`.
fn per_of(text: &str) -> Option<Per> {
    let text = text.trim();
    if text == "session" {
        return Some(Per::Session);
    }
    let (count, unit) =
        text.split_once(' ').map_or((Some(1), text), |(count, unit)| (count.parse().ok(), unit.trim()));
    let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => 1,
        "minute" => 60,
        "hour" => 3600,
        "day" => 86_400,
        "week" => 7 * 86_400,
        _ => return None,
    };
    let count: i64 = count?;
    let seconds = count.checked_mul(seconds).filter(|all| (1..=PER_DAYS_MAX * 86_400).contains(all))?;
    Some(Per::Micros(seconds * 1_000_000))
}

/// A pattern as a name.
fn plain(glob: &str) -> String {
    glob.chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c,
            '*' => 'x',
            _ => '_',
        })
        .take(100)
        .collect()
}
