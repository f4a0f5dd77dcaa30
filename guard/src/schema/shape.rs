//! What a schema says of an object's members, as far as it can be read off without a value.

use crate::json::{Kind, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Subschemas of one value that are looked at; a schema has few, an attacker's any number.
const VIEWS_MAX: usize = 256;

/// Which of the subschemas that look at the same value count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Those that always hold: references and `allOf`.
    Certain,
    /// Alternatives too: `anyOf`, `oneOf`, `then`, `else`.
    Possible,
}

/// The subschemas that look at the same value as `schema`, itself first, in the order they are written.
pub(crate) fn in_place<'a>(root: Value<'a>, schema: Value<'a>, follow: Follow) -> Vec<Value<'a>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if found.len() >= VIEWS_MAX || schema.kind() != Kind::Object || !seen.insert(schema.ordinal()) {
            continue;
        }
        found.push(schema);
        let mut next = Vec::new();
        for (keyword, value) in schema.members() {
            match keyword {
                "$ref" => next.extend(value.as_str().and_then(|reference| resolve(root, reference))),
                "allOf" => next.extend(value.items()),
                "anyOf" | "oneOf" if follow == Follow::Possible => next.extend(value.items()),
                "then" | "else" if follow == Follow::Possible => next.push(value),
                _ => {}
            }
        }
        open.extend(next.into_iter().rev());
    }
    found
}

/// A reference within the schema: a pointer or an anchor.
pub(super) fn resolve<'a>(root: Value<'a>, reference: &str) -> Option<Value<'a>> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() {
        return Some(root);
    }
    let Some(pointer) = fragment.strip_prefix('/') else {
        let named = |object: &Value<'a>| {
            object.get("$anchor").and_then(Value::as_str) == Some(fragment)
                || object.get("$id").and_then(Value::as_str) == Some(reference)
        };
        return root.document().all().find(named);
    };
    pointer.split('/').try_fold(root, |at, segment| {
        let name = unescape(segment);
        match at.kind() {
            Kind::Array => at.item(name.parse().ok()?),
            _ => at.get(&name),
        }
    })
}

/// One segment of a JSON Pointer in a URI fragment: `%25`, then `~1` and `~0`.
pub(super) fn unescape(segment: &str) -> Cow<'_, str> {
    if !segment.contains(['~', '%']) {
        return Cow::Borrowed(segment);
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let mut digit = || ahead.next().and_then(|byte| char::from(byte).to_digit(16));
        match (byte, digit(), digit()) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    let decoded = String::from_utf8_lossy(&bytes);
    Cow::Owned(decoded.replace("~1", "/").replace("~0", "~"))
}

/// The subschemas that may look at a member of that name.
pub(crate) fn member<'a>(views: &[Value<'a>], name: &str) -> Vec<Value<'a>> {
    let declared: Vec<_> =
        views.iter().filter_map(|view| view.get("properties").and_then(|all| all.get(name))).collect();
    if !declared.is_empty() {
        return declared;
    }
    // A pattern may fit the name or not: then nothing is known.
    if views.iter().any(|view| view.get("patternProperties").is_some()) {
        return Vec::new();
    }
    views.iter().filter_map(|view| view.get("additionalProperties")).collect()
}

/// The subschemas that may look at the item at that position.
pub(super) fn item<'a>(views: &[Value<'a>], position: usize) -> Vec<Value<'a>> {
    let at = |view: &Value<'a>| {
        let (items, prefix) = (view.get("items"), view.get("prefixItems"));
        let listed = prefix.or(items.filter(|items| items.kind() == Kind::Array));
        let by_position = listed.and_then(|listed| listed.item(position));
        by_position.or(items.filter(|items| items.kind() == Kind::Object)).or(view.get("additionalItems"))
    };
    views.iter().filter_map(at).collect()
}

/// The arguments a tool takes.
pub(super) struct Names {
    pub(super) declared: Vec<String>,
    pub(super) required: Vec<String>,
    pub(super) patterns: Vec<String>,
    /// Undeclared ones are accepted.
    pub(super) open: bool,
    set: HashSet<String>,
}

impl Names {
    pub(super) fn of(root: Value<'_>) -> Names {
        let possible = in_place(root, root, Follow::Possible);
        let certain = in_place(root, root, Follow::Certain);
        let mut names = Names {
            declared: Vec::new(),
            required: Vec::new(),
            patterns: Vec::new(),
            open: true,
            set: HashSet::new(),
        };
        for view in possible {
            let members = |keyword| view.get(keyword).into_iter().flat_map(Value::members);
            for (name, _) in members("properties") {
                if names.set.insert(name.to_owned()) {
                    names.declared.push(name.to_owned());
                }
            }
            names.patterns.extend(members("patternProperties").map(|(pattern, _)| pattern.to_owned()));
        }
        let mut seen = HashSet::new();
        for view in certain {
            let closed = |keyword| view.get(keyword).and_then(Value::as_bool) == Some(false);
            names.open &= !closed("additionalProperties") && !closed("unevaluatedProperties");
            let required = view.get("required").into_iter().flat_map(Value::items).filter_map(Value::as_str);
            names.required.extend(required.filter(|name| seen.insert(*name)).map(str::to_owned));
        }
        names
    }

    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.set.contains(name)
    }
}
