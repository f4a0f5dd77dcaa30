//! Searches in raw bytes. Nothing here parses JSON: a frame two parsers disagree about must give
//! one answer here, and the id must be copied as it was spelled.

/// Where `needle` starts.
pub fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).position(|window| window == needle)
}

/// True if `needle` occurs.
pub fn has(hay: &[u8], needle: &[u8]) -> bool {
    find(hay, needle).is_some()
}

/// How often `needle` occurs, without overlaps.
pub fn count(hay: &[u8], needle: &[u8]) -> usize {
    let (mut seen, mut rest) = (0, hay);
    while let Some(at) = find(rest, needle) {
        seen += 1;
        rest = &rest[at + needle.len()..];
    }
    seen
}

/// `hay` with every `from` replaced.
pub fn replace(hay: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(hay.len()), hay);
    while let Some(at) = find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The raw text of every scalar behind `"key":`, at any depth, in order.
pub fn scalars<'a>(line: &'a [u8], key: &str) -> Vec<&'a [u8]> {
    let quoted = format!("\"{key}\"");
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(at) = find(rest, quoted.as_bytes()) {
        rest = &rest[at + quoted.len()..];
        if let Some(after) = after_colon(rest) {
            let length = scalar_length(after);
            if length > 0 {
                found.push(&after[..length]);
                rest = &after[length..];
            }
        }
    }
    found
}

/// The first request id in a line, as raw text.
pub fn id(line: &[u8]) -> Option<&[u8]> {
    scalars(line, "id").first().copied()
}

/// The texts of the strings behind `"key":`, without quotes and without unescaping.
pub fn strings<'a>(line: &'a [u8], key: &str) -> Vec<&'a [u8]> {
    let quoted = |raw: &'a [u8]| raw.strip_prefix(b"\"")?.strip_suffix(b"\"");
    scalars(line, key).into_iter().filter_map(quoted).collect()
}

fn after_colon(text: &[u8]) -> Option<&[u8]> {
    Some(text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())
}

/// The length of the string, number, `null`, `true` or `false` that `text` starts with, or 0.
fn scalar_length(text: &[u8]) -> usize {
    if text.first() == Some(&b'"') {
        return string_length(text);
    }
    for word in [&b"null"[..], b"true", b"false"] {
        if text.starts_with(word) {
            return word.len();
        }
    }
    match text {
        [b'-', digit, ..] | [digit, ..] if digit.is_ascii_digit() => {
            let in_number = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
            text.iter().take_while(|b| in_number(b)).count()
        }
        _ => 0,
    }
}

fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_spelling() {
        for (line, want) in [
            (&br#"{"id" : 5,"x":1}"#[..], &b"5"[..]),
            (br#"{"id":-1.50e+3}"#, b"-1.50e+3"),
            (br#"{"id":"a\"b\\"}"#, br#""a\"b\\""#),
            (br#"{"id":"},{\"id\":1,"}"#, br#""},{\"id\":1,""#),
            (br#"{"id":null}"#, b"null"),
        ] {
            assert_eq!(id(line), Some(want));
        }
        assert_eq!(id(br#"{"id":{"a":1}}"#), None);
        assert_eq!(id(br#"{"id":"never closed"#), None);
    }

    #[test]
    fn counting_does_not_overlap() {
        assert_eq!(count(b"aaaa", b"aa"), 2);
        assert_eq!(replace(b"$ID,$ID", b"$ID", b"7"), b"7,7");
    }
}
