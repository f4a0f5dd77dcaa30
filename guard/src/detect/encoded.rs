//! Text in base64, base32, hexadecimal or binary.
//!
//! A run is decoded when its beginning decodes to text; everything else is a blob, and skipped by its shape.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::Reading;
use super::count::looked;

/// A shorter run says nothing.
const RUN_BYTES_MIN: usize = 20;
/// The beginning of a run that is decoded first.
const HEAD_BYTES: usize = RUN_BYTES_MIN + 4;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

type Decoder = fn(&str) -> Option<Vec<u8>>;

/// A decoded run.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) at: Range<usize>,
    pub(super) reading: Reading,
}

/// The runs within the pieces that decode to text.
pub(super) fn find(text: &str, pieces: &[Range<usize>]) -> Vec<Decoded> {
    let mut found = Vec::new();
    for piece in pieces {
        let bytes = text.as_bytes().get(..piece.end).unwrap_or_default();
        let mut at = piece.start;
        looked(piece.len());
        while let Some(run) = next_run(bytes, at) {
            at = run.end;
            found.extend(decode(text, run));
        }
    }
    found
}

fn is_code(byte: u8) -> bool {
    CODES.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Looked up, for it is asked of every byte of a run.
const CODES: [bool; 256] = {
    let (mut codes, mut at) = ([false; 256], 0);
    while at < 256 {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler")]
        {
            codes[at] = matches!(at as u8, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'+' | b'/' | b'-' | b'_' | b'=');
        }
        at += 1;
    }
    codes
};

/// The next long run of such characters, or of groups of digits (`49 67`, `01001001 01100111`).
fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    while at < bytes.len() {
        // A run of twenty covers one of every ten bytes and the nine after it.
        let probe = bytes.get(at..at + RUN_BYTES_MIN / 2).unwrap_or_default();
        let Some(stop) = probe.iter().rposition(|byte| !is_code(*byte)) else {
            if probe.is_empty() {
                return None;
            }
            let start = back(bytes, at, from);
            let end = forward(bytes, at);
            looked(end - start);
            if end - start >= RUN_BYTES_MIN {
                return Some(start..end);
            }
            at = end.max(at + 1);
            continue;
        };
        let groups = groups(bytes, at);
        looked(groups.len());
        if groups.len() >= RUN_BYTES_MIN {
            return Some(groups);
        }
        at += stop + 1;
    }
    None
}

fn back(bytes: &[u8], at: usize, floor: usize) -> usize {
    let before = bytes.get(floor..at).unwrap_or_default();
    at - before.iter().rev().take_while(|byte| is_code(**byte)).count()
}

/// The end of the run, across line breaks between long lines.
fn forward(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        let line = bytes.get(end..).unwrap_or_default().iter().take_while(|byte| is_code(**byte)).count();
        end += line;
        let rest = bytes.get(end..).unwrap_or_default();
        let gap = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
        let next =
            rest.get(gap..).unwrap_or_default().iter().take(80).take_while(|byte| is_code(**byte)).count();
        if gap == 0
            || line < RUN_BYTES_MIN
            || next < 4
            || rest.get(gap + next).is_some_and(|byte| *byte == b' ')
        {
            return end;
        }
        end += gap;
    }
}

/// Groups of two or eight digits from here on.
fn groups(bytes: &[u8], at: usize) -> Range<usize> {
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return at..at;
    }
    /// Longer than any group.
    const LONG: usize = 9;
    let digits = bytes.get(at..).unwrap_or_default().iter().take(LONG);
    let size = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
    if size != 2 && size != 8 {
        return at..at;
    }
    let mut end = at;
    while let Some(group) = bytes.get(end..end + size) {
        let after = bytes.get(end + size);
        if !group.iter().all(u8::is_ascii_hexdigit) || after.is_some_and(u8::is_ascii_alphanumeric) {
            break;
        }
        end += size;
        if !matches!(after, Some(b' ' | b'\n')) {
            break;
        }
        end += 1;
    }
    let is_gap = |end: &usize| bytes.get(end - 1).is_some_and(u8::is_ascii_whitespace);
    let last = Some(end).filter(|end| *end > at && is_gap(end)).map_or(end, |end| end - 1);
    at..last
}

fn decode(text: &str, run: Range<usize>) -> Option<Decoded> {
    let piece = text.get(run.clone())?;
    // A blob is known by its beginning.
    let head: String = piece.chars().filter(|c| !c.is_ascii_whitespace()).take(HEAD_BYTES).collect();
    let is_grouped = piece.contains(' ');
    let tries: [(Reading, Decoder); 4] = [
        (Reading::Binary, binary),
        (Reading::Hex, hex),
        (Reading::Base32, base32),
        (Reading::Base64, base64),
    ];
    tries
        .into_iter()
        .filter(|(reading, _)| !is_grouped || matches!(reading, Reading::Binary | Reading::Hex))
        .find_map(|(reading, decoder)| {
            let head = decoder(&head)?;
            let valid = std::str::from_utf8(&head).map_or_else(|error| error.valid_up_to(), str::len);
            if valid + 4 < head.len() || !is_printable(std::str::from_utf8(head.get(..valid)?).ok()?) {
                return None;
            }
            looked(piece.len());
            let code = piece.split_ascii_whitespace().collect::<Vec<_>>().concat();
            let decoded = decoder(&code)?;
            let valid = std::str::from_utf8(&decoded).map_or_else(|error| error.valid_up_to(), str::len);
            let text = std::str::from_utf8(decoded.get(..valid)?).ok()?;
            is_text(text).then(|| Decoded { text: text.to_owned(), at: run.clone(), reading })
        })
}

fn is_printable(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// Whether most of it is letters and spaces.
fn is_text(text: &str) -> bool {
    let words = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    is_printable(text) && words * 2 >= text.chars().count()
}

fn hex(code: &str) -> Option<Vec<u8>> {
    let code = code.get(..code.len() & !1)?;
    let pairs = (0..code.len()).step_by(2);
    pairs.map(|at| code.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect()
}

fn binary(code: &str) -> Option<Vec<u8>> {
    let code = code.get(..code.len() & !7)?;
    let groups = (0..code.len()).step_by(8);
    groups.map(|at| code.get(at..at + 8).and_then(|group| u8::from_str_radix(group, 2).ok())).collect()
}

fn base32(code: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(code.len() * 5 / 8);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in code.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            _ => return None,
        };
        bits = (bits << 5) | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

fn base64(code: &str) -> Option<Vec<u8>> {
    let code = code.trim_end_matches('=');
    // One character over a group of four carries nothing.
    let code = if code.len() % 4 == 1 { code.get(..code.len() - 1)? } else { code };
    BASE64.decode(code).or_else(|_| BASE64_URL.decode(code)).ok()
}
