//! What an answer says of itself.

use std::borrow::Cow;

use framegate_pump::visit_ends;
use serde::Deserialize;

use super::shown;

/// Of a result up to this length all members are read, where its ends do not tell.
const READ_BYTES_MAX: usize = 1024 * 1024;

/// What an answer says of itself, from its ends; one that is not too large is read where they do not tell.
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
    let (mut is_error, mut kind, mut tells) = (false, None, false);
    let seen = visit_ends(text, &mut |member| match text.get(member.key) {
        Some(br#""content""#) => tells = true,
        Some(br#""isError""#) => (is_error, tells) = (text.get(member.value) == Some(b"true"), true),
        Some(br#""resultType""#) => (kind, tells) = (text.get(member.value), true),
        _ => {}
    });
    if seen.is_none() || !tells {
        return whole(text).unwrap_or("ok").into();
    }
    named(is_error, kind.unwrap_or_default()).into()
}

fn named(is_error: bool, kind: &[u8]) -> &'static str {
    match kind {
        _ if is_error => "tool error",
        br#""input_required""# => "asks for input",
        br#""task""# => "task",
        _ => "ok",
    }
}

/// Of a result with two long members: what stands between them is at neither end.
fn whole(result: &[u8]) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct Said<'a> {
        #[serde(rename = "isError")]
        is_error: Option<bool>,
        #[serde(borrow, rename = "resultType")]
        kind: Option<&'a serde_json::value::RawValue>,
    }
    let read = result.get(..READ_BYTES_MAX).is_none_or(|start| start.len() == result.len());
    let said: Said<'_> = read.then(|| serde_json::from_slice(result).ok())??;
    Some(named(said.is_error == Some(true), said.kind.map_or(b"".as_slice(), |kind| kind.get().as_bytes())))
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

    #[test]
    fn a_result_whose_ends_do_not_tell_is_read_up_to_a_limit() {
        let of = |meta: usize, end: &str| {
            let (meta, state) = ("m".repeat(meta), "s".repeat(600));
            let result = format!(
                r#"{{"_meta":{{"a":"{meta}"}},"inputRequests":{{"b":{{}}}},"requestState":"{state}"{end}}}"#
            );
            (result.len(), outcome(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).as_bytes()))
        };
        let asks = r#","resultType":"input_required","x":{}"#;
        assert_eq!(of(0, asks).1, "asks for input");
        assert_eq!(of(0, r#","isError":true,"x":{}"#).1, "tool error");
        assert_eq!(of(0, r#","isError":false,"x":{}"#).1, "ok");
        let rest = of(0, asks).0;
        for (bytes, says) in [
            (READ_BYTES_MAX - 1, "asks for input"),
            (READ_BYTES_MAX, "asks for input"),
            (READ_BYTES_MAX + 1, "ok"),
        ] {
            assert_eq!(of(bytes - rest, asks), (bytes, says.into()));
        }
    }
}
