//! Addresses in a text, compared as [`crate::link`] compares them.

use std::ops::{ControlFlow, Range};

use super::class::{is_space, is_word};
use super::occurrences::Needle;
use crate::link::{self, Parts, PathRule};

/// Letters of a label before an address: `link:`, `url=`.
const LABEL_CHARS_MAX: usize = 20;

/// An address to look for.
#[derive(Debug, Clone)]
pub(super) struct Address {
    parts: Parts,
    rule: PathRule,
    host: Needle,
}

/// An address in a text whose host is not ASCII as written.
#[derive(Debug)]
pub(super) struct Odd {
    span: Range<usize>,
    parts: Parts,
}

impl Address {
    /// `None` for what is no certain address.
    pub(super) fn new(value: &str, rule: PathRule) -> Option<Address> {
        let parts = link::parts(value)?;
        let host = Needle::new(&parts.host)?;
        Some(Address { parts, rule, host })
    }

    /// Calls `found` with each place of a text in small letters where the host may stand; `None`: the next one.
    pub(super) fn each_host(
        &self,
        folded: &str,
        mut found: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.host.each(folded, |at| {
            if self.may_go_on(folded.get(at + self.parts.host.len()..).unwrap_or_default()) {
                found(at)?;
            }
            ControlFlow::Continue(())
        })
    }

    /// Whether what follows a host may lead to the address: a text may hold thousands of others at the same host.
    fn may_go_on(&self, rest: &str) -> bool {
        let bytes = rest.as_bytes();
        match bytes.first() {
            Some(b'/') => {}
            Some(b':' | b'.') => return true,
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'-' => return false,
            Some(byte) if !byte.is_ascii() => return true,
            // The address has no path.
            _ => return self.rule == PathRule::Prefix || self.parts.path.is_empty(),
        }
        // The written path is the value's, or for a prefix the head of it.
        let path = self.parts.path.bytes().map(|byte| byte.to_ascii_lowercase());
        let same = bytes.iter().copied().zip(path).take_while(|(written, wanted)| written == wanted).count();
        let whole = same == self.parts.path.len();
        let ends = bytes
            .get(same)
            .is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%')));
        // Folding may have changed what is not ASCII: then only reading it all decides.
        let plain = self.parts.path.is_ascii() && bytes.get(same).is_none_or(u8::is_ascii);
        !plain || ends && (whole || self.rule == PathRule::Prefix)
    }

    /// The address written around that place, if it is this one.
    pub(super) fn around(&self, text: &str, at: usize) -> Around {
        let piece = piece_around(text, at);
        let same = |span: &Range<usize>| {
            let written = text.get(span.clone()).and_then(link::parts);
            written.is_some_and(|written| link::same_parts(&self.parts, &written, self.rule))
        };
        let end = piece.end;
        // Those with an odd host are in a list of their own.
        Around { found: readings(text, piece).filter(|span| !has_odd_host(text, span)).find(same), end }
    }

    /// The same among those with an odd host.
    pub(super) fn each_odd(
        &self,
        odd: &[Odd],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for odd in odd {
            if link::same_parts(&self.parts, &odd.parts, self.rule) {
                found(odd.span.clone())?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// What stands around a place.
pub(super) struct Around {
    pub(super) found: Option<Range<usize>>,
    /// Where that piece of the text ends.
    pub(super) end: usize,
}

/// All addresses with a host that is not ASCII: they cannot be found by their host's letters.
pub(super) fn odd(text: &str) -> Box<[Odd]> {
    if text.is_ascii() {
        return Box::default();
    }
    let mut odd = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(|c| !parts_pieces(c))) {
        let piece = piece_around(text, at + start);
        at = piece.end.max(at + start + 1);
        let read = |span: Range<usize>| Some(Odd { parts: link::parts(text.get(span.clone())?)?, span });
        odd.extend(readings(text, piece).filter(|span| has_odd_host(text, span)).find_map(read));
    }
    odd.into()
}

fn has_odd_host(text: &str, span: &Range<usize>) -> bool {
    let written = text.get(span.clone()).unwrap_or_default();
    let written = written.split_once("://").map_or(written, |(_, rest)| rest);
    !written.split(['/', '?', '#']).next().unwrap_or_default().is_ascii()
}

/// As it stands, and after a label.
fn readings(text: &str, piece: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let written = text.get(piece.clone()).unwrap_or_default();
    let trimmed = written.trim_end_matches(['.', ':', '!', '?']);
    let end = piece.start + trimmed.len();
    let label = label_end(trimmed).map(|label| piece.start + label..end);
    std::iter::once(piece.start..end).chain(label)
}

fn label_end(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let is_letter = super::class::is_letter(first);
    let rest = text.get(first.len_utf8()..)?;
    let (at, mark) = rest.char_indices().take(LABEL_CHARS_MAX).find(|(_, c)| !(is_word(*c) || *c == '-'))?;
    (is_letter && matches!(mark, ':' | '=')).then_some(first.len_utf8() + at + 1)
}

fn piece_around(text: &str, at: usize) -> Range<usize> {
    let (head, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = head.rfind(parts_pieces).map_or(0, |before| {
        before + head.get(before..).and_then(|c| c.chars().next()).map_or(1, char::len_utf8)
    });
    let end = at + rest.find(parts_pieces).unwrap_or(rest.len());
    start..end
}

/// Blanks, quotation marks, brackets: an address ends there.
fn parts_pieces(c: char) -> bool {
    if c.is_ascii() {
        return matches!(
            c,
            '\t'..='\r' | '\u{1c}'..=' ' | '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>' | '{' | '}' | '|'
                | '\\' | '^' | ',' | ';'
        );
    }
    is_space(c) || matches!(c, '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '‛' | '«' | '»' | '‹' | '›')
}
