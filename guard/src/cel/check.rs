//! The type check: finds all problems, not only the first.

use super::functions::{Function, near};
use super::tree::{Each, Kind, Node, Operator, Quantifier};
use super::types::join;
use super::{Problem, Scope, Type};

use std::ops::Range;

/// The type of the whole; what is wrong is added to `problems`.
pub(super) fn check(root: &Node, scope: &Scope, problems: &mut Vec<Problem>) -> Type {
    Check { scope, problems, locals: Vec::new() }.node(root)
}

struct Check<'c> {
    scope: &'c Scope,
    problems: &'c mut Vec<Problem>,
    locals: Vec<Type>,
}

impl Check<'_> {
    fn problem(&mut self, span: &Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(Problem { message: message.into(), hint, span: span.clone() });
    }

    fn node(&mut self, node: &Node) -> Type {
        match &node.kind {
            Kind::Literal(value) => Type::of_value(value),
            Kind::Constant(_, kind) => kind.clone(),
            Kind::Variable(name) => self.variable(name, &node.span),
            Kind::Local(at) => self.locals.get(*at).cloned().unwrap_or_default(),
            Kind::Select { operand, field } => self.member(operand, field, &node.span),
            Kind::Has { operand, field } => {
                self.member(operand, field, &node.span);
                Type::Bool
            }
            Kind::Index { operand, index } => self.index(operand, index),
            Kind::List(items) => {
                let types: Vec<Type> = items.iter().map(|item| self.node(item)).collect();
                Type::list(join(types))
            }
            Kind::Map(entries) => self.map(entries),
            Kind::Not(operand) => {
                self.condition(operand, "`!`");
                Type::Bool
            }
            Kind::Negate(operand) => self.negate(operand),
            Kind::And(left, right) => self.logic(left, right, "`&&`"),
            Kind::Or(left, right) => self.logic(left, right, "`||`"),
            Kind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                self.condition(condition, "`?`");
                join([self.node(yes), self.node(no)])
            }
            Kind::Binary(operator, operands) => {
                let [left, right] = &**operands;
                let (left, right) = (self.node(left), self.node(right));
                self.binary(*operator, &left, &right, &node.span)
            }
            Kind::Each(each) => self.each(each),
            Kind::Call { function, args, .. } => self.call(function, args, &node.span),
            Kind::Invalid => Type::Dyn,
        }
    }

    fn variable(&mut self, name: &str, span: &Range<usize>) -> Type {
        if let Some(kind) = self.scope.variable(name) {
            return kind.clone();
        }
        let hint = match near(name, self.scope.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", self.scope.names().collect::<Vec<_>>().join(", ")),
        };
        self.problem(span, format!("unknown variable `{name}`"), Some(hint));
        Type::Dyn
    }

    fn member(&mut self, operand: &Node, field: &str, span: &Range<usize>) -> Type {
        match self.node(operand) {
            Type::Dyn => Type::Dyn,
            Type::Map(values) => *values,
            Type::Object(object) => match object.fields.get(field) {
                Some(known) => known.kind.clone(),
                None if object.open => Type::Dyn,
                None => {
                    let names = || object.fields.keys().map(String::as_str);
                    if matches!(&operand.kind, Kind::Variable(name) if name == "state") {
                        self.unknown_state(field, span, near(field, names()));
                        return Type::Dyn;
                    }
                    let hint = match near(field, names()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None if object.fields.is_empty() => "it has no members".to_owned(),
                        None => format!("known are {}", names().take(20).collect::<Vec<_>>().join(", ")),
                    };
                    self.problem(span, format!("there is no `{field}`"), Some(hint));
                    Type::Dyn
                }
            },
            other => {
                let hint = match &other {
                    Type::List(_) => Some("use list[0], or list.exists(x, x.…)".to_owned()),
                    _ => Some(format!("write {field}(…) if a function was meant"))
                        .filter(|_| super::functions::find(field).is_some()),
                };
                self.problem(span, format!("{} has no member `{field}`", other.with_article()), hint);
                Type::Dyn
            }
        }
    }

    fn unknown_state(&mut self, name: &str, span: &Range<usize>, near: Option<&str>) {
        let hint = match near {
            Some(near) => format!("did you mean `state.{near}`?"),
            None => format!("declare it: `state: {{ {name}: … }}`"),
        };
        self.problem(span, format!("unknown state variable `{name}`"), Some(hint));
    }

    fn index(&mut self, operand: &Node, index: &Node) -> Type {
        let (all, at) = (self.node(operand), self.node(index));
        let (wanted, gives) = match &all {
            Type::Dyn => return Type::Dyn,
            Type::List(items) => (Type::Number, (**items).clone()),
            Type::Map(values) => (Type::String, (**values).clone()),
            Type::Object(object) => {
                let known =
                    index.constant().and_then(super::Value::as_str).and_then(|n| object.fields.get(n));
                (Type::String, known.map(|field| field.kind.clone()).unwrap_or_default())
            }
            other => {
                let message = format!("{} cannot be looked up in", other.with_article());
                self.problem(&operand.span, message, None);
                return Type::Dyn;
            }
        };
        if !wanted.meets(&at) {
            let message =
                format!("{} is looked up by a {wanted}, not by {}", all.with_article(), at.with_article());
            self.problem(&index.span, message, None);
        }
        gives
    }

    fn map(&mut self, entries: &[(Node, Node)]) -> Type {
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let kind = self.node(key);
            if !kind.meets(&Type::String) {
                let message = format!("a map's keys must be strings, not {}", kind.with_article());
                self.problem(&key.span, message, None);
            }
            values.push(self.node(value));
        }
        Type::map(join(values))
    }

    /// Something that must be a bool.
    fn condition(&mut self, node: &Node, of: &str) {
        let kind = self.node(node);
        if !kind.meets(&Type::Bool) {
            self.problem(&node.span, format!("{of} takes a bool, not {}", kind.with_article()), None);
        }
    }

    fn negate(&mut self, operand: &Node) -> Type {
        let kind = self.node(operand);
        if !matches!(kind, Type::Number | Type::Duration | Type::Dyn) {
            self.problem(&operand.span, format!("`-` takes a number, not {}", kind.with_article()), None);
            return Type::Dyn;
        }
        kind
    }

    fn logic(&mut self, left: &Node, right: &Node, of: &str) -> Type {
        self.condition(left, of);
        self.condition(right, of);
        Type::Bool
    }

    fn binary(&mut self, operator: Operator, left: &Type, right: &Type, span: &Range<usize>) -> Type {
        let fits = match operator {
            Operator::Equal | Operator::NotEqual => {
                if !left.meets(right) {
                    self.never_equal(left, right, span);
                }
                return Type::Bool;
            }
            Operator::In => {
                self.membership(left, right, span);
                return Type::Bool;
            }
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                let ordered = |kind: &Type| {
                    !matches!(kind, Type::Null | Type::List(_) | Type::Map(_) | Type::Object(_))
                };
                (left.meets(right) && ordered(left) && ordered(right)).then_some(Type::Bool)
            }
            Operator::Multiply | Operator::Divide | Operator::Remainder => {
                (left.meets(&Type::Number) && right.meets(&Type::Number)).then_some(Type::Number)
            }
            Operator::Add => sum(left, right),
            Operator::Subtract => difference(left, right),
        };
        fits.unwrap_or_else(|| {
            let symbol = operator.symbol();
            let hint = match (left, right) {
                (Type::String, Type::Number) | (Type::Number, Type::String) => {
                    Some("convert with string(x) or double(x)".to_owned())
                }
                _ => None,
            };
            let (left, right) = (left.with_article(), right.with_article());
            self.problem(span, format!("`{symbol}` does not go with {left} and {right}"), hint);
            match operator {
                Operator::Add | Operator::Subtract => Type::Dyn,
                Operator::Multiply | Operator::Divide | Operator::Remainder => Type::Number,
                _ => Type::Bool,
            }
        })
    }

    fn never_equal(&mut self, left: &Type, right: &Type, span: &Range<usize>) {
        let hint = match (left, right) {
            (Type::Null, _) | (_, Type::Null) => Some("ask with has(x.y) whether it was given".to_owned()),
            (Type::String, Type::Number) | (Type::Number, Type::String) => {
                Some("convert with string(x) or double(x)".to_owned())
            }
            _ => None,
        };
        let message = format!("{} never equals {}", left.with_article(), right.with_article());
        self.problem(span, message, hint);
    }

    fn membership(&mut self, item: &Type, all: &Type, span: &Range<usize>) {
        let items = match all {
            Type::Dyn => return,
            Type::List(items) => &**items,
            Type::Map(_) | Type::Object(_) => &Type::String,
            other => {
                let hint = (*other == Type::String).then(|| "write text.contains(part)".to_owned());
                let message = format!("`in` takes a list or a map, not {}", other.with_article());
                return self.problem(span, message, hint);
            }
        };
        if !items.meets(item) {
            let message = format!("{} is never in a list of {items}", item.with_article());
            self.problem(span, message, None);
        }
    }

    fn each(&mut self, each: &Each) -> Type {
        let range = self.node(&each.range);
        let item = match &range {
            Type::Dyn => Type::Dyn,
            Type::List(items) => (**items).clone(),
            Type::Map(_) | Type::Object(_) => Type::String,
            other => {
                self.problem(&each.range.span, format!("{} has no items", other.with_article()), None);
                Type::Dyn
            }
        };
        self.locals.truncate(each.local);
        self.locals.push(item.clone());
        if let Some(test) = &each.test {
            self.condition(test, "this");
        }
        let transformed = each.transform.as_ref().map(|transform| self.node(transform));
        self.locals.truncate(each.local);
        match each.quantifier {
            Quantifier::All | Quantifier::Exists | Quantifier::ExistsOne => Type::Bool,
            Quantifier::Filter => Type::list(item),
            Quantifier::Map => Type::list(transformed.unwrap_or_default()),
        }
    }

    fn call(&mut self, function: &'static Function, args: &[Node], span: &Range<usize>) -> Type {
        let types: Vec<Type> = args.iter().map(|arg| self.node(arg)).collect();
        let (least, most) = function.arity();
        if args.len() < least || args.len() > most {
            let many = if args.len() < least { "few" } else { "many" };
            let hint = format!("it is written {}", function.signature);
            self.problem(span, format!("too {many} arguments for `{}`", function.name), Some(hint));
            return function.result(&types);
        }
        for (at, (arg, kind)) in args.iter().zip(&types).enumerate() {
            let Some(wanted) = function.wants(at).filter(|wanted| !wanted.accepts(kind)) else { continue };
            let list_of_wanted = matches!(kind, Type::List(items) if wanted.accepts(items));
            let hint = if list_of_wanted && function.result(&types) == Type::Bool {
                format!("for every item: list.all(x, {}(x, …)) or list.exists(…)", function.name)
            } else {
                format!("it is written {}", function.signature)
            };
            let message = format!("`{}` takes {wanted} here, not {}", function.name, kind.with_article());
            self.problem(&arg.span, message, Some(hint));
        }
        function.result(&types)
    }
}

fn sum(left: &Type, right: &Type) -> Option<Type> {
    Some(match (left, right) {
        (Type::Timestamp, Type::Duration | Type::Dyn) | (Type::Duration, Type::Timestamp) => Type::Timestamp,
        (Type::Dyn, Type::Timestamp) => Type::Timestamp,
        (Type::List(a), Type::List(b)) => Type::list(join([(**a).clone(), (**b).clone()])),
        (Type::Duration | Type::Dyn, Type::Duration | Type::Dyn) => Type::Dyn,
        (Type::Dyn, known @ (Type::Number | Type::String)) => known.clone(),
        (known @ (Type::Number | Type::String), Type::Dyn) => known.clone(),
        (Type::Dyn, Type::List(_)) | (Type::List(_), Type::Dyn) => Type::list(Type::Dyn),
        (Type::Number, Type::Number) => Type::Number,
        (Type::String, Type::String) => Type::String,
        _ => return None,
    })
}

fn difference(left: &Type, right: &Type) -> Option<Type> {
    Some(match (left, right) {
        (Type::Number, Type::Number | Type::Dyn) | (Type::Dyn, Type::Number) => Type::Number,
        (Type::Timestamp, Type::Timestamp) | (Type::Duration, Type::Duration) => Type::Duration,
        (Type::Timestamp, Type::Duration) => Type::Timestamp,
        (Type::Duration, Type::Dyn) | (Type::Dyn, Type::Timestamp) => Type::Duration,
        (Type::Timestamp | Type::Dyn, Type::Dyn) | (Type::Dyn, Type::Duration) => Type::Dyn,
        _ => return None,
    })
}
