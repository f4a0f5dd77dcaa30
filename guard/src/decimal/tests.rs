use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_else(|| panic!("`{text}` is no number"))
}

/// The twin: every number is a count of 10⁻⁶⁰.
fn twin(text: &str) -> BigInt {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().unwrap();
    let places = 60 + exponent.parse::<i64>().unwrap() - fraction.len() as i64;
    digits * power_of_ten(places.try_into().unwrap())
}

fn back(units: &BigInt) -> Decimal {
    large(units.clone(), -60).unwrap()
}

fn numbers() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,24}|[1-9]0{1,22})(\\.[0-9]{1,12})?(e-?(0|[1-9]|1[0-5]))?"
}

fn hash(number: &Decimal) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(number)
}

proptest! {
    #[test]
    fn agrees_with_counting_in_tiny_units(left in numbers(), right in numbers()) {
        let (a, b) = (number(&left), number(&right));
        let (x, y) = (twin(&left), twin(&right));
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!(a == b, x == y);
        prop_assert_eq!(a.add(&b).unwrap(), back(&(&x + &y)));
        prop_assert_eq!(a.sub(&b).unwrap(), back(&(&x - &y)));
        prop_assert_eq!(a.mul(&b).unwrap(), large(&x * &y, -120).unwrap());
        if !y.is_zero() {
            prop_assert_eq!(a.rem(&b).unwrap(), back(&(&x % &y)));
            // |a - q·b| is at most half a unit of q's last digit, times |b|.
            let quotient = a.div(&b).unwrap();
            let error = a.sub(&quotient.mul(&b).unwrap()).unwrap();
            let bound = a.mul(&number("1e-49")).unwrap();
            prop_assert!(error.mul(&error).unwrap() <= bound.mul(&bound).unwrap(), "{} / {}", left, right);
        }
        prop_assert_eq!(a.is_integer(), (&x % power_of_ten(60)).is_zero());
        prop_assert_eq!(a.truncate(), back(&(&x / power_of_ten(60) * power_of_ten(60))));
        prop_assert_eq!(a.to_i64(), Some(&x).filter(|x| (*x % power_of_ten(60)).is_zero())
            .and_then(|x| (x / power_of_ten(60)).to_i64()));
    }

    #[test]
    fn what_is_written_reads_back(text in numbers()) {
        let number = number(&text);
        let written = number.to_string();
        prop_assert_eq!(Decimal::parse(&written), Some(number.clone()));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "{}", written);
        prop_assert_eq!(hash(&number), hash(&Decimal::parse(&written).unwrap()));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-+.eE0-9]{0,12}") {
        let _ = Decimal::parse(&text);
    }
}

#[test]
fn equal_values_are_equal_however_written() {
    for (left, right) in [("1.10", "1.1"), ("100", "1e2"), ("-0", "0"), ("0e99999", "0.000"), ("1E+2", "1e2")]
    {
        assert_eq!(number(left), number(right), "{left} {right}");
        assert_eq!(hash(&number(left)), hash(&number(right)));
    }
    assert_ne!(number("9007199254740993"), number("9007199254740992"));
    assert!(number("1e-400") > Decimal::ZERO);
    assert!(number("-1e10000") < number("-1e-10000"));
    assert_eq!(number("9223372036854775807").to_i64(), Some(i64::MAX));
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(number("-9223372036854775808").neg(), number("9223372036854775808"));
}

#[test]
fn is_written_as_people_write() {
    for text in ["0", "-1", "0.3", "1000000", "-12.5", "0.0000001", "123456789012345678901234567890.5"] {
        assert_eq!(number(text).to_string(), text);
    }
    assert_eq!(number("1e400").to_string(), "1e400");
    assert_eq!(number("1.5e-400").to_string(), "15e-401");
    assert_eq!(number("1e20").to_string(), "100000000000000000000");
    assert_eq!(number("1e21").to_string(), "1e21");
}

#[test]
fn quotients_end_or_are_rounded() {
    assert_eq!(number("1").div(&number("8")).unwrap(), number("0.125"));
    assert_eq!(number("5").div(&number("2")).unwrap(), number("2.5"));
    assert_eq!(number("2").div(&number("3")).unwrap(), number(&format!("0.{}7", "6".repeat(49))));
    assert_eq!(number("-2").div(&number("3")).unwrap(), number(&format!("-0.{}7", "6".repeat(49))));
    assert_eq!(number("1").div(&Decimal::ZERO), Err(NumberError::DivisionByZero));
    assert_eq!(number("1").rem(&Decimal::ZERO), Err(NumberError::DivisionByZero));
    assert_eq!(number("-7").rem(&number("3")).unwrap(), number("-1"));
    assert_eq!(number("7.5").rem(&number("-2")).unwrap(), number("1.5"));
}

#[test]
fn limits_hold_below_at_and_above() {
    let digits = |n: usize| "7".repeat(n);
    let max = DIGITS_MAX as usize;
    assert!(Decimal::parse(&digits(max - 1)).is_some());
    assert!(Decimal::parse(&digits(max)).is_some());
    assert!(Decimal::parse(&digits(max + 1)).is_none());
    for (exponent, fits) in [(EXPONENT_MAX - 1, true), (EXPONENT_MAX, true), (EXPONENT_MAX + 1, false)] {
        assert_eq!(Decimal::parse(&format!("1e{exponent}")).is_some(), fits);
        assert_eq!(Decimal::parse(&format!("1e-{exponent}")).is_some(), fits);
    }
    let half = number(&digits(max / 2));
    assert!(half.mul(&half).is_ok());
    assert_eq!(number(&digits(max / 2 + 1)).mul(&half), Err(NumberError::TooLarge));
    assert_eq!(number("1e40000").mul(&number("1e40000")), Err(NumberError::TooLarge));
    assert_eq!(number("1e40000").add(&number("1")), Err(NumberError::TooLarge));
}

#[test]
fn numbers_the_reader_lets_in_can_be_added_and_multiplied() {
    let large = number(&format!("{}e10000", "7".repeat(1000)));
    let tiny = number(&format!("{}e-10000", "0.".to_owned() + &"7".repeat(999)));
    assert!(large.add(&tiny).is_ok());
    assert!(large.mul(&tiny).is_ok());
    assert!(large.mul(&large).is_ok());
    assert!(large > tiny);
}
