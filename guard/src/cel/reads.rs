//! What an expression reads.

use super::Value;
use super::tree::{Kind, Node};
use std::collections::BTreeSet;

/// What an expression reads: for finding the tools whose arguments a rule is about, and the facts it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reads {
    /// Names of variables.
    pub variables: BTreeSet<String>,
    /// Members as far as they are named in the source: `args.a.b` and `args.a["b"]` are `["args", "a", "b"]`,
    /// `args` by itself is `["args"]`. `with_defaults(args)` stands for `args`.
    pub paths: BTreeSet<Vec<String>>,
    /// Members that `has()` asks for.
    pub tested: BTreeSet<Vec<String>>,
    /// Roots of `within()` that are written out, or stand in a constant list.
    pub roots: BTreeSet<String>,
    /// Programs that it asks.
    pub programs: BTreeSet<String>,
}

pub(super) fn reads(root: &Node, constants: &[Vec<String>]) -> Reads {
    let mut reads = Reads::default();
    for path in constants {
        reads.variables.extend(path.first().cloned());
        reads.paths.insert(path.clone());
    }
    visit(root, &mut reads);
    reads
}

fn visit(node: &Node, reads: &mut Reads) {
    if let Some((path, inside)) = path(node) {
        reads.variables.extend(path.first().cloned());
        reads.paths.insert(path);
        for node in inside {
            visit(node, reads);
        }
        return;
    }
    if let Kind::Has { operand, field } = &node.kind
        && let Some((mut path, inside)) = path(operand)
    {
        path.push(field.clone());
        reads.variables.extend(path.first().cloned());
        reads.tested.insert(path);
        for node in inside {
            visit(node, reads);
        }
        return;
    }
    if let Kind::Call { function, args, .. } = &node.kind {
        let constants = args.iter().filter_map(Node::constant);
        match function.name {
            "program" => constants.for_each(|name| texts(name, &mut reads.programs)),
            "within" => {
                args.iter().skip(1).filter_map(Node::constant).for_each(|root| texts(root, &mut reads.roots));
            }
            _ => {}
        }
    }
    node.each_child(&mut |child| visit(child, reads));
}

fn texts(value: &Value<'_>, found: &mut BTreeSet<String>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| texts(item, found)),
        text => found.extend(text.as_str().map(str::to_owned)),
    }
}

/// The path a chain of members names, and the computed indices that lie on the way.
fn path(node: &Node) -> Option<(Vec<String>, Vec<&Node>)> {
    let mut names = Vec::new();
    let mut inside = Vec::new();
    let mut at = node;
    loop {
        match &at.kind {
            Kind::Variable(name) => {
                names.push(name.clone());
                names.reverse();
                return Some((names, inside));
            }
            Kind::Select { operand, field } => {
                names.push(field.clone());
                at = operand;
            }
            Kind::Index { operand, index } => {
                match index.constant().and_then(Value::as_str) {
                    Some(name) => names.push(name.to_owned()),
                    // What lies beyond is not named in the source.
                    None => {
                        names.clear();
                        inside.push(&**index);
                    }
                }
                at = operand;
            }
            Kind::Call { function, args, .. } if function.name == "with_defaults" => at = args.first()?,
            _ => return None,
        }
    }
}
