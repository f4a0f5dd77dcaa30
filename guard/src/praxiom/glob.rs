//! Patterns of tool names as Python's `fnmatchcase` reads them: `*`, `?`, `[seq]`, `[!seq]`, whole name, case
//! matters. No escapes, no braces; a bracket that is never closed stands for itself.

/// Characters of a pattern: matching is the product of both lengths at worst.
pub(crate) const GLOB_CHARS_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
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

    pub(crate) fn text(&self) -> &str {
        &self.text
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
    fn a_pattern_has_a_limit() {
        let of = |chars| Glob::new(&"a".repeat(chars)).is_some();
        assert!(of(GLOB_CHARS_MAX - 1));
        assert!(of(GLOB_CHARS_MAX));
        assert!(!of(GLOB_CHARS_MAX + 1));
    }
}
