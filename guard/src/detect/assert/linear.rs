//! The work of the detector grows with the text and not faster, counted by the stages themselves (`count`).

use super::super::count::looked_at_by;
use super::super::{Looking, scan};

/// Bytes that are looked at for each byte more, at most, in all stages and readings. Measured: up to 12, and 203
/// for `a<a<`, where the end of a tag is looked for at each, over 400 bytes.
pub(in super::super) const SLOPE_MAX: u64 = 500;
/// Of the shorter of two texts, at least. Quadratic work would look at some 30 times [`SLOPE_MAX`] bytes more.
const BYTES_MIN: usize = 1 << 15;
/// Longer inputs are not repeated: a text of many passages ends early.
const INPUT_BYTES_MAX: usize = 1 << 12;

/// Repeated so that it is twice as long, a text costs at most so many bytes more for each byte.
pub(super) fn assert_linear(text: &str) {
    if text.is_empty() || text.len() > INPUT_BYTES_MAX {
        return;
    }
    let slope = slope(text);
    assert!(slope <= SLOPE_MAX, "{slope} bytes are looked at for each byte more of {text:?}");
}

/// Bytes that are looked at for each byte that a text grows when it is repeated twice as often.
pub(in super::super) fn slope(piece: &str) -> u64 {
    let times = BYTES_MIN / piece.len() + 1;
    let work = |times: usize| {
        let text = piece.repeat(times);
        looked_at_by(|| drop(scan(&text, Looking::Output)))
    };
    work(2 * times).saturating_sub(work(times)) / (times * piece.len()) as u64
}
