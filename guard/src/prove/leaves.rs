//! What terms are made of, and the same terms with other leaves.

use std::collections::HashMap;

use super::term::{Id, Node, Terms, Two};

impl Terms {
    /// The same term with state variables replaced.
    pub(crate) fn substituted(&mut self, id: Id, by: &HashMap<usize, Id>) -> Id {
        self.replaced(id, &|leaf| match leaf {
            Node::State(variable) => by.get(variable).copied(),
            _ => None,
        })
    }

    /// The same term with inputs replaced.
    pub(crate) fn with_inputs(&mut self, id: Id, by: &HashMap<usize, Id>) -> Id {
        self.replaced(id, &|leaf| match leaf {
            Node::Input(input) => by.get(input).copied(),
            _ => None,
        })
    }

    fn replaced(&mut self, id: Id, leaf: &dyn Fn(&Node) -> Option<Id>) -> Id {
        let mut done: HashMap<Id, Id> = HashMap::new();
        // Parts stand before their whole, so one pass in order is enough, and no recursion.
        for at in self.reached([id]) {
            let of = |part: &Id| done.get(part).copied().unwrap_or(*part);
            let made = match self.node(at).clone() {
                Node::All(parts) => self.all(parts.iter().map(of).collect::<Vec<_>>()),
                Node::Any(parts) => self.any(parts.iter().map(of).collect::<Vec<_>>()),
                Node::If(a, b, c) => self.choose(of(&a), of(&b), of(&c)),
                Node::Length(part) => self.length(of(&part)),
                Node::Not(part) => self.not(of(&part)),
                Node::ToInt(part) => self.to_int(of(&part)),
                Node::ToReal(part) => self.to_real(of(&part)),
                Node::Two(Two::Equal, a, b) => self.equal(of(&a), of(&b)),
                Node::Two(two, a, b) => self.two(two, of(&a), of(&b)),
                node @ (Node::Constant(_) | Node::Input(_) | Node::State(_)) => leaf(&node).unwrap_or(at),
            };
            done.insert(at, made);
        }
        done.get(&id).copied().unwrap_or(id)
    }

    /// What these terms are made of, themselves included, parts first.
    pub(crate) fn reached(&self, roots: impl IntoIterator<Item = Id>) -> Vec<Id> {
        let mut seen = vec![false; self.len()];
        let mut open: Vec<Id> = roots.into_iter().collect();
        while let Some(id) = open.pop() {
            if let Some(seen) = seen.get_mut(id.0 as usize)
                && !std::mem::replace(seen, true)
            {
                open.extend(self.node(id).parts());
            }
        }
        let ids = seen.iter().enumerate().filter(|(_, seen)| **seen);
        ids.filter_map(|(at, _)| u32::try_from(at).ok()).map(Id).collect()
    }
}

impl Node {
    pub(crate) fn parts(&self) -> Vec<Id> {
        match self {
            Node::All(parts) | Node::Any(parts) => parts.clone(),
            Node::Constant(_) | Node::Input(_) | Node::State(_) => Vec::new(),
            Node::If(a, b, c) => vec![*a, *b, *c],
            Node::Length(part) | Node::Not(part) | Node::ToInt(part) | Node::ToReal(part) => vec![*part],
            Node::Two(_, a, b) => vec![*a, *b],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::term::Sort;
    use super::*;

    #[test]
    fn a_state_variable_is_replaced_everywhere() {
        let mut terms = Terms::default();
        let (s, x) = (terms.state(0, Sort::Bool), terms.input(0, Sort::Bool));
        let not = terms.not(s);
        let both = terms.all([not, x]);
        let yes = terms.bool(true);
        let replaced = terms.substituted(both, &HashMap::from([(0, yes)]));
        assert_eq!(terms.truth(replaced), Some(false));
    }
}
