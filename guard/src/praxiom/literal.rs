//! Python's literals: numbers and strings.

use num_bigint::BigInt;

use super::token::{Fault, Kind};
use super::yaml11::INT_DIGITS_MAX;

/// A number at the start of `rest`, and its length.
pub(crate) fn number(rest: &str, start: usize) -> Result<(Kind, usize), Fault> {
    let radix = match rest.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 10,
    };
    let (kind, length) = if radix == 10 { decimal(rest, start)? } else { prefixed(rest, radix, start)? };
    let tail = rest.get(length..).unwrap_or_default();
    if tail.starts_with(|c: char| c == '_' || c.is_alphanumeric()) && !keyword_follows(tail) {
        let name = match radix {
            16 => "hexadecimal",
            8 => "octal",
            2 => "binary",
            _ => "decimal",
        };
        return Err(Fault::new(format!("invalid {name} literal"), start..start + length));
    }
    Ok((kind, length))
}

/// `1or 2` is Python.
fn keyword_follows(tail: &str) -> bool {
    let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
    matches!(tail.get(..end), Some("and" | "else" | "for" | "if" | "in" | "is" | "not" | "or"))
}

/// Digits with single underscores between them.
fn digits(rest: &str, radix: u32) -> usize {
    let mut length = 0;
    let mut before = None;
    for c in rest.chars() {
        if !(c.is_digit(radix) || (c == '_' && before.is_some_and(|c| c != '_'))) {
            break;
        }
        before = Some(c);
        length += 1;
    }
    if before == Some('_') { length - 1 } else { length }
}

fn prefixed(rest: &str, radix: u32, start: usize) -> Result<(Kind, usize), Fault> {
    let body = rest.get(2..).unwrap_or_default();
    // One underscore may follow the prefix.
    let skipped = usize::from(body.starts_with('_'));
    let length = digits(body.get(skipped..).unwrap_or_default(), radix);
    let end = 2 + skipped + length;
    let value = integer(body.get(skipped..skipped + length).unwrap_or_default(), radix);
    value.map(|value| (Kind::Int(value), end)).ok_or_else(|| {
        Fault::new(if length == 0 { "invalid number literal" } else { TOO_LONG }, start..start + end)
    })
}

const TOO_LONG: &str = "Exceeds the limit (4300 digits) for integer string conversion: value has more digits";

fn integer(text: &str, radix: u32) -> Option<BigInt> {
    let clean = text.replace('_', "");
    // No radix here has more digits for a value than bits.
    if clean.len() > 4 * INT_DIGITS_MAX {
        return None;
    }
    let value = BigInt::parse_bytes(clean.as_bytes(), radix)?;
    super::value::fits(&value).then_some(value)
}

fn decimal(rest: &str, start: usize) -> Result<(Kind, usize), Fault> {
    let whole = digits(rest, 10);
    let mut length = whole;
    let tail = |at: usize| rest.get(at..).unwrap_or_default();
    let mut float = false;
    if tail(length).starts_with('.') {
        float = true;
        length += 1;
        length += digits(tail(length), 10);
    }
    if tail(length).starts_with(['e', 'E']) {
        let signed = length + 1 + usize::from(tail(length + 1).starts_with(['+', '-']));
        let exponent = digits(tail(signed), 10);
        if exponent > 0 {
            float = true;
            length = signed + exponent;
        }
    }
    if tail(length).starts_with(['j', 'J']) {
        return Ok((Kind::Literal("complex"), length + 1));
    }
    if float {
        return Ok((Kind::Literal("float"), length));
    }
    let text = rest.get(..whole).unwrap_or_default();
    if text.starts_with('0') && text.contains(|c: char| !matches!(c, '0' | '_')) {
        let message = "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal \
                       integers";
        return Err(Fault::new(message, start..start + length));
    }
    integer(text, 10)
        .map(|value| (Kind::Int(value), length))
        .ok_or_else(|| Fault::new(TOO_LONG, start..start + length))
}

/// A string literal at the start of `rest`, if one stands there, and its length.
pub(crate) fn string(rest: &str, start: usize) -> Result<Option<(Kind, usize)>, Fault> {
    // No further: this is asked at every token.
    let near = rest.bytes().take(3).position(|b| matches!(b, b'\'' | b'"'));
    let Some(quote) = near else { return Ok(None) };
    let prefix = rest.get(..quote).unwrap_or_default().to_ascii_lowercase();
    let (raw, kind) = match prefix.as_str() {
        "" | "u" => (false, "str"),
        "r" => (true, "str"),
        "b" => (false, "bytes"),
        "br" | "rb" => (true, "bytes"),
        "f" => (false, "f"),
        "fr" | "rf" => (true, "f"),
        _ => return Ok(None),
    };
    let body = rest.get(quote..).unwrap_or_default();
    let mark = body.get(..1).unwrap_or_default();
    let triple = mark.repeat(3);
    let (mark, long) = if body.starts_with(&triple) { (triple.as_str(), true) } else { (mark, false) };
    let inner = body.get(mark.len()..).unwrap_or_default();
    let Some(length) = closing(inner, mark, long) else {
        let what = if long { "triple-quoted string" } else { "string" };
        let line = 1 + if long { inner.matches('\n').count() } else { 0 };
        let message = format!("unterminated {what} literal (detected at line {line})");
        return Err(Fault::new(message, start..start + quote + mark.len()));
    };
    let text = inner.get(..length).unwrap_or_default();
    let taken = quote + 2 * mark.len() + length;
    let kind = match kind {
        "str" if raw => Kind::Str(text.to_owned()),
        "str" => {
            let decoded = unescape(text).map_err(|message| Fault::new(message, start..start + taken))?;
            Kind::Str(decoded)
        }
        "bytes" if !text.is_ascii() => {
            let message = "bytes can only contain ASCII literal characters";
            return Err(Fault::new(message, start..start + taken));
        }
        "bytes" => Kind::Literal("bytes"),
        _ => Kind::Formatted,
    };
    Ok(Some((kind, taken)))
}

/// Where the text ends: before the first closing mark that no backslash precedes.
fn closing(inner: &str, mark: &str, long: bool) -> Option<usize> {
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '\n' | '\r' if !long => return None,
            _ if inner.get(at..).is_some_and(|rest| rest.starts_with(mark)) => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (clean, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(clean);
        let body = escape.get(1..).unwrap_or_default();
        let Some(c) = body.chars().next() else { break };
        let mut taken = c.len_utf8();
        match c {
            '\n' => {}
            '\\' | '\'' | '"' => out.push(c),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\u{b}'),
            'x' => taken += hex(body, 2, &mut out)?,
            'u' => taken += hex(body, 4, &mut out)?,
            'U' => taken += hex(body, 8, &mut out)?,
            'N' => return Err("\\N{...} is not read here: write the character itself".to_owned()),
            '0'..='7' => {
                let count = body.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                let code = u32::from_str_radix(body.get(..count).unwrap_or_default(), 8).unwrap_or_default();
                out.extend(char::from_u32(code));
                taken = count;
            }
            // Python keeps what it does not know, the backslash included.
            c => {
                out.push('\\');
                out.push(c);
            }
        }
        rest = body.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// The digits behind `x`, `u` or `U`.
fn hex(body: &str, count: usize, out: &mut String) -> Result<usize, String> {
    let digits = body.get(1..=count).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let shape = body.get(..1).unwrap_or_default();
    let Some(code) = code else {
        return Err(format!(
            "(unicode error) 'unicodeescape' codec can't decode bytes: truncated \\{shape} escape"
        ));
    };
    let Some(c) = char::from_u32(code) else {
        return Err(format!("\\{shape}{code:x} is half of a surrogate pair, or no character"));
    };
    out.push(c);
    Ok(count)
}
