//! Sentences in rot13 or with digits for letters, told by words that only such a sentence holds.

use std::ops::Range;

use super::Reading;
use super::mapped::Mapped;

/// Words that are common in English, in rot13. They are words of no language, so two of them are enough.
pub(super) const ROT13: [&str; 14] = [
    "gur",
    "naq",
    "vtaber",
    "cerivbhf",
    "vafgehpgvba",
    "vafgehpgvbaf",
    "cyrnfr",
    "fraq",
    "lbhe",
    "lbh",
    "zrffntr",
    "cnffjbeq",
    "nppbhag",
    "jvgu",
];

/// The same with digits for letters, one of them among the first eight characters, by which words are known.
pub(super) const LEET: [&str; 19] = [
    "7h3",
    "th3",
    "4nd",
    "y0u",
    "y0ur",
    "1gn0r3",
    "ign0re",
    "1gnore",
    "pr3v10u5",
    "pr3v1ous",
    "1n57ruc710n5",
    "1nstruct10ns",
    "pl3453",
    "pl3ase",
    "53nd",
    "s3nd",
    "w17h",
    "fr0m",
    "4ll",
];

/// The sentence, deciphered.
pub(super) fn decipher(text: &str, at: Range<usize>, reading: Reading) -> Mapped {
    let sentence = text.get(at.clone()).unwrap_or_default();
    let mut out = Mapped::with_capacity(sentence.len());
    let plain = |byte: u8| match reading {
        Reading::Rot13 => rot13(byte),
        _ => unleet(byte),
    };
    let deciphered: String = sentence
        .chars()
        .map(|c| u8::try_from(c).map_or(c, |byte| char::from(if c.is_ascii() { plain(byte) } else { byte })))
        .collect();
    // One byte for one byte: the places are the same.
    out.copy(&deciphered, at.start);
    out
}

fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'm' | b'A'..=b'M' => byte + 13,
        b'n'..=b'z' | b'N'..=b'Z' => byte - 13,
        _ => byte,
    }
}

fn unleet(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        _ => byte,
    }
}
