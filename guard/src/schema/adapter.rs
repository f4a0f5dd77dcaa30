//! Our own values as the validator sees them: nothing is copied, numbers stay text.

use crate::decimal::Decimal;
use crate::json::{self, Kind};
use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Bytes of a value that an error has a copy of.
const COPIED_BYTES_MAX: usize = 1024;

/// The representation.
pub(super) struct Exact;

/// A value, or a name that stands for a string value.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Text(&'a str),
    Value(json::Value<'a>),
    /// A value that is checked, not a part of one.
    Whole(json::Value<'a>),
}

impl Json for Exact {
    type Node<'a> = Item<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // A lookup walks over the members: one walk that marks what it finds is never slower.
    const KEYS_PER_LOOKUP: usize = 1 << 20;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Item<'_>) -> T) -> T {
        f(Item::Text(string))
    }
}

impl<'a> Node<'a, Exact> for Item<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = Number<'a>;

    fn as_object(&self) -> Option<Members<'a>> {
        match self {
            Item::Value(value) | Item::Whole(value) if value.kind() == Kind::Object => Some(Members(*value)),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<Items<'a>> {
        match self {
            Item::Value(value) | Item::Whole(value) if value.kind() == Kind::Array => Some(Items(*value)),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Item::Text(text) => Some(Cow::Borrowed(text)),
            Item::Value(value) | Item::Whole(value) => value.as_str().map(Cow::Borrowed),
        }
    }

    fn as_number(&self) -> Option<Number<'a>> {
        match self {
            Item::Text(_) => None,
            Item::Value(value) | Item::Whole(value) => value.number().map(Number),
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Item::Text(_) => None,
            Item::Value(value) | Item::Whole(value) => value.as_bool(),
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Item::Value(value) | Item::Whole(value) if value.is_null())
    }

    fn json_type(&self) -> JsonType {
        match self {
            Item::Text(_) => JsonType::String,
            Item::Value(value) | Item::Whole(value) => match value.kind() {
                Kind::Null => JsonType::Null,
                Kind::Bool => JsonType::Boolean,
                Kind::Number => JsonType::Number,
                Kind::String => JsonType::String,
                Kind::Array => JsonType::Array,
                Kind::Object => JsonType::Object,
            },
        }
    }

    // Only an error that is reported reads it, and then only its place counts: `const`, `enum` and
    // `uniqueItems` compare without it. So a large one is left out: 36 MB of small objects where a string was
    // expected took seconds, and many times their size, only to be copied. Of the
    // whole an error looks up parts, where a pattern did not come to an end.
    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned(match self {
            Item::Text(text) if text.len() <= COPIED_BYTES_MAX => serde_json::Value::from(*text),
            Item::Value(value) if value.span().len() <= COPIED_BYTES_MAX => value.to_serde(),
            Item::Text(_) | Item::Value(_) => serde_json::Value::Null,
            Item::Whole(value) => value.to_serde(),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match self {
            Item::Text(_) => None,
            Item::Value(value) | Item::Whole(value) => {
                let document = std::ptr::from_ref(value.document()) as usize;
                Some(NodeIdentity::tagged(document, value.ordinal()))
            }
        }
    }
}

/// An object.
pub(super) struct Members<'a>(json::Value<'a>);

impl<'a> Object<'a, Exact> for Members<'a> {
    type Node = Item<'a>;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, Item<'a>)> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Item<'a>> {
        self.0.get(key).map(Item::Value)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.0.members().map(|(name, value)| (name, Item::Value(value))))
    }

    fn try_for_each_name_node<B>(
        &self,
        (): &mut (),
        mut f: impl FnMut(Item<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.0.entries().try_for_each(|(key, _)| f(Item::Value(key)))
    }
}

/// An array.
pub(super) struct Items<'a>(json::Value<'a>);

impl<'a> Array<'a, Exact> for Items<'a> {
    type Node = Item<'a>;
    type ElementsIter = Box<dyn Iterator<Item = Item<'a>> + 'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        Box::new(self.0.items().map(Item::Value))
    }

    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.items().all(|item| seen.insert(item.canonical()))
    }
}

/// A number as written.
pub(super) struct Number<'a>(&'a str);

impl JsonNumber for Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|float: &f64| float.is_finite())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        let zero = || serde_json::Number::from(0);
        Cow::Owned(serde_json::from_str(self.0).unwrap_or_else(|_| zero()))
    }

    fn is_integer(&self) -> bool {
        is_integer(self.0)
    }
}

/// Whether a number, as written, has no fraction: `1.0` and `1e3` have none.
pub(crate) fn is_integer(number: &str) -> bool {
    let written_whole = !number.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    written_whole || Decimal::parse(number).is_some_and(|number| number.is_integer())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Limits};

    #[test]
    fn an_error_copies_no_value_that_is_large() {
        for (bytes, is_copied) in
            [(COPIED_BYTES_MAX - 1, true), (COPIED_BYTES_MAX, true), (COPIED_BYTES_MAX + 1, false)]
        {
            let text = format!("[\"{}\"]", "x".repeat(bytes - 4));
            let document = Document::read(text.into(), &Limits::default()).unwrap();
            assert_eq!(!Item::Value(document.root()).to_value().is_null(), is_copied, "{bytes}");
            assert!(!Item::Whole(document.root()).to_value().is_null());
            assert_eq!(!Item::Text(&"x".repeat(bytes)).to_value().is_null(), is_copied, "{bytes}");
        }
    }
}
