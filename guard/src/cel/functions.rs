//! The functions of policies: one table, from which the documentation is printed and the type check works.

mod convert;
mod lists;
mod macros;
mod numbers;
mod paths;
mod programs;
mod strings;
mod texts;
mod time;
mod urls;
mod want;

use super::{Budget, Env, Failure, Type, Value};

use std::borrow::Cow;
use std::fmt;

pub(super) use want::{Gives, Want};

/// All functions, by group.
pub static GROUPS: [(&str, &[Function]); 10] = [
    ("Macros", macros::TABLE),
    ("Paths", paths::TABLE),
    ("URLs", urls::TABLE),
    ("Searching texts", texts::TABLE),
    ("Strings", strings::TABLE),
    ("Lists and arguments", lists::TABLE),
    ("Conversions", convert::TABLE),
    ("Whole numbers and JSON", numbers::TABLE),
    ("Time", time::TABLE),
    ("Programs", programs::TABLE),
];

/// All functions, in the order of [`GROUPS`].
pub fn functions() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|(_, table)| table.iter())
}

/// One function: its documentation, its types and what it does.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How it is called and what it gives, for people.
    pub signature: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// An expression that is true.
    pub example: &'static str,
    pub(super) style: Style,
    /// The receiver of a method comes first.
    pub(super) params: &'static [Want],
    /// How many of the last ones may be left out.
    pub(super) optional: usize,
    /// What more arguments have to be.
    pub(super) rest: Option<Want>,
    pub(super) gives: Gives,
    prepare: Option<Prepare>,
    body: Body,
}

type Prepare = fn(&[Option<&Value<'static>>]) -> Result<Prepared, (usize, String)>;
type Body = for<'a> fn(&mut Call<'_, 'a>) -> Result<Value<'a>, Failure>;

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `f(x)`
    Plain,
    /// `x.f()`
    Method,
    /// Either.
    Both,
    /// Recognised when the expression is read.
    Macro,
}

/// What was made of constant arguments when the expression was compiled.
#[derive(Debug, Clone, Default)]
pub(crate) enum Prepared {
    #[default]
    Nothing,
    Needles(aho_corasick::AhoCorasick),
    Pattern(regex::Regex),
    Zone(jiff::tz::TimeZone),
}

/// One call while it runs.
pub(super) struct Call<'r, 'a> {
    pub(super) function: &'static Function,
    pub(super) env: &'a dyn Env,
    pub(super) budget: &'r mut Budget,
    pub(super) args: Vec<Value<'a>>,
    pub(super) prepared: &'a Prepared,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.signature)
    }
}

// === impl Function: the table's rows ===

impl Function {
    const fn new(name: &'static str, style: Style, gives: Gives, body: Body) -> Function {
        let none = "";
        Function {
            name,
            signature: none,
            doc: none,
            example: none,
            style,
            params: &[],
            optional: 0,
            rest: None,
            gives,
            prepare: None,
            body,
        }
    }

    const fn takes(mut self, params: &'static [Want]) -> Function {
        self.params = params;
        self
    }

    const fn optional(mut self, optional: usize) -> Function {
        self.optional = optional;
        self
    }

    const fn more(mut self, rest: Want) -> Function {
        self.rest = Some(rest);
        self
    }

    const fn prepare(mut self, prepare: Prepare) -> Function {
        self.prepare = Some(prepare);
        self
    }

    const fn doc(mut self, signature: &'static str, doc: &'static str, example: &'static str) -> Function {
        (self.signature, self.doc, self.example) = (signature, doc, example);
        self
    }
}

// === impl Function: used by compilation and evaluation ===

impl Function {
    /// Whether it may be written as it was, else how.
    pub(super) fn written_as(&self, method: bool) -> Result<(), String> {
        match (self.style, method) {
            (Style::Plain, true) | (Style::Method, false) | (Style::Macro, _) => {
                Err(format!("it is written {}", self.signature))
            }
            _ => Ok(()),
        }
    }

    /// The least and the largest number of arguments, the receiver counted.
    pub(super) fn arity(&self) -> (usize, usize) {
        let most = if self.rest.is_some() { usize::MAX } else { self.params.len() };
        (self.params.len() - self.optional, most)
    }

    /// What the argument at that place has to be.
    pub(super) fn wants(&self, at: usize) -> Option<Want> {
        self.params.get(at).copied().or(self.rest)
    }

    pub(super) fn prepared(
        &self,
        constants: &[Option<&Value<'static>>],
    ) -> Result<Prepared, (usize, String)> {
        self.prepare.map_or(Ok(Prepared::Nothing), |prepare| prepare(constants))
    }

    pub(crate) fn result(&self, args: &[Type]) -> Type {
        self.gives.of(args)
    }

    pub(super) fn run<'a>(&self, call: &mut Call<'_, 'a>) -> Result<Value<'a>, Failure> {
        let (least, most) = self.arity();
        if call.args.len() < least || call.args.len() > most {
            return Err(Failure::error(format!(
                "`{}` was called with a wrong number of arguments",
                self.name
            )));
        }
        (self.body)(call)
    }
}

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    functions().find(|function| function.name == name)
}

/// A function whose name is near.
pub(super) fn nearest(name: &str) -> Option<String> {
    near(name, functions().map(|function| function.name)).map(|near| format!("did you mean `{near}`?"))
}

/// What stands here for a function that other CEL environments have.
pub(super) fn elsewhere(name: &str) -> Option<String> {
    let advice = match name {
        "uint" => "there is one kind of number: use int()",
        "bytes" | "type" => "it is not supported",
        "dyn" => "it is not needed: leave it out",
        "getDay" => "use getDayOfWeek() (0 is Sunday) or getDate()",
        "len" | "length" | "count" => "use size()",
        "lower" | "toLowerCase" | "to_lower" => "use lowerAscii() or normalize()",
        "upper" | "toUpperCase" | "to_upper" => "use upperAscii()",
        "startswith" | "starts_with" => "use startsWith()",
        "regex" | "match" => "use matches()",
        _ => return None,
    };
    Some(advice.to_owned())
}

/// The name that is most likely meant.
pub(super) fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const NAME_BYTES_MAX: usize = 64;
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let folded = name.to_lowercase();
    names
        .filter(|other| other.len() <= NAME_BYTES_MAX)
        .map(|other| (strsim::jaro_winkler(&folded, &other.to_lowercase()), other))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, other)| other)
}

// === impl Call ===

impl<'a> Call<'_, 'a> {
    /// Takes the argument at that place out; `null` when there is none.
    fn take(&mut self, at: usize) -> Value<'a> {
        self.args.get_mut(at).map_or(Value::Null, |arg| std::mem::replace(arg, Value::Null))
    }

    fn has(&self, at: usize) -> bool {
        at < self.args.len()
    }

    fn text(&mut self, at: usize) -> Result<Cow<'a, str>, Failure> {
        match self.take(at) {
            Value::String(text) => Ok(text),
            other => Err(self.unfit(at, "a string", &other)),
        }
    }

    /// A list of texts, or one text.
    fn texts(&mut self, at: usize) -> Result<Vec<Cow<'a, str>>, Failure> {
        let value = self.take(at);
        if let Value::String(text) = value {
            return Ok(vec![text]);
        }
        let Some(items) = value.items() else {
            return Err(self.unfit(at, "a string or a list of strings", &value));
        };
        self.budget.spend_items(items.len())?;
        items
            .map(|item| match item.fetched()? {
                Value::String(text) => Ok(text),
                other => Err(self.unfit(at, "a list of strings", &other)),
            })
            .collect()
    }

    /// A whole number that fits a position.
    fn position(&mut self, at: usize) -> Result<usize, Failure> {
        match self.take(at) {
            Value::Number(number) => number
                .to_i64()
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| Failure::error(format!("`{number}` is not a position"))),
            other => Err(self.unfit(at, "a number", &other)),
        }
    }

    fn unfit(&self, at: usize, wanted: &str, got: &Value<'_>) -> Failure {
        let receiver = self.function.style == Style::Method || self.function.style == Style::Both;
        let which = match at {
            0 if receiver => "is for".to_owned(),
            _ => format!("takes as argument {}", at + usize::from(self.function.style != Style::Method)),
        };
        Failure::error(format!("`{}` {which} {wanted}, not {}", self.function.name, got.kind()))
    }
}
