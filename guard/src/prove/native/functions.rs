//! Macros, functions, membership and quotients as terms.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero as _;

use super::super::term::{Sort, Two, Value as Known};
use super::cel::Lower;
use super::meaning::{Meaning, both, either, test};
use crate::cel::tree::{Each, Kind, Node, Quantifier};
use crate::cel::{Type, Value};
use crate::decimal::Decimal;

/// What a proof about quotients takes for granted.
const DIVIDED: &str = "what is divided has at most 40 digits: quotients of longer numbers are rounded";

/// Items of a list in the policy that are looked at one by one.
const ITEMS_MAX: usize = 1000;

impl Lower<'_, '_> {
    /// A macro over a list in the policy is looked at item by item.
    pub(super) fn each(&mut self, node: &Node, each: &Each) -> Meaning {
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

    pub(super) fn call(&mut self, node: &Node, name: &str, args: &[Node]) -> Meaning {
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

    pub(super) fn contains_any(&mut self, node: &Node, text: &Node, parts: &Node) -> Meaning {
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

    pub(super) fn euclid(&mut self, node: &Node, two: Two, a: &Node, b: &Node) -> Meaning {
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

    pub(super) fn membership(&mut self, node: &Node, item: &Meaning, all: &Meaning) -> Meaning {
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

    /// Exact where the divisor is a constant whose quotients end soon: others are rounded.
    pub(super) fn quotient(&mut self, node: &Node, a: &Meaning, b: &Meaning) -> Meaning {
        let divisor = match b {
            Meaning::Constant(value) => value.as_number().and_then(|number| rational(&number)),
            _ => None,
        };
        let Some(divisor) = divisor.filter(ends_soon) else { return self.unknown(node, Type::Number) };
        self.model.assume(DIVIDED);
        let (value, ok) = self.as_number(a);
        let terms = &mut self.model.terms;
        let (value, part) = (terms.to_real(value), terms.value(Known::Real(divisor.recip())));
        Meaning::Number { value: terms.two(Two::Mul, value, part), ok }
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

/// Whether every quotient by it of a number of 40 digits ends before it is rounded, which it is after 51 digits and those
/// of the divisor: but for tens it is a small power of 2 or of 5.
fn ends_soon(divisor: &BigRational) -> bool {
    const POWER_MAX: u32 = 15;
    if divisor.is_zero() || divisor.numer().bits() > 64 || divisor.denom().bits() > 64 {
        return false;
    }
    let (mut rest, mut powers) = (divisor.clone(), [0_u32; 2]);
    // Times ten until it is whole, and divided by ten while that leaves it whole.
    while !rest.is_integer() {
        rest *= BigInt::from(10);
    }
    let mut rest = rest.to_integer();
    for (power, factor) in powers.iter_mut().zip([2, 5].map(BigInt::from)) {
        while (&rest % &factor).is_zero() {
            rest /= &factor;
            *power += 1;
        }
    }
    let [twos, fives] = powers;
    *rest.magnitude() == num_bigint::BigUint::from(1_u8) && twos.abs_diff(fives) <= POWER_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_is_exact_by_what_does_not_round_it() {
        let digits = |count: usize| Decimal::parse(&"7".repeat(count)).unwrap();
        for (text, is_exact) in [
            ("2", true),
            ("-0.5", true),
            ("1000", true),
            ("32768", true),
            ("65536", false),
            ("3", false),
            ("0", false),
        ] {
            let divisor = Decimal::parse(text).unwrap();
            assert_eq!(ends_soon(&rational(&divisor).unwrap()), is_exact, "{text}");
            if is_exact {
                let quotient = digits(40).div(&divisor).unwrap();
                assert_eq!(quotient.mul(&divisor).unwrap(), digits(40), "{text}");
            }
        }
        let rounded = digits(53).div(&Decimal::parse("2").unwrap()).unwrap();
        assert_ne!(rounded.mul(&Decimal::parse("2").unwrap()).unwrap(), digits(53));
    }
}
