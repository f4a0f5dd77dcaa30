//! What an answer says of itself.

use std::borrow::Cow;

use framegate_pump::visit_ends;

use super::shown;

/// What an answer says of itself, from its ends.
pub(crate) fn outcome(body: &[u8]) -> Cow<'static, str> {
    let (mut error, mut result, mut next_key) = (None, None, None);
    // A long value is found before the members behind it; the nearest of those comes last.
    let is_object = visit_ends(body, &mut |member| match body.get(member.key.clone()) {
        Some(br#""error""#) => error = Some(member),
        Some(br#""result""#) => result = Some(member),
        _ if result.is_some() => next_key = Some(member.key.start),
        _ => {}
    });
    if is_object.is_none() {
        return "ok".into();
    }
    if let Some(error) = error {
        let text = body.get(error.value.start..).unwrap_or_default();
        let mut code = None;
        let is_object = visit_ends(text, &mut |member| {
            if text.get(member.key) == Some(br#""code""#) {
                code = text.get(member.value);
            }
        });
        return match code.filter(|_| is_object.is_some()) {
            Some(code) => format!("error {}", shown(&String::from_utf8_lossy(code))).into(),
            None => "error".into(),
        };
    }
    let Some(result) = result else { return "ok".into() };
    let text = match result.long {
        true => result_text(body, result.value.start, next_key),
        false => body.get(result.value).unwrap_or_default(),
    };
    let (mut is_error, mut kind) = (false, None);
    let seen = visit_ends(text, &mut |member| match text.get(member.key) {
        Some(br#""isError""#) => is_error = text.get(member.value) == Some(b"true"),
        Some(br#""resultType""#) => kind = text.get(member.value),
        _ => {}
    });
    match kind.filter(|_| seen.is_some()) {
        _ if is_error && seen.is_some() => "tool error".into(),
        Some(br#""input_required""#) => "asks for input".into(),
        Some(br#""task""#) => "task".into(),
        _ => "ok".into(),
    }
}

/// The result's text from its start, cut before the envelope's next member.
fn result_text(body: &[u8], start: usize, next_key: Option<usize>) -> &[u8] {
    let all = body.get(start..next_key.unwrap_or(body.len())).unwrap_or_default();
    let cut = |text: &[u8]| memchr::memrchr(b'}', text).unwrap_or(0);
    // Up to the result's own brace: before a comma, or before the envelope's brace.
    let last = cut(all);
    let close = if next_key.is_some() { last + 1 } else { cut(all.get(..last).unwrap_or_default()) + 1 };
    all.get(..close).unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_the_ends() {
        for (body, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#, "ok"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#, "tool error"),
            (r#"{"result":{"content":[{"a":"}"}],"isError":true},"jsonrpc":"2.0","id":1}"#, "tool error"),
            (r#"{"result":{"isError":false,"content":[{"isError":true}]},"jsonrpc":"2.0","id":1}"#, "ok"),
            (r#"{"id":1,"error":{"code":-32602,"message":"x"}}"#, "error -32602"),
            (r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{}}}"#, "asks for input"),
        ] {
            assert_eq!(outcome(body.as_bytes()), want, "{body}");
        }
    }
}
