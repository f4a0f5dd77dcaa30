//! What terms stand for.

use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;

/// What a term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// `true` or `false`.
    Bool,
    /// A whole number of any size.
    Int,
    /// An exact number.
    Real,
    /// A text.
    Text,
}

/// A value of a [`Sort`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// Of [`Sort::Bool`].
    Bool(bool),
    /// Of [`Sort::Int`].
    Int(BigInt),
    /// Of [`Sort::Real`].
    Real(BigRational),
    /// Of [`Sort::Text`].
    Text(Arc<str>),
}

impl Value {
    /// Its sort.
    #[must_use]
    pub fn sort(&self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Int(_) => Sort::Int,
            Value::Real(_) => Sort::Real,
            Value::Text(_) => Sort::Text,
        }
    }

    /// The text for the value of that sort that says least.
    #[must_use]
    pub fn zero(sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::Int => Value::Int(BigInt::ZERO),
            Sort::Real => Value::Real(BigRational::from_integer(BigInt::ZERO)),
            Sort::Text => Value::Text("".into()),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value}"),
            // As JSON: what is printed can be pasted into a call.
            Value::Text(text) => f.write_str(&serde_json::Value::from(&**text).to_string()),
        }
    }
}
