//! Exact numbers.
//!
//! What a policy compares must be what was written: `9007199254740993` is not `9007199254740992`, `0.1 + 0.2`
//! is `0.3`, `1e-400` is not zero. Small values live in 64 bits, the others in a big integer behind a
//! reference count.
//!
//! ```
//! use framegate_guard::decimal::Decimal;
//! let sum = Decimal::parse("0.1").unwrap().add(&Decimal::parse("0.2").unwrap())?;
//! assert_eq!(sum, Decimal::parse("3e-1").unwrap());
//! assert_eq!(sum.to_string(), "0.3");
//! # Ok::<(), framegate_guard::decimal::NumberError>(())
//! ```

mod divide;

use num_bigint::{BigInt, Sign};
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The most digits a number may have. Any two numbers that [`crate::json::Limits::default`] lets in can be
/// added and multiplied: 10,000 places on either side of the point, and 1,000 digits each.
pub const DIGITS_MAX: u32 = 25_000;

/// The largest magnitude of a power of ten in a number.
pub const EXPONENT_MAX: i32 = 50_000;

/// Digits that a quotient has at least, when it does not end earlier; the last one is rounded half to even.
pub const QUOTIENT_DIGITS: u32 = 50;

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// A quotient or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// Beyond [`DIGITS_MAX`] or [`EXPONENT_MAX`].
    #[error("the number is too large")]
    TooLarge,
}

/// An exact decimal number. Equal values are equal whatever way they were written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Decimal(Form);

/// Invariant: one form a value. The coefficient is no multiple of ten (zero has exponent 0) and lies in
/// `Large` exactly when it does not fit `i64`, so that equality and hash are those of the fields.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    Small { coefficient: i64, exponent: i32 },
    Large(Arc<Large>),
}

#[derive(PartialEq, Eq, Hash)]
struct Large {
    coefficient: BigInt,
    exponent: i32,
    /// Decimal digits of the coefficient.
    digits: u32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal(Form::Small { coefficient: 0, exponent: 0 });

    /// Reads a JSON number (also with leading zeros, a leading `.` or `+`). `None` for anything else and beyond
    /// the limits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (negative, whole) = match whole.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, whole.strip_prefix('+').unwrap_or(whole)),
        };
        let digits = whole.len() + fraction.len();
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if digits == 0 || digits > DIGITS_MAX as usize || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        if digits <= 18 {
            let fold = |sum: i64, byte: u8| sum * 10 + i64::from(byte - b'0');
            let coefficient = whole.bytes().chain(fraction.bytes()).fold(0, fold);
            return small(if negative { -coefficient } else { coefficient }, exponent).ok();
        }
        let coefficient = BigInt::parse_bytes(format!("{whole}{fraction}").as_bytes(), 10)?;
        large(if negative { -coefficient } else { coefficient }, exponent).ok()
    }

    /// Reads hexadecimal digits.
    #[must_use]
    pub fn parse_hex(digits: &str) -> Option<Decimal> {
        let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits.is_empty() || digits.len() > DIGITS_MAX as usize || !hex {
            return None;
        }
        large(BigInt::parse_bytes(digits.as_bytes(), 16)?, 0).ok()
    }

    /// Whether it has no fraction.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.exponent() >= 0
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Decimal::ZERO
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small { coefficient, .. } => *coefficient < 0,
            Form::Large(large) => large.coefficient.is_negative(),
        }
    }

    /// The value, when it is a whole number that fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Form::Small { coefficient, exponent } => {
                coefficient.checked_mul(10_i64.checked_pow(u32::try_from(*exponent).ok()?)?)
            }
            Form::Large(_) => None,
        }
    }

    /// Digits that an operation on it has to look at: what it costs.
    #[must_use]
    pub fn digits(&self) -> u32 {
        match &self.0 {
            Form::Small { coefficient, .. } => {
                coefficient.unsigned_abs().checked_ilog10().map_or(1, |n| n + 1)
            }
            Form::Large(large) => large.digits,
        }
    }

    /// The sum.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn add(&self, other: &Decimal) -> Result<Decimal, NumberError> {
        if let Some((left, right, exponent)) = aligned_small(self, other) {
            return wide(left + right, exponent);
        }
        let (left, right, exponent) = aligned(self, other)?;
        large(left + right, i64::from(exponent))
    }

    /// The difference.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn sub(&self, other: &Decimal) -> Result<Decimal, NumberError> {
        self.add(&other.neg())
    }

    /// The product.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn mul(&self, other: &Decimal) -> Result<Decimal, NumberError> {
        let exponent = self.exponent() + other.exponent();
        if let (Form::Small { coefficient: left, .. }, Form::Small { coefficient: right, .. }) =
            (&self.0, &other.0)
        {
            return wide(i128::from(*left) * i128::from(*right), exponent);
        }
        if self.digits() + other.digits() > DIGITS_MAX {
            return Err(NumberError::TooLarge);
        }
        large(self.coefficient() * other.coefficient(), i64::from(exponent))
    }

    /// The opposite number.
    #[must_use]
    pub fn neg(&self) -> Decimal {
        // Never too large: digits and exponent stay.
        match &self.0 {
            Form::Small { coefficient, exponent } => wide(-i128::from(*coefficient), *exponent),
            Form::Large(form) => large(-&form.coefficient, i64::from(form.exponent)),
        }
        .unwrap_or(Decimal::ZERO)
    }

    /// The whole part: the fraction is dropped, as `int()` does.
    #[must_use]
    pub fn truncate(&self) -> Decimal {
        if self.is_integer() {
            return self.clone();
        }
        let places = self.exponent().unsigned_abs();
        if places > self.digits() {
            return Decimal::ZERO;
        }
        large(self.coefficient() / power_of_ten(places), 0).unwrap_or(Decimal::ZERO)
    }

    fn exponent(&self) -> i32 {
        match &self.0 {
            Form::Small { exponent, .. } => *exponent,
            Form::Large(large) => large.exponent,
        }
    }

    fn coefficient(&self) -> BigInt {
        match &self.0 {
            Form::Small { coefficient, .. } => BigInt::from(*coefficient),
            Form::Large(large) => large.coefficient.clone(),
        }
    }

    /// Where the first digit stands: the value lies in `[10^(n-1), 10^n)`.
    fn magnitude(&self) -> i64 {
        i64::from(self.exponent()) + i64::from(self.digits())
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Decimal {
        small(value, 0).unwrap_or(Decimal::ZERO)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        if let Some((left, right, _)) = aligned_small(self, other) {
            return left.cmp(&right);
        }
        let sign = |number: &Decimal| i8::from(!number.is_zero()) * if number.is_negative() { -1 } else { 1 };
        let signs = sign(self).cmp(&sign(other));
        if signs.is_ne() || self.is_zero() {
            return signs;
        }
        // Numbers far apart are told apart without being written out.
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        let size = match by_magnitude {
            Ordering::Equal => match aligned(self, other) {
                Ok((left, right, _)) => return left.cmp(&right),
                Err(_) => Ordering::Equal,
            },
            unequal => unequal,
        };
        if self.is_negative() { size.reverse() } else { size }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Zeros that are written out before an exponent is used instead.
const ZEROS_SHOWN: usize = 20;

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.coefficient().to_string();
        let (sign, digits) = match written.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", written.as_str()),
        };
        let places = self.exponent().unsigned_abs() as usize;
        if self.is_integer() {
            return match places {
                0..=ZEROS_SHOWN => write!(f, "{sign}{digits}{}", "0".repeat(places)),
                _ => write!(f, "{sign}{digits}e{places}"),
            };
        }
        match digits.len().checked_sub(places) {
            Some(whole) if whole > 0 => {
                let (whole, fraction) = digits.split_at(whole);
                write!(f, "{sign}{whole}.{fraction}")
            }
            _ if places - digits.len() <= ZEROS_SHOWN => {
                write!(f, "{sign}0.{}{digits}", "0".repeat(places - digits.len()))
            }
            _ => write!(f, "{sign}{digits}e-{places}"),
        }
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Longer ones are out of range, or pad the exponent with zeros, which no writer does.
    if digits.is_empty() || digits.len() > 12 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude: i64 = digits.parse().ok()?;
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Both coefficients at the smaller exponent, where all of it fits 128 bits with room for a sum.
fn aligned_small(left: &Decimal, right: &Decimal) -> Option<(i128, i128, i32)> {
    let (Form::Small { coefficient: a, exponent: i }, Form::Small { coefficient: b, exponent: j }) =
        (&left.0, &right.0)
    else {
        return None;
    };
    let exponent = (*i).min(*j);
    let lift = |coefficient: i64, from: i32| {
        // 2⁶³ × 10¹⁸ lies below 2¹²³.
        let places = u32::try_from(from - exponent).ok().filter(|places| *places <= 18)?;
        Some(i128::from(coefficient) * 10_i128.pow(places))
    };
    Some((lift(*a, *i)?, lift(*b, *j)?, exponent))
}

/// Both coefficients at the smaller exponent.
fn aligned(left: &Decimal, right: &Decimal) -> Result<(BigInt, BigInt, i32), NumberError> {
    if left.is_zero() {
        return Ok((BigInt::zero(), right.coefficient(), right.exponent()));
    }
    if right.is_zero() {
        return Ok((left.coefficient(), BigInt::zero(), left.exponent()));
    }
    let exponent = left.exponent().min(right.exponent());
    let lift = |number: &Decimal| {
        let places = number.exponent().abs_diff(exponent);
        if places + number.digits() > DIGITS_MAX {
            return Err(NumberError::TooLarge);
        }
        Ok(number.coefficient() * power_of_ten(places))
    };
    Ok((lift(left)?, lift(right)?, exponent))
}

fn power_of_ten(places: u32) -> BigInt {
    BigInt::from(10).pow(places)
}

fn small(mut coefficient: i64, mut exponent: i64) -> Result<Decimal, NumberError> {
    if coefficient == 0 {
        return Ok(Decimal::ZERO);
    }
    while coefficient % 10 == 0 {
        coefficient /= 10;
        exponent += 1;
    }
    Ok(Decimal(Form::Small { coefficient, exponent: checked_exponent(exponent)? }))
}

fn wide(mut coefficient: i128, exponent: i32) -> Result<Decimal, NumberError> {
    if let Ok(coefficient) = i64::try_from(coefficient) {
        return small(coefficient, i64::from(exponent));
    }
    let mut exponent = i64::from(exponent);
    while coefficient % 10 == 0 {
        coefficient /= 10;
        exponent += 1;
    }
    match i64::try_from(coefficient) {
        Ok(coefficient) => small(coefficient, exponent),
        Err(_) => large(BigInt::from(coefficient), exponent),
    }
}

fn large(coefficient: BigInt, exponent: i64) -> Result<Decimal, NumberError> {
    let (coefficient, exponent) = without_zeros(coefficient, exponent);
    if let Some(coefficient) = coefficient.to_i64() {
        return small(coefficient, exponent);
    }
    let digits = u32::try_from(coefficient.magnitude().to_str_radix(10).len()).unwrap_or(u32::MAX);
    if digits > DIGITS_MAX {
        return Err(NumberError::TooLarge);
    }
    let exponent = checked_exponent(exponent)?;
    Ok(Decimal(Form::Large(Arc::new(Large { coefficient, exponent, digits }))))
}

/// Takes factors of ten out, the large powers first: one at a time would be quadratic.
fn without_zeros(mut coefficient: BigInt, mut exponent: i64) -> (BigInt, i64) {
    if coefficient.sign() == Sign::NoSign {
        return (coefficient, 0);
    }
    // A number has at most as many factors ten as factors two.
    let bound = coefficient.trailing_zeros().unwrap_or(0);
    let mut step = bound.checked_ilog2().map_or(0, |log| 1_u64 << log);
    while step > 0 {
        let power = power_of_ten(u32::try_from(step).unwrap_or(u32::MAX));
        if coefficient.magnitude() >= power.magnitude() && (&coefficient % &power).is_zero() {
            coefficient /= power;
            exponent += i64::try_from(step).unwrap_or(0);
        } else {
            step /= 2;
        }
    }
    (coefficient, exponent)
}

fn checked_exponent(exponent: i64) -> Result<i32, NumberError> {
    i32::try_from(exponent)
        .ok()
        .filter(|exponent| exponent.abs() <= EXPONENT_MAX)
        .ok_or(NumberError::TooLarge)
}

#[cfg(test)]
mod tests;
