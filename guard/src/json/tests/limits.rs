//! One below, at, and one above each limit.

use super::*;

fn with(limits: &Limits, text: &str) -> Result<Document, FaultKind> {
    Document::read(Bytes::copy_from_slice(text.as_bytes()), limits).map_err(|fault| fault.kind)
}

fn nested(depth: usize) -> String {
    // Objects and arrays count alike.
    let open: String = (0..depth).map(|level| if level % 2 == 0 { "{\"k\":" } else { "[" }).collect();
    let close: String = (0..depth).rev().map(|level| if level % 2 == 0 { "}" } else { "]" }).collect();
    format!("{open}1{close}")
}

#[test]
fn depth() {
    for depth in [1, 2, 64, 127] {
        let limits = Limits { depth, ..Limits::default() };
        for fits in [depth - 1, depth] {
            assert!(with(&limits, &nested(fits)).is_ok(), "{fits} of {depth}");
        }
        assert_eq!(with(&limits, &nested(depth + 1)).unwrap_err(), FaultKind::Depth(depth));
    }
    let scalars_only = Limits { depth: 0, ..Limits::default() };
    assert!(with(&scalars_only, "1").is_ok() && with(&scalars_only, "[]").is_err());
}

#[test]
fn depth_has_an_end_whatever_is_asked_for() {
    let limits = Limits { depth: usize::MAX, ..Limits::default() };
    let most = Limits::DEPTH_MAX;
    let deepest = with(&limits, &nested(most)).unwrap();
    // What walks a value walks this one too, on a thread's usual stack.
    assert_eq!(deepest.root().to_serde().to_string(), nested(most));
    assert_eq!(deepest.root().canonical(), nested(most));
    assert_eq!(with(&limits, &nested(most + 1)).unwrap_err(), FaultKind::Depth(most));
    assert_eq!(with(&limits, &"[".repeat(1_000_000)).unwrap_err(), FaultKind::Depth(most));
}

#[test]
fn digits_of_a_number() {
    let limits = Limits { number_digits: 5, ..Limits::default() };
    for fits in ["1234", "12345", "-12345", "1.2345", "0.1234", "12345e9999", "0.0000"] {
        assert!(with(&limits, fits).is_ok(), "{fits}");
    }
    for over in ["123456", "-123456", "1.23456", "12345.6", "0.00000", "123456e1"] {
        assert_eq!(with(&limits, over).unwrap_err(), FaultKind::NumberDigits(5), "{over}");
    }
    for (digits, fits) in [(999, true), (1000, true), (1001, false)] {
        assert_eq!(with(&Limits::default(), &"7".repeat(digits)).is_ok(), fits, "{digits}");
    }
}

#[test]
fn exponent_of_a_number() {
    for (text, fits) in [
        ("1e9999", true),
        ("1e10000", true),
        ("1e+10000", true),
        ("1e-10000", true),
        ("1e0000010000", true),
        ("1e10001", false),
        ("1e-10001", false),
        ("0e10001", false),
        ("1e99999999999999999999", false),
    ] {
        let outcome = with(&Limits::default(), text).map(|_| ());
        let want = if fits { Ok(()) } else { Err(FaultKind::NumberExponent(10_000)) };
        assert_eq!(outcome, want, "{text}");
    }
}

#[test]
fn keys_of_one_object_are_many_without_a_slow_way() {
    let members: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":0")).collect();
    let document = with(&Limits::default(), &format!("{{{}}}", members.join(","))).unwrap();
    assert_eq!(document.root().len(), 200_000);
}
