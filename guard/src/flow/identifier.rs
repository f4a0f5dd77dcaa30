//! Names that stand for one thing only, inside running text: addresses, links, account numbers, file names, and
//! what is quoted. Where one of these comes from says where the call that carries it goes.

use std::ops::Range;

use super::day::Day;
use super::parting::squeezed;

/// Shorter ones stand in many texts by chance.
pub(super) const LETTERS_MIN: usize = 6;
/// Longer ones are text.
const BYTES_MAX: usize = 200;

/// Parts identifiers, besides white space.
const BORDERS: &[char] = &[
    '"', '\'', '`', '<', '>', '(', ')', '{', '}', '[', ']', ',', ';', '|', '\\', '“', '”', '‘', '’', '«',
    '»', '„',
];

/// One identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    /// Its letters and digits.
    pub(super) letters: String,
}

/// The identifiers within these bytes of a text.
pub(super) fn identifiers(text: &str, within: &Range<usize>) -> Vec<Identifier> {
    let Some((start, part)) = bounded(text, within) else { return Vec::new() };
    let at = |piece: &str| start + (piece.as_ptr().addr() - part.as_ptr().addr());
    let pieces = part.split(|c: char| c.is_whitespace() || BORDERS.contains(&c)).map(|piece| {
        piece.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '-' | '*' | '=' | '#'))
    });
    let named = pieces.filter(|piece| is_identifier(piece));
    let named = named.filter_map(|piece| identifier(at(piece), piece));
    let quoted = quotes(part).into_iter().filter_map(|piece| identifier(at(piece), piece));
    named.chain(quoted).collect()
}

/// The part of a text within these bytes, at character boundaries.
fn bounded<'a>(text: &'a str, within: &Range<usize>) -> Option<(usize, &'a str)> {
    let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (start, end) = (boundary(within.start), boundary(within.end.min(text.len())));
    Some((start, text.get(start..end)?))
}

fn identifier(start: usize, piece: &str) -> Option<Identifier> {
    // However a link is written, it leads to the same place.
    let bare = piece.split_once("://").map_or(piece, |(_, rest)| rest);
    let letters = squeezed(bare.strip_prefix("www.").unwrap_or(bare));
    let is_long_enough = letters.chars().count() >= LETTERS_MIN;
    (is_long_enough && Day::of(piece).is_none())
        .then(|| Identifier { span: start..start + piece.len(), letters })
}

fn is_identifier(piece: &str) -> bool {
    if piece.len() > BYTES_MAX || !piece.chars().any(char::is_alphanumeric) {
        return false;
    }
    let is_account = piece.chars().any(|c| c.is_numeric())
        && piece.chars().filter(|c| c.is_alphanumeric()).count() >= LETTERS_MIN;
    let is_mail = piece.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    let is_link = piece.contains("://") || piece.starts_with("www.");
    let is_name = piece.split('_').filter(|part| !part.is_empty()).count() > 1;
    is_account || is_mail || is_link || is_name || is_dotted(piece)
}

/// Whether a text is, or holds, a link, with or without its scheme.
pub(super) fn is_link(text: &str) -> bool {
    let mut words = text.split_whitespace();
    is_dotted(text.trim()) || words.any(|word| word.contains("://") || word.starts_with("www."))
}

/// `evil.example/path`, `report.docx`: labels with dots between, the last of letters alone.
fn is_dotted(piece: &str) -> bool {
    let host = piece.split('/').next().unwrap_or_default();
    let mut labels = host.rsplit('.');
    let is_last = |label: &str| (2..=10).contains(&label.len()) && label.chars().all(char::is_alphabetic);
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    labels.next().is_some_and(is_last) && labels.clone().next().is_some() && labels.all(is_label)
}

/// What stands between quotes on one line.
fn quotes(text: &str) -> Vec<&str> {
    /// Of what is quoted.
    const QUOTED: Range<usize> = 3..80;
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let closes = match character {
            '“' | '„' => Some('”'),
            '‘' => Some('’'),
            '«' => Some('»'),
            '"' | '\'' | '`' => Some(character),
            _ => None,
        };
        match (open, closes) {
            (Some((start, close)), _) if character == close => {
                found.extend(text.get(start..at).filter(|piece| QUOTED.contains(&piece.len())));
                open = None;
            }
            // An apostrophe inside a word opens nothing.
            (None, Some(close)) if !before.is_alphanumeric() => {
                open = Some((at + character.len_utf8(), close))
            }
            (Some((start, _)), _) if character == '\n' || at - start > QUOTED.end => open = None,
            _ => {}
        }
        before = character;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    fn found(text: &str) -> Vec<String> {
        let all = identifiers(text, &(0..text.len()));
        for one in &all {
            assert!(super::squeezed(text.get(one.span.clone()).unwrap()).ends_with(&one.letters));
        }
        all.into_iter().map(|one| one.letters).collect()
    }

    #[test]
    fn what_stands_for_one_thing_is_found() {
        assert_eq!(found("mail it to mark.black-2134@gmail.com."), ["markblack2134gmailcom"]);
        assert_eq!(found("a link www.secure-systems-252.com to Alice"), ["securesystems252com"]);
        assert_eq!(found("to US133000000121212121212 today"), ["us133000000121212121212"]);
        assert_eq!(found("to new_password!"), ["newpassword"]);
        assert_eq!(found("see https://bit.ly/sUf7tOJ"), ["bitlysuf7toj"]);
        assert_eq!(found("open report.docx"), ["reportdocx"]);
        assert_eq!(found("titled 'Intro with Mark'"), ["introwithmark"]);
        assert_eq!(found("titled “Intro with Märk”"), ["introwithmark"]);
    }

    #[test]
    fn what_stands_everywhere_is_not() {
        for text in
            ["on 2024-05-30 10:20", "e.g. this", "Emma's and Bob's", "13", "a@b", "", "...", "don't, won't"]
        {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
