//! Which tools a policy can tell apart, where nobody lists them: names that the same patterns match are one tool to
//! it. All patterns are walked at once, character by character, so that no combination of them is missed.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// States of the walk: patterns with many stars in them multiply.
pub(crate) const STATES_MAX: usize = 20_000;

/// How a tool is shown whose name is empty.
const NAMELESS: &str = "(no name)";

/// One character of a name, or any number of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Any number of any characters.
    Any,
    /// One character in these ranges, or with `negated` in none of them.
    One { negated: bool, ranges: Vec<(char, char)> },
}

impl Piece {
    pub(crate) fn char(c: char) -> Piece {
        Piece::One { negated: false, ranges: vec![(c, c)] }
    }

    pub(crate) fn any_char() -> Piece {
        Piece::One { negated: true, ranges: Vec::new() }
    }

    /// A text, with anything before it or behind it.
    pub(crate) fn pattern(text: &str, open_start: bool, open_end: bool) -> Vec<Piece> {
        let star = |open: bool| open.then_some(Piece::Any);
        let chars = text.chars().map(Piece::char);
        star(open_start).into_iter().chain(chars).chain(star(open_end)).collect()
    }

    fn takes(&self, c: char) -> bool {
        match self {
            Piece::Any => true,
            Piece::One { negated, ranges } => {
                ranges.iter().any(|(low, high)| *low <= c && c <= *high) != *negated
            }
        }
    }

    fn is_one_char(&self) -> bool {
        matches!(self, Piece::One { negated: false, ranges } if matches!(ranges.as_slice(), [(low, high)] if low == high))
    }
}

/// Names that the same patterns match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    /// A shortest one.
    pub(crate) name: String,
    /// Which patterns match it.
    pub(crate) matched: Vec<bool>,
    /// It is the only one.
    pub(crate) is_one: bool,
}

/// What each class is called: where it is all that one pattern of the policy, and no other, is about, as that one is
/// spelled. `spelled` are the first patterns.
pub(crate) fn shown(classes: &[Class], spelled: &[&str]) -> Vec<String> {
    let only = |class: &Class| {
        let matched = spelled.iter().zip(&class.matched).filter(|(_, matched)| **matched);
        let of: BTreeSet<&str> = matched.map(|(spelled, _)| *spelled).collect();
        of.first().copied().filter(|_| of.len() == 1 && !class.is_one)
    };
    let all: Vec<Option<&str>> = classes.iter().map(only).collect();
    let is_alone = |name: &str| all.iter().flatten().filter(|other| **other == name).count() == 1;
    let shown = |(class, only): (&Class, &Option<&str>)| {
        let name = if class.name.is_empty() { NAMELESS } else { &class.name };
        only.filter(|only| is_alone(only)).unwrap_or(name).to_owned()
    };
    classes.iter().zip(&all).map(shown).collect()
}

/// All classes of names, those that no pattern matches included; `None` when there are too many states to tell.
pub(crate) fn classes(patterns: &[Vec<Piece>]) -> Option<Vec<Class>> {
    let alphabet = alphabet(patterns);
    let start: Vec<Positions> = patterns.iter().map(|pattern| closed(pattern, BTreeSet::from([0]))).collect();
    let of = |places: &[Positions]| -> Vec<bool> {
        patterns.iter().zip(places).map(|(pattern, places)| places.contains(&pattern.len())).collect()
    };
    let nameless = of(&start);
    let mut seen: HashSet<Vec<Positions>> = HashSet::from([start.clone()]);
    let mut open = VecDeque::from([(String::new(), start)]);
    let mut found: BTreeMap<Vec<bool>, String> = BTreeMap::new();
    while let Some((name, places)) = open.pop_front() {
        for c in &alphabet {
            let next: Vec<Positions> =
                patterns.iter().zip(&places).map(|(pattern, places)| step(pattern, places, *c)).collect();
            let longer = format!("{name}{c}");
            found.entry(of(&next)).or_insert_with(|| longer.clone());
            if seen.len() >= STATES_MAX {
                return None;
            }
            if seen.insert(next.clone()) {
                open.push_back((longer, next));
            }
        }
    }
    // A name of nothing, where no other one is decided like it: `?*` does not match it.
    found.entry(nameless).or_default();
    let class = |(matched, name): (Vec<bool>, String)| {
        let mut of = patterns.iter().zip(&matched);
        let is_one = of.any(|(pattern, matched)| *matched && pattern.iter().all(Piece::is_one_char));
        Class { name, matched, is_one }
    };
    Some(found.into_iter().map(class).collect())
}

/// Where a pattern may stand: each piece not yet taken; its length when it is through.
type Positions = BTreeSet<usize>;

/// A star may also take nothing.
fn closed(pattern: &[Piece], mut places: Positions) -> Positions {
    let mut open: Vec<usize> = places.iter().copied().collect();
    while let Some(at) = open.pop() {
        if pattern.get(at) == Some(&Piece::Any) && places.insert(at + 1) {
            open.push(at + 1);
        }
    }
    places
}

fn step(pattern: &[Piece], places: &Positions, c: char) -> Positions {
    let taken = places.iter().filter_map(|at| match pattern.get(*at)? {
        Piece::Any => Some(*at),
        piece => piece.takes(c).then_some(at + 1),
    });
    closed(pattern, taken.collect())
}

/// One character of each range that no pattern tells apart, a readable one where there is one.
fn alphabet(patterns: &[Vec<Piece>]) -> Vec<char> {
    let mut cuts = BTreeSet::from([0_u32]);
    for piece in patterns.iter().flatten() {
        if let Piece::One { ranges, .. } = piece {
            for (low, high) in ranges {
                cuts.extend([u32::from(*low), u32::from(*high) + 1]);
            }
        }
    }
    let cuts: Vec<u32> = cuts.into_iter().collect();
    let ends = cuts.iter().skip(1).copied().chain([u32::from(char::MAX) + 1]);
    let mut chars: Vec<char> =
        cuts.iter().zip(ends).filter_map(|(start, end)| readable(*start, end)).collect();
    // Of two names as short the one of letters is found.
    chars.sort_by_key(|c| (!c.is_ascii_lowercase(), !c.is_ascii_digit(), *c));
    chars
}

fn readable(start: u32, end: u32) -> Option<char> {
    let inside = |c: &char| (start..end).contains(&u32::from(*c));
    let nice = ('a'..='z').rev().chain('0'..='9').chain("_-./:".chars()).find(inside);
    let shown = || (' '..='~').find(inside);
    // The first of a range may be half of a surrogate pair, which no name has.
    nice.or_else(shown).or_else(|| (start..end).find_map(char::from_u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Vec<Piece> {
        let piece = |c| match c {
            '*' => Piece::Any,
            '?' => Piece::any_char(),
            c => Piece::char(c),
        };
        text.chars().map(piece).collect()
    }

    fn found(texts: &[&str]) -> Vec<(String, Vec<usize>, bool)> {
        let patterns: Vec<_> = texts.iter().map(|text| pattern(text)).collect();
        let of = |class: Class| {
            let matched = class.matched.iter().enumerate().filter(|(_, matched)| **matched);
            (class.name.clone(), matched.map(|(at, _)| at).collect(), class.is_one)
        };
        classes(&patterns).unwrap().into_iter().map(of).collect()
    }

    #[test]
    fn every_combination_of_patterns_is_a_tool() {
        let classes = found(&["write_*", "*_file", "write_file"]);
        let matched: Vec<Vec<usize>> = classes.iter().map(|(_, matched, _)| matched.clone()).collect();
        assert_eq!(matched, [vec![], vec![1], vec![0], vec![0, 1], vec![0, 1, 2]]);
        assert_eq!(classes[4], ("write_file".to_owned(), vec![0, 1, 2], true));
        assert!(classes[3].0.starts_with("write_") && classes[3].0.ends_with("_file") && !classes[3].2);
    }

    #[test]
    fn a_pattern_that_matches_everything_leaves_nothing_beside() {
        assert_eq!(found(&["*"]), [("z".to_owned(), vec![0], false)]);
        assert_eq!(found(&[]), [("z".to_owned(), vec![], false)]);
        assert_eq!(found(&["?"]).len(), 2);
        assert_eq!(found(&["?*"]), [(String::new(), vec![], false), ("z".to_owned(), vec![0], false)]);
    }

    #[test]
    fn too_many_combinations_are_told() {
        // Which of the last characters were what: two to the power of them.
        let many: Vec<_> = (0..9).map(|at| pattern(&format!("*{at}{}", "?".repeat(at + 8)))).collect();
        assert_eq!(classes(&many), None);
    }
}
