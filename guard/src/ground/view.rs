//! A text as a matcher reads it, and where each part of it stands in the original.

use std::borrow::Cow;
use std::ops::Range;

use super::class;

/// A text with some characters dropped and others replaced, one for one.
#[derive(Debug, Default)]
pub(super) struct View {
    /// `None`: the original, byte for byte.
    text: Option<Box<str>>,
    /// Where copying started anew. `at` and `from` grow.
    steps: Box<[Step]>,
}

/// From `at` on, the view's bytes are those of the original from `from` on.
#[derive(Debug)]
struct Step {
    at: u32,
    from: u32,
}

/// A view in the making.
struct Copy {
    text: String,
    steps: Vec<Step>,
    /// Where in the original the next bytes would come from without a step.
    next: usize,
}

impl Copy {
    /// Adds `length` bytes that stand for those of the original from `from` on.
    fn push(&mut self, from: usize, length: usize, write: impl FnOnce(&mut String)) {
        if from != self.next {
            self.steps.push(Step { at: index(self.text.len()), from: index(from) });
        }
        write(&mut self.text);
        self.next = from + length;
    }
}

impl View {
    /// Format characters dropped, spaces of every width made plain.
    pub(super) fn plain(text: &str) -> View {
        if text.is_ascii() {
            return View::default();
        }
        if text.chars().all(|c| plain_char(c) == Some(c)) {
            return View::default();
        }
        View::build(text, plain_char, false)
    }

    /// The same without case, and with plain dashes and quotation marks.
    pub(super) fn folded(text: &str) -> View {
        if text.is_ascii() {
            return View { text: Some(text.to_ascii_lowercase().into()), steps: Box::default() };
        }
        View::build(text, folded_char, true)
    }

    /// Nothing of the text.
    pub(super) fn nothing() -> View {
        View { text: Some(Box::default()), steps: Box::default() }
    }

    fn build(original: &str, change: fn(char) -> Option<char>, lower: bool) -> View {
        let mut out = Copy { text: String::with_capacity(original.len()), steps: Vec::new(), next: 0 };
        let mut at = 0;
        while let Some(rest) = original.get(at..).filter(|rest| !rest.is_empty()) {
            let stays = |c: char| c.is_ascii() || change(c) == Some(c);
            let kept = rest.find(|c| !stays(c)).unwrap_or(rest.len());
            let (piece, rest) = rest.split_at_checked(kept).unwrap_or((rest, ""));
            if !piece.is_empty() {
                out.push(at, piece.len(), |text| {
                    let start = text.len();
                    text.push_str(piece);
                    if lower && let Some(copied) = text.get_mut(start..) {
                        copied.make_ascii_lowercase();
                    }
                });
            }
            at += kept;
            let Some(c) = rest.chars().next() else { break };
            if let Some(changed) = change(c) {
                out.push(at, changed.len_utf8(), |text| text.push(changed));
            }
            at += c.len_utf8();
        }
        View { text: Some(out.text.into()), steps: out.steps.into() }
    }

    /// Its text; `original` is what it was made of.
    pub(super) fn text<'a>(&'a self, original: &'a str) -> &'a str {
        self.text.as_deref().unwrap_or(original)
    }

    /// Where a part of it stands in the original. Both are on borders of characters.
    pub(super) fn original(&self, original: &str, part: Range<usize>) -> Range<usize> {
        // Without steps only the last character can be longer in the original.
        if self.steps.is_empty() && self.text(original).len() == original.len() || part.is_empty() {
            return part;
        }
        let last = self.text(original).get(..part.end).and_then(|head| head.char_indices().next_back());
        let last = self.place(last.map_or(part.start, |(at, _)| at));
        let length = original.get(last..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.place(part.start)..last + length
    }

    /// Where a place of it stands in the original.
    pub(super) fn place(&self, at: usize) -> usize {
        let before = self.steps.partition_point(|step| step.at as usize <= at).checked_sub(1);
        match before.and_then(|step| self.steps.get(step)) {
            Some(step) => step.from as usize + (at - step.at as usize),
            None => at,
        }
    }

    /// Where a place of the original stands in it; for what was dropped, where the next part begins.
    pub(super) fn place_of(&self, original: usize) -> usize {
        let after = self.steps.partition_point(|step| step.from as usize <= original);
        let next = self.steps.get(after).map(|step| step.at as usize);
        let at = match after.checked_sub(1).and_then(|step| self.steps.get(step)) {
            Some(step) => step.at as usize + (original - step.from as usize),
            None => original,
        };
        next.map_or(at, |next| at.min(next))
    }
}

/// A value as it is looked for in the plain view.
pub(super) fn plain_value(value: &str) -> Cow<'_, str> {
    if value.is_ascii() { Cow::Borrowed(value) } else { value.chars().filter_map(plain_char).collect() }
}

/// A value as it is looked for in the folded view.
pub(super) fn folded_value(value: &str) -> String {
    value.chars().filter_map(folded_char).collect()
}

fn plain_char(c: char) -> Option<char> {
    if c.is_ascii() {
        return Some(c);
    }
    if class::is_format(c) {
        return None;
    }
    Some(if class::is_space_separator(c) { ' ' } else { c })
}

fn folded_char(c: char) -> Option<char> {
    let c = plain_char(c)?;
    Some(match c {
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        _ if class::is_caseless(c) => c,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        _ => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                // A character whose small form is not one character stays: İ.
                _ => c,
            }
        }
    })
}

/// `n` as an offset: see [`super::TEXT_BYTES_MAX`].
fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dropped_characters_belong_to_what_stands_around_them() {
        let text = "x\u{200b}İ K\u{a0}\u{ad}y‑z";
        let folded = View::folded(text);
        assert_eq!(folded.text(text), "xİ k y-z");
        let part = |from: &str| {
            let at = folded.text(text).find(from).unwrap();
            text.get(folded.original(text, at..at + from.len())).unwrap()
        };
        assert_eq!(part("xİ"), "x\u{200b}İ");
        assert_eq!(part("x"), "x");
        assert_eq!(part("k y"), "K\u{a0}\u{ad}y");
        assert_eq!(part("-z"), "‑z");
        assert!(View::plain("Ünïcode — dashes").text.is_none());
    }

    proptest! {
        #[test]
        fn every_character_of_a_view_is_one_of_the_original(
            text in "([a-zA-Z ]{0,3}[\u{200b}\u{ad}\u{a0}\u{3000}İẞKΣ‑“é中]{0,2}){0,8}",
        ) {
            for (view, change) in
                [(View::plain(&text), plain_char as fn(char) -> _), (View::folded(&text), folded_char)]
            {
                for (at, seen) in view.text(&text).char_indices() {
                    let original = view.original(&text, at..at + seen.len_utf8());
                    let mut from = text.get(original.clone()).unwrap().chars();
                    prop_assert_eq!(from.next().and_then(change), Some(seen));
                    prop_assert_eq!(from.next(), None);
                    prop_assert_eq!(view.place_of(original.start), at);
                }
                let expected: String = text.chars().filter_map(change).collect();
                prop_assert_eq!(view.text(&text), &expected);
            }
        }
    }
}
