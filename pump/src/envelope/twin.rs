//! The peek against its stupid twin, which lets `serde_json` read: the function behind the fuzz
//! target `peek`.

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Ambiguity, Envelope, Found, Key, Kind, Opacity, Span, classify, outline, peek};

/// Asserts that the peek says of `body` what its twin says, and what a full parse finds.
///
/// # Panics
/// When they disagree.
pub fn assert_peek_agrees(body: &[u8]) {
    let envelope = peek(body);
    assert_outline_agrees(body, &envelope);
    if body.trim_ascii_start().first() == Some(&b'{') {
        assert_eq!(envelope, twin(body), "{}", body.escape_ascii());
    }
    if !envelope.kind.is_certain() {
        return;
    }
    let text = std::str::from_utf8(body).unwrap_or_default();
    // Lone surrogates are legal JSON text (RFC 8259, section 8.2) that a `String` cannot hold.
    let Ok(slow) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) else {
        let raw: Result<&RawValue, _> = serde_json::from_str(text);
        assert!(raw.is_ok(), "a certain envelope is JSON");
        return;
    };
    for (key, span) in [
        ("id", envelope.id),
        ("method", envelope.method),
        ("params", envelope.params),
        ("result", envelope.result),
        ("error", envelope.error),
    ] {
        let fast = span.and_then(|s| serde_json::from_slice::<serde_json::Value>(s.of(body)).ok());
        assert_eq!(fast.as_ref(), slow.get(key), "`{key}`");
    }
    let name = envelope.method_name(body);
    assert_eq!(name.as_deref(), slow.get("method").and_then(|m| m.as_str()));
    assert!(!body.contains(&b'\r'));
}

/// What passes by its outline is an answer for certain: with every nested value emptied, the strict peek
/// sees the same envelope. Each answer that the peek sees has an outline.
fn assert_outline_agrees(body: &[u8], peeked: &Envelope) {
    let Some(outlined) = outline(body) else {
        assert_ne!(peeked.kind, Kind::Response, "{}", body.escape_ascii());
        return;
    };
    assert!(*peeked == outlined || peeked.kind == Kind::Opaque(Opacity::NotJson), "{}", body.escape_ascii());
    assert_eq!(peek(&emptied(body)), outlined, "{}", body.escape_ascii());
    assert!(std::str::from_utf8(body).is_ok() && !body.contains(&b'\r'));
}

/// The text with `{` and `}` in place of each nested value's own first and last byte, and blanks between.
fn emptied(text: &[u8]) -> Vec<u8> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        let was_inside = depth > 1;
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        out.push(match (was_inside, depth > 1) {
            (false, false) => *byte,
            (false, true) => b'{',
            (true, true) => b' ',
            (true, false) => b'}',
        });
    }
    out
}

/// The envelope of a body that starts like an object.
fn twin(body: &[u8]) -> Envelope {
    let Ok(text) = std::str::from_utf8(body) else {
        return Envelope::odd(Kind::Opaque(Opacity::NotUtf8));
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Members { text }).and_then(|found| reader.end().map(|()| found));
    let Ok(Found { mut envelope, oddity }) = found else {
        return Envelope::odd(Kind::Opaque(Opacity::NotJson));
    };
    envelope.kind = oddity.map_or_else(|| classify(&envelope, body), Kind::Ambiguous);
    if body.contains(&b'\r') {
        envelope.kind = Kind::Ambiguous(Ambiguity::BareCarriageReturn);
    }
    envelope
}

struct Members<'a> {
    text: &'a str,
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Found;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = Found::new();
        let mut has_version = false;
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value::<&RawValue>()?;
            found.add(Key::of(key.as_bytes()), Span::within(self.text, value.get()), &mut has_version);
        }
        Ok(found)
    }
}
