//! Names that look alike: a person, a model or a careless reader takes one for the other.
//!
//! Names compare byte for byte, always. This only tells why a name that is not the same was sent: case,
//! another form of the same letters (NFKC), a character nobody sees, a letter of another alphabet.
//!
//! ```
//! use framegate_guard::look::{Look, look_alike};
//! assert_eq!(look_alike("read_file", "Read_File"), Some(Look::Case));
//! assert_eq!(look_alike("read_file", "read\u{200b}_file"), Some(Look::Invisible));
//! assert_eq!(look_alike("read_file", "re\u{430}d_file"), Some(Look::Alphabet));
//! assert_eq!(look_alike("read_file", "read_file"), None, "the same name does not look alike, it is it");
//! assert_eq!(look_alike("read_file", "write_file"), None);
//! ```

use std::fmt;
use unicode_normalization::UnicodeNormalization as _;

/// How one name resembles another. The first that explains the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Upper and lower case, `ſ` for `s` and the like.
    Case,
    /// Another form of the same characters: full width, ligatures, accents composed or not.
    Form,
    /// White space, control or other characters that show nothing.
    Invisible,
    /// A letter of another alphabet that is drawn the same.
    Alphabet,
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Look::Case => "differs in case only",
            Look::Form => "has another form of the same characters",
            Look::Invisible => "has characters that cannot be seen",
            Look::Alphabet => "has letters of another alphabet",
        })
    }
}

/// How `a` resembles `b`; `None` when they are the same, or simply different.
#[must_use]
pub fn look_alike(a: &str, b: &str) -> Option<Look> {
    if a == b {
        return None;
    }
    // Each fold is the one before and one more, so the first that agrees names the cause.
    if fold_case(a) == fold_case(b) {
        Some(Look::Case)
    } else if fold_form(a) == fold_form(b) {
        Some(Look::Form)
    } else if fold(a) == fold(b) {
        Some(Look::Invisible)
    } else {
        (skeleton(a) == skeleton(b)).then_some(Look::Alphabet)
    }
}

/// The name without case, compatibility forms and characters that show nothing: two keys with one fold are
/// one key to some reader. Not for display.
#[must_use]
pub fn fold(name: &str) -> String {
    if name.is_ascii() {
        let shown = name.bytes().filter(u8::is_ascii_graphic);
        return shown.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    fold_form(&name.chars().filter(|&c| !is_unseen(c)).collect::<String>())
}

/// Whether a character shows nothing: control, white space, format (Cf) and the other code points that
/// Unicode lets a renderer ignore.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    let code = u32::from(c);
    c.is_control() || c.is_whitespace() || UNSEEN.iter().any(|&(first, last)| (first..=last).contains(&code))
}

/// `Default_Ignorable_Code_Point`, `Cf` and the blank letters of Unicode 16.
const UNSEEN: [(u32, u32); 26] = [
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x0600, 0x0605),
    (0x061C, 0x061C),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
];

fn fold_case(name: &str) -> String {
    // Up and down again: `ſ` and the Kelvin sign have an upper case (or a lower one) that is plain.
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn fold_form(name: &str) -> String {
    // Normalization can make an upper-case letter (from `Ａ`), and case folding a composable pair.
    let folded: String = fold_case(&name.nfkc().collect::<String>());
    folded.nfkc().collect()
}

/// [`fold`], and letters that are drawn alike as one. Only the ones that whole words can be written in. Names
/// that look alike in any way have the same one.
pub(crate) fn skeleton(name: &str) -> String {
    fold(name).chars().map(plain_letter).collect()
}

fn plain_letter(c: char) -> char {
    const DRAWN_ALIKE: [(char, &str); 21] = [
        ('a', "аαɑ"),
        ('b', "ь"),
        ('c', "сϲ"),
        ('d', "ԁ"),
        ('e', "еҽ"),
        ('g', "ɡ"),
        ('h', "һ"),
        ('i', "іιɩ"),
        ('j', "јϳ"),
        ('k', "кκ"),
        ('l', "ӏ"),
        ('m', "м"),
        ('n', "пո"),
        ('o', "оοօ"),
        ('p', "рρ"),
        ('q', "ԛ"),
        ('s', "ѕ"),
        ('t', "тτ"),
        ('u', "υս"),
        ('v', "ѵν"),
        ('w', "ԝѡ"),
    ];
    match c {
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        c if c.is_ascii() => c,
        c => DRAWN_ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(plain, _)| *plain),
    }
}

#[cfg(test)]
mod tests;
