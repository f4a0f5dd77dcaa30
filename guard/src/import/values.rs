//! Values as PyYAML and that proxy's model told them apart.

use super::proxy::Import;
use crate::policy::tree::{Node, Value};

impl Import<'_> {
    pub(super) fn text_or_null(&mut self, node: &Node) -> Option<String> {
        if is_null(node) { None } else { self.text(node).filter(|text| !text.trim().is_empty()) }
    }

    /// Text, as that proxy's reader told it from numbers and booleans.
    pub(super) fn text(&mut self, node: &Node) -> Option<String> {
        let scalar = match &node.value {
            Value::Scalar(scalar) => scalar,
            _ => {
                self.reader.expected("text", node);
                return None;
            }
        };
        let hint = "put it in quotes";
        if scalar.text.len() > 1 && scalar.was_boolean().is_some() {
            let message = format!("expected text, `{}` was a boolean to that proxy", scalar.text);
            self.reader.error_hint(&node.span, message, hint);
            return None;
        }
        if node.what() != "text" {
            self.reader.expected_hint("text", node, Some(hint.to_owned()));
            return None;
        }
        Some(scalar.text.clone())
    }

    pub(super) fn texts(&mut self, node: &Node) -> Vec<String> {
        let items = self.reader.list(node, "a list of texts").unwrap_or_default();
        items.iter().filter_map(|item| self.text(item)).collect()
    }

    /// A boolean of YAML 1.1, or one of the texts and numbers that were taken for one.
    pub(super) fn boolean(&mut self, node: &Node) -> Option<bool> {
        let text = match &node.value {
            Value::Scalar(scalar) => scalar.text.to_ascii_lowercase(),
            _ => String::new(),
        };
        match text.as_str() {
            "true" | "yes" | "on" | "y" | "t" | "1" => Some(true),
            "false" | "no" | "off" | "n" | "f" | "0" => Some(false),
            _ => {
                self.reader.expected("`true` or `false`", node);
                None
            }
        }
    }
}

pub(super) fn is_null(node: &Node) -> bool {
    node.what() == "nothing"
}
