//! What the reader promises, asserted against `serde_json`.

use super::{Document, Fault, FaultKind, Kind, Limits, Value};
use serde_json::value::RawValue;

/// Asserts on any bytes that the reader accepts nothing that `serde_json` refuses, refuses nothing without a
/// reason that can be seen, and reads the same values.
///
/// The function behind the fuzz target `strict_reader`.
///
/// # Panics
/// When a promise is broken.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let loose = serde_json::from_slice::<&RawValue>(bytes);
    match Document::read(bytes.to_vec().into(), &Limits::default()) {
        Ok(document) => {
            assert!(loose.is_ok(), "serde_json refuses what is accepted here");
            assert_same(document.root(), bytes);
            assert_whole(&document);
        }
        Err(fault) => assert_reason(&fault, loose.is_ok(), bytes),
    }
}

/// Only what two readers may disagree on is refused although it is JSON.
fn assert_reason(fault: &Fault, is_json: bool, bytes: &[u8]) {
    assert!(fault.offset <= bytes.len(), "{fault}");
    let is_about_meaning = matches!(
        fault.kind,
        FaultKind::Depth(_)
            | FaultKind::DuplicateKey(_)
            | FaultKind::LoneSurrogate
            | FaultKind::NumberDigits(_)
            | FaultKind::NumberExponent(_)
    );
    assert!(!is_json || is_about_meaning, "{fault}, yet serde_json reads it");
}

fn assert_same(root: Value<'_>, bytes: &[u8]) {
    // It refuses numbers beyond a double.
    if let Ok(loose) = serde_json::from_slice::<serde_json::Value>(bytes) {
        assert_eq!(root.to_serde(), loose);
        assert_equal(root, &loose);
    }
}

// Bounded by `Limits::DEPTH_MAX`.
fn assert_equal(strict: Value<'_>, loose: &serde_json::Value) {
    use serde_json::Value as Loose;
    match (strict.kind(), loose) {
        (Kind::Null, Loose::Null) => {}
        (Kind::Bool, Loose::Bool(loose)) => assert_eq!(strict.as_bool(), Some(*loose)),
        (Kind::Number, Loose::Number(_)) => {
            let number: Result<Loose, _> = serde_json::from_str(strict.raw());
            assert_eq!(number.ok().as_ref(), Some(loose));
        }
        (Kind::String, Loose::String(loose)) => assert_eq!(strict.as_str(), Some(loose.as_str())),
        (Kind::Array, Loose::Array(loose)) => {
            assert_eq!((strict.len(), strict.items().count()), (loose.len(), loose.len()));
            strict.items().zip(loose).for_each(|(strict, loose)| assert_equal(strict, loose));
        }
        (Kind::Object, Loose::Object(loose)) => {
            assert_eq!((strict.len(), strict.members().count()), (loose.len(), loose.len()));
            for (key, value) in strict.members() {
                assert_equal(value, loose.get(key).unwrap_or(&Loose::Null));
            }
        }
        (strict, loose) => assert_eq!(strict.to_string(), loose.to_string(), "another kind"),
    }
}

/// Spans, strings and canonical forms hold together.
fn assert_whole(document: &Document) {
    for value in document.all() {
        let alone = Document::read(value.raw().to_owned().into(), &Limits::default());
        assert!(alone.is_ok_and(|alone| alone.root() == value), "a span is not its value: {value:?}");
        if value.kind() == Kind::String {
            assert_offsets(value);
        }
        // Quadratic otherwise, on a fuzzer's time.
        if value.ordinal() > 64 {
            break;
        }
    }
    let canonical = document.root().canonical();
    let again =
        Document::read(canonical.clone().into(), &Limits { number_exponent: 20_000, ..Limits::default() });
    assert_eq!(again.map(|again| again.root().canonical()), Ok(canonical), "canonical text is not stable");
}

/// Each decoded character is found where it is written.
fn assert_offsets(string: Value<'_>) {
    let (decoded, source) = (string.as_str().unwrap_or_default(), string.document().source());
    let mut last = string.span().start;
    for (at, character) in decoded.char_indices() {
        let from = string.raw_offset(at);
        let to = string.raw_offset(at + character.len_utf8());
        assert!(last < from && from < to && to < string.span().end);
        let written = source.get(from..to).unwrap_or_default();
        let quoted = [b"\"", written, b"\""].concat();
        assert_eq!(serde_json::from_slice::<String>(&quoted).ok(), Some(character.to_string()));
        last = to - 1;
    }
    assert_eq!(string.raw_offset(decoded.len()), string.span().end - 1);
    assert_eq!(string.raw_offset(usize::MAX), string.span().end - 1);
}
