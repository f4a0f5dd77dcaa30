//! What expressions ask of `tool`: where they only compare it with texts, each comparison is one more pattern of names.

use super::super::names::Piece;
use crate::cel::tree::{Kind, Node, Operator};

/// Adds the patterns; false where something else is asked of the name. The depth of the tree is bounded when it is
/// compiled.
pub(super) fn patterns(node: &Node, patterns: &mut Vec<Vec<Piece>>) -> bool {
    let is_tool = |node: &Node| matches!(&node.kind, Kind::Variable(name) if name == "tool");
    let asked: Option<(bool, bool, Vec<String>)> = match &node.kind {
        Kind::Binary(Operator::Equal | Operator::NotEqual, operands) => {
            let [left, right] = &**operands;
            match (is_tool(left), is_tool(right)) {
                (true, false) => texts(right).map(|texts| (false, false, texts)),
                (false, true) => texts(left).map(|texts| (false, false, texts)),
                _ => None,
            }
        }
        Kind::Binary(Operator::In, operands) => {
            let [item, all] = &**operands;
            if is_tool(item) { texts(all).map(|texts| (false, false, texts)) } else { None }
        }
        Kind::Call { function, args, .. } => match (function.name, args.as_slice()) {
            ("startsWith", [tool, part]) if is_tool(tool) => texts(part).map(|texts| (false, true, texts)),
            ("endsWith", [tool, part]) if is_tool(tool) => texts(part).map(|texts| (true, false, texts)),
            ("contains" | "contains_any", [tool, part]) if is_tool(tool) => {
                texts(part).map(|texts| (true, true, texts))
            }
            _ => None,
        },
        _ => None,
    };
    if let Some((open_start, open_end, texts)) = asked {
        patterns.extend(texts.iter().map(|text| Piece::pattern(text, open_start, open_end)));
        return true;
    }
    if is_tool(node) {
        return false;
    }
    let mut is_exact = true;
    node.each_child(&mut |child| is_exact &= self::patterns(child, patterns));
    is_exact
}

/// A text, or a list of them, that stands in the policy.
fn texts(node: &Node) -> Option<Vec<String>> {
    let value = node.constant()?;
    match (value.as_str(), value.items()) {
        (Some(text), _) => Some(vec![text.to_owned()]),
        (None, Some(items)) => items.map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
