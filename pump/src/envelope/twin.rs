//! The peek against its stupid twin, which lets `serde_json` read: the function behind the fuzz
//! target `peek`.

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Ambiguity, Envelope, Found, Key, Kind, Opacity, Span, classify, peek};

/// Asserts that the peek says of `body` what its twin says, and what a full parse finds.
///
/// # Panics
/// When they disagree.
pub fn assert_peek_agrees(body: &[u8]) {
    let envelope = peek(body);
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
