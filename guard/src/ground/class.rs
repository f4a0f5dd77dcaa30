//! Classes of characters as the rules mean them.
//!
//! Neither Rust's nor the `regex` crate's word characters serve: they count combining marks and joiners (and
//! leave out superscripts), so that a value next to one would stand alone for one reader and not for another.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// Scripts without format characters, spaces and digits of their own: nearly all of a text that is not ASCII. A look
/// at the table of categories costs more than all else that is done to a character.
fn is_of_common_script(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Scripts without small and capital letters.
pub(crate) fn is_caseless(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}')
}

/// Letters and all numbers; no marks.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    is_letter(c)
        || matches!(
            get_general_category(c),
            Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber
        )
}

/// Letters, numbers, the underscore.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || is_alphanumeric(c)
}

pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(
        get_general_category(c),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
    )
}

/// A digit of any script that can stand in a number.
pub(crate) fn is_decimal(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    !is_of_common_script(c) && get_general_category(c) == Category::DecimalNumber
}

/// What such a digit counts. The digits of a script follow each other from zero to nine.
pub(crate) fn decimal_value(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    is_decimal(c).then(|| {
        let before = |n: &u32| u32::from(c).checked_sub(*n).and_then(char::from_u32).is_some_and(is_decimal);
        // Five styles of mathematical digits stand side by side: no run is longer than 50.
        let first = (1..=50).find(|n| !before(n)).unwrap_or(1);
        (first - 1) % 10
    })
}

/// Digits also where they are raised, lowered or circled: a text of them alone is an identifier.
pub(crate) fn is_digit(c: char) -> bool {
    is_decimal(c)
        || matches!(c,
            '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{1369}'..='\u{1371}' | '\u{19da}' | '\u{2070}'
            | '\u{2074}'..='\u{2079}' | '\u{2080}'..='\u{2089}' | '\u{2460}'..='\u{2468}'
            | '\u{2474}'..='\u{247c}' | '\u{2488}'..='\u{2490}' | '\u{24ea}' | '\u{24f5}'..='\u{24fd}'
            | '\u{24ff}' | '\u{2776}'..='\u{277e}' | '\u{2780}'..='\u{2788}' | '\u{278a}'..='\u{2792}'
            | '\u{10a40}'..='\u{10a43}' | '\u{10e60}'..='\u{10e68}' | '\u{11052}'..='\u{1105a}'
            | '\u{1f100}'..='\u{1f10a}')
}

/// White space, the four separators of ASCII too.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Zero-width and direction characters, tags, the soft hyphen: they show nothing and part nothing.
pub(crate) fn is_format(c: char) -> bool {
    !c.is_ascii() && !is_of_common_script(c) && get_general_category(c) == Category::Format
}

/// A space of any width.
pub(crate) fn is_space_separator(c: char) -> bool {
    let other = || !c.is_ascii() && !is_of_common_script(c);
    c == ' ' || other() && get_general_category(c) == Category::SpaceSeparator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_joiners_are_no_word_characters() {
        for c in ['\u{301}', '\u{94d}', '\u{947}', '\u{200d}', '\u{203f}', 'Ⓐ', '·', ' '] {
            assert!(!is_word(c), "{c:?}");
        }
        for c in ['a', 'é', 'я', '中', '_', '7', '²', '½', 'Ⅷ', '٣', 'ª', 'ʰ'] {
            assert!(is_word(c), "{c:?}");
        }
    }

    #[test]
    fn common_scripts_have_only_what_is_said_of_them() {
        use Category::{DecimalNumber, Format, SpaceSeparator};
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let special = matches!(get_general_category(c), DecimalNumber | Format | SpaceSeparator);
            assert!(!(special && is_of_common_script(c)), "{c:?}");
            assert!(!is_caseless(c) || c.to_lowercase().eq([c]), "{c:?}");
        }
    }

    #[test]
    fn digits_count_in_every_script() {
        let decimals = (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_decimal(*c));
        let mut expected = (0..10).cycle();
        for c in decimals {
            assert_eq!(decimal_value(c), expected.next(), "{c:?}");
        }
        assert_eq!(decimal_value('²'), None);
        assert!(is_digit('²') && is_digit('①') && !is_digit('½'));
    }
}
