//! From the tree to typed values; what does not fit is noted with its place, and reading goes on.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::misplaced;
use super::problem::{Problem, Source, did_you_mean};
use super::tree::{Key, Node, Scalar, Value, number};

/// A typed value and its place.
#[derive(Debug, Clone)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// The keys of one mapping of the file.
#[derive(Debug)]
pub(crate) struct Keys {
    /// What the mapping is, for messages: "a rule".
    pub(crate) what: &'static str,
    pub(crate) known: &'static [&'static str],
    /// Known keys of another table.
    pub(crate) more: &'static [&'static str],
}

impl Keys {
    /// Keys that every build knows.
    pub(crate) const fn known(what: &'static str, known: &'static [&'static str]) -> Keys {
        Keys { what, known, more: &[] }
    }
}

pub(crate) struct Reader<'s> {
    pub(crate) source: &'s Arc<Source>,
    pub(crate) problems: Vec<Problem>,
}

/// A mapping's members by key.
pub(crate) struct Fields<'n> {
    pub(crate) span: Range<usize>,
    members: Vec<(&'n Key, &'n Node)>,
}

impl<'n> Fields<'n> {
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.member(key).map(|(_, node)| node)
    }

    pub(crate) fn member(&self, key: &str) -> Option<(&'n Key, &'n Node)> {
        self.members.iter().find(|(found, _)| found.text == key).copied()
    }
}

impl Reader<'_> {
    pub(crate) fn error(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.problems.push(Problem::error(self.source, span.clone(), message));
    }

    pub(crate) fn error_hint(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.problems.push(Problem::error(self.source, span.clone(), message).hint(hint));
    }

    pub(crate) fn expected(&mut self, wanted: &str, node: &Node) {
        self.expected_hint(wanted, node, None);
    }

    pub(crate) fn expected_hint(&mut self, wanted: &str, node: &Node, hint: Option<String>) {
        let span = match &node.value {
            // A whole block would mark the wrong end of it.
            Value::Scalar(_) => node.span.clone(),
            _ => node.span.start..node.span.start,
        };
        let message = format!("expected {wanted}, found {}", node.what());
        self.problems.push(Problem::error(self.source, span, message).hint_maybe(hint));
    }

    /// The members of a mapping; a key with nothing behind it is an empty one.
    pub(crate) fn mapping<'n>(&mut self, node: &'n Node, wanted: &str) -> Option<&'n [(Key, Rc<Node>)]> {
        match &node.value {
            Value::Map(members) => Some(members),
            Value::Scalar(scalar) if scalar.is_null() => Some(&[]),
            _ => {
                self.expected(wanted, node);
                None
            }
        }
    }

    /// The members of a mapping with known keys.
    pub(crate) fn fields<'n>(&mut self, node: &'n Node, keys: &Keys) -> Option<Fields<'n>> {
        let members = self.mapping(node, "a mapping")?;
        let mut fields = Fields { span: node.span.clone(), members: Vec::new() };
        for (key, value) in members {
            let name = key.text.as_str();
            if keys.known.contains(&name) || keys.more.contains(&name) {
                fields.members.push((key, value));
            } else {
                self.unknown(key, keys);
            }
        }
        Some(fields)
    }

    fn unknown(&mut self, key: &Key, keys: &Keys) {
        let known = || keys.known.iter().chain(keys.more).copied();
        let hint = misplaced::hint(&key.text, keys.what)
            .or_else(|| did_you_mean(&key.text, known()))
            .unwrap_or_else(|| format!("the keys are {}", listed(known(), "and")));
        self.error_hint(&key.span, format!("unknown key `{}` in {}", key.text, keys.what), hint);
    }

    pub(crate) fn scalar<'n>(&mut self, node: &'n Node, wanted: &str) -> Option<&'n Scalar> {
        match &node.value {
            Value::Scalar(scalar) if !scalar.is_null() => Some(scalar),
            _ => {
                self.expected(wanted, node);
                None
            }
        }
    }

    pub(crate) fn text(&mut self, node: &Node, wanted: &str) -> Option<At<String>> {
        let scalar = self.scalar(node, wanted)?;
        Some(At { value: scalar.text.clone(), span: node.span.clone() })
    }

    /// Text with something in it.
    pub(crate) fn words(&mut self, node: &Node, wanted: &str) -> Option<At<String>> {
        let text = self.text(node, wanted)?;
        if text.value.trim().is_empty() {
            self.error(&node.span, format!("expected {wanted}, found empty text"));
            return None;
        }
        Some(At { value: text.value.trim().to_owned(), span: text.span })
    }

    pub(crate) fn choice<T: Copy>(&mut self, node: &Node, choices: &[(&'static str, T)]) -> Option<At<T>> {
        let words = list(choices.iter().map(|(word, _)| *word));
        let scalar = self.scalar(node, &words)?;
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == scalar.text) {
            return Some(At { value: *value, span: node.span.clone() });
        }
        let message = format!("`{}` is not one of {words}", scalar.text);
        let known = || choices.iter().map(|(word, _)| *word);
        let longer = || known().find(|word| word.len() > 2 && scalar.text.starts_with(word));
        let hint = did_you_mean(&scalar.text, known())
            .or_else(|| longer().map(|word| format!("did you mean `{word}`?")));
        self.problems.push(Problem::error(self.source, node.span.clone(), message).hint_maybe(hint));
        None
    }

    pub(crate) fn boolean(&mut self, node: &Node) -> Option<At<bool>> {
        let scalar = self.scalar(node, "`true` or `false`")?;
        if let Some(value) = scalar.boolean() {
            return Some(At { value, span: node.span.clone() });
        }
        match scalar.was_boolean() {
            Some(meant) => {
                let message = format!("`{}` is text, not a boolean", scalar.text);
                self.error_hint(&node.span, message, format!("write `{meant}`"));
            }
            None => self.expected("`true` or `false`", node),
        }
        None
    }

    pub(crate) fn list<'n>(&mut self, node: &'n Node, wanted: &str) -> Option<&'n [Rc<Node>]> {
        match &node.value {
            Value::List(items) => Some(items),
            _ => {
                self.expected(wanted, node);
                None
            }
        }
    }

    /// A value of the file as JSON text: numbers as they are written, other plain words as strings.
    pub(crate) fn json(&mut self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Scalar(scalar) => self.json_scalar(node, scalar),
            Value::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.json(item)).collect();
                Some(format!("[{}]", items?.join(",")))
            }
            Value::Map(members) => {
                let member = |(key, value): &(Key, Rc<Node>)| {
                    Some(format!("{}:{}", quoted(&key.text), self.json(value)?))
                };
                let members: Option<Vec<String>> = members.iter().map(member).collect();
                Some(format!("{{{}}}", members?.join(",")))
            }
        }
    }

    fn json_scalar(&mut self, node: &Node, scalar: &Scalar) -> Option<String> {
        if scalar.is_null() {
            return Some("null".to_owned());
        }
        if let Some(boolean) = scalar.boolean() {
            return Some(boolean.to_string());
        }
        if scalar.is_plain() && number(&scalar.text) {
            return Some(scalar.text.clone());
        }
        if scalar.is_plain() && odd_number(&scalar.text) {
            let message = format!("`{}` is a number to some YAML readers and text to others", scalar.text);
            self.error_hint(
                &node.span,
                message,
                "write it as a plain decimal number, or in quotes if it is text",
            );
            return None;
        }
        Some(quoted(&scalar.text))
    }
}

/// Numbers that YAML knows and JSON does not: `.5`, `+1`, `007`, `0x1f`, `1_000`, `.inf`.
fn odd_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let radix = |prefix| {
        unsigned.strip_prefix(prefix).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let special = matches!(unsigned.to_ascii_lowercase().as_str(), ".inf" | ".nan");
    let starts = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let plain: String = unsigned.chars().filter(|c| *c != '_').collect();
    special || radix("0x") || radix("0o") || (starts && plain.parse::<f64>().is_ok())
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `a`, `b` or `c`
pub(crate) fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    listed(words, "or")
}

pub(crate) fn listed<'a>(words: impl Iterator<Item = &'a str>, last: &str) -> String {
    let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match (words.pop(), words.is_empty()) {
        (Some(word), false) => format!("{} {last} {word}", words.join(", ")),
        (word, _) => word.unwrap_or_default(),
    }
}
