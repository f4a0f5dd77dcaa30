//! The values of a call, in every way in which they are followed.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::day::Day;
use super::parting::{squeezed, words_of};
use crate::json::{Kind, Value};

/// A longer value is text, of which pieces are followed, not the whole.
pub(super) const WHOLE_WORDS_MAX: usize = 12;
/// Shorter runs of letters are not tried as an encoding: too many words would pass for one.
const ENCODED_CHARS_MIN: usize = 12;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sought {
    /// `legs[0].to`
    pub(super) path: String,
    /// As sent, or decoded from what was sent.
    pub(super) text: String,
    pub(super) words: Vec<String>,
    /// The day it names, if that is what it is.
    pub(super) day: Option<Day>,
    /// It is the name of a member.
    pub(super) is_name: bool,
    /// It was not sent like this: it is what a value says when it is decoded.
    is_decoded: bool,
}

impl Sought {
    fn new(path: &str, text: String) -> Sought {
        let words = words_of(&text);
        Sought { path: path.to_owned(), words, day: Day::of(&text), text, is_name: false, is_decoded: false }
    }

    /// Whether it is followed as a whole.
    pub(super) fn is_whole(&self) -> bool {
        (1..=WHOLE_WORDS_MAX).contains(&self.words.len())
    }

    /// Whether it tells its origin: `13` and `yes` stand everywhere.
    pub(super) fn tells(&self) -> bool {
        self.words.len() > 1 || self.words.iter().map(|word| word.chars().count()).sum::<usize>() >= 5
    }
}

/// Every string and number of the arguments; what is decoded from one follows it.
pub(super) fn sought(arguments: Value<'_>) -> Vec<Sought> {
    let mut all = Vec::new();
    gather(arguments, "", &mut all);
    arguments.members().for_each(|(name, value)| names(value, name, &mut all));
    all
}

/// Names of members that look like no word of a schema, behind the values: who chooses them may hide a value there.
fn names(value: Value<'_>, path: &str, all: &mut Vec<Sought>) {
    value.items().for_each(|item| names(item, path, all));
    for (name, member) in value.members() {
        let path = format!("{path}.{name}");
        if name.contains(|c: char| c.is_numeric() || c.is_whitespace() || matches!(c, '@' | '.' | ':' | '/'))
        {
            all.push(Sought { is_name: true, ..Sought::new(&path, name.to_owned()) });
        }
        names(member, &path, all);
    }
}

fn gather(value: Value<'_>, path: &str, all: &mut Vec<Sought>) {
    match value.kind() {
        Kind::Null | Kind::Bool => {}
        Kind::Number => all.push(Sought::new(path, value.raw().to_owned())),
        Kind::String => {
            let text = value.as_str().unwrap_or_default();
            all.push(Sought::new(path, text.to_owned()));
            let decoded = decoded(text).into_iter();
            all.extend(decoded.map(|text| Sought { is_decoded: true, ..Sought::new(path, text) }));
        }
        Kind::Array => value.items().for_each(|item| gather(item, path, all)),
        Kind::Object => {
            for (key, member) in value.members() {
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                gather(member, &path, all);
            }
        }
    }
}

/// All values as one run of letters and digits, in the order sent: so a value that was split over several of them
/// is whole again. What one of them says when it is decoded stands by itself behind them: between two pieces it would
/// part them, and a piece of an account's number may well pass for hex.
pub(super) fn run_of(sought: &[Sought]) -> String {
    let (decoded, sent): (Vec<&Sought>, Vec<&Sought>) = sought.iter().partition(|value| value.is_decoded);
    let mut run: String = sent.into_iter().map(|value| squeezed(&value.text)).collect();
    for value in decoded {
        run.push('\n');
        run.push_str(&squeezed(&value.text));
    }
    run
}

/// What a text says when its percent escapes, or its pieces in Base64 or hex, are read.
pub(super) fn decoded(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(percent(text));
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let pieces = text.split(|c: char| !is_inside(c)).filter(|piece| piece.len() >= ENCODED_CHARS_MIN);
    found.extend(pieces.filter_map(|piece| hex(piece).or_else(|| base64(piece))));
    found
}

fn percent(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut is_changed = false;
    while let Some((first, after)) = rest.split_first() {
        let pair =
            (*first == b'%').then(|| after.get(..2).and_then(|pair| byte(pair.try_into().ok()?))).flatten();
        match pair {
            Some(byte) => {
                is_changed = true;
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    is_changed.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn byte(pair: [u8; 2]) -> Option<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(pair[0])? << 4 | digit(pair[1])?)
}

fn hex(piece: &str) -> Option<String> {
    let pairs = piece.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs.map(|pair| byte(pair.try_into().ok()?)).collect();
    readable(bytes?)
}

fn base64(piece: &str) -> Option<String> {
    // Padding is no letter, so that it is not part of the piece.
    readable(STANDARD_NO_PAD.decode(piece).or_else(|_| URL_SAFE_NO_PAD.decode(piece)).ok()?)
}

/// Bytes that are text: letters that happen to decode give bytes that are none.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_odd = |c: &char| c.is_control() && !c.is_whitespace();
    (!text.chars().any(|c| is_odd(&c)) && text.chars().any(char::is_alphanumeric)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{decoded, run_of, sought, squeezed};
    use crate::json::{Document, Limits};

    fn texts(arguments: &str) -> Vec<(String, String)> {
        let document = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        sought(document.root()).into_iter().map(|value| (value.path, value.text)).collect()
    }

    #[test]
    fn every_string_and_number_is_followed() {
        let found = texts(r#"{"a":{"b":[1.50,"x",null,true]},"c":"y z"}"#);
        let expected = [("a.b", "1.50"), ("a.b", "x"), ("c", "y z")];
        assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn encodings_are_read() {
        assert_eq!(decoded("eve%40evil.example"), ["eve@evil.example"]);
        assert_eq!(decoded("ZXZlQGV2aWwuZXhhbXBsZQ=="), ["eve@evil.example"]);
        assert_eq!(decoded("to: ZXZlQGV2aWwuZXhhbXBsZQ=="), ["eve@evil.example"]);
        assert_eq!(decoded("657665406576696c2e6578616d706c65"), ["eve@evil.example"]);
        assert_eq!(decoded("100 % of it, %zz"), [""; 0]);
        assert_eq!(decoded("characteristically"), [""; 0]);
        assert_eq!(decoded("ZXZlQGV2aWw"), [""; 0], "shorter than is tried");
    }

    #[test]
    fn a_split_value_is_one_run() {
        let document =
            Document::read(r#"{"user":"mark.black-","host":"2134@gmail.com"}"#.into(), &Limits::default());
        assert_eq!(run_of(&sought(document.unwrap().root())), "markblack2134gmailcom");
    }

    #[test]
    fn a_piece_that_can_be_decoded_parts_no_split_value() {
        let of = |arguments: &str| {
            let read = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
            run_of(&sought(read.root()))
        };
        // The middle piece is hex.
        let run = of(r#"{"parts":["AA00","20402020202030","1"]}"#);
        assert!(run.contains(&squeezed("AA00204020202020301")), "{run:?}");
        assert!(of(r#"{"to":"ZXZlQGV2aWwuZXhhbXBsZQ==","n":1}"#).contains(&squeezed("eve@evil.example")));
    }
}
