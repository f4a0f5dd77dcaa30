//! Values of variables: owned, bounded, and cheap to clone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{ITEMS_MAX, Kind, Refused, Summary, TEXT_BYTES_MAX, Window};
use crate::cel;
use crate::decimal::Decimal;
use crate::world::Instant;

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `true` or `false`
    Bool(bool),
    /// An exact number.
    Decimal(Decimal),
    /// A whole number.
    Int(i64),
    /// Strings in their order.
    List(Arc<[Arc<str>]>),
    /// Strings, each once.
    Set(Arc<BTreeSet<Arc<str>>>),
    /// Text.
    String(Arc<str>),
    /// What a record says of a window, or a decision sees of it.
    Summary(Summary),
    /// An instant.
    Timestamp(Instant),
    /// Amounts with their times.
    Window(Arc<Window>),
}

impl Value {
    /// What a variable of that kind holds unless its policy says otherwise: nothing yet.
    #[must_use]
    pub fn first(kind: Kind) -> Value {
        match kind {
            Kind::Bool => Value::Bool(false),
            Kind::Decimal => Value::Decimal(Decimal::ZERO),
            Kind::Int => Value::Int(0),
            Kind::List { .. } => Value::List(Arc::new([])),
            Kind::Set { .. } => Value::Set(Arc::default()),
            Kind::String => Value::String("".into()),
            Kind::Timestamp => Value::Timestamp(Instant(0)),
            Kind::Window { .. } => Value::Window(Arc::default()),
        }
    }

    /// Whether a variable of that kind can hold it.
    #[must_use]
    pub fn fits(&self, kind: Kind) -> bool {
        match (self, kind) {
            (Value::List(items), Kind::List { max }) => items.len() <= max,
            (Value::Set(items), Kind::Set { max }) => items.len() <= max,
            (Value::Bool(_), Kind::Bool)
            | (Value::Decimal(_), Kind::Decimal)
            | (Value::Int(_), Kind::Int)
            | (Value::String(_), Kind::String)
            | (Value::Timestamp(_), Kind::Timestamp)
            | (Value::Window(_), Kind::Window { .. }) => true,
            (Value::Summary(summary), Kind::Window { per_us }) => summary.per_us == per_us,
            _ => false,
        }
    }

    /// The value of an expression as one of a variable of that kind.
    ///
    /// # Errors
    /// [`Refused`]: it is of another type, or there is no room for it.
    pub fn of(value: &cel::Value<'_>, kind: Kind) -> Result<Value, Refused> {
        let wrong = || Refused::Unfit(format!("it is {}, not {}", value.kind(), kind.with_article()));
        Ok(match kind {
            Kind::Bool => Value::Bool(value.as_bool().ok_or_else(wrong)?),
            Kind::Decimal | Kind::Window { .. } => Value::Decimal(value.as_number().ok_or_else(wrong)?),
            Kind::Int => Value::Int(whole(&value.as_number().ok_or_else(wrong)?)?),
            Kind::List { max } => Value::List(texts(value, max.min(ITEMS_MAX))?.into()),
            Kind::Set { max } => {
                // Doubles count once: what is over the limit is told apart only after that.
                let all: BTreeSet<Arc<str>> = texts(value, ITEMS_MAX)?.into_iter().collect();
                if all.len() > max {
                    return Err(over(max));
                }
                Value::Set(Arc::new(all))
            }
            Kind::String => Value::String(text(value.as_str().ok_or_else(wrong)?)?),
            Kind::Timestamp => match value {
                cel::Value::Timestamp(instant) => Value::Timestamp(*instant),
                _ => return Err(wrong()),
            },
        })
    }

    /// As expressions read it.
    #[must_use]
    pub fn cel(&self) -> cel::Value<'static> {
        let text = |text: &Arc<str>| cel::Value::text(text.to_string());
        match self {
            Value::Bool(value) => cel::Value::Bool(*value),
            Value::Decimal(number) => cel::Value::Number(number.clone()),
            Value::Int(number) => cel::Value::from(*number),
            Value::List(items) => cel::Value::list(items.iter().map(text)),
            Value::Set(items) => cel::Value::list(items.iter().map(text)),
            Value::String(value) => text(value),
            Value::Summary(summary) => cel::Value::Number(summary.sum.clone()),
            Value::Timestamp(instant) => cel::Value::Timestamp(*instant),
            Value::Window(window) => cel::Value::Number(window.total()),
        }
    }
}

/// More strings than a variable may hold.
pub(super) fn over(max: usize) -> Refused {
    Refused::Overflow(format!("it would have more than {max} items"))
}

fn whole(number: &Decimal) -> Result<i64, Refused> {
    if !number.is_integer() {
        return Err(Refused::Unfit(format!("{number} is no whole number")));
    }
    number.to_i64().ok_or_else(|| Refused::Overflow("it is beyond the whole numbers of 64 bits".to_owned()))
}

fn text(text: &str) -> Result<Arc<str>, Refused> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Refused::Overflow(format!("a string of it has more than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text.into())
}

fn texts(value: &cel::Value<'_>, max: usize) -> Result<Vec<Arc<str>>, Refused> {
    let Some(items) = value.texts() else {
        return Err(Refused::Unfit(format!("it is {}, not a list of strings", value.kind())));
    };
    if items.len() > max {
        return Err(over(max));
    }
    items.iter().map(|item| text(item)).collect()
}
