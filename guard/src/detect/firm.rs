//! What every sentence holds that fits a pattern, read from the pattern itself.
//!
//! A rule names the lists that must be present, which is what its author meant. What is found out here is what the
//! expression needs: where that is missing, it need not run.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::lexicon::{Language, NUMBER, expand_named};

/// What a sentence must hold to fit a pattern.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Firm {
    /// The lists of which a word stands in it. Not all that must be present: a pattern may have a branch without them.
    pub(super) lists: Vec<String>,
    /// One of these bytes is in it; none: no byte is sure.
    pub(super) bytes: Vec<u8>,
}

impl Firm {
    pub(super) fn of(language: &Language, pattern: &str) -> Firm {
        let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
        let hir = expand_named(language, pattern).ok().and_then(|named| parser.parse(&named).ok());
        hir.map_or_else(Firm::default, |hir| Firm {
            lists: lists(&hir),
            bytes: bytes(&hir).unwrap_or_default(),
        })
    }
}

/// The lists whose groups take part in every match.
fn lists(hir: &Hir) -> Vec<String> {
    match hir.kind() {
        HirKind::Capture(group) => {
            let mut found = lists(&group.sub);
            found.extend(group.name.as_deref().and_then(|name| Some(name.rsplit_once(NUMBER)?.0.to_owned())));
            found
        }
        HirKind::Concat(parts) => parts.iter().flat_map(lists).collect(),
        HirKind::Repetition(part) if part.min > 0 => lists(&part.sub),
        HirKind::Alternation(branches) => {
            let mut branches = branches.iter().map(lists);
            let first = branches.next().unwrap_or_default();
            branches.fold(first, |all, branch| all.into_iter().filter(|list| branch.contains(list)).collect())
        }
        _ => Vec::new(),
    }
}

/// A few bytes, one of which is in every match: signs, which do not depend on case and are rarer than letters.
fn bytes(hir: &Hir) -> Option<Vec<u8>> {
    /// As many as are looked for at once.
    const BYTES_MAX: usize = 3;
    let found = match hir.kind() {
        HirKind::Literal(text) => {
            let signs = text.0.iter().filter(|byte| byte.is_ascii_punctuation());
            signs.min_by_key(|byte| is_ordinary(byte)).map(|byte| vec![*byte])
        }
        HirKind::Class(class) => {
            let set: Vec<u8> = class_bytes(class).take(BYTES_MAX + 1).collect();
            Some(set).filter(|set| !set.is_empty() && set.iter().all(u8::is_ascii_punctuation))
        }
        // What stands for a list stands for words.
        HirKind::Capture(group) if group.name.is_some() => None,
        HirKind::Capture(group) => bytes(&group.sub),
        HirKind::Concat(parts) => {
            let cost = |set: &Vec<u8>| (set.iter().filter(|byte| is_ordinary(byte)).count(), set.len());
            parts.iter().filter_map(bytes).min_by_key(cost)
        }
        HirKind::Repetition(part) if part.min > 0 => bytes(&part.sub),
        HirKind::Alternation(branches) => {
            let sets: Option<Vec<Vec<u8>>> = branches.iter().map(bytes).collect();
            sets.map(|sets| sets.concat())
        }
        _ => None,
    };
    let mut found = found?;
    found.sort_unstable();
    found.dedup();
    Some(found).filter(|found| found.len() <= BYTES_MAX)
}

/// Signs that nearly every sentence has.
fn is_ordinary(byte: &u8) -> bool {
    matches!(byte, b'.' | b',' | b'-' | b'\'' | b'"')
}

fn class_bytes(class: &Class) -> impl Iterator<Item = u8> {
    let ranges: Vec<(u8, u8)> = match class {
        Class::Bytes(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
        // All that is not ASCII is one: it counts as a byte that is no sign.
        Class::Unicode(class) => class
            .iter()
            .map(|range| (range.start(), range.end()))
            .map(|(start, end)| {
                (u8::try_from(start).unwrap_or(u8::MAX), u8::try_from(end).unwrap_or(u8::MAX))
            })
            .collect(),
    };
    ranges.into_iter().flat_map(|(start, end)| start..=end)
}

#[cfg(test)]
mod tests {
    use super::Firm;
    use crate::detect::lexicon::{Language, Script};

    fn firm(pattern: &str) -> (Vec<String>, String) {
        let lists = &[("a", "one, two"), ("b", "three"), ("c", "four")];
        let language = Language { code: "en", script: Script::Latin, lists, parts: &[], rules: &[] };
        let Firm { mut lists, bytes } = Firm::of(&language, pattern);
        lists.sort();
        (lists, String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_list_is_firm_when_every_way_leads_through_it() {
        for (pattern, lists) in [
            ("<a> <b>", "a b"),
            ("<a>(?: <b>)?", "a"),
            ("<a>(?: <b>)*<c>", "a c"),
            ("(?:<a>|<b>) <c>", "c"),
            ("<a>|x", ""),
            ("<a> <b>|<b>~4<a>", "a b"),
            ("(?:<a>){1,3}", "a"),
            ("<!a><b>", "b"),
            ("<?a>", "a"),
        ] {
            assert_eq!(firm(pattern).0.join(" "), lists, "{pattern}");
        }
    }

    #[test]
    fn a_sign_is_firm_when_every_way_leads_through_one_of_few() {
        for (pattern, bytes) in [
            (r"<a>\s*:\s*\S", ":"),
            ("<<a>>|\\[x\\]", "<["),
            (r"<a>[.,:]<b>", ",.:"),
            (r"<a>[^:]<b>", ""),
            (r"<a>:?", ""),
            (r"\w+@\w+\.\w+", "@"),
            (r"<a>[#%&=]", ""),
            (r"x|#", ""),
        ] {
            assert_eq!(firm(pattern).1, bytes, "{pattern}");
        }
    }
}
