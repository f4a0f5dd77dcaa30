//! Just enough JSON to find members of a *valid* object without building anything.
//!
//! Proxies that re-serialise put `id` where they like and the benchmark's own arguments hold an
//! `"id"` too, so that a search for the text would find the wrong one: nesting must be seen.

use memchr::memchr2;

/// The raw value of `key` in `object`, as it was written.
pub fn member<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let mut at = skip_space(object, 0);
    if object.get(at) != Some(&b'{') {
        return None;
    }
    at += 1;
    loop {
        at = skip_space(object, at);
        if object.get(at) == Some(&b',') {
            at = skip_space(object, at + 1);
        }
        if object.get(at) != Some(&b'"') {
            return None;
        }
        let key_end = skip_string(object, at)?;
        let found = object.get(at + 1..key_end - 1)? == key.as_bytes();
        at = skip_space(object, key_end);
        if object.get(at) != Some(&b':') {
            return None;
        }
        at = skip_space(object, at + 1);
        let end = skip_value(object, at)?;
        if found {
            return object.get(at..end);
        }
        at = end;
    }
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// `at` is the opening quote; returns the place after the closing one.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn skip_value(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => at = skip_string(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth > 0 => at += 1,
            _ => return Some(at + scalar_len(text.get(at..)?)),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn scalar_len(text: &[u8]) -> usize {
    let ends = |b: &u8| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace();
    text.iter().position(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn nested_id_is_not_the_id() {
        let frame = br#"{"params":{"arguments":{"id":"last","a":[1,{"id":2}]}}, "id" : 7 }"#;
        assert_eq!(member(frame, "id"), Some(&b"7"[..]));
    }

    #[test]
    fn escaped_quote_does_not_end_a_string() {
        let frame = br#"{"a":"\"id\":1,\\","id":"x"}"#;
        assert_eq!(member(frame, "id"), Some(&br#""x""#[..]));
    }

    #[test]
    fn absent_member_and_cut_frame_are_none() {
        assert_eq!(member(br#"{"a":1}"#, "id"), None);
        assert_eq!(member(br#"{"a":[1,"#, "id"), None);
    }
}
