//! Values of expressions and of state variables; an undecided one says why.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;

use super::python;
use super::yaml11::INT_DIGITS_MAX;

/// Bytes of a string that an expression makes or a variable keeps.
pub const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a variable, an argument or an expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// `bool`
    Bool,
    /// `int`, of any size up to 4,300 digits.
    Int,
    /// `str`
    Str,
}

impl Sort {
    /// The word of the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Sort::Bool => "bool",
            Sort::Int => "int",
            Sort::Str => "str",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Sort> {
        [Sort::Bool, Sort::Int, Sort::Str].into_iter().find(|sort| sort.word() == word)
    }

    /// The word of the original's messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sort::Bool => "Bool",
            Sort::Int => "Int",
            Sort::Str => "String",
        }
    }
}

/// Why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// A divisor is zero.
    Divisor,
    /// A call in flight may change this variable.
    InFlight(usize),
    /// A call whose answer was never seen may have changed this variable.
    Lost(usize),
    /// An integer of more than 4,300 digits, or a string of more than [`TEXT_BYTES_MAX`].
    TooLong,
}

/// A string of the call, the state or the policy, or one that was put together.
#[derive(Debug, Clone)]
pub(crate) enum Text<'a> {
    Borrowed(&'a str),
    Shared(Arc<str>),
}

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

/// What an expression comes to.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Bool(bool),
    Int(Cow<'a, BigInt>),
    Str(Text<'a>),
    Unknown(Why),
}

/// Whether an integer has at most 4,300 digits.
pub(crate) fn fits(value: &BigInt) -> bool {
    // 10^4300 has 14,285 bits.
    const BITS: u64 = 14_285;
    match value.bits().cmp(&BITS) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => value.magnitude().to_string().len() <= INT_DIGITS_MAX,
    }
}

impl<'a> Value<'a> {
    /// An integer, if it is not too long.
    pub(crate) fn int(value: BigInt) -> Value<'a> {
        if fits(&value) { Value::Int(Cow::Owned(value)) } else { Value::Unknown(Why::TooLong) }
    }

    /// For `==` and the orders: strings by code point, which is the order of their bytes.
    pub(crate) fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            (Value::Str(left), Value::Str(right)) => Some(left.as_str().cmp(right.as_str())),
            _ => None,
        }
    }

    /// For a state; `None` when a string is too long to keep.
    pub(crate) fn keep(&self) -> Kept {
        match self {
            Value::Bool(value) => Kept::Bool(*value),
            Value::Int(value) => Kept::Int(value.clone().into_owned()),
            Value::Str(text) if text.as_str().len() > TEXT_BYTES_MAX => Kept::Unknown(Why::TooLong),
            Value::Str(Text::Borrowed(text)) => Kept::Str(Arc::from(*text)),
            Value::Str(Text::Shared(text)) => Kept::Str(Arc::clone(text)),
            Value::Unknown(why) => Kept::Unknown(*why),
        }
    }
}

/// The value of a state variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    Bool(bool),
    Int(BigInt),
    Str(Arc<str>),
    /// Nobody can say: an answer was lost, or could not be evaluated. What reads it is undecided.
    Unknown(Why),
}

impl Kept {
    pub(crate) fn read(&self) -> Value<'_> {
        match self {
            Kept::Bool(value) => Value::Bool(*value),
            Kept::Int(value) => Value::Int(Cow::Borrowed(value)),
            Kept::Str(text) => Value::Str(Text::Borrowed(text)),
            Kept::Unknown(why) => Value::Unknown(*why),
        }
    }

    /// As Python shows it. What was committed shows strings in the solver's spelling.
    pub(crate) fn shown(&self, committed: bool) -> String {
        match self {
            Kept::Bool(true) => "True".to_owned(),
            Kept::Bool(false) => "False".to_owned(),
            Kept::Int(value) => value.to_string(),
            Kept::Str(text) if committed => python::repr(&super::solver::spelled(text)),
            Kept::Str(text) => python::repr(text),
            Kept::Unknown(_) => "<unknown>".to_owned(),
        }
    }
}
