//! A look at the source before the parser sees it.
//!
//! The parser is recursive and its numbers are machine numbers. So the tokens are cut here first: nesting is
//! bounded before anything recurses (ten thousand brackets would end the process, not the parse), numbers are
//! kept as written and replaced by `1` for the parser, and brackets know their partners, which gives spans.

use super::{DEPTH_MAX, Problem, SOURCE_BYTES_MAX};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Number,
    Text,
    Word,
    Open,
    Close,
    Symbol,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
    /// For an opening bracket: where its partner ends.
    pub(super) closed: usize,
}

#[derive(Debug)]
pub(super) struct Scan {
    /// In the order of their places.
    pub(super) tokens: Vec<Token>,
    /// The source with every number replaced by `1` and blanks, offsets kept.
    pub(super) parsed: String,
}

impl Scan {
    /// The index of the token that starts there.
    pub(super) fn token_at(&self, start: usize) -> Option<usize> {
        self.tokens.binary_search_by_key(&start, |token| token.span.start).ok()
    }
}

/// Cuts the source into tokens.
pub(super) fn scan(source: &str) -> Result<Scan, Vec<Problem>> {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("the expression is longer than {SOURCE_BYTES_MAX} bytes");
        return Err(vec![problem(message, 0..source.len())]);
    }
    let mut cutter = Cutter { source, at: 0, tokens: Vec::new(), problems: Vec::new() };
    cutter.cut();
    let Cutter { mut tokens, mut problems, .. } = cutter;
    if tokens.is_empty() && problems.is_empty() {
        problems.push(problem("the expression is empty", 0..source.len()));
    }
    match_brackets(source, &mut tokens, &mut problems);
    if problems.is_empty() {
        check_depth(source, &tokens, &mut problems);
    }
    if problems.is_empty() {
        let parsed = without_numbers(source, &tokens);
        return Ok(Scan { tokens, parsed });
    }
    Err(problems)
}

pub(super) fn problem(message: impl Into<String>, span: Range<usize>) -> Problem {
    Problem { message: message.into(), hint: None, span }
}

struct Cutter<'s> {
    source: &'s str,
    at: usize,
    tokens: Vec<Token>,
    problems: Vec<Problem>,
}

impl Cutter<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn cut(&mut self) {
        while let Some(byte) = self.peek(0) {
            let start = self.at;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0c => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => self.skip_while(|byte| byte != b'\n'),
                b'"' | b'\'' => self.text(start, false),
                b'0'..=b'9' => self.number(start),
                b'.' if self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) => self.number(start),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
                b'(' | b'[' | b'{' => self.symbol(start, 1, TokenKind::Open),
                b')' | b']' | b'}' => self.symbol(start, 1, TokenKind::Close),
                _ => self.operator(start, byte),
            }
        }
    }

    fn skip_while(&mut self, more: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&more) {
            self.at += 1;
        }
    }

    fn symbol(&mut self, start: usize, bytes: usize, kind: TokenKind) {
        self.at = start + bytes;
        self.tokens.push(Token { kind, span: start..self.at, closed: self.at });
    }

    fn fault(&mut self, message: impl Into<String>, hint: Option<&str>, span: Range<usize>) {
        self.problems.push(Problem { message: message.into(), hint: hint.map(str::to_owned), span });
    }

    fn operator(&mut self, start: usize, byte: u8) {
        let next = self.peek(1);
        let hint = match (byte, next) {
            (b'&', Some(b'&')) | (b'|', Some(b'|')) | (b'=' | b'!' | b'<' | b'>', Some(b'=')) => {
                return self.symbol(start, 2, TokenKind::Symbol);
            }
            (b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' | b':' | b'.' | b',', _) => {
                return self.symbol(start, 1, TokenKind::Symbol);
            }
            (b'&', _) => Some("write `&&` for and"),
            (b'|', _) => Some("write `||` for or"),
            (b'=', _) => Some("write `==` to compare"),
            _ => None,
        };
        let character = self.source.get(start..).and_then(|rest| rest.chars().next()).unwrap_or('?');
        self.at = start + character.len_utf8();
        let message = format!("`{}` does not belong here", character.escape_debug());
        self.fault(message, hint, start..self.at);
    }

    fn word(&mut self, start: usize) {
        self.skip_while(is_word);
        let word = self.source.get(start..self.at).unwrap_or_default();
        if matches!(self.peek(0), Some(b'"' | b'\'')) {
            match word {
                "r" | "R" => return self.text(start, true),
                "b" | "B" | "br" | "bR" | "Br" | "BR" | "rb" | "rB" | "Rb" | "RB" => {
                    let raw = word.len() == 2;
                    self.text(start, raw);
                    self.tokens.pop();
                    return self.fault("bytes are not supported", Some("write a string"), start..self.at);
                }
                _ => {}
            }
        }
        self.tokens.push(Token { kind: TokenKind::Word, span: start..self.at, closed: self.at });
    }

    /// At the opening quote; `start` is where its prefix began.
    fn text(&mut self, start: usize, raw: bool) {
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        let width = if triple { 3 } else { 1 };
        self.at += width;
        loop {
            match self.peek(0) {
                None => return self.fault("a text without an end", None, start..self.at),
                Some(b'\n' | b'\r') if !triple => {
                    return self.fault("a text without an end on its line", None, start..self.at);
                }
                Some(b'\\') if !raw => self.at = (self.at + 2).min(self.source.len()),
                byte if byte == quote && (!triple || (self.peek(1) == quote && self.peek(2) == quote)) => {
                    self.at += width;
                    break;
                }
                _ => self.at += 1,
            }
        }
        if !raw {
            self.check_escapes(start..self.at);
        }
        self.tokens.push(Token { kind: TokenKind::Text, span: start..self.at, closed: self.at });
    }

    fn check_escapes(&mut self, text: Range<usize>) {
        let bytes = self.source.as_bytes().get(text.clone()).unwrap_or_default();
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
            let start = at + found;
            let (digits, is_digit): (usize, fn(&u8) -> bool) = match bytes.get(start + 1) {
                Some(b'x' | b'X') => (2, u8::is_ascii_hexdigit),
                Some(b'u') => (4, u8::is_ascii_hexdigit),
                Some(b'U') => (8, u8::is_ascii_hexdigit),
                Some(b'0'..=b'3') => (2, |byte| matches!(byte, b'0'..=b'7')),
                Some(byte) if b"abfnrtv\\'\"`?".contains(byte) => (0, |_| true),
                _ => (1, |_| false),
            };
            at = start + 2 + digits;
            if !bytes.get(start + 2..at).is_some_and(|digits| digits.iter().all(is_digit)) {
                let start = text.start + start;
                let end = self.source.get(start + 1..).and_then(|rest| rest.chars().next());
                let span = start..start + 1 + end.map_or(0, char::len_utf8);
                let hint = Some("write `\\\\` for a backslash, or r'…'");
                return self.fault("an escape that does not exist", hint, span);
            }
        }
    }

    fn number(&mut self, start: usize) {
        let digit = |byte: u8| byte.is_ascii_digit();
        if self.peek(0) == Some(b'0') && self.peek(1) == Some(b'x') {
            self.at += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.skip_while(digit);
            if self.peek(0) == Some(b'.') && self.peek(1).is_some_and(digit) {
                self.at += 1;
                self.skip_while(digit);
            }
            if matches!(self.peek(0), Some(b'e' | b'E')) {
                self.at += 1 + usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
                self.skip_while(digit);
            }
        }
        // `5u` is the number 5: there is one kind of number.
        let suffix = usize::from(matches!(self.peek(0), Some(b'u' | b'U')));
        let after = self.peek(suffix);
        self.at += suffix;
        let before = start.checked_sub(1).and_then(|at| self.source.as_bytes().get(at)).copied();
        if after.is_some_and(is_word) || before.is_some_and(is_word) {
            self.skip_while(is_word);
            return self.fault("a number ends in the middle of a word", None, start..self.at);
        }
        self.tokens.push(Token { kind: TokenKind::Number, span: start..self.at, closed: self.at });
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn byte_at(source: &str, token: &Token) -> u8 {
    source.as_bytes().get(token.span.start).copied().unwrap_or(0)
}

fn match_brackets(source: &str, tokens: &mut [Token], problems: &mut Vec<Problem>) {
    let mut open: Vec<(usize, u8)> = Vec::new();
    for at in 0..tokens.len() {
        let Some(token) = tokens.get(at) else { break };
        let (byte, span) = (byte_at(source, token), token.span.clone());
        match token.kind {
            TokenKind::Open => open.push((at, byte)),
            TokenKind::Close => match open.pop() {
                Some((partner, opened)) if closes(opened, byte) => {
                    if let Some(partner) = tokens.get_mut(partner) {
                        partner.closed = span.end;
                    }
                }
                Some((partner, opened)) => {
                    let message = format!("`{}` closes a `{}`", char::from(byte), char::from(opened));
                    problems.push(problem(message, span));
                    open.push((partner, opened));
                    return;
                }
                None => problems.push(problem(format!("`{}` closes nothing", char::from(byte)), span)),
            },
            _ => {}
        }
    }
    for (at, byte) in open {
        let span = tokens.get(at).map_or(0..0, |token| token.span.clone());
        problems.push(problem(format!("`{}` is never closed", char::from(byte)), span));
    }
}

fn closes(open: u8, close: u8) -> bool {
    matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}

/// An upper bound of how deep the tree of one bracket's content is. Its parts are cut at commas; in a part
/// every `?` may hold the next one, `&&` and `||` are balanced by the parser, and between these each operator
/// may hold all before it.
#[derive(Default)]
struct Bracket {
    conditionals: usize,
    logicals: usize,
    chain: usize,
    inner: usize,
    longest: usize,
    deepest_part: usize,
}

impl Bracket {
    fn end_chain(&mut self) {
        self.longest = self.longest.max(self.chain + self.inner);
        (self.chain, self.inner) = (0, 0);
    }

    fn end_part(&mut self) {
        self.end_chain();
        let logical = self.logicals.checked_ilog2().map_or(0, |log| 2 * (log as usize + 1));
        self.deepest_part = self.deepest_part.max(self.conditionals + logical + self.longest);
        (self.conditionals, self.logicals, self.longest) = (0, 0, 0);
    }
}

fn check_depth(source: &str, tokens: &[Token], problems: &mut Vec<Problem>) {
    let mut brackets = vec![Bracket::default()];
    let mut depth = 0;
    for token in tokens {
        let Some(bracket) = brackets.last_mut() else { return };
        match (token.kind, source.get(token.span.clone()).unwrap_or_default()) {
            (TokenKind::Open, _) => {
                bracket.chain += 1;
                brackets.push(Bracket::default());
            }
            (TokenKind::Close, _) => {
                bracket.end_part();
                let inner = bracket.deepest_part;
                brackets.pop();
                if let Some(outer) = brackets.last_mut() {
                    outer.inner = outer.inner.max(inner);
                }
            }
            (_, ",") => bracket.end_part(),
            (_, "&&" | "||") => {
                bracket.end_chain();
                bracket.logicals += 1;
            }
            (_, "?") => bracket.conditionals += 1,
            (TokenKind::Symbol, ":") => bracket.end_chain(),
            (TokenKind::Symbol, _) | (TokenKind::Word, "in") => bracket.chain += 1,
            _ => {}
        }
        depth = brackets.len();
        if depth > DEPTH_MAX {
            break;
        }
    }
    if let Some(all) = brackets.first_mut() {
        all.end_part();
        depth = depth.max(all.deepest_part);
    }
    if depth > DEPTH_MAX {
        let message = format!("the expression is nested deeper than {DEPTH_MAX} levels");
        let hint = "split it into several rules or definitions".to_owned();
        problems.push(Problem { message, hint: Some(hint), span: 0..source.len() });
    }
}

fn without_numbers(source: &str, tokens: &[Token]) -> String {
    let mut parsed = String::with_capacity(source.len());
    let mut at = 0;
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Number) {
        parsed.push_str(source.get(at..token.span.start).unwrap_or_default());
        parsed.push('1');
        parsed.extend(std::iter::repeat_n(' ', token.span.len().saturating_sub(1)));
        at = token.span.end;
    }
    parsed.push_str(source.get(at..).unwrap_or_default());
    parsed
}
