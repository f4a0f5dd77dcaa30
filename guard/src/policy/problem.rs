//! What is wrong with a policy file, shown where it is wrong.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::FILE_BYTES_MAX;
use crate::text::floor;

/// Problems shown at once; a file with more is cut here, and says so.
pub const PROBLEMS_MAX: usize = 50;

/// Characters of a source line shown around the mark.
const LINE_CHARS_MAX: usize = 160;

/// A policy file's name and text, shared by everything that points into it.
#[derive(PartialEq, Eq)]
pub(crate) struct Source {
    name: String,
    text: String,
    /// Byte offset of each line's first byte; never empty, ascending.
    lines: Vec<usize>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Source {
    /// A file's text, if it can be one of a policy.
    pub(crate) fn read(name: &str, text: &[u8]) -> Result<Arc<Source>, Box<Problem>> {
        let decoded = String::from_utf8_lossy(text.get(..FILE_BYTES_MAX).unwrap_or(text));
        let source = Source::new(name, &decoded);
        if text.len() > FILE_BYTES_MAX {
            let message = format!("a policy file of more than {FILE_BYTES_MAX} bytes");
            return Err(Box::new(Problem::error(&source, 0..0, message)));
        }
        match std::str::from_utf8(text) {
            Ok(_) => Ok(source),
            Err(error) => {
                let at = error.valid_up_to();
                Err(Box::new(Problem::error(&source, at..at, "a policy file must be UTF-8")))
            }
        }
    }

    pub(crate) fn new(name: &str, text: &str) -> Arc<Source> {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Arc::new(Source { name: name.to_owned(), text: text.to_owned(), lines })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Index of the line that holds a byte.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// A line without its end.
    pub(crate) fn line(&self, index: usize) -> (usize, &str) {
        let start = self.lines.get(index).copied().unwrap_or(self.text.len());
        let end = self.lines.get(index + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or_default();
        (start, line.trim_end_matches(['\r', '\n']))
    }
}

/// Whether the file is refused for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file, or the tool it is about, cannot be used.
    Error,
    /// It can be used, but hardly means what its author thinks.
    Warning,
}

/// One thing wrong in a policy file. Its `Display` is the whole message for people: place, source line, mark,
/// hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    source: Arc<Source>,
    span: Range<usize>,
    severity: Severity,
    message: String,
    hint: Option<String>,
    /// Listed tools it is about.
    tools: Vec<String>,
}

impl Problem {
    pub(crate) fn error(source: &Arc<Source>, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(source, span, Severity::Error, message.into())
    }

    pub(crate) fn warning(source: &Arc<Source>, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(source, span, Severity::Warning, message.into())
    }

    fn new(source: &Arc<Source>, span: Range<usize>, severity: Severity, message: String) -> Problem {
        Problem { source: Arc::clone(source), span, severity, message, hint: None, tools: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn hint_maybe(mut self, hint: Option<String>) -> Problem {
        self.hint = hint.or(self.hint);
        self
    }

    pub(crate) fn about_tool(mut self, tool: &str) -> Problem {
        self.also_about_tool(tool);
        self
    }

    pub(crate) fn also_about_tool(&mut self, tool: &str) {
        if !self.tools.iter().any(|known| known == tool) {
            self.tools.push(tool.to_owned());
        }
    }

    /// The same with words before its message.
    pub(crate) fn prefixed(mut self, prefix: &str) -> Problem {
        self.message.insert_str(0, prefix);
        self
    }

    pub(crate) fn start(&self) -> usize {
        self.span.start
    }

    /// Error or warning.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The listed tools it is about; none for a problem of the file as such.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// The message with the tools it is about.
    pub(crate) fn title(&self) -> String {
        const SHOWN: usize = 3;
        let message = printable(&self.message);
        let shown: Vec<String> =
            self.tools.iter().take(SHOWN).map(|tool| format!("`{}`", printable(tool))).collect();
        match self.tools.len() {
            0 => message,
            1 => format!("{message} (tool {})", shown.join("")),
            count if count > SHOWN => {
                format!("{message} (tools {} and {} more)", shown.join(", "), count - SHOWN)
            }
            _ => format!("{message} (tools {})", shown.join(", ")),
        }
    }

    /// The file's name as it was given.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// Line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.line_of(self.span.start) + 1
    }

    /// Column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        let (start, line) = self.source.line(self.source.line_of(self.span.start));
        let before = line.get(..self.span.start.saturating_sub(start)).unwrap_or(line);
        before.trim_start_matches('\u{feff}').chars().count() + 1
    }

    /// The marked line, cut to what fits a terminal, and the mark's place in it.
    fn excerpt(&self) -> (&str, Range<usize>) {
        let (start, line) = self.source.line(self.source.line_of(self.span.start));
        let from = floor(line, self.span.start.saturating_sub(start));
        let to = floor(line, self.span.end.saturating_sub(start)).max(from);
        let to = back(line, to, from, LINE_CHARS_MAX / 2);
        let left = left_of(line, from, LINE_CHARS_MAX / 2);
        let right = right_of(line, to, LINE_CHARS_MAX / 2);
        (line.get(left..right).unwrap_or_default(), from - left..to - left)
    }
}

/// `to`, but at most `chars` after `from`.
fn back(line: &str, to: usize, from: usize, chars: usize) -> usize {
    let marked = line.get(from..to).unwrap_or_default();
    marked.char_indices().nth(chars).map_or(to, |(at, _)| from + at)
}

/// Start of the text shown before the mark: the line's own start when it is near.
fn left_of(line: &str, from: usize, chars: usize) -> usize {
    let before = line.get(..from).unwrap_or_default();
    before.char_indices().rev().nth(chars).map_or(0, |(at, _)| at)
}

/// End of the text shown after the mark.
fn right_of(line: &str, to: usize, chars: usize) -> usize {
    let after = line.get(to..).unwrap_or_default();
    after.char_indices().nth(chars).map_or(line.len(), |(at, _)| to + at)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let (line, mark) = self.excerpt();
        // A terminal obeys control characters: names and values come from files and servers.
        let visible: String =
            line.chars().map(|c| if c.is_control() || c == '\u{feff}' { ' ' } else { c }).collect();
        let mark = remap(line, &visible, &mark);
        let snippet = Snippet::source(visible.as_str())
            .line_start(self.line())
            .annotation(AnnotationKind::Primary.span(mark));
        let message = self.title();
        let mut group = level.primary_title(message.as_str()).element(snippet);
        let hint = self.hint.as_deref().map(printable);
        if let Some(hint) = &hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        let body = Renderer::plain().render(&[group]);
        write!(f, "{}:{}:{}: {body}", printable(self.file()), self.line(), self.column())
    }
}

/// The mark in a line whose control characters became one-byte spaces.
fn remap(line: &str, visible: &str, mark: &Range<usize>) -> Range<usize> {
    let place = |at: usize| {
        let chars = line.get(..at).unwrap_or(line).chars().count();
        visible.char_indices().nth(chars).map_or(visible.len(), |(at, _)| at)
    };
    place(mark.start)..place(mark.end)
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Why a policy file is not loaded: every error found, by position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PolicyErrors {
    problems: Vec<Problem>,
    /// How many more there were than [`PROBLEMS_MAX`].
    more: usize,
}

impl PolicyErrors {
    pub(crate) fn new(mut problems: Vec<Problem>) -> PolicyErrors {
        sort(&mut problems);
        let more = problems.len().saturating_sub(PROBLEMS_MAX);
        problems.truncate(PROBLEMS_MAX);
        PolicyErrors { problems, more }
    }

    /// The errors, by position, at most [`PROBLEMS_MAX`].
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{problem}")?;
        }
        if self.more > 0 {
            write!(f, "\n\nand {} more errors", self.more)?;
        }
        Ok(())
    }
}

/// By position, each once.
pub(crate) fn sort(problems: &mut Vec<Problem>) {
    problems.sort_by(|a, b| {
        (a.span.start, a.severity, &a.message, a.span.end).cmp(&(
            b.span.start,
            b.severity,
            &b.message,
            b.span.end,
        ))
    });
    problems.dedup_by(|a, b| (&a.span, &a.message) == (&b.span, &b.message));
}

/// ``did you mean `x`?`` with the known word nearest to a typed one, when one is near.
pub(crate) fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(typed, known).map(|word| format!("did you mean `{word}`?"))
}

/// The known word nearest to a typed one: fewest edits, at most a third of its length (and one always).
pub(crate) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Edit distance is quadratic in the length.
    const LONGEST: usize = 128;
    if typed.len() > LONGEST {
        return None;
    }
    let folded = typed.to_lowercase();
    let near = known.into_iter().filter(|word| word.len() <= LONGEST).map(|word| {
        let edits = strsim::damerau_levenshtein(&folded, &word.to_lowercase());
        (edits, word)
    });
    let (edits, word) = near.min_by_key(|(edits, _)| *edits)?;
    (edits <= (word.chars().count() / 3).max(1)).then_some(word)
}
