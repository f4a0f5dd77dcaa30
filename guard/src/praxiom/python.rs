//! How Python writes values: messages of the original show names and values as `repr` gives them, a payload is
//! what `json.dumps` gives.

use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory as C, get_general_category};

/// `repr` of a string.
pub(crate) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if printable(c) => out.push(c),
            c => escaped(&mut out, c),
        }
    }
    out.push(quote);
    out
}

fn escaped(out: &mut String, c: char) {
    let code = u32::from(c);
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// `str.isprintable` of one character.
pub(crate) fn printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    !matches!(
        get_general_category(c),
        C::Control
            | C::Format
            | C::Surrogate
            | C::PrivateUse
            | C::Unassigned
            | C::LineSeparator
            | C::ParagraphSeparator
            | C::SpaceSeparator
    )
}

/// `repr` of a float: the shortest digits that read back, an exponent below 1e-4 and from 1e16 on.
pub(crate) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf".to_owned() } else { "inf".to_owned() };
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    match exponent {
        -4..=-1 => {
            let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or_default());
            format!("{sign}0.{zeros}{digits}")
        }
        0..=15 => {
            let whole = usize::try_from(exponent).unwrap_or_default() + 1;
            let (left, right) = digits.split_at_checked(whole).unwrap_or((&digits, ""));
            let zeros = "0".repeat(whole.saturating_sub(digits.len()));
            format!("{sign}{left}{zeros}.{}", if right.is_empty() { "0" } else { right })
        }
        _ => {
            let point = if mantissa.contains('.') { mantissa.to_owned() } else { digits };
            let side = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{point}e{side}{:02}", exponent.unsigned_abs())
        }
    }
}

/// A string as `json.dumps(.., ensure_ascii=False)` writes it.
pub(crate) fn json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\') {
        let (clean, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(clean);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_python_writes_them() {
        let cases = [
            (1.0, "1.0"),
            (100.0, "100.0"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (1e22, "1e+22"),
            (0.0001, "0.0001"),
            (0.00012, "0.00012"),
            (1e-5, "1e-05"),
            (1e-7, "1e-07"),
            (1.25e-10, "1.25e-10"),
            (123_456.789, "123456.789"),
            (0.300_000_000_000_000_04, "0.30000000000000004"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (12.0, "12.0"),
        ];
        for (value, text) in cases {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn strings_as_python_shows_them() {
        let cases = [
            ("it's", "\"it's\""),
            ("say \"x\" and 'y'", "'say \"x\" and \\'y\\''"),
            ("a\nb\t\u{0}\u{7f}", "'a\\nb\\t\\x00\\x7f'"),
            ("\u{a0}é漢\u{200b}\u{2028}", "'\\xa0é漢\\u200b\\u2028'"),
            ("\u{1f600}\u{e0041}\\", "'\u{1f600}\\U000e0041\\\\'"),
        ];
        for (text, shown) in cases {
            assert_eq!(repr(text), shown);
        }
    }

    #[test]
    fn json_strings_escape_what_they_must() {
        let mut out = String::new();
        json_string(&mut out, "a\"\\\n\r\t\u{8}\u{c}\u{1}é\u{7f}\u{2028}");
        assert_eq!(out, "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001é\u{7f}\u{2028}\"");
    }
}
