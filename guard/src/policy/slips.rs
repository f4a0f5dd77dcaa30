//! Usual slips of those who write YAML or CEL by hand, and what to write instead.

use std::ops::Range;
use std::sync::Arc;

use super::problem::{Problem, Source};
use super::read::quoted;
use super::tree::{Node, Scalar, Value};

/// What a YAML reader stumbled over at a byte of the file, told as what its author did.
pub(crate) fn of_yaml(source: &Arc<Source>, at: usize, info: &str) -> Problem {
    let line = Line::of(source, at);
    if let Some(tab) = line.indented_by_a_tab() {
        let message = "a tab where YAML wants spaces";
        return Problem::error(source, tab, message).hint("indent with spaces: YAML takes no tabs for it");
    }
    if line.rest(at).starts_with('*') {
        let text = line.word(at);
        let message = format!("`{text}` is an alias to YAML, not a pattern");
        return Problem::error(source, at..at + text.len(), message)
            .hint(format!("put it in quotes: `{}`", quoted(text)));
    }
    let (start, value) = line.value();
    let span = start..start + value.len();
    let what = match value.chars().next() {
        Some('!') => format!("what begins with `!` is a tag to YAML, not {}", line.what()),
        Some('&') => "what begins with `&` is an anchor to YAML".to_owned(),
        Some('"' | '\'') => "a text in quotes, and something behind it".to_owned(),
        Some('[') if line.is_expression() => "a list, and something behind it".to_owned(),
        Some('{') if is_closed(value) => return in_braces(source, at, info),
        Some('[' | '{' | '|' | '>') => return plain(source, at, info),
        Some(c @ ('@' | '%' | '`')) => format!("YAML takes no text that begins with `{c}`"),
        Some(_) if value.contains(": ") => "`: ` ends a key in YAML".to_owned(),
        _ => return plain(source, at, info),
    };
    Problem::error(source, span, what).hint(line.in_quotes(value))
}

fn plain(source: &Arc<Source>, at: usize, info: &str) -> Problem {
    let problem = Problem::error(source, at..at, format!("this is not YAML: {info}"));
    let is_moved = ["did not find expected '-' indicator", "expected key", "mapping values are not allowed"]
        .iter()
        .any(|said| info.contains(said));
    problem.hint_maybe(
        is_moved
            .then(|| "the keys of one rule or mapping begin in the same column: check the spaces".to_owned()),
    )
}

/// `{ name: a, that: f(x, y) }`
fn in_braces(source: &Arc<Source>, at: usize, info: &str) -> Problem {
    let hint = "between `{` and `}` a comma ends a text: put an expression in quotes, or write each key in a line of its own";
    Problem::error(source, at..at, format!("this is not YAML: {info}")).hint(hint)
}

fn is_closed(value: &str) -> bool {
    let count = |c: char| value.matches(c).count();
    count('{') == count('}') && count('[') == count(']')
}

/// A tag that a YAML reader takes.
pub(crate) fn of_tag(source: &Arc<Source>, at: Range<usize>, tag: &str) -> Problem {
    let line = Line::of(source, at.start);
    if !tag.contains('(') {
        return Problem::error(source, at, format!("a policy has no use for the tag `{tag}`"));
    }
    let (start, value) = line.value();
    let message = "what begins with `!` is a tag to YAML, not an expression";
    if start == at.start {
        return Problem::error(source, start..start + value.len(), message).hint(line.in_quotes(value));
    }
    Problem::error(source, at, message).hint("put the whole expression in quotes: `'!…'`")
}

/// A word where a tool's options stand.
pub(crate) fn of_options(word: &Scalar) -> &'static str {
    match word.text.to_ascii_lowercase().as_str() {
        "deny" | "denied" | "refuse" | "hide" | "hidden" | "block" | "no" | "off" | "false" => {
            "write `{ hidden: true }`; or take it out where `default` is `deny`: what is not named is refused then"
        }
        "ask" | "confirm" => "write `{}` here, and a rule for the tool with `otherwise: ask`",
        "strict" => "write `{ arguments: strict }`",
        "coerce" => "write `{ arguments: coerce }`",
        "unchecked" => "write `{ arguments: unchecked }`",
        "monitor" => "write `{ mode: monitor }`",
        _ => "a tool that is named is let through: write `{}` for no options",
    }
}

/// Something else where `tools:` has its entries.
pub(crate) fn of_tools(node: &Node) -> Option<String> {
    let name = match &node.value {
        Value::List(items) => items.first().and_then(|item| text(item)),
        Value::Scalar(_) => text(node),
        Value::Map(_) => None,
    };
    Some(format!("write each tool as a key with its options, in a line of its own: `{}: {{}}`", key(name?)))
}

/// Something else where a rule's `tools:` has its list.
pub(crate) fn of_patterns(node: &Node) -> Option<String> {
    text(node).map(|pattern| format!("write `[{}]`", quoted(pattern)))
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) if !scalar.is_null() => Some(&scalar.text),
        _ => None,
    }
}

fn key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// One line of the file.
struct Line<'s> {
    start: usize,
    text: &'s str,
}

impl<'s> Line<'s> {
    fn of(source: &'s Source, at: usize) -> Line<'s> {
        let (start, text) = source.line(source.line_of(at));
        Line { start, text }
    }

    fn rest(&self, at: usize) -> &'s str {
        self.text.get(at.saturating_sub(self.start)..).unwrap_or_default()
    }

    fn indented_by_a_tab(&self) -> Option<Range<usize>> {
        let indent = self.text.len() - self.text.trim_start_matches([' ', '\t']).len();
        let tab = self.text.get(..indent)?.find('\t')?;
        Some(self.start + tab..self.start + tab + 1)
    }

    /// The pattern that begins there.
    fn word(&self, at: usize) -> &'s str {
        let rest = self.rest(at);
        let end = rest.find(|c: char| c.is_whitespace() || ",]}:".contains(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or(rest)
    }

    /// Where its value begins, behind dashes and the key.
    fn value(&self) -> (usize, &'s str) {
        let mut rest = self.text.trim_start();
        while let Some(item) = rest.strip_prefix("- ") {
            rest = item.trim_start();
        }
        if let Some((key, value)) = rest.split_once(": ")
            && is_key(key)
        {
            rest = value.trim_start();
        }
        (self.start + self.text.len() - rest.len(), rest.trim_end())
    }

    fn key(&self) -> Option<&'s str> {
        let rest = self.text.trim_start().trim_start_matches("- ").trim_start();
        rest.split_once(':').map(|(key, _)| key).filter(|key| is_key(key))
    }

    /// What ought to stand there.
    fn what(&self) -> &'static str {
        if self.is_expression() { "an expression" } else { "text" }
    }

    fn is_expression(&self) -> bool {
        matches!(self.key(), Some("that" | "when"))
    }

    fn in_quotes(&self, value: &str) -> String {
        let quoted = format!("'{}'", value.replace('\'', "''"));
        match self.key() {
            Some(key) => format!("put it all in quotes: `{key}: {quoted}`"),
            None => format!("put it all in quotes: `{quoted}`"),
        }
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'))
}

#[cfg(test)]
mod tests {
    use super::super::Policy;

    /// Place, message and hint of the first error.
    fn said(lines: &str) -> String {
        let text = format!("framegate: 1\n{lines}");
        let errors = Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap_err();
        let first = &errors.problems()[0];
        format!(
            "{}:{} {} -> {}",
            first.line(),
            first.column(),
            first.message(),
            first.advice().unwrap_or("-")
        )
    }

    fn rule(that: &str) -> String {
        said(&format!("tools: {{ t: {{}} }}\nrules:\n  - name: a\n    that: {that}\n"))
    }

    #[test]
    fn an_expression_that_begins_with_a_not_is_put_in_quotes() {
        for (that, quoted) in [
            ("!contains_any(texts, [\"x\"])", "'!contains_any(texts, [\"x\"])'"),
            ("!has(args.x) || args.x != 'a'", "'!has(args.x) || args.x != ''a'''"),
            ("!has(args.x)", "'!has(args.x)'"),
        ] {
            assert_eq!(
                rule(that),
                format!(
                    "5:11 what begins with `!` is a tag to YAML, not an expression -> put it all in quotes: `that: {quoted}`"
                )
            );
        }
        assert_eq!(
            rule("\"a\" in args.x"),
            "5:11 a text in quotes, and something behind it -> put it all in quotes: `that: '\"a\" in args.x'`"
        );
        assert!(rule("[1, 2].exists(x, x > args.n)").starts_with("5:11 a list, and something behind it"));
        assert!(
            rule("args.x == \"a: b\"").starts_with("5:11 `: ` ends a key in YAML -> put it all in quotes")
        );
    }

    #[test]
    fn words_of_other_languages_are_told_the_operator() {
        let hint = |that: &str| rule(that).split_once(" -> ").unwrap().1.to_owned();
        assert_eq!(
            rule("args.x == 'a' and args.y == 'b'"),
            "5:25 `and` does not belong here -> write `&&` for and"
        );
        assert_eq!(
            rule("args.x == 'a' or args.y == 'b'"),
            "5:25 `or` does not belong here -> write `||` for or"
        );
        assert_eq!(
            rule("not args.x == 'a'"),
            "5:11 `not` does not belong here -> write `!(…)` for not, the whole expression in quotes"
        );
        assert_eq!(
            hint("args.x == 'a' || not args.y"),
            "write `!(…)` for not, the whole expression in quotes"
        );
        assert_eq!(hint("args.x not in ['a']"), "write `!(…)` for not, the whole expression in quotes");
        assert_eq!(hint("not(args.x == 'a')"), "write `!(…)` for not, the whole expression in quotes");
    }

    #[test]
    fn tabs_and_stars_and_words_in_the_place_of_options_are_told_what_to_write() {
        assert_eq!(
            said("tools:\n\tt: {}\n"),
            "3:1 a tab where YAML wants spaces -> indent with spaces: YAML takes no tabs for it"
        );
        assert_eq!(
            said("tools:\n  t:\n  \t  arguments: coerce\n"),
            "4:3 a tab where YAML wants spaces -> indent with spaces: YAML takes no tabs for it"
        );
        assert_eq!(
            said("tools:\n  *_file: {}\n"),
            "3:3 `*_file` is an alias to YAML, not a pattern -> put it in quotes: `\"*_file\"`"
        );
        assert_eq!(
            said("tools:\n  *: {}\n"),
            "3:3 `*` is an alias to YAML, not a pattern -> put it in quotes: `\"*\"`"
        );
        let tools = |tools: &str| {
            said(&format!(
                "tools: {{ t: {{}} }}\nrules:\n  - name: a\n    tools: {tools}\n    that: args.x == 1\n"
            ))
        };
        assert_eq!(
            tools("[t, *_file]"),
            "5:16 `*_file` is an alias to YAML, not a pattern -> put it in quotes: `\"*_file\"`"
        );
        assert_eq!(tools("*"), "5:12 `*` is an alias to YAML, not a pattern -> put it in quotes: `\"*\"`");
        assert_eq!(tools("read_*"), "5:12 expected a list of tools, found text -> write `[\"read_*\"]`");
        assert_eq!(
            said("tools:\n  write_file: deny\n"),
            "3:15 expected the tool's options, found text -> write `{ hidden: true }`; or take it out where `default` is `deny`: what is not named is refused then"
        );
        assert!(said("tools:\n  t: allow\n").ends_with("let through: write `{}` for no options"));
        assert!(said("tools:\n  t: true\n").ends_with("write `{}` for no options"));
        assert!(said("tools:\n  t: coerce\n").ends_with("write `{ arguments: coerce }`"));
        assert!(said("tools: [read_file, b]\n").ends_with("in a line of its own: `read_file: {}`"));
        assert!(said("tools: 'read_*'\n").ends_with("in a line of its own: `\"read_*\": {}`"));
        assert!(said("rules:\n  a: { that: 'true' }\n").ends_with("begin each rule with `- name: …`"));
    }
}
