//! So many of so many.

use std::collections::BTreeMap;
use std::fmt;

/// A share of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Those that count.
    pub part: usize,
    /// All.
    pub whole: usize,
}

impl Share {
    /// One more, which counts or does not.
    pub fn add(&mut self, counts: bool) {
        self.part += usize::from(counts);
        self.whole += 1;
    }

    /// In percent; nothing of nothing.
    pub fn percent(self) -> Option<f64> {
        (self.whole > 0).then(|| 100.0 * self.part as f64 / self.whole as f64)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "{percent:.1} % ({}/{})", self.part, self.whole),
            None => f.write_str("–"),
        }
    }
}

/// The mean of shares, each weighing the same: over goals, since pairs of one goal are one finding many times.
pub fn mean<K>(shares: &BTreeMap<K, Share>) -> Option<f64> {
    let percents: Vec<f64> = shares.values().filter_map(|share| share.percent()).collect();
    (!percents.is_empty()).then(|| percents.iter().sum::<f64>() / percents.len() as f64)
}

/// A mean as it is printed.
pub fn shown(percent: Option<f64>) -> String {
    percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1} %"))
}
