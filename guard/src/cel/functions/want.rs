//! What arguments have to be, and what comes out.

use super::super::Type;
use std::fmt;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cel) struct Want(u16);

impl Want {
    pub(super) const BOOL: Want = Want(1);
    pub(super) const NUMBER: Want = Want(2);
    pub(super) const STRING: Want = Want(4);
    pub(super) const TIMESTAMP: Want = Want(8);
    pub(super) const DURATION: Want = Want(16);
    pub(super) const LIST: Want = Want(32);
    pub(super) const STRINGS: Want = Want(64);
    pub(super) const MAP: Want = Want(128);
    pub(super) const NULL: Want = Want(256);

    pub(super) const fn or(self, other: Want) -> Want {
        Want(self.0 | other.0)
    }

    fn holds(self, other: Want) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::cel) fn accepts(self, kind: &Type) -> bool {
        match kind {
            Type::Dyn => true,
            Type::Null => self.holds(Want::NULL),
            Type::Bool => self.holds(Want::BOOL),
            Type::Number => self.holds(Want::NUMBER),
            Type::String => self.holds(Want::STRING),
            Type::Timestamp => self.holds(Want::TIMESTAMP),
            Type::Duration => self.holds(Want::DURATION),
            Type::List(items) => {
                self.holds(Want::LIST) || (self.holds(Want::STRINGS) && items.meets(&Type::String))
            }
            Type::Map(_) | Type::Object(_) => self.holds(Want::MAP),
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(Want, &str); 9] = [
            (Want::STRING, "a string"),
            (Want::STRINGS, "a list of strings"),
            (Want::LIST, "a list"),
            (Want::MAP, "a map"),
            (Want::NUMBER, "a number"),
            (Want::BOOL, "a bool"),
            (Want::TIMESTAMP, "a timestamp"),
            (Want::DURATION, "a duration"),
            (Want::NULL, "null"),
        ];
        let names: Vec<&str> =
            NAMES.iter().filter(|(want, _)| self.holds(*want)).map(|(_, name)| *name).collect();
        f.write_str(&names.join(" or "))
    }
}

/// The type of a call's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cel) enum Gives {
    Bool,
    Duration,
    Number,
    String,
    Strings,
    Timestamp,
    /// What the first argument is.
    Same,
}

impl Gives {
    pub(super) fn of(self, args: &[Type]) -> Type {
        match self {
            Gives::Bool => Type::Bool,
            Gives::Duration => Type::Duration,
            Gives::Number => Type::Number,
            Gives::String => Type::String,
            Gives::Strings => Type::list(Type::String),
            Gives::Timestamp => Type::Timestamp,
            Gives::Same => args.first().cloned().unwrap_or_default(),
        }
    }
}
