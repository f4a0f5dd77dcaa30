//! Patterns over tool names: `*` for any characters, `?` for one. Nothing else is special.
//!
//! `server/tool` names one server's tool. The first `/` is the border, so that a server cannot offer a tool
//! called `github/create_issue` and be taken for `github`; a tool with a slash in its own name is written
//! `*/its/name`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::prove::Piece;

/// Bytes of a pattern.
pub const PATTERN_BYTES_MAX: usize = 256;

/// Steps that all comparisons of a file's patterns with each other may take together.
const COMPARE_STEPS_MAX: usize = 1_000_000;

/// What is left of [`COMPARE_STEPS_MAX`]. Comparing patterns is quadratic in their length and in their number;
/// it only warns early of what is found again, name by name, once a listing is there.
#[derive(Debug)]
pub(crate) struct Steps(usize);

impl Default for Steps {
    fn default() -> Steps {
        Steps(COMPARE_STEPS_MAX)
    }
}

impl Steps {
    fn take(&mut self) -> Option<()> {
        self.0 = self.0.checked_sub(1)?;
        Some(())
    }

    pub(crate) fn exhausted(&self) -> bool {
        self.0 == 0
    }
}

/// A pattern over `tool` or `server/tool`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Glob {
    text: String,
    server: Option<Pattern>,
    tool: Pattern,
    literalness: Literalness,
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Nothing on one side of the slash, or nothing at all.
    #[error("a name or pattern is missing")]
    Empty,
    /// More than [`PATTERN_BYTES_MAX`] bytes.
    #[error("a pattern of more than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`GlobError`] when it is empty or too long.
    pub fn parse(text: &str) -> Result<Glob, GlobError> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong);
        }
        let (server, tool) = match text.split_once('/') {
            Some((server, tool)) => (Some(Pattern::parse(server)?), Pattern::parse(tool)?),
            None => (None, Pattern::parse(text)?),
        };
        let literalness = Literalness(tool.literalness(), server.as_ref().map(Pattern::literalness));
        Ok(Glob { text: text.to_owned(), server, tool, literalness })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it names this tool of this server.
    #[must_use]
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        self.matches_server(server) && self.tool.matches(tool)
    }

    /// Whether it speaks of this server at all.
    #[must_use]
    pub fn matches_server(&self, server: &str) -> bool {
        self.server.as_ref().is_none_or(|pattern| pattern.matches(server))
    }

    /// Whether it speaks of servers by name.
    pub(crate) fn names_server(&self) -> bool {
        self.server.is_some()
    }

    /// The one tool name it can mean, when it has no wildcard in it.
    #[must_use]
    pub fn exact_tool(&self) -> Option<&str> {
        self.tool.is_exact().then(|| self.text.split_once('/').map_or(self.text.as_str(), |(_, tool)| tool))
    }

    /// The same pattern with its text before the first wildcard, or behind the last one, as it stands in a known
    /// tool's name: what a misspelt one may have meant.
    pub(crate) fn nearest<'n>(&self, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let (server, tool) = match self.text.split_once('/') {
            Some((server, tool)) => (format!("{server}/"), tool),
            None => (String::new(), self.text.as_str()),
        };
        let (first, last) = (tool.find(['*', '?'])?, tool.rfind(['*', '?'])? + 1);
        let (head, middle, tail) = (tool.get(..first)?, tool.get(first..last)?, tool.get(last..)?);
        let (mut heads, mut tails) = (Vec::new(), Vec::new());
        let names: Vec<&str> = names.collect();
        for name in &names {
            let end = |chars: usize| name.char_indices().nth(chars).map_or(name.len(), |(at, _)| at);
            let skipped = name.chars().count().saturating_sub(tail.chars().count());
            heads.extend(name.get(..end(head.chars().count())));
            tails.extend(name.get(end(skipped)..));
        }
        let near = |typed: &str, known: Vec<&str>| {
            (!typed.is_empty()).then(|| super::problem::nearest(typed, known)).flatten().map(str::to_owned)
        };
        let head = near(head, heads).unwrap_or_else(|| head.to_owned());
        let tail = near(tail, tails).unwrap_or_else(|| tail.to_owned());
        let meant = Pattern::parse(&format!("{head}{middle}{tail}")).ok()?;
        let fits = names.iter().any(|name| meant.matches(name));
        fits.then(|| format!("{server}{head}{middle}{tail}"))
    }

    /// How precisely it names; of two that match, the greater decides. The tool's part counts before the
    /// server's; a name without wildcards before any with; then more literal characters, more `?`, fewer `*`.
    #[must_use]
    pub fn literalness(&self) -> Literalness {
        self.literalness
    }

    /// A name that both match, in the form `tool` or `server/tool`: the shortest one. Nothing as well when no
    /// steps are left.
    pub(crate) fn common(&self, other: &Glob, steps: &mut Steps) -> Option<String> {
        let tool = self.tool.common(&other.tool, steps)?;
        match (&self.server, &other.server) {
            (None, None) => Some(tool),
            (Some(server), None) | (None, Some(server)) => {
                Some(format!("{}/{tool}", server.common(&Pattern(vec![Part::Any]), steps)?))
            }
            (Some(mine), Some(theirs)) => Some(format!("{}/{tool}", mine.common(theirs, steps)?)),
        }
    }

    /// The parts of the tool's name, for a walk over several patterns at once.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let piece = |part: &Part| match part {
            Part::Any => Piece::Any,
            Part::Char(c) => Piece::char(*c),
            Part::One => Piece::any_char(),
        };
        self.tool.0.iter().map(piece).collect()
    }

    /// Whether it certainly matches all that the other matches. May say no where the truth is yes
    /// (`?*` and `*x`), never the other way round.
    #[must_use]
    pub fn covers(&self, other: &Glob) -> bool {
        let any = Pattern(vec![Part::Any]);
        let server =
            self.server.as_ref().is_none_or(|mine| mine.covers(other.server.as_ref().unwrap_or(&any)));
        server && self.tool.covers(&other.tool)
    }
}

/// See [`Glob::literalness`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literalness(Rank, Option<Rank>);

/// Exact, literal characters, `?`, few `*`.
type Rank = (bool, usize, usize, Reverse<usize>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Char(char),
    One,
    Any,
}

/// Wildcards in a run are in normal form: all `?` before one `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pattern(Vec<Part>);

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Pattern, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err(GlobError::TooLong);
        }
        let mut parts = Vec::new();
        for c in text.chars() {
            match (c, parts.last()) {
                ('*', Some(Part::Any)) => {}
                ('*', _) => parts.push(Part::Any),
                ('?', Some(Part::Any)) => {
                    parts.pop();
                    parts.extend([Part::One, Part::Any]);
                }
                ('?', _) => parts.push(Part::One),
                (c, _) => parts.push(Part::Char(c)),
            }
        }
        Ok(Pattern(parts))
    }

    fn is_exact(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Char(_)))
    }

    pub(crate) fn literalness(&self) -> Rank {
        let count = |wanted: fn(&Part) -> bool| self.0.iter().filter(|part| wanted(part)).count();
        let stars = count(|part| matches!(part, Part::Any));
        let chars = count(|part| matches!(part, Part::Char(_)));
        (self.is_exact(), chars, count(|part| matches!(part, Part::One)), Reverse(stars))
    }

    /// Only the last `*` is ever tried again: at most name × pattern steps, no recursion.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<Part> = name.chars().map(Part::Char).collect();
        self.swallows(&name)
    }

    fn covers(&self, other: &Pattern) -> bool {
        self.swallows(&other.0)
    }

    /// Matches a row of parts: `*` takes any of them, `?` all but `*`, a character only itself.
    fn swallows(&self, row: &[Part]) -> bool {
        let (mut at, mut part, mut retry) = (0, 0, None);
        while let Some(found) = row.get(at) {
            match self.0.get(part) {
                Some(Part::Any) => {
                    retry = Some((part + 1, at));
                    part += 1;
                }
                Some(wanted) if wanted.takes(*found) => {
                    at += 1;
                    part += 1;
                }
                _ => {
                    let Some((after, from)) = retry else { return false };
                    (part, at) = (after, from + 1);
                    retry = Some((after, from + 1));
                }
            }
        }
        self.0.get(part..).is_some_and(|rest| rest.iter().all(|part| *part == Part::Any))
    }

    /// The shortest text both match: breadth first over pairs of positions.
    pub(crate) fn common(&self, other: &Pattern, steps: &mut Steps) -> Option<String> {
        steps.take()?;
        if self.0.iter().zip(&other.0).map_while(literals).any(|same| !same)
            || self.0.iter().rev().zip(other.0.iter().rev()).map_while(literals).any(|same| !same)
        {
            return None;
        }
        let text = Search::new(self, other).run(steps)?;
        // Only `*` matches nothing at all, and `*` matches any name.
        Some(if text.is_empty() { "any_name".to_owned() } else { text })
    }
}

/// Whether two literal characters are the same; nothing when one is a wildcard.
fn literals(pair: (&Part, &Part)) -> Option<bool> {
    match pair {
        (Part::Char(a), Part::Char(b)) => Some(a == b),
        _ => None,
    }
}

impl Part {
    fn takes(self, found: Part) -> bool {
        match self {
            Part::Any => true,
            Part::One => found != Part::Any,
            Part::Char(_) => self == found,
        }
    }
}

/// A walk over (position in one pattern, position in the other).
struct Search<'a> {
    a: &'a [Part],
    b: &'a [Part],
    /// How each pair was reached: from which pair, by which character.
    from: BTreeMap<Pair, (Pair, Option<char>)>,
    queue: VecDeque<(Pair, Pair, Option<char>)>,
}

type Pair = (usize, usize);

impl<'a> Search<'a> {
    fn new(a: &'a Pattern, b: &'a Pattern) -> Search<'a> {
        Search { a: &a.0, b: &b.0, from: BTreeMap::new(), queue: VecDeque::from([((0, 0), (0, 0), None)]) }
    }

    fn run(mut self, steps: &mut Steps) -> Option<String> {
        while let Some((pair, before, by)) = self.queue.pop_front() {
            steps.take()?;
            if self.from.contains_key(&pair) {
                continue;
            }
            self.from.insert(pair, (before, by));
            if pair == (self.a.len(), self.b.len()) {
                return Some(self.text(pair));
            }
            self.step(pair);
        }
        None
    }

    /// Steps that take no character go to the front: they make no text longer.
    fn step(&mut self, pair: Pair) {
        let (a, b) = pair;
        let (mine, theirs) = (self.a.get(a).copied(), self.b.get(b).copied());
        if mine == Some(Part::Any) {
            self.queue.push_front(((a + 1, b), pair, None));
        }
        if theirs == Some(Part::Any) {
            self.queue.push_front(((a, b + 1), pair, None));
        }
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return };
        let by = match (mine, theirs) {
            (Part::Char(x), Part::Char(y)) if x != y => return,
            (Part::Char(x), _) | (_, Part::Char(x)) => x,
            _ => 'x',
        };
        let next = |at: usize, part: Part| if part == Part::Any { at } else { at + 1 };
        self.queue.push_back(((next(a, mine), next(b, theirs)), pair, Some(by)));
    }

    fn text(&self, end: Pair) -> String {
        let mut chars: Vec<char> = Vec::new();
        let mut at = end;
        while let Some((before, by)) = self.from.get(&at) {
            chars.extend(by);
            if *before == at {
                break;
            }
            at = *before;
        }
        chars.iter().rev().collect()
    }
}

#[cfg(test)]
mod tests;
