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

/// The most values of one argument that are looked for in a conversation; who finds more cannot ground them.
pub const VALUES_MAX: usize = 1000;

impl<'a> Leaf<'a> {
    /// The name of the member that holds it, through lists: `n` for `legs[0].n` and for `n[0]`.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        let (mut name, mut inside) = (None, self.root);
        while let Some((named, next)) = self.step(inside) {
            (name, inside) = (named.ok().or(name), next);
        }
        name
    }

    /// Where it stands in the outer value: `legs[0].n`; empty for that value itself. (Made when it is asked for:
    /// a long key over many small values would be copied for each.)
    #[must_use]
    pub fn path(&self) -> String {
        let (mut path, mut inside) = (String::new(), self.root);
        while let Some((named, next)) = self.step(inside) {
            match named {
                Ok(name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
                Err(position) => path.push_str(&format!("[{position}]")),
            }
            inside = next;
        }
        path
    }

    /// The part of a value that holds this one, by name or position.
    fn step(&self, inside: Value<'a>) -> Option<(Result<&'a str, usize>, Value<'a>)> {
        // The last one that begins no later.
        let holds = |value: &Value<'_>| value.ordinal() <= self.value.ordinal();
        let item = inside.items().enumerate().take_while(|(_, item)| holds(item)).last();
        let member = || inside.members().take_while(|(_, member)| holds(member)).last();
        item.map(|(position, item)| (Err(position), item))
            .or_else(|| member().map(|(name, it)| (Ok(name), it)))
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
