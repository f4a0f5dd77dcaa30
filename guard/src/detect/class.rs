//! What each byte of a text means to whoever looks for words in it.

/// What a byte may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    None,
    /// It belongs to a word: letters, digits, and everything outside ASCII.
    Word,
    /// A sentence may end before it.
    Space,
    /// The same, and lines do.
    Line,
    /// Emphasis.
    Emphasis,
    /// A tag, an entity, an escape.
    Escape,
}

impl Class {
    #[inline]
    pub(super) fn of(byte: u8) -> Class {
        CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Word)
    }
}

/// Looked up, for it is asked of every byte that is no letter.
const CLASSES: [Class; 256] = {
    let (mut classes, mut at) = ([Class::None; 256], 0);
    while at < 256 {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler")]
        {
            classes[at] = class(at as u8);
        }
        at += 1;
    }
    classes
};

const fn class(byte: u8) -> Class {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | 0x80..=0xff => Class::Word,
        b' ' | b'\t' | b'\r' => Class::Space,
        b'\n' => Class::Line,
        b'*' | b'_' | b'~' | b'`' => Class::Emphasis,
        b'&' | b'%' | b'\\' | b'<' | b'=' => Class::Escape,
        _ => Class::None,
    }
}
