//! Patterns of tool names as Python's `fnmatchcase` reads them: `*`, `?`, `[seq]`, `[!seq]`, whole name, case
//! matters. No escapes, no braces; a bracket that is never closed stands for itself.

use crate::prove::Piece;

/// Characters of a pattern: matching is the product of both lengths at worst.
pub(crate) const GLOB_CHARS_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Any,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
    Star,
}

/// A pattern of tool names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    text: String,
    parts: Vec<Part>,
}

impl Glob {
    /// `None` when it is longer than [`GLOB_CHARS_MAX`].
    pub(crate) fn new(text: &str) -> Option<Glob> {
        let chars: Vec<char> = text.chars().collect();
        if chars.len() > GLOB_CHARS_MAX {
            return None;
        }
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(c) = chars.get(at) {
            at += 1;
            match c {
                '*' if parts.last() == Some(&Part::Star) => {}
                '*' => parts.push(Part::Star),
                '?' => parts.push(Part::Any),
                '[' => match set(chars.get(at..).unwrap_or_default()) {
                    Some((part, taken)) => {
                        parts.push(part);
                        at += taken;
                    }
                    None => parts.push(Part::Char('[')),
                },
                c => parts.push(Part::Char(*c)),
            }
        }
        Some(Glob { text: text.to_owned(), parts })
    }

    /// Its parts, for a walk over several patterns at once.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let piece = |part: &Part| match part {
            Part::Any => Piece::any_char(),
            Part::Char(c) => Piece::char(*c),
            Part::Set { negated, ranges } => Piece::One { negated: *negated, ranges: ranges.clone() },
            Part::Star => Piece::Any,
        };
        self.parts.iter().map(piece).collect()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches any name that begins so.
    pub(crate) fn may_match_after(&self, prefix: &str) -> bool {
        !self.after(prefix).is_empty()
    }

    /// What is left of it once the beginning of a name is taken off: globs over the rest, of which one must match. A
    /// glob that matches nothing whatever comes is none.
    pub(crate) fn after(&self, prefix: &str) -> Vec<&[Part]> {
        let mut here = vec![false; self.parts.len() + 1];
        if let Some(first) = here.first_mut() {
            *first = true;
        }
        self.skip_stars(&mut here);
        for c in prefix.chars() {
            let mut next = vec![false; here.len()];
            for (at, part) in self.parts.iter().enumerate() {
                if here.get(at) != Some(&true) {
                    continue;
                }
                let to = match part {
                    Part::Star => at,
                    part if part.is(c) => at + 1,
                    _ => continue,
                };
                if let Some(reached) = next.get_mut(to) {
                    *reached = true;
                }
            }
            self.skip_stars(&mut next);
            here = next;
        }
        // A set that holds nothing matches nothing, whatever comes.
        let is_closed =
            |part: &Part| matches!(part, Part::Set { negated: false, ranges } if ranges.is_empty());
        let after_last = self.parts.iter().rposition(is_closed).map_or(0, |at| at + 1);
        let reached = here.iter().enumerate().skip(after_last).filter(|(_, reached)| **reached);
        // A star that is still there takes what the place behind it would have begun with.
        let is_behind_star = |at: usize| {
            at.checked_sub(1).is_some_and(|before| {
                here.get(before) == Some(&true) && self.parts.get(before) == Some(&Part::Star)
            })
        };
        let reached = reached.filter(|(at, _)| *at <= after_last || !is_behind_star(*at));
        reached.filter_map(|(at, _)| self.parts.get(at..)).collect()
    }

    /// Whether a name may match both; where a set is compared with one, taken to be so.
    pub(crate) fn meets(&self, other: &Glob) -> bool {
        let (width, mut seen) =
            (other.parts.len() + 1, vec![false; (self.parts.len() + 1) * (other.parts.len() + 1)]);
        let mut open = vec![(0, 0)];
        while let Some((a, b)) = open.pop() {
            match seen.get_mut(a * width + b) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            let (left, right) = (self.parts.get(a), other.parts.get(b));
            if (left, right) == (None, None) {
                return true;
            }
            if left == Some(&Part::Star) {
                open.push((a + 1, b));
            }
            if right == Some(&Part::Star) {
                open.push((a, b + 1));
            }
            let (Some(left), Some(right)) = (left, right) else { continue };
            if left.meets(right) {
                let on = |part: &Part, at: usize| if *part == Part::Star { at } else { at + 1 };
                open.push((on(left, a), on(right, b)));
            }
        }
        false
    }

    /// A star may take nothing.
    fn skip_stars(&self, here: &mut [bool]) {
        for (at, part) in self.parts.iter().enumerate() {
            if *part == Part::Star
                && here.get(at) == Some(&true)
                && let Some(next) = here.get_mut(at + 1)
            {
                *next = true;
            }
        }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let mut part = 0;
        let mut rest = name.chars();
        // The last star and what it has not taken yet: only the last one is ever tried again.
        let mut again: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            if self.parts.get(part) == Some(&Part::Star) {
                part += 1;
                again = Some((part, rest.clone()));
                continue;
            }
            let mut next = rest.clone();
            let fits = match (self.parts.get(part), next.next()) {
                (None, None) => return true,
                (Some(wanted), Some(c)) => wanted.is(c),
                _ => false,
            };
            if fits {
                part += 1;
                rest = next;
                continue;
            }
            let Some((after, mut taken)) = again.take() else { return false };
            if taken.next().is_none() {
                return false;
            }
            part = after;
            rest = taken.clone();
            again = Some((after, taken));
        }
    }
}

impl Part {
    fn meets(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::Char(a), other) => *other == Part::Star || other.is(*a),
            (one, Part::Char(b)) => *one == Part::Star || one.is(*b),
            _ => true,
        }
    }

    fn is(&self, c: char) -> bool {
        match self {
            Part::Any => true,
            Part::Char(wanted) => *wanted == c,
            Part::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| *low <= c && c <= *high) != *negated
            }
            Part::Star => false,
        }
    }
}

/// What follows a `[`: the set and how many characters it takes.
fn set(rest: &[char]) -> Option<(Part, usize)> {
    let negated = rest.first() == Some(&'!');
    // A bracket directly behind the start belongs to the set.
    let first = usize::from(negated);
    let skip = first + usize::from(rest.get(first) == Some(&']'));
    let end = skip + rest.get(skip..)?.iter().position(|c| *c == ']')?;
    let body = rest.get(first..end)?;
    Some((Part::Set { negated, ranges: ranges(body) }, end + 1))
}

/// `a-c` is a range, a hyphen at either end is itself; a reversed range holds nothing.
fn ranges(body: &[char]) -> Vec<(char, char)> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(low) = body.get(at) {
        match (body.get(at + 1), body.get(at + 2)) {
            (Some('-'), Some(high)) => {
                if low <= high {
                    ranges.push((*low, *high));
                }
                at += 3;
            }
            _ => {
                ranges.push((*low, *low));
                at += 1;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_fnmatch() {
        let yes = [
            ("t__*", "t__"),
            ("*__read*", "fs__read_file"),
            ("a?c", "a\nc"),
            ("*a*b", "xaxbxab"),
            ("[!!]", "x"),
            ("[]]", "]"),
            ("[!]]", "a"),
            ("[a-]", "-"),
            ("[-a]", "-"),
            ("[^a]", "^"),
            ("[", "["),
            ("[abc", "[abc"),
            ("a[", "a["),
            ("é*", "éx"),
            ("{a,b}", "{a,b}"),
            ("", ""),
            ("**", "anything"),
            ("[!z-a]", "q"),
        ];
        for (glob, name) in yes {
            assert!(Glob::new(glob).unwrap().matches(name), "{glob} {name}");
        }
        let no = [
            ("t__*", "T__a"),
            ("[z-a]", "m"),
            ("[!!]", "!"),
            ("[]", "]"),
            ("", "a"),
            ("a", "ab"),
            ("[!]]", "]"),
            ("[a-c]", "d"),
            ("*a", "ab"),
        ];
        for (glob, name) in no {
            assert!(!Glob::new(glob).unwrap().matches(name), "{glob} {name}");
        }
    }

    #[test]
    fn a_pattern_may_match_what_begins_so() {
        let may = |glob: &str, prefix: &str| Glob::new(glob).unwrap().may_match_after(prefix);
        for glob in ["fs__*", "*", "*__read", "f?__x", "[a-f]s__*", "fs__read_file", "fs__", "fs*x", "**a"] {
            assert!(may(glob, "fs__"), "{glob}");
        }
        for glob in ["files__*", "fs", "fs_", "f__*", "FS__*", "", "[!f]*", "fs__[z-a]", "*[z-a]*"] {
            assert!(!may(glob, "fs__"), "{glob}");
        }
        assert!(may("", "") && !may("a", "b"));
    }

    #[test]
    fn patterns_meet_where_a_name_may_match_both() {
        let meet = |a: &str, b: &str| {
            let (a, b) = (Glob::new(a).unwrap(), Glob::new(b).unwrap());
            assert_eq!(a.meets(&b), b.meets(&a));
            a.meets(&b)
        };
        for (a, b) in
            [("a", "a"), ("*", "x"), ("a*", "*b"), ("a?", "ab"), ("[a-c]", "[b-d]"), ("*a*", "b*"), ("", "*")]
        {
            assert!(meet(a, b), "{a} {b}");
        }
        for (a, b) in
            [("a", "b"), ("a*", "b*"), ("a?", "a"), ("[a-c]", "d"), ("fs__read*", "fs__write*"), ("", "?")]
        {
            assert!(!meet(a, b), "{a} {b}");
        }
    }

    #[test]
    fn a_pattern_has_a_limit() {
        let of = |chars| Glob::new(&"a".repeat(chars)).is_some();
        assert!(of(GLOB_CHARS_MAX - 1));
        assert!(of(GLOB_CHARS_MAX));
        assert!(!of(GLOB_CHARS_MAX + 1));
    }
}
