//! Conditions of a policy as terms. What has no exact counterpart is a free value, the same one wherever the same is
//! written about one call, so that a rule and a property that ask the same are about the same.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero as _;

use super::super::model::{InputKind, Model};
use super::super::smt::is_writable;
use super::super::term::{Id, Sort, Two, Value as Known};
use super::meaning::{Meaning, alike, both, either, equal, not, ordered, test, truth};
use super::names::{Names, is_of_state};
use super::spell::spelled;
use crate::cel::tree::{Each, Kind, Node, Operator, Quantifier};
use crate::cel::{Expression, Type, Value};
use crate::decimal::Decimal;

/// Items of a list in the policy that are looked at one by one.
const ITEMS_MAX: usize = 1000;

/// Translates within one event.
pub(super) struct Lower<'l, 'n> {
    pub(super) model: &'l mut Model,
    pub(super) names: &'l mut Names<'n>,
    pub(super) locals: Vec<Meaning>,
}

impl Lower<'_, '_> {
    /// Certainly true, and certainly false.
    pub(super) fn condition(&mut self, expression: &Expression) -> (Id, Id) {
        self.bool(expression.root())
    }

    /// An effect's value as a variable of that sort holds it, and whether it has one.
    pub(super) fn value(&mut self, expression: &Expression, sort: Sort) -> (Id, Id) {
        if sort == Sort::Bool {
            let (yes, no) = self.bool(expression.root());
            return (yes, self.model.terms.any([yes, no]));
        }
        let meaning = self.node(expression.root());
        match sort {
            Sort::Bool => self.model_never(),
            Sort::Text => self.as_text(&meaning),
            Sort::Real => {
                let (value, ok) = self.as_number(&meaning);
                (self.model.terms.to_real(value), ok)
            }
            Sort::Int => {
                let (value, ok) = self.as_number(&meaning);
                let whole = self.model.terms.to_int(value);
                let is_whole = equal(&mut self.model.terms, whole, value);
                (whole, self.model.terms.all([ok, is_whole]))
            }
        }
    }

    /// The tree's depth is bounded when it is compiled, and with it this recursion.
    fn node(&mut self, node: &Node) -> Meaning {
        match &node.kind {
            Kind::Literal(value) | Kind::Constant(value, _) => Meaning::Constant(value.clone()),
            Kind::Local(at) => self.locals.get(*at).cloned().unwrap_or_else(|| self.unknown(node, Type::Dyn)),
            Kind::Variable(name) => match self.names.variable(self.model, name) {
                Some(meaning) => meaning,
                None => self.unknown(node, Type::Dyn),
            },
            Kind::Select { operand, field } => self.select(node, operand, field),
            Kind::Index { operand, index } => match index.constant().and_then(Value::as_str) {
                Some(field) => self.select(node, operand, field),
                None => self.unknown(node, Type::Dyn),
            },
            Kind::Has { operand, field } => self.has(node, operand, field),
            Kind::Not(operand) => {
                let condition = self.bool(operand);
                not(condition)
            }
            Kind::And(left, right) => {
                let parts = [self.bool(left), self.bool(right)];
                both(&mut self.model.terms, &parts)
            }
            Kind::Or(left, right) => {
                let parts = [self.bool(left), self.bool(right)];
                either(&mut self.model.terms, &parts)
            }
            Kind::Negate(operand) => {
                let meaning = self.node(operand);
                let (value, ok) = self.as_number(&meaning);
                let zero = self.zero(value);
                Meaning::Number { value: self.model.terms.two(Two::Sub, zero, value), ok }
            }
            Kind::Conditional(parts) => self.conditional(node, parts),
            Kind::Binary(operator, operands) => self.binary(node, *operator, operands),
            Kind::Each(each) => self.each(node, each),
            Kind::Call { function, args, .. } => self.call(node, function.name, args),
            Kind::List(_) | Kind::Map(_) | Kind::Invalid => self.unknown(node, Type::Dyn),
        }
    }

    fn model_never(&mut self) -> (Id, Id) {
        let never = self.model.terms.bool(false);
        (never, never)
    }

    /// Where a condition is wanted: of anything else there is no value.
    fn bool(&mut self, node: &Node) -> (Id, Id) {
        let Kind::Conditional(parts) = &node.kind else {
            let meaning = self.node(node);
            return self.as_bool(&meaning);
        };
        let [condition, yes, no] = &**parts;
        let (is, is_not) = self.bool(condition);
        let (then, otherwise) = (self.bool(yes), self.bool(no));
        let terms = &mut self.model.terms;
        let mut either = |first: Id, second: Id| {
            let (first, second) = (terms.all([is, first]), terms.all([is_not, second]));
            terms.any([first, second])
        };
        (either(then.0, otherwise.0), either(then.1, otherwise.1))
    }

    /// Something of which only its spelling is known, and not whether it has a value.
    fn unknown(&mut self, node: &Node, kind: Type) -> Meaning {
        let key = spelled(node, &self.locals);
        let ok = self.has_value(node, &key);
        Meaning::Opaque { key, argument: None, ok, kind }
    }

    /// Searching texts never fails; of all else nobody knows.
    fn has_value(&mut self, node: &Node, key: &str) -> Id {
        let is_whole = |node: &Node| matches!(&node.kind, Kind::Variable(name) if matches!(name.as_str(), "args" | "payload" | "texts"));
        if let Kind::Call { function, args, .. } = &node.kind
            && matches!(function.name, "contains_any" | "contains_any_nocase")
            && let [searched, parts] = args.as_slice()
            && is_whole(searched)
            && parts.constant().is_some()
        {
            return self.model.terms.bool(true);
        }
        // A value of the state is one of the model's own only before the call.
        match is_of_state(key) {
            true => self.names.free(self.model, &format!("{key} has a value"), Sort::Bool),
            false => self.names.own(self.model, &format!("{key} has a value"), Sort::Bool),
        }
    }

    fn zero(&mut self, like: Id) -> Id {
        let sort = self.model.terms.sort(like);
        self.model.terms.value(Known::zero(sort))
    }

    fn select(&mut self, node: &Node, operand: &Node, field: &str) -> Meaning {
        if let Kind::Variable(variable) = &operand.kind {
            if variable == "defs"
                && let Some(definition) = self.names.definition(field)
            {
                let locals = std::mem::take(&mut self.locals);
                let meaning = self.node(definition.root());
                self.locals = locals;
                return meaning;
            }
            if let Some(meaning) = self.names.member(self.model, variable, field) {
                return meaning;
            }
        }
        self.unknown(node, Type::Dyn)
    }

    fn has(&mut self, node: &Node, operand: &Node, field: &str) -> Meaning {
        if let Kind::Variable(variable) = &operand.kind
            && let Some(given) = self.names.given(self.model, variable, field)
        {
            let ok = self.model.terms.bool(true);
            return test(&mut self.model.terms, given, ok);
        }
        self.unknown(node, Type::Bool)
    }

    // === what a meaning is as a value of some kind; of another kind it has none ===

    fn as_bool(&mut self, meaning: &Meaning) -> (Id, Id) {
        let never = self.model.terms.bool(false);
        match meaning {
            Meaning::Bool { yes, no } => (*yes, *no),
            Meaning::Constant(value) => match value.as_bool() {
                Some(value) => (self.model.terms.bool(value), self.model.terms.bool(!value)),
                None => (never, never),
            },
            Meaning::Opaque { .. } => {
                let (value, ok) = self.of_opaque(meaning, Sort::Bool);
                let Meaning::Bool { yes, no } = test(&mut self.model.terms, value, ok) else {
                    return (never, never);
                };
                (yes, no)
            }
            Meaning::Number { .. } | Meaning::Text { .. } => (never, never),
        }
    }

    fn as_number(&mut self, meaning: &Meaning) -> (Id, Id) {
        let terms = &mut self.model.terms;
        let none = (terms.int(0), terms.bool(false));
        match meaning {
            Meaning::Number { value, ok } => (*value, *ok),
            Meaning::Constant(value) => match value.as_number().and_then(|number| self.number(&number)) {
                Some(id) => (id, self.model.terms.bool(true)),
                None => none,
            },
            Meaning::Opaque { .. } => self.of_opaque(meaning, Sort::Real),
            Meaning::Bool { .. } | Meaning::Text { .. } => none,
        }
    }

    fn as_text(&mut self, meaning: &Meaning) -> (Id, Id) {
        let none = (self.model.terms.text(""), self.model.terms.bool(false));
        match meaning {
            Meaning::Text { value, ok } => (*value, *ok),
            Meaning::Constant(value) => match value.as_str() {
                Some(text) => (self.text(text), self.model.terms.bool(true)),
                None => none,
            },
            Meaning::Opaque { .. } => self.of_opaque(meaning, Sort::Text),
            Meaning::Bool { .. } | Meaning::Number { .. } => none,
        }
    }

    /// A text that no solver can write is some text.
    fn text(&mut self, text: &str) -> Id {
        if is_writable(text) {
            return self.model.terms.text(text);
        }
        self.names.free(self.model, &serde_json::Value::from(text).to_string(), Sort::Text)
    }

    fn number(&mut self, number: &Decimal) -> Option<Id> {
        let value = rational(number)?;
        let value = if value.is_integer() { Known::Int(value.to_integer()) } else { Known::Real(value) };
        Some(self.model.terms.value(value))
    }

    fn of_opaque(&mut self, meaning: &Meaning, sort: Sort) -> (Id, Id) {
        let Meaning::Opaque { key, argument, ok, kind } = meaning else {
            let never = self.model.terms.bool(false);
            return (never, never);
        };
        let wanted = match sort {
            Sort::Bool => Type::Bool,
            Sort::Text => Type::String,
            Sort::Int | Sort::Real => Type::Number,
        };
        let value = self.names.read(self.model, key, argument.as_deref(), sort);
        if *kind == wanted {
            return (value, *ok);
        }
        if *kind != Type::Dyn {
            return (value, self.model.terms.bool(false));
        }
        let is = self.names.own(self.model, &format!("{key} is a {wanted}"), Sort::Bool);
        (value, self.model.terms.all([*ok, is]))
    }

    /// A meaning whose kind is known, as one term.
    fn plain(&mut self, meaning: &Meaning) -> Option<(Id, Id)> {
        match meaning {
            Meaning::Bool { yes, no } => Some((*yes, self.model.terms.any([*yes, *no]))),
            Meaning::Number { value, ok } | Meaning::Text { value, ok } => Some((*value, *ok)),
            Meaning::Constant(value) if value.as_bool().is_some() => {
                let (yes, no) = self.as_bool(meaning);
                Some((yes, self.model.terms.any([yes, no])))
            }
            Meaning::Constant(value) if value.as_str().is_some() => Some(self.as_text(meaning)),
            Meaning::Constant(value) if value.as_number().is_some() => Some(self.as_number(meaning)),
            Meaning::Opaque { kind: Type::Bool, .. } => {
                let (yes, no) = self.as_bool(meaning);
                Some((yes, self.model.terms.any([yes, no])))
            }
            Meaning::Opaque { kind: Type::String, .. } => Some(self.as_text(meaning)),
            Meaning::Opaque { kind: Type::Number, .. } => Some(self.as_number(meaning)),
            Meaning::Constant(_) | Meaning::Opaque { .. } => None,
        }
    }

    // === operators ===

    fn conditional(&mut self, node: &Node, parts: &[Node; 3]) -> Meaning {
        let [condition, yes, no] = parts;
        let (is, is_not) = self.bool(condition);
        let (then, otherwise) = (self.node(yes), self.node(no));
        let (Some((a, a_ok)), Some((b, b_ok))) = (self.plain(&then), self.plain(&otherwise)) else {
            return self.unknown(node, Type::Dyn);
        };
        let terms = &mut self.model.terms;
        let ok = {
            let (first, second) = (terms.all([is, a_ok]), terms.all([is_not, b_ok]));
            terms.any([first, second])
        };
        let (a, b) = match (terms.sort(a), terms.sort(b)) {
            (Sort::Int | Sort::Real, Sort::Int | Sort::Real) => alike(terms, a, b),
            (one, other) if one == other => (a, b),
            _ => return self.unknown(node, Type::Dyn),
        };
        let terms = &mut self.model.terms;
        let value = terms.choose(is, a, b);
        match terms.sort(value) {
            Sort::Bool => test(terms, value, ok),
            Sort::Text => Meaning::Text { value, ok },
            Sort::Int | Sort::Real => Meaning::Number { value, ok },
        }
    }

    fn binary(&mut self, node: &Node, operator: Operator, operands: &[Node; 2]) -> Meaning {
        let [left, right] = operands;
        let (a, b) = (self.node(left), self.node(right));
        match operator {
            Operator::Equal => self.equality(node, &a, &b),
            Operator::NotEqual => {
                // One spelling for both, so that `!=` is the contrary of `==` where neither is known.
                let equal = Node {
                    kind: Kind::Binary(Operator::Equal, Box::new(operands.clone())),
                    span: node.span.clone(),
                };
                let meaning = self.equality(&equal, &a, &b);
                let condition = self.as_bool(&meaning);
                not(condition)
            }
            Operator::Less => self.order(node, &a, &b, false),
            Operator::LessOrEqual => self.order(node, &a, &b, true),
            Operator::Greater => self.order(node, &b, &a, false),
            Operator::GreaterOrEqual => self.order(node, &b, &a, true),
            Operator::In => self.membership(node, &a, &b),
            Operator::Add => self.sum(node, &a, &b),
            Operator::Subtract => self.arithmetic(node, Two::Sub, &a, &b),
            Operator::Multiply => self.arithmetic(node, Two::Mul, &a, &b),
            Operator::Divide => self.quotient(node, &a, &b),
            Operator::Remainder => self.unknown(node, Type::Number),
        }
    }

    fn equality(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        // What is compared with a text is looked at as one, and is not equal if it is none.
        let pair = match (self.plain(a), self.plain(b)) {
            (Some(a), Some(b)) => Some((a, b, None)),
            (Some(known), None) => self.as_kind_of(known.0, b).map(|(other, is)| (known, other, Some(is))),
            (None, Some(known)) => self.as_kind_of(known.0, a).map(|(other, is)| (known, other, Some(is))),
            (None, None) => None,
        };
        let Some(((a, a_ok), (b, b_ok), is_kind)) = pair else { return self.unknown(node, Type::Bool) };
        let terms = &mut self.model.terms;
        let same = equal(terms, a, b);
        let same = terms.all(std::iter::once(same).chain(is_kind));
        let ok = terms.all([a_ok, b_ok]);
        test(terms, same, ok)
    }

    /// An opaque value beside one of a known kind: it as that kind with whether it is there, and whether it is that kind.
    fn as_kind_of(&mut self, known: Id, meaning: &Meaning) -> Option<((Id, Id), Id)> {
        let Meaning::Opaque { key, argument, ok, kind: Type::Dyn } = meaning else { return None };
        let sort = match self.model.terms.sort(known) {
            Sort::Int => Sort::Real,
            sort => sort,
        };
        let name = match sort {
            Sort::Bool => Type::Bool,
            Sort::Text => Type::String,
            Sort::Int | Sort::Real => Type::Number,
        };
        let value = self.names.read(self.model, key, argument.as_deref(), sort);
        let is = self.names.own(self.model, &format!("{key} is a {name}"), Sort::Bool);
        Some(((value, *ok), is))
    }

    fn order(&mut self, node: &Node, a: &Meaning, b: &Meaning, or_equal: bool) -> Meaning {
        let is_text = |meaning: &Meaning| match meaning {
            Meaning::Text { .. } | Meaning::Opaque { kind: Type::String, .. } => true,
            Meaning::Constant(value) => value.as_str().is_some(),
            _ => false,
        };
        let is_time = |meaning: &Meaning| {
            matches!(meaning, Meaning::Opaque { kind: Type::Timestamp | Type::Duration, .. })
                || matches!(meaning, Meaning::Constant(Value::Timestamp(_) | Value::Duration(_)))
        };
        let is_known = |lower: &mut Self, meaning: &Meaning| lower.plain(meaning).is_some();
        if is_time(a) || is_time(b) || !(is_known(self, a) || is_known(self, b)) {
            return self.unknown(node, Type::Bool);
        }
        let ((a, a_ok), (b, b_ok)) = match is_text(a) || is_text(b) {
            true => (self.as_text(a), self.as_text(b)),
            false => (self.as_number(a), self.as_number(b)),
        };
        let terms = &mut self.model.terms;
        let ok = terms.all([a_ok, b_ok]);
        match ordered(terms, a, b, or_equal) {
            Some(holds) => test(terms, holds, ok),
            None => self.unknown(node, Type::Bool),
        }
    }

    fn membership(&mut self, node: &Node, item: &Meaning, all: &Meaning) -> Meaning {
        let items = match all {
            Meaning::Constant(value) => value.items().filter(|items| items.len() <= ITEMS_MAX),
            _ => None,
        };
        let Some(items) = items else { return self.unknown(node, Type::Bool) };
        let mut parts = Vec::new();
        for other in items.map(Value::into_static) {
            let meaning = self.equality(node, item, &Meaning::Constant(other));
            parts.push(self.as_bool(&meaning));
        }
        either(&mut self.model.terms, &parts)
    }

    fn sum(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        if let (Some((left, a_ok)), Some((right, b_ok))) = (self.plain(a), self.plain(b)) {
            let terms = &mut self.model.terms;
            if terms.sort(left) == Sort::Text && terms.sort(right) == Sort::Text {
                let ok = terms.all([a_ok, b_ok]);
                return Meaning::Text { value: terms.two(Two::Concat, left, right), ok };
            }
        }
        self.arithmetic(node, Two::Add, a, b)
    }

    fn arithmetic(&mut self, node: &Node, two: Two, a: &Meaning, b: &Meaning) -> Meaning {
        let is_number = |lower: &mut Self, meaning: &Meaning| {
            let plain = lower.plain(meaning);
            plain.is_some_and(|(value, _)| matches!(lower.model.terms.sort(value), Sort::Int | Sort::Real))
        };
        // Times and lists have sums too.
        if !is_number(self, a) && !is_number(self, b) {
            return self.unknown(node, Type::Dyn);
        }
        let ((a, a_ok), (b, b_ok)) = (self.as_number(a), self.as_number(b));
        let terms = &mut self.model.terms;
        let (a, b) = alike(terms, a, b);
        let ok = terms.all([a_ok, b_ok]);
        Meaning::Number { value: terms.two(two, a, b), ok }
    }

    /// Exact where the divisor is a constant whose quotients end: others are rounded.
    fn quotient(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        let divisor = match b {
            Meaning::Constant(value) => value.as_number().and_then(|number| rational(&number)),
            _ => None,
        };
        let Some(divisor) = divisor.filter(ends) else { return self.unknown(node, Type::Number) };
        let (value, ok) = self.as_number(a);
        let terms = &mut self.model.terms;
        let (value, part) = (terms.to_real(value), terms.value(Known::Real(divisor.recip())));
        Meaning::Number { value: terms.two(Two::Mul, value, part), ok }
    }

    // === macros and functions ===

    /// A macro over a list in the policy is looked at item by item.
    fn each(&mut self, node: &Node, each: &Each) -> Meaning {
        let range = self.node(&each.range);
        let items: Option<Vec<Value<'static>>> = match &range {
            Meaning::Constant(value) => value
                .items()
                .filter(|items| items.len() <= ITEMS_MAX)
                .map(|items| items.map(Value::into_static).collect()),
            _ => None,
        };
        let (Some(items), Some(test), Quantifier::All | Quantifier::Exists) =
            (items, &each.test, each.quantifier)
        else {
            return self.unknown(node, Type::Dyn);
        };
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            self.locals.truncate(each.local);
            self.locals.push(Meaning::Constant(item));
            parts.push(self.bool(test));
        }
        self.locals.truncate(each.local);
        match each.quantifier {
            Quantifier::All => both(&mut self.model.terms, &parts),
            _ => either(&mut self.model.terms, &parts),
        }
    }

    fn call(&mut self, node: &Node, name: &str, args: &[Node]) -> Meaning {
        let kind = || match &node.kind {
            Kind::Call { function, .. } => function.result(&vec![Type::Dyn; args.len()]),
            _ => Type::Dyn,
        };
        let two = match name {
            "contains" => Some(Two::Contains),
            "startsWith" => Some(Two::StartsWith),
            "endsWith" => Some(Two::EndsWith),
            _ => None,
        };
        match (two, name, args) {
            (Some(two), _, [text, part]) => {
                let (text, part) = (self.node(text), self.node(part));
                let ((text, text_ok), (part, part_ok)) = (self.as_text(&text), self.as_text(&part));
                let terms = &mut self.model.terms;
                let (is, ok) = (terms.two(two, text, part), terms.all([text_ok, part_ok]));
                test(terms, is, ok)
            }
            (_, "size", [text]) => {
                let text = self.node(text);
                match self.plain(&text) {
                    Some((value, ok)) if self.model.terms.sort(value) == Sort::Text => {
                        Meaning::Number { value: self.model.terms.length(value), ok }
                    }
                    _ => self.unknown(node, Type::Number),
                }
            }
            (_, "contains_any", [text, parts]) => self.contains_any(node, text, parts),
            (_, "div_euclid" | "mod_euclid", [a, b]) => {
                let two = if name == "div_euclid" { Two::Div } else { Two::Mod };
                self.euclid(node, two, a, b)
            }
            _ => self.unknown(node, kind()),
        }
    }

    fn contains_any(&mut self, node: &Node, text: &Node, parts: &Node) -> Meaning {
        let (text, parts) = (self.node(text), self.node(parts));
        let needles = match &parts {
            Meaning::Constant(value) => value.items().filter(|items| items.len() <= ITEMS_MAX),
            _ => None,
        };
        let plain = self.plain(&text).filter(|(value, _)| self.model.terms.sort(*value) == Sort::Text);
        let (Some(needles), Some((text, ok))) = (needles, plain) else {
            return self.unknown(node, Type::Bool);
        };
        let mut any = Vec::new();
        for needle in needles.filter_map(|needle| needle.as_str().map(str::to_owned)) {
            let needle = self.text(&needle);
            any.push(self.model.terms.two(Two::Contains, text, needle));
        }
        let terms = &mut self.model.terms;
        let is = terms.any(any);
        test(terms, is, ok)
    }

    fn euclid(&mut self, node: &Node, two: Two, a: &Node, b: &Node) -> Meaning {
        let (a, b) = (self.node(a), self.node(b));
        let ((a, a_ok), (b, b_ok)) = (self.as_number(&a), self.as_number(&b));
        let terms = &mut self.model.terms;
        if terms.sort(a) != Sort::Int || terms.sort(b) != Sort::Int {
            return self.unknown(node, Type::Number);
        }
        let zero = terms.int(0);
        let is_zero = terms.equal(b, zero);
        let is_not = terms.not(is_zero);
        let ok = terms.all([a_ok, b_ok, is_not]);
        Meaning::Number { value: terms.two(two, a, b), ok }
    }
}

/// A number as a fraction; nothing for one whose exponent is beyond all use.
pub(super) fn rational(number: &Decimal) -> Option<BigRational> {
    const EXPONENT_MAX: u32 = 1000;
    let text = number.to_string();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = BigInt::parse_bytes(format!("{whole}{fraction}").as_bytes(), 10)?;
    let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = BigInt::from(10).pow(Some(exponent.unsigned_abs()).filter(|size| *size <= EXPONENT_MAX)?);
    Some(if exponent < 0 { BigRational::new(digits, power) } else { BigRational::from(digits * power) })
}

/// Whether every quotient by it has an end: its numerator has no prime factors but 2 and 5.
fn ends(divisor: &BigRational) -> bool {
    let mut rest = divisor.numer().clone();
    if rest.is_zero() || rest.bits() > 64 {
        return false;
    }
    for factor in [2, 5].map(BigInt::from) {
        while (&rest % &factor).is_zero() {
            rest /= &factor;
        }
    }
    *rest.magnitude() == num_bigint::BigUint::from(1_u8)
}

/// What no condition says anything about.
pub(super) fn always(model: &mut Model) -> (Id, Id) {
    let Meaning::Bool { yes, no } = truth(&mut model.terms, true) else {
        let yes = model.terms.bool(true);
        return (yes, yes);
    };
    (yes, no)
}

/// The input that stands for an argument of a call.
pub(super) fn argument(name: &str) -> InputKind {
    InputKind::Argument(name.to_owned())
}
