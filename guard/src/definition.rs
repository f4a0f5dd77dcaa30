//! A tool's definition as a model is shown it: the checks its calls pass through, in words.
//!
//! A model that knows the rules breaks fewer. They are appended to the listing's descriptions as edits of its
//! bytes: nothing else of the listing changes.

use bytes::Bytes;

use crate::call_shape::CallShape;
use crate::json::{Kind, Value};
use crate::refusal::{Key, Language, OnFailure};
pub use crate::schema::Edit;

/// Between a description and its rules.
const GAP: &str = "\n\n";
/// Rules that a description lists; the others are counted.
pub const RULES_MAX: usize = 32;

/// One check that a tool's calls pass through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckInfo {
    /// Its name.
    pub name: String,
    /// What must hold, in the policy author's or the check's words; may be empty.
    pub reason: String,
    /// What becomes of a call that fails it.
    pub on_failure: OnFailure,
}

/// The checks in the order in which they decide: the denying ones before the asking ones, each kind in the order
/// given.
#[must_use]
pub fn in_deciding_order(mut checks: Vec<CheckInfo>) -> Vec<CheckInfo> {
    checks.sort_by_key(|check| check.on_failure == OnFailure::Ask);
    checks
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Definition<'a> {
    /// The name it is called by.
    pub name: &'a str,
    /// What it is for; may be empty.
    pub description: &'a str,
    /// The schema of its arguments; goes out as it is written.
    pub schema: Value<'a>,
}

impl Definition<'_> {
    /// As JSON in the form that the API of that shape takes, with the rules ([`rules_text`]) if any.
    #[must_use]
    pub fn json(&self, shape: CallShape, rules: Option<&str>) -> String {
        let name = quoted(self.name);
        let both = [self.description, rules.unwrap_or_default()];
        let parts: Vec<&str> = both.into_iter().filter(|part| !part.is_empty()).collect();
        let description = quoted(&parts.join(GAP));
        let schema = self.schema.raw();
        let with = |key: &str| format!(r#""name":{name},"description":{description},"{key}":{schema}"#);
        match shape {
            CallShape::Anthropic => format!("{{{}}}", with("input_schema")),
            CallShape::Mcp => format!("{{{}}}", with("inputSchema")),
            CallShape::LangChain | CallShape::OpenAiChat => {
                format!(r#"{{"type":"function","function":{{{}}}}}"#, with("parameters"))
            }
            CallShape::OpenAiResponses => format!(r#"{{"type":"function",{}}}"#, with("parameters")),
        }
    }
}

/// The rules as text for a description: a head, then one line a rule. `None` when there are none.
#[must_use]
pub fn rules_text(language: &Language, checks: &[CheckInfo]) -> Option<String> {
    if checks.is_empty() {
        return None;
    }
    let mut lines = vec![language.text(Key::RulesHead, &[])];
    lines.extend(checks.iter().take(RULES_MAX).map(|check| rule_line(language, check)));
    if let Some(unsaid) = checks.len().checked_sub(RULES_MAX).filter(|unsaid| *unsaid > 0) {
        lines.push(language.text(Key::More, &[("count", &unsaid.to_string())]));
    }
    Some(lines.join("\n"))
}

fn rule_line(language: &Language, check: &CheckInfo) -> String {
    let key = match check.on_failure {
        OnFailure::Ask => Key::RulesAsk,
        OnFailure::Deny => Key::RulesDeny,
    };
    language.text(key, &[("reason", &language.reason(&check.name, &check.reason))])
}

/// The edits that append the rules of each tool to its description; a tool without a description gets one.
///
/// `tools` is the array of a `tools/list` result, `checks_of` the checks of the tool of that name in deciding
/// order. Every edit lies inside a tool's description, or inserts one. What is no object with a name, and a
/// description that is no string, stays as it is.
pub fn show_rules(
    tools: Value<'_>,
    language: &Language,
    mut checks_of: impl FnMut(&str) -> Vec<CheckInfo>,
) -> Vec<Edit> {
    let edit = |tool: Value<'_>| {
        let name = tool.get("name")?.as_str()?;
        describe(tool, &rules_text(language, &checks_of(name))?)
    };
    tools.items().filter_map(edit).collect()
}

fn describe(tool: Value<'_>, rules: &str) -> Option<Edit> {
    let Some(description) = tool.get("description") else {
        let at = tool.span().start + 1;
        return Some(Edit { range: at..at, bytes: format!("\"description\":{},", quoted(rules)).into() });
    };
    if description.kind() != Kind::String {
        return None;
    }
    let gap = if description.as_str() == Some("") { "" } else { GAP };
    let text = Bytes::from(quoted(&format!("{gap}{rules}")));
    // Between the last character and the closing quote.
    let at = description.span().end - 1;
    Some(Edit { range: at..at, bytes: text.slice(1..text.len() - 1) })
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{CheckInfo, Definition, Edit, RULES_MAX, in_deciding_order, rules_text, show_rules};
    use crate::call_shape::CallShape;
    use crate::json::{Document, Limits};
    use crate::refusal::{Language, OnFailure};

    fn check(name: &str, reason: &str, on_failure: OnFailure) -> CheckInfo {
        CheckInfo { name: name.to_owned(), reason: reason.to_owned(), on_failure }
    }

    fn spliced(listing: &str, checks: &[CheckInfo]) -> String {
        let document = Document::read(listing.to_owned().into(), &Limits::default()).unwrap();
        let checks_of = |name: &str| if name == "free" { Vec::new() } else { checks.to_vec() };
        let mut bytes = listing.as_bytes().to_vec();
        let edits = show_rules(document.root().get("tools").unwrap(), &Language::english(), checks_of);
        for Edit { range, bytes: with } in edits.into_iter().rev() {
            bytes.splice(range, with);
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_descriptions_change() {
        let checks = [check("work", "Only \"/work\".", OnFailure::Deny), check("big", "", OnFailure::Ask)];
        let rules = r#"A guard checks this call: it is refused unless\n- Only \"/work\".\n- The rule big does not hold. (else a person decides)"#;
        let listing = |a: &str, b: &str, c: &str| {
            format!(
                r#"{{ "tools": [ {{"name":"\u0061", "description" : "A \u00e4.{a}", "x":1.10}}, {{{b} "name":"b"}},
                {{"name":"c","description":"{c}"}}, {{"name":"free","description":"F"}}, {{"description":"no name"}},
                {{"name":"d","description":null}}, 5], "nextCursor" : "n" }}"#
            )
        };
        let expected = listing(&format!("\\n\\n{rules}"), &format!("\"description\":\"{rules}\","), rules);
        assert_eq!(spliced(&listing("", "", ""), &checks), expected);
        assert_eq!(spliced(&listing("", "", ""), &[]), listing("", "", ""));
    }

    #[test]
    fn a_listed_rule_stays_one_line_inside_its_string() {
        let evil = [check("r", "x\"},\n{\"name\":\"y\u{1b}", OnFailure::Deny)];
        let after = spliced(r#"{"tools":[{"name":"a","description":"A"}]}"#, &evil);
        assert!(!after.contains('\n') && after.contains(r#"- x\"}, {\"name\":\"y\\u{1b}"}]}"#), "{after}");
    }

    #[test]
    fn the_list_of_rules_is_bounded() {
        let lines = |n: usize| {
            let checks: Vec<_> = (0..n).map(|n| check(&n.to_string(), "", OnFailure::Deny)).collect();
            rules_text(&Language::english(), &checks).map_or(0, |text| text.lines().count())
        };
        assert_eq!(lines(0), 0);
        assert_eq!(lines(RULES_MAX - 1), RULES_MAX);
        assert_eq!(lines(RULES_MAX), RULES_MAX + 1);
        assert_eq!(lines(RULES_MAX + 1), RULES_MAX + 2);
        assert_eq!(lines(RULES_MAX + 9), RULES_MAX + 2);
    }

    #[test]
    fn a_definition_has_the_form_of_its_api() {
        let schema = Document::read(r#"{"maximum": 1.10}"#.into(), &Limits::default()).unwrap();
        let tool = Definition { name: "a\"", description: "A", schema: schema.root() };
        let parts = |key: &str| format!(r#""name":"a\"","description":"A\n\nR","{key}":{{"maximum": 1.10}}"#);
        let json = |shape| tool.json(shape, Some("R"));
        assert_eq!(json(CallShape::Mcp), format!("{{{}}}", parts("inputSchema")));
        assert_eq!(json(CallShape::Anthropic), format!("{{{}}}", parts("input_schema")));
        let function = parts("parameters");
        assert_eq!(json(CallShape::OpenAiResponses), format!(r#"{{"type":"function",{function}}}"#));
        let chat = format!(r#"{{"type":"function","function":{{{function}}}}}"#);
        assert_eq!(json(CallShape::OpenAiChat), chat);
        assert_eq!(json(CallShape::LangChain), chat);
        assert!(tool.json(CallShape::Mcp, None).contains(r#""description":"A","#));
    }

    #[test]
    fn denying_checks_decide_first() {
        let checks = vec![
            check("a", "", OnFailure::Ask),
            check("b", "", OnFailure::Deny),
            check("c", "", OnFailure::Ask),
            check("d", "", OnFailure::Deny),
        ];
        let names: Vec<String> = in_deciding_order(checks).into_iter().map(|check| check.name).collect();
        assert_eq!(names, ["b", "d", "a", "c"]);
    }
}
