//! Characters that a person does not see and a program reads.
//!
//! Unicode's format characters (category Cf) hide instructions, split words that a filter looks for, and turn the
//! reading order round. Joiners are the exception: emoji families, Persian and Indic words are written with
//! them, so they may stand where they belong and nowhere else.

use super::mismatch::Place;
use crate::json::{Kind, Value};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_joining_type::{JoiningType, get_joining_type};
use unicode_normalization::char::canonical_combining_class;
use unicode_properties::{EmojiStatus, UnicodeEmoji as _};

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';
const BLACK_FLAG: char = '\u{1f3f4}';
const CANCEL_TAG: char = '\u{e007f}';

/// The flags of England, Scotland and Wales: the only tag sequences that Unicode recommends.
const SUBDIVISIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Findings of one call; the first ones say enough.
const FINDINGS_MAX: usize = 16;

/// Invisible characters in one string or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invisible {
    /// Where, for people; a name without its invisible characters (`?` if nothing is left).
    pub path: String,
    /// Where, as a JSON Pointer, the name as it is.
    pub pointer: String,
    /// Whether they stand in a member's name.
    pub in_key: bool,
    /// Which, each once, sorted.
    pub code_points: Vec<char>,
}

impl std::fmt::Display for Invisible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: Vec<String> = self
            .code_points
            .iter()
            .take(5)
            .map(|character| format!("U+{:04X}", u32::from(*character)))
            .collect();
        let more = if self.code_points.len() > shown.len() { ", …" } else { "" };
        write!(f, "invisible characters in argument `{}` ({}{more})", self.path, shown.join(", "))
    }
}

/// Invisible characters in any string or name, at any depth.
#[must_use]
pub fn invisible(arguments: Value<'_>) -> Vec<Invisible> {
    invisible_except(arguments, |_| false)
}

/// [`invisible`] without the arguments that may hold any: these are passed over, not filtered out afterwards, or
/// sixteen findings in one of them would hide those in the others.
pub(crate) fn invisible_except(arguments: Value<'_>, is_free: impl Fn(&str) -> bool) -> Vec<Invisible> {
    let mut found = Vec::new();
    // Nearly every call is ASCII, which holds none.
    if arguments.raw().is_ascii() && !arguments.raw().contains("\\u") {
        return found;
    }
    if arguments.kind() != Kind::Object {
        visit(arguments, &Place::default(), &mut found);
    }
    for (name, argument) in arguments.members().filter(|(name, _)| !is_free(name)) {
        member(name, argument, &Place::default(), &mut found);
    }
    found
}

// The reader's limit bounds the recursion.
fn visit(value: Value<'_>, place: &Place, found: &mut Vec<Invisible>) {
    if found.len() >= FINDINGS_MAX {
        return;
    }
    match value.kind() {
        Kind::String => report(value.as_str().unwrap_or_default(), place, false, found),
        Kind::Array => {
            for (position, item) in value.items().enumerate() {
                visit(item, &place.item(position), found);
            }
        }
        Kind::Object => {
            for (name, value) in value.members() {
                member(name, value, place, found);
            }
        }
        Kind::Null | Kind::Bool | Kind::Number => {}
    }
}

fn member(name: &str, value: Value<'_>, place: &Place, found: &mut Vec<Invisible>) {
    let here = Place { path: place.member(&visible(name)).path, pointer: place.member(name).pointer };
    report(name, &here, true, found);
    visit(value, &here, found);
}

fn report(text: &str, place: &Place, in_key: bool, found: &mut Vec<Invisible>) {
    let mut code_points = misplaced(text);
    if code_points.is_empty() || found.len() >= FINDINGS_MAX {
        return;
    }
    code_points.sort_unstable();
    code_points.dedup();
    found.push(Invisible { path: place.path.clone(), pointer: place.pointer.clone(), in_key, code_points });
}

/// A name as it looks.
fn visible(name: &str) -> String {
    if name.is_ascii() {
        return name.to_owned();
    }
    let seen: String = name.chars().filter(|character| !is_format(*character)).collect();
    if seen.is_empty() { "?".to_owned() } else { seen }
}

fn is_format(character: char) -> bool {
    !character.is_ascii() && get_general_category(character) == GeneralCategory::Format
}

/// The format characters that do not belong where they stand.
fn misplaced(text: &str) -> Vec<char> {
    if text.is_ascii() {
        return Vec::new();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(character) = characters.get(at).copied() {
        if character == BLACK_FLAG {
            at += 1 + flag_length(characters.get(at + 1..).unwrap_or_default());
            continue;
        }
        let (before, after) = characters.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let belongs = match character {
            ZWJ => after_virama(before) || joins_emoji(before, after),
            ZWNJ => after_virama(before) || breaks_cursive(before, after),
            _ => !is_format(character),
        };
        if !belongs {
            out.push(character);
        }
        at += 1;
    }
    out
}

/// How many characters after a black flag make it a country's flag: tags and the cancel tag.
fn flag_length(after: &[char]) -> usize {
    let length = SUBDIVISIONS[0].len();
    let Some((tags, rest)) = after.split_at_checked(length) else { return 0 };
    let untagged: String =
        tags.iter().filter_map(|tag| char::from_u32(u32::from(*tag).checked_sub(0xe0000)?)).collect();
    let is_flag = SUBDIVISIONS.contains(&untagged.as_str()) && rest.first() == Some(&CANCEL_TAG);
    if is_flag { length + 1 } else { 0 }
}

/// RFC 5892, appendix A.1 and A.2: a joiner after a virama picks the form of an Indic conjunct.
fn after_virama(before: &[char]) -> bool {
    before.last().is_some_and(|last| canonical_combining_class(*last) == 9)
}

/// RFC 5892, appendix A.1: between letters that would join, over marks that do not count.
fn breaks_cursive(before: &[char], after: &[char]) -> bool {
    // Marks without end are no word; and looking past them all from each joiner would be quadratic.
    let side = |mut letters: std::iter::Take<&mut dyn Iterator<Item = &char>>| {
        letters.find(|letter| get_joining_type(**letter) != JoiningType::Transparent).copied()
    };
    let left = side((&mut before.iter().rev() as &mut dyn Iterator<Item = &char>).take(MARKS_MAX + 1));
    let right = side((&mut after.iter() as &mut dyn Iterator<Item = &char>).take(MARKS_MAX + 1));
    let joins = |letter: Option<char>, kinds: [JoiningType; 2]| {
        letter.is_some_and(|letter| kinds.contains(&get_joining_type(letter)))
    };
    joins(left, [JoiningType::LeftJoining, JoiningType::DualJoining])
        && joins(right, [JoiningType::RightJoining, JoiningType::DualJoining])
}

/// Marks between a letter and a joiner.
const MARKS_MAX: usize = 16;

/// UTS 51: emoji, with a skin tone or a presentation selector, joined to an emoji.
fn joins_emoji(before: &[char], after: &[char]) -> bool {
    let mut left = before.iter().rev().copied();
    let base = match left.next() {
        Some('\u{fe0f}') => left.next(),
        other => other,
    };
    let base = match base {
        Some(tone) if is_skin_tone(tone) => left.next().filter(|base| is_pictographic(*base)),
        other => other,
    };
    base.is_some_and(is_pictographic) && after.first().copied().is_some_and(is_pictographic)
}

fn is_skin_tone(character: char) -> bool {
    character.emoji_status() == EmojiStatus::EmojiPresentationAndModifierAndEmojiComponent
}

/// An emoji that is no digit, flag letter or skin tone.
fn is_pictographic(character: char) -> bool {
    matches!(
        character.emoji_status(),
        EmojiStatus::EmojiPresentation
            | EmojiStatus::EmojiModifierBase
            | EmojiStatus::EmojiPresentationAndModifierBase
            | EmojiStatus::EmojiOther
    )
}
