//! `16 MiB` as bytes.

use std::ops::RangeInclusive;

const UNITS: [(&str, u64); 8] = [
    ("", 1),
    ("b", 1),
    ("kb", 1000),
    ("kib", 1 << 10),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
];

/// Whole bytes, with or without a unit.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = (text.get(..split)?, text.get(split..)?.trim().to_ascii_lowercase());
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
    count.parse::<u64>().ok()?.checked_mul(*bytes)
}

/// As people write it.
pub(crate) fn show(bytes: usize) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= size && bytes.is_multiple_of(size) {
            return format!("{} {unit}", bytes / size);
        }
    }
    format!("{bytes}")
}

/// A range for a message.
pub(crate) fn range(allowed: &RangeInclusive<usize>) -> String {
    format!("from {} to {}", show(*allowed.start()), show(*allowed.end()))
}
