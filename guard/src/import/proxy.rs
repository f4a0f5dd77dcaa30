//! The YAML of mcp-elicitation-proxy 0.1.
//!
//! It takes more than a policy does: unknown keys at every level, booleans of YAML 1.1, values without effect. All of
//! that is read as it was read there, and what had no effect is said.

use std::ops::Range;
use std::rc::Rc;

use super::values::is_null;
use super::write;
use super::{Imported, Left};
use crate::form::{FIELDS_MAX, MARKER_CHARS_MAX};
use crate::policy::problem::{PolicyErrors, Problem, Source, did_you_mean, sort};
use crate::policy::read::Reader;
use crate::policy::tree::{self, Key, Node};
use crate::policy::{ENTRIES_MAX, FILE_BYTES_MAX, Glob, check};
use crate::refusal::{NAME_CHARS_MAX, plain};

/// What a field could be asked for as; any other type was ignored.
const TYPES: [&str; 4] = ["string", "integer", "number", "boolean"];

/// The old file, read.
#[derive(Debug, Default)]
pub(super) struct Old {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) asks: bool,
    pub(super) requires: bool,
    pub(super) guards_secrets: bool,
    pub(super) names: Vec<String>,
    pub(super) texts: Vec<String>,
    pub(super) tools: Vec<(String, OldTool)>,
}

#[derive(Debug, Default)]
pub(super) struct OldTool {
    pub(super) required: Vec<String>,
    pub(super) message: Option<String>,
    pub(super) fields: Vec<OldField>,
}

#[derive(Debug)]
pub(super) struct OldField {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    pub(super) description: Option<String>,
}

/// Converts a configuration of mcp-elicitation-proxy. `name` stands in messages; `policy` is where the caller will
/// write the policy, for the client's entry.
///
/// # Errors
/// What is wrong with the configuration; that proxy did not start with it either.
pub fn elicitation_proxy(name: &str, text: &[u8], policy: &str) -> Result<Imported, PolicyErrors> {
    let decoded = String::from_utf8_lossy(text.get(..FILE_BYTES_MAX).unwrap_or(text));
    let source = Source::new(name, &decoded);
    if text.len() > FILE_BYTES_MAX || std::str::from_utf8(text).is_err() {
        let message = format!("expected UTF-8 of at most {FILE_BYTES_MAX} bytes");
        return Err(PolicyErrors::new(vec![Problem::error(&source, 0..0, message)]));
    }
    let (root, problems) = tree::read(&source);
    let mut import = Import { reader: Reader { source: &source, problems }, left: Vec::new() };
    let old = root.map(|root| import.file(&root));
    let Import { reader, mut left } = import;
    let mut problems = reader.problems;
    sort(&mut problems);
    let Some(old) = old.filter(|_| problems.is_empty()) else { return Err(PolicyErrors::new(problems)) };
    left.sort_by_key(|left| left.line);
    let text = write::policy(name, &old);
    // What is written is read again: a file that Framegate then refused would be no import.
    check::load(&Source::new(policy, &text), &mut |_| Err("an import names no files".to_owned()))?;
    Ok(Imported { policy: text, client: write::client(&old, policy), left })
}

pub(super) struct Import<'s> {
    pub(super) reader: Reader<'s>,
    left: Vec<Left>,
}

type Member<'n> = (&'n Key, &'n Node);

impl Import<'_> {
    fn left(&mut self, span: &Range<usize>, key: &str, why: impl Into<String>) {
        let line = Problem::warning(self.reader.source, span.clone(), "").line();
        self.left.push(Left { line, key: plain::line(key, NAME_CHARS_MAX * 2), why: why.into() });
    }

    /// A mapping's members of known keys. The others had no effect, and nobody said so.
    fn members<'n>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> Vec<Member<'n>> {
        let mut found = Vec::new();
        for (key, value) in self.reader.mapping(node, "a mapping").unwrap_or_default() {
            if known.contains(&key.text.as_str()) {
                found.push((key, &**value));
                continue;
            }
            let hint = did_you_mean(&key.text, known.iter().copied());
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            self.left(
                &key.span,
                &join(path, &key.text),
                format!("unknown to that proxy too: it had no effect{hint}"),
            );
        }
        found
    }

    fn file(&mut self, root: &Node) -> Old {
        let mut old = Old { asks: true, requires: true, guards_secrets: true, ..Old::default() };
        let mut has_upstream = false;
        for (key, node) in self.members(root, "", &["upstream", "proxy", "elicitation", "policies", "tools"])
        {
            match key.text.as_str() {
                "upstream" => {
                    has_upstream = true;
                    self.upstream(key, node, &mut old);
                }
                "proxy" => self.proxy(node),
                "elicitation" => self.elicitation(node, &mut old),
                "policies" => self.policies(node, &mut old),
                _ => old.tools = self.tools(node),
            }
        }
        if !has_upstream && self.reader.problems.is_empty() {
            self.reader.error(&(0..0), "`upstream` is missing");
        }
        old
    }

    fn upstream(&mut self, at: &Key, node: &Node, old: &mut Old) {
        let mut url = None;
        for (key, node) in self.members(node, "upstream", &["url", "command", "args", "env"]) {
            match key.text.as_str() {
                _ if is_null(node) && matches!(key.text.as_str(), "url" | "command") => {}
                "url" => url = self.text(node).map(|url| (key, url)),
                "command" => old.command = self.text(node),
                "args" => old.args = self.texts(node),
                _ => old.env = self.variables(node),
            }
        }
        let is_blank = |text: &str| text.trim().is_empty();
        let blank =
            url.as_ref().map(|(_, url)| url).into_iter().chain(&old.command).any(|text| is_blank(text));
        if url.is_some() == old.command.is_some() || blank {
            self.reader.error(&at.span, "`upstream` needs exactly one of `url` and `command`, not blank");
        } else if let Some((key, url)) = url {
            let url = plain::line(&url, NAME_CHARS_MAX);
            let why =
                format!("framegate cannot reach a server by URL yet (`{url}`): no client entry is written");
            self.left(&key.span, "upstream.url", why);
            if !old.args.is_empty() || !old.env.is_empty() {
                self.reader.error(&at.span, "`upstream.args` and `upstream.env` need `upstream.command`");
            }
        }
        let expanded = |text: &String| text.contains("${");
        if old.args.iter().chain(old.env.iter().map(|(_, value)| value)).any(expanded) {
            let why = "`${…}` reached the server as it stands; a client may expand it in its own entry";
            self.left(&at.span, "upstream", why);
        }
    }

    fn variables(&mut self, node: &Node) -> Vec<(String, String)> {
        let members = self.reader.mapping(node, "a mapping of variables").unwrap_or_default();
        let mut one = |(key, node): &(Key, Rc<Node>)| Some((key.text.clone(), self.text(node)?));
        members.iter().filter_map(&mut one).collect()
    }

    fn proxy(&mut self, node: &Node) {
        for (key, node) in self.members(node, "proxy", &["name"]) {
            if self.text(node).is_some() {
                let why = "the client sees the server's own name; `framegate run --name` is for logs and the policy";
                self.left(&key.span, "proxy.name", why);
            }
        }
    }

    fn elicitation(&mut self, node: &Node, old: &mut Old) {
        for (key, node) in self.members(node, "elicitation", &["enabled", "fallback_on_unsupported"]) {
            if key.text == "enabled" {
                old.asks = self.boolean(node).unwrap_or(true);
            } else if self.text(node).is_some_and(|value| value != "structured_error") {
                self.reader.error(&node.span, "`fallback_on_unsupported` can only be `structured_error`");
            }
        }
    }

    fn policies(&mut self, node: &Node, old: &mut Old) {
        let mut place = None;
        for (key, node) in self.members(node, "policies", &["schema_required", "sensitive_required"]) {
            if key.text == "schema_required" {
                for (_, node) in self.members(node, "policies.schema_required", &["enabled"]) {
                    old.requires = self.boolean(node).unwrap_or(true);
                    place = Some(node.span.clone());
                }
            } else {
                self.sensitive(node, old);
            }
        }
        if let Some(place) = place.filter(|_| !old.requires && old.guards_secrets) {
            let why =
                "calls that lack a credential were refused although others passed; now all of them pass";
            self.left(&place, "policies.schema_required.enabled", why);
        }
    }

    fn sensitive(&mut self, node: &Node, old: &mut Old) {
        let path = "policies.sensitive_required";
        let known = ["enabled", "sensitive_name_markers", "sensitive_schema_markers"];
        for (key, node) in self.members(node, path, &known) {
            match key.text.as_str() {
                "enabled" => old.guards_secrets = self.boolean(node).unwrap_or(true),
                _ if is_null(node) => {}
                "sensitive_name_markers" => old.names = self.markers(node, &join(path, &key.text)),
                _ => old.texts = self.markers(node, &join(path, &key.text)),
            }
        }
    }

    fn markers(&mut self, node: &Node, path: &str) -> Vec<String> {
        let all = self.texts(node);
        let is_word = |marker: &String| {
            marker.chars().any(char::is_alphanumeric) && marker.trim().chars().count() <= MARKER_CHARS_MAX
        };
        let (kept, odd): (Vec<String>, Vec<String>) = all.into_iter().partition(is_word);
        for marker in odd {
            let why = format!(
                "`{}` is no word of at most {MARKER_CHARS_MAX} characters",
                plain::line(&marker, NAME_CHARS_MAX)
            );
            self.left(&node.span, path, why);
        }
        if !kept.is_empty() {
            let why = "carried over; compared as words now, where any part of a word was enough";
            self.left(&node.span, path, why);
        }
        kept
    }

    fn tools(&mut self, node: &Node) -> Vec<(String, OldTool)> {
        let mut tools = Vec::new();
        for (key, node) in self.reader.mapping(node, "a mapping of tools").unwrap_or_default() {
            let path = join("tools", &key.text);
            let tool = self.tool(node, &path);
            if let Err(error) = Glob::parse(&key.text) {
                self.left(&key.span, &path, format!("a policy cannot name this tool: {error}"));
            } else if key.text.contains(['*', '?', '/']) {
                let why = "a policy reads `*`, `?` and `/` in a tool's name as a pattern or a server's name";
                self.left(&key.span, &path, why);
            } else if tools.len() == ENTRIES_MAX {
                self.left(
                    &key.span,
                    &path,
                    format!("a policy has at most {ENTRIES_MAX} entries under `tools`"),
                );
            } else {
                tools.push((key.text.clone(), tool));
            }
        }
        tools
    }

    fn tool(&mut self, node: &Node, path: &str) -> OldTool {
        let mut tool = OldTool::default();
        for (key, node) in self.members(node, path, &["required", "elicit", "ambiguous_if", "confirm_if"]) {
            let path = join(path, &key.text);
            match key.text.as_str() {
                "required" => tool.required = self.required(key, node, &path),
                "elicit" => self.elicit(node, &path, &mut tool),
                _ if is_null(node) => {}
                _ => self.left(&key.span, &path, "it was read and had no effect; a rule can do that"),
            }
        }
        tool
    }

    fn required(&mut self, key: &Key, node: &Node, path: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.texts(node) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > FIELDS_MAX {
            let why =
                format!("a form asks for at most {FIELDS_MAX} arguments: those behind them are left out");
            self.left(&key.span, path, why);
            names.truncate(FIELDS_MAX);
        }
        names
    }

    fn elicit(&mut self, node: &Node, path: &str, tool: &mut OldTool) {
        for (key, node) in self.members(node, path, &["message", "fields"]) {
            if key.text == "message" {
                tool.message = self.text_or_null(node);
                continue;
            }
            for (name, node) in self.reader.mapping(node, "a mapping of arguments").unwrap_or_default() {
                let path = join(&join(path, "fields"), &name.text);
                tool.fields.push(self.field(&name.text, node, &path));
            }
        }
    }

    fn field(&mut self, name: &str, node: &Node, path: &str) -> OldField {
        let mut field = OldField { name: name.to_owned(), kind: None, description: None };
        for (key, node) in self.members(node, path, &["type", "description"]) {
            if key.text == "description" {
                field.description = self.text_or_null(node);
                continue;
            }
            let Some(kind) = self.text(node) else { continue };
            if TYPES.contains(&kind.as_str()) {
                field.kind = Some(kind);
            } else {
                let why = "not `string`, `integer`, `number` or `boolean`: it had no effect";
                self.left(&key.span, &join(path, "type"), why);
            }
        }
        field
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
