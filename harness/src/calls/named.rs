//! A call's tool and arguments, where they stand in its frame.

use std::borrow::Cow;

use framegate_pump::{Envelope, Frame, visit_ends};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a call's line says of it: near the start of `params`, where every SDK writes it, or wherever else a whole
/// reading finds it.
#[derive(Default)]
pub(super) struct Named<'a> {
    pub(super) tool: Option<Cow<'a, str>>,
    /// From where they start; they may end before this does.
    pub(super) arguments: &'a [u8],
}

impl<'a> Named<'a> {
    pub(super) fn of(frame: &'a Frame, envelope: Option<&Envelope>) -> Self {
        /// Longer calls are named by their method if their name is not where it usually is.
        const READ_BYTES: usize = 64 * 1024;
        let body = frame.body();
        let start = envelope.and_then(|envelope| envelope.params).map(|params| params.range().start);
        let Some(params) = start.and_then(|start| body.get(start..)) else { return Self::default() };
        let named = Self::at_ends(params).unwrap_or_default();
        if body.len() > READ_BYTES || named.tool.is_some() && !named.arguments.is_empty() {
            return named;
        }
        let whole = framegate_pump::envelope::peek(body).params.and_then(|params| body.get(params.range()));
        match whole.and_then(|params| serde_json::from_slice::<Params<'_>>(params).ok()) {
            Some(Params { name, arguments }) => Self {
                tool: name.and_then(|name| unquoted(name.get().as_bytes())),
                arguments: arguments.map(|arguments| arguments.get().as_bytes()).unwrap_or_default(),
            },
            None => named,
        }
    }

    fn at_ends(params: &'a [u8]) -> Option<Self> {
        let (mut name, mut arguments) = (None, None);
        visit_ends(params, &mut |member| match params.get(member.key) {
            Some(br#""name""#) => name = params.get(member.value),
            Some(br#""arguments""#) => arguments = params.get(member.value.start..),
            _ => {}
        })?;
        Some(Self { tool: unquoted(name?), arguments: arguments.unwrap_or_default() })
    }
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn unquoted(name: &[u8]) -> Option<Cow<'_, str>> {
    let plain = name.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    match memchr::memchr(b'\\', plain) {
        None => std::str::from_utf8(plain).ok().map(Cow::Borrowed),
        Some(_) => serde_json::from_slice(name).ok().map(Cow::Owned),
    }
}
