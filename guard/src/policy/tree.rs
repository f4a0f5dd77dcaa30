//! YAML as it was typed: a tree in which every scalar keeps its text, its style and its place.
//!
//! Nothing is resolved here (`1.10` stays `1.10`, `no` stays `no`), so that numbers stay exact and one file can
//! have many errors reported at once. A policy has no use for tags, merge keys or several documents: each could
//! make a reader see another policy than Framegate does, so each is an error.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::problem::{Problem, Source};
use super::slips;

/// Bytes of a policy file.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Nested mappings and lists, aliases followed.
pub const NESTING_MAX: usize = 48;

/// Values in a file, aliases followed: what keeps an alias bomb small.
pub const VALUES_MAX: usize = 100_000;

/// A value and where it is written; behind an alias, where its anchor is.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
    /// Values in it, itself included.
    size: usize,
    /// Levels of nesting in it.
    height: usize,
}

#[derive(Debug)]
pub(crate) enum Value {
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    /// Keys are scalars, each once, in the order written.
    Map(Vec<(Key, Rc<Node>)>),
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
    pub(crate) style: ScalarStyle,
}

#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) style: ScalarStyle,
}

impl Scalar {
    pub(crate) fn is_plain(&self) -> bool {
        self.style == ScalarStyle::Plain
    }

    pub(crate) fn is_null(&self) -> bool {
        self.is_plain() && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// A boolean of YAML 1.2.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.is_plain() => Some(true),
            "false" | "False" | "FALSE" if self.is_plain() => Some(false),
            _ => None,
        }
    }

    /// A boolean of YAML 1.1 that is a string today: `no` once turned Norway off.
    pub(crate) fn was_boolean(&self) -> Option<bool> {
        match self.text.to_ascii_lowercase().as_str() {
            "y" | "yes" | "on" if self.is_plain() => Some(true),
            "n" | "no" | "off" if self.is_plain() => Some(false),
            _ => None,
        }
    }
}

impl Node {
    /// What it is, for a message.
    pub(crate) fn what(&self) -> &'static str {
        match &self.value {
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
            Value::Scalar(scalar) if scalar.is_null() => "nothing",
            Value::Scalar(scalar) if scalar.boolean().is_some() => "a boolean",
            Value::Scalar(scalar) if scalar.is_plain() && number(&scalar.text) => "a number",
            Value::Scalar(_) => "text",
        }
    }
}

/// Whether a text is a number as JSON writes it; then its value is exact and means the same everywhere.
pub(crate) fn number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && [fraction, exponent].into_iter().flatten().all(digits)
}

/// Reads one document. What is no YAML ends the reading; other faults are collected.
pub(crate) fn read(source: &Arc<Source>) -> (Option<Rc<Node>>, Vec<Problem>) {
    read_with(source, false)
}

/// The same for a file that was written for another program, whose reader (YAML 1.1) takes the last of two
/// equal keys and follows merge keys.
pub(crate) fn read_last_wins(source: &Arc<Source>) -> (Option<Rc<Node>>, Vec<Problem>) {
    read_with(source, true)
}

fn read_with(source: &Arc<Source>, last_wins: bool) -> (Option<Rc<Node>>, Vec<Problem>) {
    let options = granit_parser::options! {
        // The builder's own limit comes first, and says what it is about.
        flow_nesting_limit: 2 * NESTING_MAX,
        block_nesting_limit: 2 * NESTING_MAX,
    };
    let mut builder = Builder::new(source, last_wins);
    for event in Parser::new_from_str_with_options(source.text(), options) {
        let step = event.map_err(|error| scan_problem(source, &error)).and_then(|(event, span)| {
            let range = span.byte_range().unwrap_or_default();
            builder.take(event, &span, range)
        });
        if let Err(problem) = step {
            builder.problems.push(problem);
            return (None, builder.problems);
        }
    }
    builder.finish()
}

fn scan_problem(source: &Arc<Source>, error: &ScanError) -> Problem {
    let at = error.marker().byte_offset().unwrap_or_default().min(source.text().len());
    slips::of_yaml(source, at, &error.info().to_string())
}

struct Builder<'s> {
    source: &'s Arc<Source>,
    /// See [`read_last_wins`].
    last_wins: bool,
    problems: Vec<Problem>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
    documents: usize,
    /// `values <= VALUES_MAX`
    values: usize,
}

/// A list or mapping whose end has not come.
struct Open {
    start: Range<usize>,
    anchor: usize,
    items: Vec<Rc<Node>>,
    /// The items are keys and values in turn.
    map: bool,
}

impl<'s> Builder<'s> {
    fn new(source: &'s Arc<Source>, last_wins: bool) -> Builder<'s> {
        Builder {
            source,
            last_wins,
            problems: Vec::new(),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            root: None,
            documents: 0,
            values: 0,
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span, mut range: Range<usize>) -> Result<(), Problem> {
        let mut tagged = None;
        if let Some(tag) = event.tag() {
            let at = span.tag_span().and_then(|span| span.byte_range()).unwrap_or_else(|| range.clone());
            let tag = tag.original().to_string();
            self.problems.push(slips::of_tag(self.source, at.clone(), &tag));
            tagged = Some((tag, at));
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Problem::error(
                        self.source,
                        range,
                        "a second YAML document in one policy file",
                    ));
                }
            }
            Event::Scalar(mut text, style, anchor, _) => {
                if let Some((tag, at)) = tagged.filter(|_| text.is_empty()) {
                    // Read as what was meant, so that nothing is said to be missing.
                    (text, range) = (tag.into(), at);
                }
                let range = tight(self.source.text(), range, style);
                let value = Value::Scalar(Scalar { text: text.into_owned(), style });
                return self.add(Node { value, span: range, size: 1, height: 0 }, anchor);
            }
            Event::SequenceStart(_, anchor, _) => return self.begin(range, anchor, false),
            Event::MappingStart(_, anchor, _) => return self.begin(range, anchor, true),
            Event::SequenceEnd | Event::MappingEnd => return self.end(&range),
            Event::Alias(id) => return self.alias(id, range),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, start: Range<usize>, anchor: usize, map: bool) -> Result<(), Problem> {
        if self.open.len() >= NESTING_MAX {
            return Err(self.too_deep(start));
        }
        self.open.push(Open { start, anchor, items: Vec::new(), map });
        Ok(())
    }

    fn end(&mut self, end: &Range<usize>) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let size = 1 + open.items.iter().map(|item| item.size).sum::<usize>();
        let height = 1 + open.items.iter().map(|item| item.height).max().unwrap_or_default();
        let value = if open.map { Value::Map(self.pairs(open.items)) } else { Value::List(open.items) };
        let span = open.start.start..end.end.max(open.start.end);
        self.add(Node { value, span, size, height }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        self.count(1, &node.span)?;
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.place(node);
        Ok(())
    }

    fn place(&mut self, node: Rc<Node>) {
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
    }

    fn alias(&mut self, id: usize, range: Range<usize>) -> Result<(), Problem> {
        let Some(node) = self.anchors.get(&id).cloned() else {
            return Err(Problem::error(self.source, range, "an alias inside of what it stands for"));
        };
        self.count(node.size, &range)?;
        if self.open.len() + node.height > NESTING_MAX {
            return Err(self.too_deep(range));
        }
        self.place(node);
        Ok(())
    }

    fn count(&mut self, values: usize, at: &Range<usize>) -> Result<(), Problem> {
        self.values = self.values.saturating_add(values);
        if self.values <= VALUES_MAX {
            return Ok(());
        }
        let message = format!("more than {VALUES_MAX} values, aliases followed");
        Err(Problem::error(self.source, at.clone(), message))
    }

    fn too_deep(&self, at: Range<usize>) -> Problem {
        Problem::error(self.source, at, format!("nested deeper than {NESTING_MAX} levels"))
    }

    /// What was merged stands first, so that the mapping's own keys win.
    fn pairs_last_wins(&mut self, items: Vec<Rc<Node>>) -> Vec<(Key, Rc<Node>)> {
        let (mut merged, mut own) = (Vec::new(), Vec::new());
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            let merge =
                matches!(&key.value, Value::Scalar(scalar) if scalar.is_plain() && scalar.text == "<<");
            match &value.value {
                Value::Map(pairs) if merge => merged.extend(pairs.iter().cloned()),
                Value::List(maps) if merge && maps.iter().all(|map| matches!(map.value, Value::Map(_))) => {
                    let maps = maps.iter().rev().filter_map(|map| match &map.value {
                        Value::Map(pairs) => Some(pairs),
                        _ => None,
                    });
                    merged.extend(maps.flatten().cloned());
                }
                _ => own.extend(self.key(&key).map(|key| (key, value))),
            }
        }
        merged.append(&mut own);
        let mut pairs: Vec<(Key, Rc<Node>)> = Vec::with_capacity(merged.len());
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for pair in merged {
            match seen.get(&pair.0.text).and_then(|at| pairs.get_mut(*at)) {
                Some(earlier) => *earlier = pair,
                None => {
                    seen.insert(pair.0.text.clone(), pairs.len());
                    pairs.push(pair);
                }
            }
        }
        pairs
    }

    fn pairs(&mut self, items: Vec<Rc<Node>>) -> Vec<(Key, Rc<Node>)> {
        if self.last_wins {
            return self.pairs_last_wins(items);
        }
        let mut pairs = Vec::with_capacity(items.len() / 2);
        let mut seen: BTreeMap<String, Range<usize>> = BTreeMap::new();
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            let Some(key) = self.key(&key) else { continue };
            if let Some(first) = seen.get(&key.text) {
                let line = Problem::error(self.source, first.clone(), "").line();
                let message = format!("`{}` is already set in line {line}", key.text);
                self.problems.push(Problem::error(self.source, key.span, message));
                continue;
            }
            seen.insert(key.text.clone(), key.span.clone());
            pairs.push((key, value));
        }
        pairs
    }

    fn key(&mut self, node: &Node) -> Option<Key> {
        let message = match &node.value {
            Value::Scalar(scalar) if scalar.is_plain() && scalar.text == "<<" => "a policy has no merge keys",
            Value::Scalar(scalar) if scalar.is_null() => "a key is missing",
            Value::Scalar(scalar) => {
                let Scalar { text, style } = scalar.clone();
                return Some(Key { text, span: node.span.clone(), style });
            }
            _ => "a key must be text",
        };
        self.problems.push(Problem::error(self.source, node.span.clone(), message));
        None
    }

    fn finish(mut self) -> (Option<Rc<Node>>, Vec<Problem>) {
        if self.root.is_none() && self.problems.is_empty() {
            self.problems.push(Problem::error(self.source, 0..0, "the policy file is empty"));
        }
        (self.root, self.problems)
    }
}

/// A scalar's span without the line breaks that end a block.
fn tight(text: &str, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let written = text.get(range.clone()).unwrap_or_default();
    let kept = if block { written.trim_end().len() } else { written.len() };
    range.start..range.start + kept
}
