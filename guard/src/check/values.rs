//! The values of a call that an option names, and how they are told.

use crate::json::{Kind, Value};
use crate::refusal::plain;
use crate::schema::Schema;

/// Values of one call that are looked for: each costs a look into every message.
pub(crate) const VALUES_MAX: usize = 1000;
/// Code points of a value in a reason.
const SHOWN_CHARS: usize = 60;
/// Code points of a passage in a reason.
const PASSAGE_CHARS: usize = 160;

/// A value with the path that leads to it.
#[derive(Debug, Clone)]
pub(crate) struct Named<'a> {
    pub(crate) path: String,
    pub(crate) value: Value<'a>,
    /// It is the name of a member that the schema does not know: what stands there is anybody's choice too.
    pub(crate) is_name: bool,
}

/// Whether a tool's schema declares a property of that name, anywhere.
pub(crate) fn declares(schema: Option<&Schema>, name: &str) -> bool {
    schema.is_some_and(|schema| schema.declares(name))
}

/// The scalars that an argument's name, or a path such as `invoice.iban`, leads to; a list's items each by itself.
/// What is not sent, or null, is none.
pub(crate) fn of<'a>(arguments: Value<'a>, name: &str, schema: Option<&Schema>) -> Vec<Named<'a>> {
    let mut all = Vec::new();
    match arguments.get(name) {
        Some(value) => scalars(name.to_owned(), value, schema, &mut all),
        None => along(arguments, name, String::new(), schema, &mut all),
    }
    all
}

/// Every scalar of the arguments.
pub(crate) fn all<'a>(arguments: Value<'a>, schema: Option<&Schema>) -> Vec<Named<'a>> {
    let mut all = Vec::new();
    arguments.members().for_each(|(name, value)| scalars(name.to_owned(), value, schema, &mut all));
    all
}

/// Follows a path through objects, and through every item of a list.
// Each step leads into the value, whose depth the reader bounds.
fn along<'a>(
    value: Value<'a>,
    path: &str,
    walked: String,
    schema: Option<&Schema>,
    all: &mut Vec<Named<'a>>,
) {
    if all.len() > VALUES_MAX {
        return;
    }
    if value.kind() == Kind::Array {
        for (position, item) in value.items().enumerate() {
            along(item, path, format!("{walked}[{position}]"), schema, all);
        }
        return;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(member) = value.get(step) else { return };
    let dot = if walked.is_empty() { "" } else { "." };
    let walked = format!("{walked}{dot}{step}");
    if rest.is_empty() {
        scalars(walked, member, schema, all)
    } else {
        along(member, rest, walked, schema, all)
    }
}

// The reader bounds the depth.
fn scalars<'a>(path: String, value: Value<'a>, schema: Option<&Schema>, all: &mut Vec<Named<'a>>) {
    if all.len() > VALUES_MAX {
        return;
    }
    match value.kind() {
        Kind::Null => {}
        Kind::Array => {
            for (position, item) in value.items().enumerate() {
                scalars(format!("{path}[{position}]"), item, schema, all);
            }
        }
        Kind::Object => {
            for (key, member) in value.entries() {
                if all.len() > VALUES_MAX {
                    return;
                }
                let name = key.as_str().unwrap_or_default();
                let path = format!("{path}.{name}");
                if !declares(schema, name) {
                    all.push(Named { path: path.clone(), value: key, is_name: true });
                }
                scalars(path, member, schema, all);
            }
        }
        Kind::Bool | Kind::Number | Kind::String => all.push(Named { path, value, is_name: false }),
    }
}

/// Nothing that could stand anywhere.
pub(crate) fn is_blank(value: Value<'_>) -> bool {
    value
        .as_str()
        .is_some_and(|text| plain::line(text, SHOWN_CHARS).is_empty() || text.chars().all(is_unseen))
}

fn is_unseen(c: char) -> bool {
    use unicode_general_category::{GeneralCategory, get_general_category};
    c.is_whitespace() || get_general_category(c) == GeneralCategory::Format
}

impl Named<'_> {
    /// The argument that it is in.
    pub(crate) fn argument(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }

    /// Whether that name, or path, leads to it.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        let plain = without_positions(&self.path);
        let rest =
            |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.path == name || rest(&plain)
    }

    /// For people: `` `to` "ACC-31" ``.
    pub(crate) fn shown(&self) -> String {
        named(&self.path, self.value)
    }
}

/// A value with its path, for people.
pub(crate) fn named(path: &str, value: Value<'_>) -> String {
    format!("`{}` {}", plain::line(path, crate::refusal::NAME_CHARS_MAX), shown(value))
}

/// `items[3].id` as `items.id`.
pub(crate) fn without_positions(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        match after.split_once(']') {
            Some((digits, behind)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => rest = behind,
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A value in a reason: text in quotes, cut.
pub(crate) fn shown(value: Value<'_>) -> String {
    match value.as_str() {
        Some(text) => quoted(text),
        None => plain::line(value.raw(), SHOWN_CHARS),
    }
}

/// A text in a reason, cut.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", plain::line(text, SHOWN_CHARS))
}

/// A passage in a reason.
pub(crate) fn passage(text: &str) -> String {
    format!("\"{}\"", plain::line(text, PASSAGE_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Limits};

    fn paths(arguments: &str, name: &str) -> Vec<String> {
        let read = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        of(read.root(), name, None).iter().filter(|named| !named.is_name).map(Named::shown).collect()
    }

    #[test]
    fn a_name_leads_to_every_scalar_behind_it() {
        let call = r#"{"to":"A","n":[1,null,[2]],"a":{"b":[{"c":"x"},{"c":true,"d":0}]},"a.b":"dot","e":{}}"#;
        assert_eq!(paths(call, "to"), [r#"`to` "A""#]);
        assert_eq!(paths(call, "n"), ["`n[0]` 1", "`n[2][0]` 2"]);
        assert_eq!(paths(call, "a.b"), [r#"`a.b` "dot""#], "a name that is sent is itself");
        assert_eq!(paths(call, "a.b.c"), [r#"`a.b[0].c` "x""#, "`a.b[1].c` true"]);
        assert_eq!(paths(call, "e"), Vec::<String>::new());
        assert_eq!(paths(call, "z.y"), Vec::<String>::new());
    }

    #[test]
    fn a_name_that_the_schema_does_not_know_is_a_value() {
        let read = Document::read(r#"{"v":{"DE89":1,"x":[{"y":{}}]}}"#.to_owned().into(), &Limits::default())
            .unwrap();
        let shown: Vec<String> = of(read.root(), "v", None).iter().map(Named::shown).collect();
        assert_eq!(shown, [r#"`v.DE89` "DE89""#, "`v.DE89` 1", r#"`v.x` "x""#, r#"`v.x[0].y` "y""#]);
    }

    #[test]
    fn blank_is_what_nobody_sees() {
        let blank = |json: &str| {
            let read = Document::read(json.to_owned().into(), &Limits::default()).unwrap();
            is_blank(read.root())
        };
        assert!(
            blank(r#""""#) && blank(r#"" \t""#) && blank("\"\u{200b} \"") && !blank("\"a\"") && !blank("0")
        );
    }
}
