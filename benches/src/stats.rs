//! Order statistics of a few hundred numbers.

/// The value below which `share` (0 to 1) of `values` lie; NaN when there are none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a vector that is in memory"
    )]
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// The middle one.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Median of the differences, pair by pair: what drifts slowly over a run cancels out.
pub fn median_difference(values: &[f64], base: &[f64]) -> f64 {
    median(&values.iter().zip(base).map(|(v, b)| v - b).collect::<Vec<_>>())
}

/// Median of the quotients, pair by pair.
pub fn median_ratio(values: &[f64], base: &[f64]) -> f64 {
    median(&values.iter().zip(base).map(|(v, b)| v / b).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::{median, median_difference, quantile};

    #[test]
    fn quantiles_of_nothing_one_and_many() {
        assert!(median(&[]).is_nan());
        assert!((median(&[4.0]) - 4.0).abs() < 1e-9);
        assert!((quantile(&[3.0, 1.0, 2.0], 1.0) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn drift_cancels_in_differences() {
        assert!((median_difference(&[11.0, 21.0, 31.0], &[10.0, 20.0, 30.0]) - 1.0).abs() < 1e-9);
    }
}
