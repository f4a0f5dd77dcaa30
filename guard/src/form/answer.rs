//! What a person's answer makes of the call.
//!
//! The answer is spliced into the arguments as they were sent: what stands there keeps its bytes, and a number of the
//! answer keeps its spelling. Members that nobody asked for are left out: an answer fills in what was missing and
//! changes nothing else.

use bytes::Bytes;

use super::missing::missing;
use super::schema::Form;
use crate::json::{Document, Kind, Limits, Value};
use crate::policy::Ask;
use crate::schema::{Edit, MISMATCHES_MAX, Mismatch, Schema};

/// What an answer is held to besides its form.
#[derive(Debug, Clone, Copy)]
pub struct Merging<'a> {
    /// The tool's own.
    pub schema: &'a Schema,
    /// The policy's: what it requires must be there afterwards.
    pub ask: &'a Ask,
    /// Only what was asked for counts, as where `arguments: unchecked` sends on whatever else is wrong.
    pub only_asked: bool,
}

/// Why an answer does not complete the call. A person may be asked once more, with these reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejected {
    /// It is not what the form asked for.
    Content(Vec<Mismatch>),
    /// With it the arguments do not fit the tool's schema.
    Arguments(Vec<Mismatch>),
    /// With it the call itself cannot be sent, and why: it would be too large.
    Call(String),
    /// These are still missing: what came is blank or empty.
    Missing(Vec<String>),
}

impl Rejected {
    /// The reasons in words.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Rejected::Content(wrong) | Rejected::Arguments(wrong) => {
                wrong.iter().map(|mismatch| mismatch.message.clone()).collect()
            }
            Rejected::Call(why) => vec![why.clone()],
            Rejected::Missing(names) => {
                names.iter().map(|name| format!("`{name}`: a value is needed")).collect()
            }
        }
    }
}

/// A call that was completed.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The arguments as they are sent.
    pub arguments: Document,
    /// How the frame gets them.
    pub splice: Splice,
}

/// How the caller changes the bytes of its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Splice {
    /// Edits of the document that the arguments belong to, in its order, without overlap.
    Edits(Vec<Edit>),
    /// The frame has no arguments object. With `"arguments":null` the `null` is replaced by this; without the member
    /// `,"arguments":` and this are inserted before the closing brace of `params`, without the comma where that is
    /// empty.
    Whole(Bytes),
}

impl Form {
    /// Merges the content of an accepted answer into the arguments. `None` and `null` are arguments that were not
    /// sent.
    ///
    /// # Errors
    /// [`Rejected`].
    pub fn merge(
        &self,
        merging: &Merging<'_>,
        arguments: Option<Value<'_>>,
        content: Value<'_>,
    ) -> Result<Merged, Rejected> {
        let wrong = self.schema.check(content);
        if !wrong.is_empty() || content.kind() != Kind::Object {
            return Err(Rejected::Content(wrong));
        }
        let nothing = Document::empty_object();
        let sent = arguments.filter(|arguments| arguments.kind() == Kind::Object);
        let target = sent.unwrap_or(nothing.root());
        let edits = self.edits(target, content);
        let merged = applied(target, &edits).ok_or_else(|| Rejected::Content(Vec::new()))?;
        self.judge(merging, target, merged.root())?;
        let splice = match sent {
            Some(_) => Splice::Edits(edits),
            None => Splice::Whole(merged.source().clone()),
        };
        Ok(Merged { arguments: merged, splice })
    }

    fn judge(&self, merging: &Merging<'_>, before: Value<'_>, merged: Value<'_>) -> Result<(), Rejected> {
        let lacking = missing(Some(merging.schema), merging.ask, Some(merged));
        if !lacking.is_empty() {
            return Err(Rejected::Missing(lacking.into_iter().map(|lack| lack.name).collect()));
        }
        let mut wrong = merging.schema.check(merged);
        if merging.only_asked && wrong.len() < MISMATCHES_MAX {
            wrong.retain(|mismatch| self.is_about(mismatch) || !was_wrong(merging.schema, before, mismatch));
        }
        if wrong.is_empty() { Ok(()) } else { Err(Rejected::Arguments(wrong)) }
    }

    fn is_about(&self, mismatch: &Mismatch) -> bool {
        let first = mismatch.pointer.split('/').nth(1).unwrap_or_default();
        let name = first.replace("~1", "/").replace("~0", "~");
        self.names.contains(&name)
    }

    /// Replaces the members that are there (`null`, blank) and appends the others, in the form's order.
    fn edits(&self, arguments: Value<'_>, content: Value<'_>) -> Vec<Edit> {
        let (mut edits, mut appended) = (Vec::new(), String::new());
        let mut first = arguments.is_empty();
        for name in &self.names {
            let Some(value) = content.get(name) else { continue };
            let value = compact(value);
            match arguments.get(name) {
                Some(old) => edits.push(Edit { range: old.span(), bytes: value.into() }),
                None => {
                    write(&mut appended, first, &serde_json::Value::from(name.as_str()).to_string(), &value);
                    first = false;
                }
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        if !appended.is_empty() {
            // Behind the last member; behind the brace where there is none.
            let last = arguments.members().last().map(|(_, last)| last.span().end);
            let at = last.unwrap_or(arguments.span().start + 1);
            edits.push(Edit { range: at..at, bytes: appended.into() });
        }
        edits
    }
}

fn was_wrong(schema: &Schema, before: Value<'_>, mismatch: &Mismatch) -> bool {
    schema.check(before).iter().any(|other| other == mismatch)
}

/// The arguments after the edits. What was read before, at whatever depth, can be read again.
fn applied(arguments: Value<'_>, edits: &[Edit]) -> Option<Document> {
    let (source, base) = (arguments.raw(), arguments.span().start);
    let mut text = String::with_capacity(source.len());
    let mut copied = 0;
    for edit in edits {
        text.push_str(source.get(copied..edit.range.start.checked_sub(base)?)?);
        text.push_str(std::str::from_utf8(&edit.bytes).ok()?);
        copied = edit.range.end.checked_sub(base)?;
    }
    text.push_str(source.get(copied..)?);
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    Document::read(Bytes::from(text), &limits).ok()
}

/// A member, behind a comma unless it is the first.
pub(super) fn write(text: &mut String, is_first: bool, name: &str, value: &str) {
    if !is_first {
        text.push(',');
    }
    text.push_str(name);
    text.push(':');
    text.push_str(value);
}

/// The value as it is written, without white space between its parts: a line break inside an answer would end the
/// frame it is spliced into.
pub(super) fn compact(value: Value<'_>) -> String {
    match value.kind() {
        Kind::Array => {
            let items: Vec<String> = value.items().map(compact).collect();
            format!("[{}]", items.join(","))
        }
        Kind::Object => {
            let mut text = String::from("{");
            for (position, (key, value)) in value.entries().enumerate() {
                write(&mut text, position == 0, key.raw(), &compact(value));
            }
            text.push('}');
            text
        }
        _ => value.raw().to_owned(),
    }
}
