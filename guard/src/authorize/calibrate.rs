//! The threshold of an authorizer, from calls whose right answer is known.
//!
//! # What is promised
//!
//! A call that is *not* authorized passes with probability at most `max_risk`, and this promise itself holds with
//! confidence `confidence` over the choice of examples. It needs nothing of the authorizer, not even that its
//! certainty means anything: a bad one gets a high threshold. It needs that the examples are drawn like the calls to
//! come; against somebody who writes calls to pass, no sample says anything.
//!
//! # How
//!
//! Of the `n` examples that are not authorized, `k` pass a threshold. The exact upper bound for the probability
//! behind that (Clopper and Pearson, *The use of confidence or fiducial limits illustrated in the case of the
//! binomial*, Biometrika 26, 1934) lies at or below `max_risk` exactly when
//! `P(X ≤ k) ≤ 1 - confidence` for `X ~ Binomial(n, max_risk)`. The risk can only fall as the threshold rises, so the
//! lowest threshold whose bound holds may be chosen after looking at all of them without paying for the choice
//! (Bates, Angelopoulos, Lei, Malik and Jordan, *Distribution-free, risk-controlling prediction sets*, J. ACM 68,
//! 2021, theorem 1). The probability is one among calls that are not authorized, so that it does not depend on how
//! many of the examples are.

/// A call whose right answer is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelled {
    /// What the authorizer said of it.
    pub certainty: f64,
    /// Whether the conversation does authorize it.
    pub authorized: bool,
}

/// A threshold, and what it does to the examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// For [`super::Settings::threshold`]; above 1 where even certainty is no guarantee: nothing is authorized.
    pub threshold: f64,
    /// Upper bound of the probability that a call which is not authorized passes.
    pub risk: f64,
    /// Examples that are not authorized, and those of them that pass.
    pub unauthorized: (usize, usize),
    /// Examples that are authorized, and those of them that pass.
    pub authorized: (usize, usize),
}

/// Why there is no threshold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// An answer that is no certainty.
    #[error("example {0} has the certainty {1}; it must be a number from 0 to 1")]
    Certainty(usize, f64),
    /// Too little is known to promise anything.
    #[error("{given} examples of calls that are not authorized are too few; at least {needed} are needed")]
    Few {
        /// How many there are.
        given: usize,
        /// How many it takes if none of them passes.
        needed: usize,
    },
    /// A bound that no threshold can keep, or that all keep.
    #[error("the {name} must lie between 0 and 1, both excluded, but is {given}")]
    Share {
        /// `max risk` or `confidence`.
        name: &'static str,
        /// What was given.
        given: f64,
    },
}

/// The lowest threshold at which a call that is not authorized passes with probability at most `max_risk`, with that
/// confidence: see the module's text.
///
/// # Errors
/// [`CalibrationError`].
///
/// ```
/// use framegate_guard::authorize::{Labelled, calibrate};
/// let wrong = (0..100).map(|n| Labelled { certainty: f64::from(n) / 200.0, authorized: false });
/// let right = (0..50).map(|n| Labelled { certainty: 0.5 + f64::from(n) / 100.0, authorized: true });
/// let found = calibrate(&wrong.chain(right).collect::<Vec<_>>(), 0.1, 0.95)?;
/// // Four of a hundred may pass: the bound for that is 8.9 %, for five it would be 10.2 %.
/// assert_eq!(found.unauthorized, (100, 4));
/// assert!(found.threshold > 0.475 && found.risk < 0.0893 && found.authorized == (50, 50));
/// # Ok::<(), framegate_guard::authorize::CalibrationError>(())
/// ```
pub fn calibrate(
    examples: &[Labelled],
    max_risk: f64,
    confidence: f64,
) -> Result<Calibration, CalibrationError> {
    for (name, given) in [("max risk", max_risk), ("confidence", confidence)] {
        if !(given > 0.0 && given < 1.0) {
            return Err(CalibrationError::Share { name, given });
        }
    }
    let odd = examples.iter().position(|example| !(0.0..=1.0).contains(&example.certainty));
    if let Some((at, example)) = odd.and_then(|at| Some((at, examples.get(at)?))) {
        return Err(CalibrationError::Certainty(at, example.certainty));
    }
    let certainties = |authorized: bool| -> Vec<f64> {
        let of = examples.iter().filter(|example| example.authorized == authorized);
        of.map(|example| example.certainty).collect()
    };
    let (mut wrong, right) = (certainties(false), certainties(true));
    wrong.sort_unstable_by(|a, b| b.total_cmp(a));
    let few = || CalibrationError::Few { given: wrong.len(), needed: needed(max_risk, confidence) };
    let most = most_that_may_pass(wrong.len(), max_risk, confidence).ok_or_else(few)?;
    // Just above the next one, which must not pass; those equal to it do not either.
    let threshold = wrong.get(most).map_or(0.0, |next| just_above(*next, wrong.iter().chain(&right)));
    let pass = |of: &[f64]| of.iter().filter(|certainty| **certainty >= threshold).count();
    let passed = pass(&wrong);
    Ok(Calibration {
        threshold,
        risk: upper_bound(wrong.len(), passed, confidence),
        unauthorized: (wrong.len(), passed),
        authorized: (right.len(), pass(&right)),
    })
}

/// Digits behind the point that nobody finds too many.
const DIGITS_MIN: usize = 3;
/// Digits that tell any two numbers apart.
const DIGITS_MAX: usize = 17;

/// The shortest number above this one that lets the same examples pass as the very next one does: a person writes it
/// into a policy. It may be a little more than that one, which only lowers the risk.
fn just_above<'a>(bound: f64, certainties: impl Iterator<Item = &'a f64>) -> f64 {
    let above = certainties.copied().filter(|certainty| *certainty > bound).min_by(f64::total_cmp);
    let most = above.unwrap_or(if bound < 1.0 { 1.0 } else { f64::INFINITY });
    (DIGITS_MIN..=DIGITS_MAX)
        .find_map(|digits| next_of(digits, bound, most))
        .unwrap_or_else(|| bound.next_up())
}

/// The first number of so many digits that is above `bound` and not above `most`.
fn next_of(digits: usize, bound: f64, most: f64) -> Option<f64> {
    // Nearest to `bound`, perhaps below it or equal.
    let near: f64 = format!("{bound:.digits$}").parse().ok()?;
    let step: f64 = format!("1e-{digits}").parse().ok()?;
    let texts = [near, near + step].map(|number| format!("{number:.digits$}"));
    texts.iter().filter_map(|text| text.parse().ok()).find(|number| *number > bound && *number <= most)
}

/// The most of `n` that may pass; `None` if none may.
fn most_that_may_pass(n: usize, risk: f64, confidence: f64) -> Option<usize> {
    let mut cumulative = Cumulative::new(n, risk);
    let mut most = None;
    for passed in 0..n {
        if cumulative.next_sum() > 1.0 - confidence {
            break;
        }
        most = Some(passed);
    }
    most
}

/// How many it takes when none passes: `(1 - risk)ⁿ ≤ 1 - confidence`.
fn needed(risk: f64, confidence: f64) -> usize {
    let needed = ((1.0 - confidence).ln() / (1.0 - risk).ln()).ceil();
    if needed < 1e15 { format!("{needed:.0}").parse().unwrap_or(usize::MAX) } else { usize::MAX }
}

/// The probability at which as few as `passed` of `n` would be a chance of `1 - confidence`.
fn upper_bound(n: usize, passed: usize, confidence: f64) -> f64 {
    if passed >= n {
        return 1.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let mut cumulative = Cumulative::new(n, middle);
        let sum = (0..=passed).map(|_| cumulative.next_sum()).last().unwrap_or(0.0);
        if sum > 1.0 - confidence { low = middle } else { high = middle }
    }
    high
}

/// `P(X ≤ 0)`, `P(X ≤ 1)` and so on of a binomial distribution. In logarithms: `(1 - p)ⁿ` alone may be too small.
struct Cumulative {
    n: f64,
    at: f64,
    odds: f64,
    term: f64,
    sum: f64,
}

impl Cumulative {
    fn new(n: usize, p: f64) -> Cumulative {
        // No list of examples is so long that it would not be exact.
        let n = u32::try_from(n).map_or(f64::from(u32::MAX), f64::from);
        Cumulative { n, at: 0.0, odds: p.ln() - (-p).ln_1p(), term: n * (-p).ln_1p(), sum: 0.0 }
    }

    fn next_sum(&mut self) -> f64 {
        self.sum += self.term.exp();
        self.term += ((self.n - self.at) / (self.at + 1.0)).ln() + self.odds;
        self.at += 1.0;
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn examples(wrong: &[f64], right: &[f64]) -> Vec<Labelled> {
        let label = |authorized| move |certainty: &f64| Labelled { certainty: *certainty, authorized };
        wrong.iter().map(label(false)).chain(right.iter().map(label(true))).collect()
    }

    /// From tables of the exact interval (one-sided 95 %).
    #[test]
    fn bounds_are_those_of_clopper_and_pearson() {
        for (n, passed, expected) in [
            (10, 0, 0.2589),
            (20, 0, 0.1391),
            (10, 1, 0.3942),
            (50, 2, 0.1206),
            (100, 5, 0.1023),
            (30, 30, 1.0),
        ] {
            let bound = upper_bound(n, passed, 0.95);
            assert!((bound - expected).abs() < 0.0001, "{n} {passed}: {bound}");
        }
        // The chance at zero does not fit a double.
        assert!((upper_bound(100_000, 9_000, 0.95) - 0.0915).abs() < 0.0001);
    }

    #[test]
    fn too_few_examples_promise_nothing() {
        let few = |count: usize| calibrate(&examples(&vec![0.1; count], &[0.9]), 0.1, 0.95);
        assert_eq!(few(28), Err(CalibrationError::Few { given: 28, needed: 29 }));
        let found = few(29).unwrap();
        assert!(found.threshold > 0.1 && found.unauthorized == (29, 0) && found.authorized == (1, 1));
        assert_eq!(few(0), Err(CalibrationError::Few { given: 0, needed: 29 }));
        assert!(few(29).unwrap().risk <= 0.1);
    }

    #[test]
    fn equal_certainties_stand_or_fall_together() {
        // Four may pass, but the fifth is as certain as they are.
        let mut wrong = vec![0.0; 90];
        wrong.extend([0.7; 10]);
        let found = calibrate(&examples(&wrong, &[0.7, 0.8]), 0.1, 0.95).unwrap();
        assert_eq!((found.unauthorized, found.authorized), ((100, 0), (2, 1)));
        assert_eq!(found.threshold.to_string(), "0.701");
        let certain = calibrate(&examples(&[1.0; 100], &[1.0]), 0.1, 0.95).unwrap();
        assert!(certain.threshold > 1.0 && certain.authorized == (1, 0));
    }

    #[test]
    fn a_threshold_is_the_shortest_number_that_lets_the_same_examples_pass() {
        let after = |bound: f64, above: &[f64]| just_above(bound, [bound].iter().chain(above)).to_string();
        assert_eq!(after(0.58, &[]), "0.581");
        assert_eq!(after(0.58, &[0.581]), "0.581");
        assert_eq!(after(0.58, &[0.5801]), "0.5801");
        assert_eq!(after(0.1 + 0.2, &[]), "0.301");
        assert_eq!(after(0.123_456_7, &[0.123_456_8]), "0.1234568");
        assert_eq!(after(0.5, &[0.5_f64.next_up()]), 0.5_f64.next_up().to_string());
        assert_eq!(after(0.0, &[]), "0.001");
        assert_eq!(after(0.9999, &[]), "1");
        assert_eq!(after(1.0, &[]), "1.001");
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        for (risk, confidence) in
            [(0.0, 0.9), (1.0, 0.9), (f64::NAN, 0.9), (0.1, 0.0), (0.1, 1.0), (-0.1, 0.9)]
        {
            assert!(matches!(calibrate(&[], risk, confidence), Err(CalibrationError::Share { .. })));
        }
        for certainty in [-0.1, 1.1, f64::NAN] {
            let found = calibrate(&examples(&[0.5, certainty], &[]), 0.1, 0.9);
            assert!(matches!(found, Err(CalibrationError::Certainty(1, _))), "{certainty}");
        }
    }

    proptest! {
        #[test]
        fn a_threshold_reads_back_as_itself_and_lets_the_same_pass(
            bound in 0.0_f64..=1.0, others in prop::collection::vec(0.0_f64..=1.0, 0..20),
        ) {
            let all: Vec<f64> = others.iter().copied().chain([bound]).collect();
            let found = just_above(bound, all.iter());
            prop_assert_eq!(found.to_string().parse::<f64>().unwrap().to_bits(), found.to_bits());
            let pass = |threshold: f64| all.iter().filter(|certainty| **certainty >= threshold).count();
            prop_assert!(found > bound);
            prop_assert_eq!(pass(found), pass(bound.next_up()));
        }

        #[test]
        fn the_bound_holds_and_the_next_lower_threshold_breaks_it(
            wrong in prop::collection::vec(0_u8..=100, 30..200), risk in 0.05_f64..0.5, confidence in 0.5_f64..0.99,
        ) {
            let wrong: Vec<f64> = wrong.into_iter().map(|n| f64::from(n) / 100.0).collect();
            let Ok(found) = calibrate(&examples(&wrong, &[]), risk, confidence) else { return Ok(()) };
            prop_assert!(found.risk <= risk + 1e-9);
            let below = wrong.iter().copied().filter(|certainty| *certainty < found.threshold);
            if let Some(next) = below.max_by(f64::total_cmp) {
                let passed = wrong.iter().filter(|certainty| **certainty >= next).count();
                prop_assert!(upper_bound(wrong.len(), passed, confidence) > risk - 1e-9);
            }
        }
    }

    /// A thousand samples of an authorizer that knows nothing: its certainty is random.
    #[test]
    fn the_promise_holds_in_simulation() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX)
        };
        let mut broken = 0;
        for _ in 0..1000 {
            let wrong: Vec<f64> = (0..60).map(|_| random()).collect();
            let found = calibrate(&examples(&wrong, &[]), 0.2, 0.9).unwrap();
            // Uniform: what passes a threshold is known exactly.
            broken += usize::from(1.0 - found.threshold > 0.2);
        }
        // Expected at most 100, give or take 9.5.
        assert!(broken <= 130, "{broken}");
    }
}
