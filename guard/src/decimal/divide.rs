//! Quotient and remainder.

use super::{Decimal, NumberError, QUOTIENT_DIGITS, aligned, aligned_small, large, power_of_ten, wide};
use num_bigint::BigInt;
use num_traits::{Signed as _, Zero as _};

impl Decimal {
    /// The quotient: exact when it ends within [`QUOTIENT_DIGITS`] digits, else rounded there, half to even.
    ///
    /// # Errors
    /// [`NumberError::DivisionByZero`], [`NumberError::TooLarge`].
    pub fn div(&self, other: &Decimal) -> Result<Decimal, NumberError> {
        if other.is_zero() {
            return Err(NumberError::DivisionByZero);
        }
        // As many places as give QUOTIENT_DIGITS digits whatever the operands' lengths are.
        let places = (QUOTIENT_DIGITS + other.digits() + 1).saturating_sub(self.digits());
        let dividend = self.coefficient() * power_of_ten(places);
        let divisor = other.coefficient();
        let (quotient, remainder) = (&dividend / &divisor, &dividend % &divisor);
        let exponent = i64::from(self.exponent()) - i64::from(other.exponent()) - i64::from(places);
        if remainder.is_zero() {
            return large(quotient, exponent);
        }
        let negative = dividend.is_negative() != divisor.is_negative();
        let (rounded, exponent) = round(quotient.abs(), exponent);
        large(if negative { -rounded } else { rounded }, exponent)
    }

    /// The remainder of the division that cuts towards zero: it has the dividend's sign.
    ///
    /// # Errors
    /// [`NumberError::DivisionByZero`], [`NumberError::TooLarge`].
    pub fn rem(&self, other: &Decimal) -> Result<Decimal, NumberError> {
        if other.is_zero() {
            return Err(NumberError::DivisionByZero);
        }
        if let Some((left, right, exponent)) = aligned_small(self, other) {
            return wide(left % right, exponent);
        }
        let (left, right, exponent) = aligned(self, other)?;
        large(left % right, i64::from(exponent))
    }
}

/// Cuts an inexact quotient to [`QUOTIENT_DIGITS`]. What was left over when it was made is above zero, so a
/// tie among the digits here lies above the middle in truth and goes up.
fn round(quotient: BigInt, exponent: i64) -> (BigInt, i64) {
    let digits = u32::try_from(quotient.to_string().len()).unwrap_or(u32::MAX);
    let surplus = digits.saturating_sub(QUOTIENT_DIGITS);
    if surplus == 0 {
        return (quotient, exponent);
    }
    let unit = power_of_ten(surplus);
    let rest = &quotient % &unit;
    let kept = &quotient / &unit;
    let up = rest * 2 >= unit;
    (if up { kept + 1 } else { kept }, exponent + i64::from(surplus))
}
