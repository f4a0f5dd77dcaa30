//! What a person typed into a form: their own words, and not those of whoever wrote the form.

use std::collections::HashSet;

use crate::json::{Kind, Value};

/// Where a schema offers values.
const OFFERS: [&str; 4] = ["const", "default", "enum", "examples"];
/// Where it offers a choice.
const CHOICES: [&str; 4] = ["anyOf", "const", "enum", "oneOf"];
/// Characters of a word of a default that is too long to be typed by chance.
const WORD_CHARS_MIN: usize = 4;

/// What a person typed into a form, value by value, a line each; empty where they typed nothing.
///
/// `answer` is what came of it by field, `form` the JSON Schema that was asked with (its `properties`, as in MCP's
/// `requestedSchema`). Whoever wrote the form chose its names, choices and defaults, and whatever `source` offers (the
/// tool's definition, the question): to accept one says nothing of what the person knows. Nor do yes and no, lists,
/// fields that nobody asked for, and `withheld`, which stands where a credential was taken out.
#[must_use]
pub fn typed(answer: Value<'_>, form: Value<'_>, source: Option<Value<'_>>, withheld: &str) -> String {
    let offered = source.map(offered).unwrap_or_default();
    let fields = form.get("properties");
    let is_typed = |(name, value): &(&str, Value<'_>)| {
        let Some(field) = fields.and_then(|fields| fields.get(name)) else { return false };
        let is_plain = matches!(value.kind(), Kind::Number | Kind::String);
        let is_choice = CHOICES.iter().any(|choice| field.get(choice).is_some());
        let text = written(*value);
        is_plain && !is_choice && text != withheld && !offered.contains(text) && !keeps_of(field, text)
    };
    let typed = answer.members().filter(is_typed).map(|(_, value)| written(value));
    typed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether a text has words of what stood in the field before anybody typed.
fn keeps_of(field: Value<'_>, text: &str) -> bool {
    let Some(default) = field.get("default") else { return false };
    let long = |word: &&str| word.chars().nth(WORD_CHARS_MIN - 1).is_some();
    written(default) == text
        || written(default).split_whitespace().filter(long).any(|word| text.contains(word))
}

fn written(value: Value<'_>) -> &str {
    value.as_str().unwrap_or(value.raw()).trim()
}

/// Every value that a definition offers.
fn offered(definition: Value<'_>) -> HashSet<&str> {
    let (mut offered, mut rest) = (HashSet::new(), vec![(definition, false)]);
    while let Some((value, is_offered)) = rest.pop() {
        match value.kind() {
            Kind::Object => rest
                .extend(value.members().map(|(name, member)| (member, is_offered || OFFERS.contains(&name)))),
            Kind::Array => rest.extend(value.items().map(|item| (item, is_offered))),
            _ if is_offered => drop(offered.insert(written(value))),
            _ => {}
        }
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Document, Limits};

    const MARK: &str = "[withheld]";

    #[test]
    fn what_a_tool_names_offers_or_presets_is_not_what_a_person_typed() {
        let read = |text: &str| Document::read(text.to_owned().into(), &Limits::default()).unwrap();
        let heard = |field: &str, schema: &str, value: &str| {
            let form = read(&format!(r#"{{"properties":{{"DE89":{field}}}}}"#));
            let definition = read(&format!(r#"{{"inputSchema":{{"properties":{{"DE89":{schema}}}}}}}"#));
            typed(read(&format!(r#"{{"DE89":{value}}}"#)).root(), form.root(), Some(definition.root()), MARK)
        };
        let own = |field: &str, value: &str| heard(field, field, value);
        assert_eq!(own(r#"{"type":"string"}"#, r#""Ann\tLee ""#), "Ann\tLee");
        assert_eq!(own(r#"{"type":"integer"}"#, "17"), "17");
        assert_eq!(own(r#"{"type":"boolean"}"#, "true"), "");
        assert_eq!(own(r#"{"oneOf":[{"const":"X-1","title":"English"}]}"#, r#""X-1""#), "");
        assert_eq!(own(r#"{"type":"string","enum":["yes","no"]}"#, r#""yes""#), "");
        assert_eq!(own(r#"{"type":"array","items":{"enum":["yes"]}}"#, r#"["yes"]"#), "");
        let preset = r#"{"type":"string","default":"hello X-123"}"#;
        assert_eq!(own(preset, r#"" hello X-123""#), "");
        assert_eq!(own(preset, r#""dear X-123.""#), "", "edited a little");
        assert_eq!(own(preset, r#""Ann""#), "Ann");
        assert_eq!(own(r#"{"type":"integer","default":5}"#, "5"), "");
        // What the form does not say, and the tool does.
        let plain = r#"{"type":"string"}"#;
        assert_eq!(heard(plain, r#"{"examples":["X-1"]}"#, r#""X-1""#), "");
        assert_eq!(heard(plain, r#"{"allOf":[{"enum":["X-1"]}]}"#, r#""X-1""#), "");
        assert_eq!(heard(plain, r#"{"description":"X-1"}"#, r#""X-2""#), "X-2");
        // Not asked for.
        assert_eq!(
            typed(read(r#"{"b":"x"}"#).root(), read(r#"{"properties":{"a":{}}}"#).root(), None, MARK),
            ""
        );
        assert_eq!(own(plain, &serde_json::Value::from(MARK).to_string()), "");
    }
}
