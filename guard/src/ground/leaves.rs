//! The scalar values inside a value.

use super::class::{is_format, is_space};
use crate::json::{Kind, Value};

/// A value that somebody may have said, inside another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaf<'a> {
    root: Value<'a>,
    /// A string or a number.
    pub value: Value<'a>,
}

impl Leaf<'_> {
    /// Where it stands in the outer value: `legs[0].n`; empty for that value itself. (Made when it is asked for:
    /// a long key over many small values would be copied for each.)
    #[must_use]
    pub fn path(&self) -> String {
        let (mut path, mut inside) = (String::new(), self.root);
        while inside.ordinal() != self.value.ordinal() {
            // The last one that begins no later is the one that holds it.
            let holds = |value: &Value<'_>| value.ordinal() <= self.value.ordinal();
            if let Some((position, item)) =
                inside.items().enumerate().take_while(|(_, item)| holds(item)).last()
            {
                path.push_str(&format!("[{position}]"));
                inside = item;
            } else if let Some((name, member)) =
                inside.members().take_while(|(_, member)| holds(member)).last()
            {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(name);
                inside = member;
            } else {
                break;
            }
        }
        path
    }
}

/// The strings and numbers in a value, as written. Booleans, `null` and blank texts are none: nobody says them.
///
/// The depth is bounded by [`crate::json::Limits::DEPTH_MAX`].
#[must_use]
pub fn leaves(value: Value<'_>) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    gather(value, value, &mut found);
    found
}

fn gather<'a>(root: Value<'a>, value: Value<'a>, found: &mut Vec<Leaf<'a>>) {
    match value.kind() {
        Kind::Null | Kind::Bool => {}
        Kind::String if is_blank(value.as_str().unwrap_or_default()) => {}
        Kind::String | Kind::Number => found.push(Leaf { root, value }),
        Kind::Array => value.items().for_each(|item| gather(root, item, found)),
        Kind::Object => value.members().for_each(|(_, member)| gather(root, member, found)),
    }
}

/// Whether nothing of it shows.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| is_space(c) || is_format(c))
}

#[cfg(test)]
mod tests {
    use super::leaves;
    use crate::json::{Document, Limits};

    #[test]
    fn each_with_its_path() {
        let text = r#"{"to":["a",7,""," \u200b"],"legs":[{"n":1.0,"ok":true},{"n":2}],"note":null,"x":{"y":{"z":"q"}}}"#;
        let document = Document::read(text.into(), &Limits::default()).unwrap();
        let found: Vec<(String, &str)> =
            leaves(document.root()).iter().map(|leaf| (leaf.path(), leaf.value.raw())).collect();
        let expected = [
            ("to[0]", "\"a\""),
            ("to[1]", "7"),
            ("legs[0].n", "1.0"),
            ("legs[1].n", "2"),
            ("x.y.z", "\"q\""),
        ];
        assert_eq!(found, expected.map(|(path, raw)| (path.to_owned(), raw)));
        let inner = document.root().get("x").unwrap();
        assert_eq!(leaves(inner)[0].path(), "y.z");
        assert_eq!(leaves(leaves(inner)[0].value)[0].path(), "");
    }
}
