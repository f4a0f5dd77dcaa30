//! Poisoned tools: orders in the definition that a server lists.

use crate::json::{Kind as JsonKind, Value};

use super::{Kind, Looking, Passage, Reading, scan};

/// Strings of one definition that are read; a definition with more is one long text anyway.
pub const STRINGS_MAX: usize = 10_000;
/// Levels of a definition that are read. The strict reader's own limit is lower.
const DEPTH_MAX: usize = 128;

/// A passage of a tool's definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The JSON pointer (RFC 6901) of the string, or of the member whose name it is.
    pub pointer: String,
    /// The passage as it stands there.
    pub quote: String,
    /// Its place in that string, and by which rule.
    pub passage: Passage,
}

/// The passages of a tool's definition that read like instructions: in its name, its descriptions, and every key and
/// string of its schemas.
///
/// Where the definition is too large to be read to its end, the last entry says so: rule `incomplete`, no span.
#[must_use]
pub fn listing(definition: Value<'_>) -> Vec<Instruction> {
    let mut reading = Strings { found: Vec::new(), left: STRINGS_MAX, is_complete: true };
    reading.value(definition, &mut String::new(), 0);
    if !reading.is_complete {
        reading.found.push(Instruction {
            pointer: String::new(),
            quote: String::new(),
            passage: incomplete(),
        });
    }
    reading.found
}

fn incomplete() -> Passage {
    Passage { span: 0..0, rule: "incomplete", kind: Kind::Hidden, reading: Reading::Written }
}

struct Strings {
    found: Vec<Instruction>,
    left: usize,
    is_complete: bool,
}

impl Strings {
    fn value(&mut self, value: Value<'_>, pointer: &mut String, depth: usize) {
        if depth > DEPTH_MAX {
            self.is_complete = false;
            return;
        }
        match value.kind() {
            JsonKind::String => self.text(value.as_str().unwrap_or_default(), pointer),
            JsonKind::Array => {
                for (index, item) in value.items().enumerate() {
                    self.within(&index.to_string(), item, pointer, depth);
                }
            }
            JsonKind::Object => {
                for (name, member) in value.members() {
                    let before = pointer.len();
                    push(pointer, name);
                    self.text(name, pointer);
                    pointer.truncate(before);
                    self.within(name, member, pointer, depth);
                }
            }
            _ => {}
        }
    }

    fn within(&mut self, token: &str, value: Value<'_>, pointer: &mut String, depth: usize) {
        let before = pointer.len();
        push(pointer, token);
        self.value(value, pointer, depth + 1);
        pointer.truncate(before);
    }

    fn text(&mut self, text: &str, pointer: &str) {
        let Some(left) = self.left.checked_sub(1) else {
            self.is_complete = false;
            return;
        };
        self.left = left;
        // A name of a tool or an argument is read with its words apart.
        let scanned = scan(text, Looking::Description);
        self.is_complete &= scanned.is_complete;
        self.found.extend(scanned.passages.into_iter().map(|passage| Instruction {
            pointer: pointer.to_owned(),
            quote: text.get(passage.span.clone()).unwrap_or_default().to_owned(),
            passage,
        }));
    }
}

/// One token more, escaped as RFC 6901 says.
fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}
