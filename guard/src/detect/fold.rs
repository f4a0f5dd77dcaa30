//! Characters as they look: compatibility forms, look-alikes, marks on Latin letters, and what shows nothing.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_compatible;
use unicode_security::confusable_detection::skeleton;

use super::mapped::Mapped;

/// Characters that one may stand for; a longer ligature, as U+FDFA for eighteen, stays itself. A text of nothing else
/// would be read many times over.
const EXPANSION_MAX: usize = 4;

/// How far letters are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// Whatever looks like a Latin letter is one.
    Latin,
    /// The same, and what looks like an `l` is an `i`: a capital I and a small l look the same.
    LatinI,
    /// Other scripts stay as they are.
    Own,
}

/// A folded text.
pub(super) struct Folded {
    pub(super) mapped: Mapped,
    /// A letter was read as an `l` that may be an `i`.
    pub(super) has_l: bool,
    /// Letters of other alphabets are in it.
    pub(super) has_other: bool,
}

/// Folds a text.
pub(super) fn fold(text: &str, letters: Letters) -> Folded {
    let mut folded = Folded { mapped: Mapped::with_capacity(text.len()), has_l: false, has_other: false };
    let mut rest = text;
    let mut at = 0;
    while !rest.is_empty() {
        let plain = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, other) = rest.split_at(plain);
        folded.mapped.copy(ascii, at);
        at += ascii.len();
        let Some(character) = other.chars().next() else { break };
        folded.add(character, at, letters);
        at += character.len_utf8();
        rest = text.get(at..).unwrap_or_default();
    }
    folded
}

impl Folded {
    fn add(&mut self, character: char, at: usize, letters: Letters) {
        let from = at..at + character.len_utf8();
        match character {
            // Ideographs, kana, Hangul: nothing looks like them but their own.
            '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '、' | '。' => {
                self.has_other = true;
                self.mapped.put_char(character, from);
            }
            '‘' | '’' | 'ʼ' => self.mapped.put("'", from),
            '“' | '”' | '„' => self.mapped.put("\"", from),
            '\u{2010}'..='\u{2015}' => self.mapped.put("-", from),
            '\u{2028}' | '\u{2029}' | '\u{85}' => self.mapped.put("\n", from),
            '«' | '»' => self.mapped.put("\"", from),
            '…' => self.mapped.put("...", from),
            '•' | '·' => self.mapped.put("*", from),
            // Cyrillic and Greek, but for their marks: no compatibility forms, and their look-alikes are known.
            '\u{386}'..='\u{3ff}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' => {
                self.alphabet(character, from, letters)
            }
            _ if is_invisible(character) => {}
            _ if is_mark(character) => {
                if !self.ends_in_latin() {
                    self.mapped.put_char(character, from);
                }
            }
            _ => self.letter(character, from, letters),
        }
    }

    fn alphabet(&mut self, character: char, from: std::ops::Range<usize>, letters: Letters) {
        self.has_other = true;
        let latin = crate::text::latin(character);
        if letters != Letters::Own && latin.is_ascii() {
            return self.mapped.put_char(latin, from);
        }
        if letters == Letters::Own {
            // One for one; the rare capital that has two small letters stays.
            let mut small = character.to_lowercase();
            let small = small.next().filter(|_| small.next().is_none()).unwrap_or(character);
            return self.mapped.put_char(if small == 'ё' { 'е' } else { small }, from);
        }
        // The letters of Russian that have no look-alike are the most of a Russian text.
        let is_common = matches!(character, '\u{410}'..='\u{44f}');
        match Some(character).filter(|_| !is_common).and_then(|c| look(c.encode_utf8(&mut [0; 4]))) {
            Some('l') => {
                self.has_l = true;
                self.mapped.put(if letters == Letters::LatinI { "i" } else { "l" }, from);
            }
            Some(letter) => self.mapped.put_char(letter, from),
            None => self.mapped.put_char(character, from),
        }
    }

    fn letter(&mut self, character: char, from: std::ops::Range<usize>, letters: Letters) {
        let mut ascii = String::new();
        let mut is_ascii = true;
        decompose_compatible(character, |part| match part {
            _ if part.is_ascii() => ascii.push(part),
            _ if is_mark(part) => {}
            _ => is_ascii = false,
        });
        if is_ascii && !ascii.is_empty() {
            return self.mapped.put(&ascii, from);
        }
        if let Some(latin) = latin_letter(character) {
            return self.mapped.put(latin, from);
        }
        let same: String = std::iter::once(character).nfkc().take(EXPANSION_MAX + 1).collect();
        if same.chars().nth(EXPANSION_MAX).is_some() {
            self.has_other |= character.is_alphabetic();
            return self.mapped.put_char(character, from);
        }
        if letters == Letters::Own {
            self.has_other |= character.is_alphabetic();
            return self.mapped.put(&same, from);
        }
        match look(&same) {
            Some('l') if !is_small_l(character) => {
                self.has_l = true;
                let letter = if letters == Letters::LatinI { "i" } else { "l" };
                self.mapped.put(letter, from);
            }
            Some(letter) => self.mapped.put_char(letter, from),
            None => self.mapped.put(&same, from),
        }
        self.has_other |= character.is_alphabetic();
    }

    fn ends_in_latin(&self) -> bool {
        self.mapped.text().bytes().last().is_some_and(|byte| byte.is_ascii_graphic() || byte == b' ')
    }
}

/// The ASCII letter that the character looks like.
fn look(character: &str) -> Option<char> {
    let mut one = character.chars();
    if let (Some(only), None) = (one.next(), one.next()) {
        let known = crate::text::latin(only);
        if known.is_ascii() {
            return Some(known);
        }
    }
    let like: String = skeleton(character).filter(|c| !is_mark(*c)).collect();
    let mut letters = like.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(letter), None, None) if letter.is_ascii_graphic() => Some(letter),
        // The skeleton of `m` is `rn`.
        (Some('r'), Some('n'), None) => Some('m'),
        _ => None,
    }
}

/// Latin letters that no decomposition leads to.
fn latin_letter(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ħ' | 'Ħ' => "h",
        'þ' | 'Þ' => "th",
        'ı' => "i",
        _ => return None,
    })
}

fn is_small_l(character: char) -> bool {
    matches!(character, 'ӏ' | 'ʟ' | 'ɭ' | 'ƚ')
}

/// Shows nothing: format characters, variation selectors, fillers.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
            | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{17b4}' | '\u{17b5}'
    ) || get_general_category(character) == GeneralCategory::Format
}

fn is_mark(character: char) -> bool {
    matches!(
        get_general_category(character),
        GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark
    )
}

#[cfg(test)]
mod tests {
    use super::{EXPANSION_MAX, Letters, fold};

    #[test]
    fn a_long_ligature_stays_itself_and_a_short_one_is_read() {
        for letters in [Letters::Latin, Letters::LatinI, Letters::Own] {
            let text = "\u{fdfa}".repeat(3) + "ig";
            let folded = fold(&text, letters);
            assert_eq!(folded.mapped.text(), text);
            assert_eq!(folded.mapped.original(3..6), 3..6);
            // Four letters, and eight.
            assert_eq!(fold("\u{fdf2}", letters).mapped.text().chars().count(), EXPANSION_MAX);
            assert_eq!(fold("\u{fdfb}", letters).mapped.text(), "\u{fdfb}");
        }
    }
}
