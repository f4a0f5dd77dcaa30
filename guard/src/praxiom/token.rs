//! Python's tokens, as far as an expression of a policy can hold them.

use std::ops::Range;

use num_bigint::BigInt;
use unicode_general_category::{GeneralCategory as C, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

use super::literal;
use super::python;

/// Open brackets in each other: each is some calls of the parser deep. (Python's own limit is 200.)
pub(crate) const BRACKETS_MAX: usize = 100;

/// A source that is no Python: the message and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Fault {
        Fault { message: message.into(), span }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// An identifier, normalised as Python does it.
    Name(String),
    Keyword(&'static str),
    Int(BigInt),
    Str(String),
    /// A literal these files cannot use, by its type in Python.
    Literal(&'static str),
    /// An f-string.
    Formatted,
    Op(&'static str),
    /// Behind the last token.
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Longest first.
const OPERATORS: [&str; 47] = [
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<",
    ">", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", ";",
];

/// Cuts a source into tokens, [`Kind::End`] last.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { source, at: 0, brackets: Vec::new(), tokens: Vec::new(), ended: false };
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Open brackets with their places; `brackets.len() <= BRACKETS_MAX`.
    brackets: Vec<(char, usize)>,
    tokens: Vec<Token>,
    /// A line end outside of brackets came: nothing may follow.
    ended: bool,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(&mut self) -> Result<(), Fault> {
        let mut line_start = true;
        while let Some(c) = self.peek() {
            let start = self.at;
            match c {
                '\n' | '\r' => {
                    self.at += 1;
                    self.ended |= self.brackets.is_empty() && !self.tokens.is_empty();
                    line_start = true;
                }
                '#' => self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len()),
                ' ' | '\t' | '\u{c}' => self.space(line_start)?,
                '\\' if matches!(self.rest(), "\\\n" | "\\\r\n") => {
                    return Err(Fault::new("unexpected EOF while parsing", start..self.source.len()));
                }
                '\\' if self.rest().starts_with("\\\n") => self.at += 2,
                '\\' if self.rest().starts_with("\\\r\n") => self.at += 3,
                _ if self.ended => return Err(Fault::new("invalid syntax", start..start + c.len_utf8())),
                _ => {
                    line_start = false;
                    self.token(c)?;
                }
            }
        }
        if let Some((open, at)) = self.brackets.last() {
            return Err(Fault::new(format!("'{open}' was never closed"), *at..at + 1));
        }
        self.push(Kind::End, self.source.len());
        Ok(())
    }

    /// Space between tokens; at the start of a line it would be an indent.
    fn space(&mut self, line_start: bool) -> Result<(), Fault> {
        let start = self.at;
        let space = |c: char| matches!(c, ' ' | '\t' | '\u{c}');
        self.at += self.rest().len() - self.rest().trim_start_matches(space).len();
        let outside = self.brackets.is_empty() && line_start;
        let blank = matches!(self.peek(), None | Some('\n' | '\r' | '#'));
        if outside && !blank {
            return Err(Fault::new("unexpected indent", start..self.at));
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: usize) {
        self.tokens.push(Token { kind, span: start..self.at });
    }

    fn token(&mut self, c: char) -> Result<(), Fault> {
        let start = self.at;
        if let Some((kind, taken)) = literal::string(self.rest(), start)? {
            self.at += taken;
            self.push(kind, start);
            return Ok(());
        }
        let dotted = self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if c.is_ascii_digit() || (c == '.' && dotted) {
            let (kind, taken) = literal::number(self.rest(), start)?;
            self.at += taken;
            self.push(kind, start);
            return Ok(());
        }
        if c == '_' || c.is_ascii_alphabetic() || !c.is_ascii() {
            return self.name();
        }
        match OPERATORS.iter().find(|op| self.rest().starts_with(**op)) {
            Some(op) => {
                self.at += op.len();
                self.bracket(op, start)?;
                self.push(Kind::Op(op), start);
                Ok(())
            }
            None if c == '\0' => {
                Err(Fault::new("source code string cannot contain null bytes", start..start + 1))
            }
            None => Err(Fault::new("invalid syntax", start..start + c.len_utf8())),
        }
    }

    fn bracket(&mut self, op: &str, at: usize) -> Result<(), Fault> {
        let close = |open: char| match open {
            '(' => ')',
            '[' => ']',
            _ => '}',
        };
        match op.chars().next() {
            Some(open @ ('(' | '[' | '{')) => {
                if self.brackets.len() >= BRACKETS_MAX {
                    return Err(Fault::new("too many nested parentheses", at..at + 1));
                }
                self.brackets.push((open, at));
            }
            Some(closed @ (')' | ']' | '}')) => match self.brackets.pop() {
                None => return Err(Fault::new(format!("unmatched '{closed}'"), at..at + 1)),
                Some((open, _)) if close(open) != closed => {
                    let message =
                        format!("closing parenthesis '{closed}' does not match opening parenthesis '{open}'");
                    return Err(Fault::new(message, at..at + 1));
                }
                Some(_) => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let word = |c: char| c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii();
        let length = self.rest().find(|c| !word(c)).unwrap_or(self.rest().len());
        let written = self.rest().get(..length).unwrap_or_default();
        for (at, c) in written.char_indices() {
            if !(if at == 0 { starts_name(c) } else { continues_name(c) }) {
                let code = u32::from(c);
                let shown = if python::printable(c) {
                    format!("invalid character '{c}' (U+{code:04X})")
                } else {
                    format!("invalid non-printable character U+{code:04X}")
                };
                return Err(Fault::new(shown, start + at..start + at + c.len_utf8()));
            }
        }
        self.at += length;
        let kind = match KEYWORDS.iter().find(|word| **word == written) {
            Some(word) => Kind::Keyword(word),
            None => Kind::Name(written.nfkc().collect()),
        };
        self.push(kind, start);
        Ok(())
    }
}

fn starts_name(c: char) -> bool {
    if c.is_ascii() {
        return c == '_' || c.is_ascii_alphabetic();
    }
    matches!(
        get_general_category(c),
        C::UppercaseLetter
            | C::LowercaseLetter
            | C::TitlecaseLetter
            | C::ModifierLetter
            | C::OtherLetter
            | C::LetterNumber
    )
}

fn continues_name(c: char) -> bool {
    starts_name(c)
        || c.is_ascii_digit()
        || matches!(
            get_general_category(c),
            C::NonspacingMark | C::SpacingMark | C::DecimalNumber | C::ConnectorPunctuation
        )
}
