//! Characters as they look: compatibility forms, look-alikes, marks on Latin letters, and what shows nothing.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_compatible;
use unicode_security::confusable_detection::skeleton;

use super::count::looked;
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

/// What one character is folded to. It depends on nothing around it, so that it is looked up once for each character
/// of a text: decomposing one and looking for what it looks like takes a microsecond.
#[derive(Debug, Clone)]
struct Fold {
    as_what: As,
    /// It was read as an `l` that may be an `i`.
    has_l: bool,
    /// It is a letter of another alphabet.
    has_other: bool,
}

#[derive(Debug, Clone)]
enum As {
    /// Itself.
    Same,
    /// It shows nothing.
    Nothing,
    /// A mark: itself, unless a Latin letter stands before it.
    Mark,
    /// These.
    Text(String),
}

/// What was looked up last, by the last bits of the character: a text has few characters that are not ASCII, however
/// many of each. For one kind of [`Letters`].
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Option<(char, Fold)>>);

impl Known {
    /// A power of two.
    const SIZE: usize = 256;

    fn fold(&mut self, character: char, letters: Letters) -> Option<&Fold> {
        if self.0.is_empty() {
            self.0.resize_with(Known::SIZE, || None);
        }
        let slot = self.0.get_mut(character as usize & (Known::SIZE - 1))?;
        if slot.as_ref().is_none_or(|(known, _)| *known != character) {
            *slot = Some((character, Fold::of(character, letters)));
        }
        slot.as_ref().map(|(_, fold)| fold)
    }
}

/// Folds a text.
pub(super) fn fold(text: &str, letters: Letters, known: &mut Known) -> Folded {
    let mut folded = Folded { mapped: Mapped::with_capacity(text.len()), has_l: false, has_other: false };
    let bytes = text.as_bytes();
    looked(bytes.len());
    // What stays as it is, is copied in pieces: bytes before `copied` are in `folded`.
    let (mut copied, mut at) = (0, 0);
    loop {
        at += ascii_bytes(bytes.get(at..).unwrap_or_default());
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        let from = at..at + character.len_utf8();
        at = from.end;
        // Ideographs, kana, Hangul: nothing looks like them but their own.
        if matches!(character, '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') {
            folded.has_other = true;
            continue;
        }
        let Some(fold) = known.fold(character, letters) else { break };
        folded.has_l |= fold.has_l;
        folded.has_other |= fold.has_other;
        if matches!(fold.as_what, As::Same) {
            continue;
        }
        folded.mapped.copy(text.get(copied..from.start).unwrap_or_default(), copied);
        copied = from.end;
        match &fold.as_what {
            As::Mark if !folded.ends_in_latin() => {
                folded.mapped.copy(text.get(from.clone()).unwrap_or_default(), from.start)
            }
            As::Text(text) => folded.mapped.put(text, from),
            As::Mark | As::Nothing | As::Same => {}
        }
    }
    folded.mapped.copy(text.get(copied..).unwrap_or_default(), copied);
    folded
}

/// Bytes before the first that is not ASCII.
fn ascii_bytes(bytes: &[u8]) -> usize {
    const CHUNK: usize = 16;
    let (chunks, _) = bytes.as_chunks::<CHUNK>();
    let whole = chunks.iter().take_while(|chunk| chunk.is_ascii()).count() * CHUNK;
    whole + bytes.get(whole..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii()).count()
}

impl Folded {
    fn ends_in_latin(&self) -> bool {
        self.mapped.text().bytes().last().is_some_and(|byte| byte.is_ascii_graphic() || byte == b' ')
    }
}

impl Fold {
    fn of(character: char, letters: Letters) -> Fold {
        let text = |text: &str| Fold::plain(As::Text(text.to_owned()));
        match character {
            '、' | '。' => Fold { has_other: true, ..Fold::plain(As::Same) },
            '‘' | '’' | 'ʼ' => text("'"),
            '“' | '”' | '„' => text("\""),
            '\u{2010}'..='\u{2015}' => text("-"),
            '\u{2028}' | '\u{2029}' | '\u{85}' => text("\n"),
            '«' | '»' => text("\""),
            '…' => text("..."),
            '•' | '·' => text("*"),
            // Cyrillic and Greek, but for their marks: no compatibility forms, and their look-alikes are known.
            '\u{386}'..='\u{3ff}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' => {
                Fold { has_other: true, ..Fold::alphabet(character, letters) }
            }
            // Old forms of Cyrillic letters: to whoever reads without case they are those letters.
            '\u{1c80}'..='\u{1c88}' if letters == Letters::Own => {
                let small = character.to_uppercase().flat_map(char::to_lowercase).collect();
                Fold { has_other: true, ..Fold::text(character, small) }
            }
            _ if is_invisible(character) => Fold::plain(As::Nothing),
            _ if is_mark(character) => Fold::plain(As::Mark),
            _ => Fold::letter(character, letters),
        }
    }

    fn plain(as_what: As) -> Fold {
        Fold { as_what, has_l: false, has_other: false }
    }

    fn text(character: char, text: String) -> Fold {
        let is_same = text.chars().eq([character]);
        Fold::plain(if is_same { As::Same } else { As::Text(text) })
    }

    /// What is read as an `l`.
    fn small_l(letters: Letters) -> Fold {
        let letter = if letters == Letters::LatinI { "i" } else { "l" };
        Fold { has_l: true, ..Fold::plain(As::Text(letter.to_owned())) }
    }

    fn alphabet(character: char, letters: Letters) -> Fold {
        let latin = crate::text::latin(character);
        if letters != Letters::Own && latin.is_ascii() {
            return Fold::text(character, latin.into());
        }
        if letters == Letters::Own {
            // One for one; the rare capital that has two small letters stays.
            let mut small = character.to_lowercase();
            let small = small.next().filter(|_| small.next().is_none()).unwrap_or(character);
            return Fold::text(character, if small == 'ё' { 'е' } else { small }.into());
        }
        // The letters of Russian that have no look-alike are the most of a Russian text.
        let is_common = matches!(character, '\u{410}'..='\u{44f}');
        match Some(character).filter(|_| !is_common).and_then(|c| look(c.encode_utf8(&mut [0; 4]))) {
            Some('l') => Fold::small_l(letters),
            Some(letter) => Fold::text(character, letter.into()),
            None => Fold::plain(As::Same),
        }
    }

    fn letter(character: char, letters: Letters) -> Fold {
        let mut ascii = String::new();
        let mut is_ascii = true;
        decompose_compatible(character, |part| match part {
            _ if part.is_ascii() => ascii.push(part),
            _ if is_mark(part) => {}
            _ => is_ascii = false,
        });
        if is_ascii && !ascii.is_empty() {
            return Fold::text(character, ascii);
        }
        if let Some(latin) = latin_letter(character) {
            return Fold::text(character, latin.to_owned());
        }
        let has_other = character.is_alphabetic();
        let same: String = std::iter::once(character).nfkc().take(EXPANSION_MAX + 1).collect();
        if same.chars().nth(EXPANSION_MAX).is_some() {
            return Fold { has_other, ..Fold::plain(As::Same) };
        }
        if letters == Letters::Own {
            return Fold { has_other, ..Fold::text(character, same) };
        }
        let fold = match look(&same) {
            Some('l') if !is_small_l(character) => Fold::small_l(letters),
            Some(letter) => Fold::text(character, letter.into()),
            None => Fold::text(character, same),
        };
        Fold { has_other, ..fold }
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
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::{EXPANSION_MAX, Known, Letters, fold};
    use crate::detect::tables;

    /// A sentence is first shown to expressions that know small letters alone: `\u{1c81}` was once none, and a rule's own
    /// expression, to which it is a `д`, would not have been asked.
    #[test]
    fn no_other_form_of_a_rules_letter_is_left_in_a_text() {
        let words = tables::every_word().concat();
        for letter in words.chars().filter(|letter| !letter.is_ascii()) {
            let mut forms = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
            forms.case_fold_simple();
            for form in forms.iter().flat_map(|range| range.start()..=range.end()) {
                let folded = fold(&form.to_string(), Letters::Own, &mut Known::default());
                let is_gone = !folded.mapped.text().contains(form);
                assert!(form == letter || is_gone, "{form} is {letter}");
            }
        }
    }

    #[test]
    fn a_long_ligature_stays_itself_and_a_short_one_is_read() {
        for letters in [Letters::Latin, Letters::LatinI, Letters::Own] {
            let text = "\u{fdfa}".repeat(3) + "ig";
            let mut known = Known::default();
            let folded = fold(&text, letters, &mut known);
            assert_eq!(folded.mapped.text(), text);
            assert_eq!(folded.mapped.original(3..6), 3..6);
            // Four letters, and eight.
            assert_eq!(fold("\u{fdf2}", letters, &mut known).mapped.text().chars().count(), EXPANSION_MAX);
            assert_eq!(fold("\u{fdfb}", letters, &mut known).mapped.text(), "\u{fdfb}");
        }
    }
}
