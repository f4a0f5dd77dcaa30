//! What stays of a message that has left the window: its passages, and nothing else.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use super::super::cut;
use super::super::left::Used;
use super::super::origin::Origin;
use super::{Inner, Kept, Preparing, Ready};
use crate::detect::{Passage, Scan};
use crate::flow;
use crate::ground::Prepared;
use crate::text::floor;

/// What of a message outlives the window.
pub(in crate::session) struct Condensed {
    pub(in crate::session) kept: Kept,
    pub(in crate::session) used: Used,
    /// Something of it is lost: there was no room, or it was not read to its end.
    pub(in crate::session) is_cut: bool,
}

impl Kept {
    /// What of it reads like an instruction or asks for something, with what stands around it, within `free`;
    /// nothing where nothing does.
    pub(in crate::session) fn condensed(&self, free: Used, to: Preparing) -> Option<Condensed> {
        let (scan, carries) = (self.scan(), self.carries_instructions());
        let asking = if to.follows { self.index().asking() } else { Vec::new() };
        if !carries && asking.is_empty() {
            return None;
        }
        let count = scan.passages.len() + asking.len();
        // Passages first: a message full of requests must not hide one that it carries.
        let spans = scan.passages.iter().map(|passage| passage.span.clone()).chain(asking);
        let mut spans: Vec<Range<usize>> = spans.take(free.passages).map(|span| self.around(&span)).collect();
        spans.sort_unstable_by_key(|span| span.start);
        let mut left = Condensing { text: String::new(), pieces: Vec::new(), passages: Vec::new() };
        let mut is_cut = count > free.passages || !scan.is_complete;
        for span in joined(spans) {
            is_cut |= !left.add(self, &span, free.bytes);
        }
        let used = Used { passages: count.min(free.passages), bytes: left.text.len() };
        let ready = Ready {
            prepared: Prepared::new(&left.text),
            pieces: left.pieces,
            scan: Some(Scan { passages: left.passages, is_complete: scan.is_complete }),
            carries,
        };
        Some(Condensed { kept: self.replaced(ready), used, is_cut })
    }

    /// It was never read, and is not kept: it may have said anything.
    pub(in crate::session) fn unread(&self) -> Kept {
        let scan = Some(Scan { passages: Vec::new(), is_complete: false });
        self.replaced(Ready { prepared: Prepared::new(""), pieces: Vec::new(), scan, carries: true })
    }

    fn replaced(&self, ready: Ready) -> Kept {
        // The call's arguments supported its values: what has left supports none.
        let origin = self.0.origin.clone().map(|origin| Origin { arguments: None, ..origin });
        Kept(Arc::new(Inner {
            number: self.0.number,
            role: self.0.role,
            origin,
            limit: None,
            chars: 0,
            bytes: ready.prepared.text().len(),
            raw: Mutex::new(None),
            ready: OnceLock::from(ready),
            scan: OnceLock::new(),
            index: OnceLock::new(),
            arguments: OnceLock::new(),
        }))
    }

    /// A span with as much around it as belongs to it, within the part of a cut message that it stands in.
    fn around(&self, span: &Range<usize>) -> Range<usize> {
        let (text, pieces) = (self.text(), &self.ready().pieces);
        let piece = pieces.iter().rev().find(|piece| piece.at.start <= span.start);
        let part = piece.map_or(0..text.len(), |piece| piece.at.clone());
        let around = flow::around(text, span);
        let start = floor(text, around.start.max(part.start));
        let end = floor(text, around.end.min(part.end.max(start)));
        start..end.max(start)
    }
}

/// What is left of a message, being put together.
struct Condensing {
    text: String,
    pieces: Vec<cut::Piece>,
    passages: Vec<Passage>,
}

impl Condensing {
    /// Adds a part; false where not all of it fits.
    fn add(&mut self, of: &Kept, span: &Range<usize>, max: usize) -> bool {
        let Some(room) = max.checked_sub(self.text.len() + 1) else { return false };
        let text = of.text();
        let end = floor(text, span.end.min(span.start.saturating_add(room)));
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let at = self.text.len();
        self.text.push_str(text.get(span.start..end).unwrap_or_default());
        self.pieces
            .push(cut::Piece { at: at..self.text.len(), from: of.original(&(span.start..span.start)).start });
        let inside = of.scan().passages.iter().filter(|passage| {
            passage.span.start >= span.start && passage.span.start < end && passage.span.end <= span.end
        });
        self.passages.extend(inside.map(|passage| Passage {
            span: at + passage.span.start - span.start..at + passage.span.end.min(end) - span.start,
            ..passage.clone()
        }));
        end == span.end
    }
}

/// Sorted spans, those that touch made one.
fn joined(spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => all.push(span),
        }
    }
    all
}
