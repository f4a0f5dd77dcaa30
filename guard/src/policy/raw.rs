//! The file as it was typed: every key known, every value of the right type, nothing compared yet.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::facts::FactKind;
use super::glob::{Glob, GlobError};
use super::locate::Cel;
use super::merge::{Set, Setting};
use super::options::{
    Approve, Arguments, Definitions, Invisible, InvisibleBy, Mode, Remember, Schema, Undeclared,
};
use super::programs::RawPrograms;
use super::properties::RawProperty;
use super::provenance::{self, RawContext};
use super::read::{At, Fields, Keys, Reader};
use super::rules::Otherwise;
use super::states::{self, RawEffects, RawInvariant, RawVariable};
use super::tree::{Key, Node, Value};
use super::{CallLimits, Surface, Unnamed, asks, size, slips};
use crate::form::Secrets;
use crate::json;

/// Rules, entries under `tools:`, definitions, facts, lists or methods in one file, each.
pub const ENTRIES_MAX: usize = 1000;

/// Patterns under all `tools:` of a file's rules together.
pub const RULE_PATTERNS_MAX: usize = 10_000;

pub(crate) const OPTIONS: &[&str] = &[
    "arguments",
    "undeclared",
    "invisible",
    "schema",
    "mode",
    "hidden",
    "definitions",
    "show_rules",
    "approve",
    "remember",
    "missing",
    "ask",
    "limit",
    "budget",
];
/// Those of them that may stand at the top of the file too.
const AT_THE_TOP: [&str; 5] = ["arguments", "undeclared", "invisible", "approve", "definitions"];
pub(crate) const A_POLICY: &str = "a policy";
pub(crate) const A_RULE: &str = "a rule";
pub(crate) const A_TOOLS_OPTIONS: &str = "a tool's options";
pub(crate) const OF_A_POLICY: &[&str] = &[
    "framegate",
    "default",
    "context",
    "mode",
    "arguments",
    "undeclared",
    "invisible",
    "definitions",
    "approve",
    "language",
    "surface",
    "limits",
    "facts",
    "lists",
    "define",
    "defaults",
    "tools",
    "rules",
    "methods",
    "server_requests",
    "secrets",
    "authorizer",
    "programs",
    "state",
    "invariants",
    "properties",
];
const FILE: Keys = Keys::known(A_POLICY, OF_A_POLICY);
const TOOL: Keys = Keys { what: A_TOOLS_OPTIONS, known: OPTIONS, more: provenance::OPTIONS };
const LIMITS: Keys = Keys::known("limits", &["call_bytes", "depth", "asks_per_minute", "asks_per_session"]);
const FACT: Keys = Keys::known("a fact", &["type", "default", "one_of"]);
pub(crate) const OF_A_RULE: &[&str] =
    &["name", "tools", "when", "that", "otherwise", "because", "advice", "mode", "program"];
const RULE: Keys = Keys { what: A_RULE, known: OF_A_RULE, more: &states::RULE_KEYS };
const RULING: Keys = Keys::known("a ruling", &["that", "because", "otherwise"]);

pub(crate) const MODES: &[(&str, Mode)] = &[("enforce", Mode::Enforce), ("monitor", Mode::Monitor)];
const APPROVE: &[(&str, Approve)] = &[("client", Approve::Client), ("terminal", Approve::Terminal)];
const DEFINITIONS: &[(&str, Definitions)] = &[
    ("report", Definitions::Report),
    ("ask", Definitions::Ask),
    ("hide", Definitions::Hide),
    ("unread", Definitions::Unread),
];
const REMEMBER: &[(&str, Remember)] =
    &[("arguments", Remember::Arguments), ("never", Remember::Never), ("tool", Remember::Tool)];
pub(crate) const OTHERWISE: &[(&str, Otherwise)] = &[("deny", Otherwise::Deny), ("ask", Otherwise::Ask)];
const INVISIBLE: &[(&str, Invisible)] = &[("refuse", Invisible::Refuse), ("allow", Invisible::Allow)];

#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) unnamed: Option<At<Unnamed>>,
    pub(crate) mode: Option<At<Mode>>,
    pub(crate) language: Option<At<String>>,
    pub(crate) surface: Option<At<Surface>>,
    pub(crate) context: RawContext,
    pub(crate) call_bytes: Option<At<usize>>,
    pub(crate) asks_per_minute: Option<At<usize>>,
    pub(crate) asks_per_session: Option<At<usize>>,
    pub(crate) depth: Option<At<usize>>,
    pub(crate) facts: Vec<(Key, RawFact)>,
    pub(crate) lists: Vec<(Key, Rc<Node>)>,
    pub(crate) define: Vec<(Key, Cel)>,
    pub(crate) defaults: Vec<Setting>,
    pub(crate) tools: Vec<(At<Glob>, Vec<Setting>)>,
    pub(crate) rules: Vec<RawRule>,
    pub(crate) states: Vec<(Key, RawVariable)>,
    pub(crate) invariants: Vec<RawInvariant>,
    pub(crate) properties: Vec<RawProperty>,
    pub(crate) methods: Vec<(Key, RawPassage)>,
    pub(crate) server_requests: Vec<(Key, RawPassage)>,
    /// `secrets:`, and where it says `ask: true`.
    pub(crate) secrets: Option<(Secrets, Option<Range<usize>>)>,
    pub(crate) programs: RawPrograms,
}

#[derive(Debug)]
pub(crate) struct RawFact {
    pub(crate) kind: FactKind,
    pub(crate) default: Option<At<String>>,
    pub(crate) one_of: Vec<At<String>>,
}

#[derive(Debug)]
pub(crate) struct RawRule {
    pub(crate) name: At<String>,
    pub(crate) tools: Vec<At<Glob>>,
    pub(crate) when: Option<Cel>,
    /// Nothing in a rule that has effects only.
    pub(crate) that: Option<Cel>,
    pub(crate) otherwise: Otherwise,
    pub(crate) because: String,
    pub(crate) advice: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) effects: RawEffects,
    /// The limit or budget that it was made of.
    pub(crate) made_of: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) enum RawPassage {
    Deny,
    Pass,
    Ruled { that: Cel, otherwise: Otherwise, because: String },
}

/// Gives schema files by path.
pub(crate) type ReadFile<'f> = dyn FnMut(&str) -> Result<String, String> + 'f;

impl Reader<'_> {
    pub(crate) fn file(&mut self, root: &Node, read: &mut ReadFile<'_>) -> Option<File> {
        if !matches!(root.value, Value::Map(_)) {
            self.expected("a policy: a mapping that begins with `framegate: 1`", root);
            return None;
        }
        let fields = self.fields(root, &FILE)?;
        self.version(&fields);
        let surfaces = [("all", Surface::All), ("tools", Surface::Tools)];
        let unnamed = [("deny", Unnamed::Deny), ("allow", Unnamed::Allow)];
        let mut file = File {
            unnamed: fields.get("default").and_then(|node| self.choice(node, &unnamed)),
            mode: fields.get("mode").and_then(|node| self.choice(node, MODES)),
            language: fields.get("language").and_then(|node| self.words(node, "a language such as `en`")),
            surface: fields.get("surface").and_then(|node| self.choice(node, &surfaces)),
            ..File::default()
        };
        self.limits(&fields, &mut file);
        file.context = self.context(&fields);
        file.facts = self.named(&fields, "facts", |reader, key, node| reader.fact(key, node));
        file.lists = self.raw_nodes(&fields, "lists");
        file.define = self.named(&fields, "define", |reader, key, node| {
            reader.identifier(key).then(|| reader.cel_or_program(node)).flatten()
        });
        file.defaults = self.defaults(&fields, read);
        file.secrets = self.secrets(&fields);
        file.programs = self.programs(&fields);
        file.tools = self.tools(&fields, read);
        file.rules = self.rules(&fields);
        file.states = self.states(&fields);
        file.invariants = self.invariants(&fields);
        file.properties = self.properties(&fields);
        file.methods = self.named(&fields, "methods", |reader, _, node| reader.passage(node));
        file.server_requests = self.named(&fields, "server_requests", |reader, _, node| reader.passage(node));
        Some(file)
    }

    fn version(&mut self, fields: &Fields<'_>) {
        let Some(node) = fields.get("framegate") else {
            let at = fields.span.start..fields.span.start;
            self.error_hint(
                &at,
                "the version of the policy's language is missing",
                "begin with `framegate: 1`",
            );
            return;
        };
        if let Some(version) = self.text(node, "the number 1").filter(|version| version.value != "1") {
            let message =
                format!("this build reads version 1 of the policy's language, not `{}`", version.value);
            self.error_hint(&version.span, message, "write `framegate: 1`");
        }
    }

    fn limits(&mut self, fields: &Fields<'_>, file: &mut File) {
        let Some(limits) = fields.get("limits").and_then(|node| self.fields(node, &LIMITS)) else { return };
        file.call_bytes =
            limits.get("call_bytes").and_then(|node| self.amount(node, &CallLimits::CALL_BYTES));
        file.depth = limits.get("depth").and_then(|node| self.amount(node, &CallLimits::DEPTH));
        let mut asks = |key| limits.get(key).and_then(|node| self.amount(node, &CallLimits::ASKS));
        (file.asks_per_minute, file.asks_per_session) = (asks("asks_per_minute"), asks("asks_per_session"));
    }

    fn amount(&mut self, node: &Node, allowed: &std::ops::RangeInclusive<usize>) -> Option<At<usize>> {
        let text = self.words(node, "a number such as `64` or `16 MiB`")?;
        let Some(amount) = size::parse(&text.value) else {
            let message = format!("`{}` is not an amount", text.value);
            self.error_hint(
                &text.span,
                message,
                "write a whole number, for bytes also with a unit: `16 MiB`",
            );
            return None;
        };
        match usize::try_from(amount).ok().filter(|amount| allowed.contains(amount)) {
            Some(value) => Some(At { value, span: text.span }),
            None => {
                let message = format!("`{}` is out of range: {}", text.value, size::range(allowed));
                self.error(&text.span, message);
                None
            }
        }
    }

    /// The members of a mapping of the author's own names, each read by `one`.
    pub(crate) fn named<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        mut one: impl FnMut(&mut Self, &Key, &Node) -> Option<T>,
    ) -> Vec<(Key, T)> {
        self.raw_nodes(fields, key)
            .into_iter()
            .filter_map(|(key, node)| one(self, &key, &node).map(|value| (key, value)))
            .collect()
    }

    fn raw_nodes(&mut self, fields: &Fields<'_>, key: &str) -> Vec<(Key, Rc<Node>)> {
        let Some(node) = fields.get(key) else { return Vec::new() };
        let members = self.mapping(node, "a mapping").unwrap_or_default();
        self.few(&node.span, key, members.len());
        members.iter().take(ENTRIES_MAX).cloned().collect()
    }

    pub(crate) fn few(&mut self, span: &Range<usize>, key: &str, count: usize) {
        if count > ENTRIES_MAX {
            self.error(&(span.start..span.start), format!("more than {ENTRIES_MAX} entries under `{key}`"));
        }
    }

    /// Whether an expression can use the name.
    pub(crate) fn identifier(&mut self, key: &Key) -> bool {
        const RESERVED: [&str; 4] = ["true", "false", "null", "in"];
        let starts = key.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let word = key.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let fine = starts && word && !RESERVED.contains(&key.text.as_str());
        if !fine {
            let message = format!("`{}` cannot be used in an expression", key.text);
            self.error_hint(&key.span, message, "use letters, digits and `_`, a letter first");
        }
        fine
    }

    pub(crate) fn cel(&mut self, node: &Node) -> Option<Cel> {
        let scalar = self.scalar(node, "an expression")?;
        if scalar.text.trim().is_empty() {
            self.error(&node.span, "expected an expression, found empty text");
            return None;
        }
        Some(Cel::new(self.source, scalar, node.span.clone()))
    }

    fn fact(&mut self, key: &Key, node: &Node) -> Option<RawFact> {
        if !self.identifier(key) {
            return None;
        }
        if let Value::Scalar(scalar) = &node.value
            && !scalar.is_null()
        {
            let kind = self.choice(node, &FactKind::WORDS)?.value;
            return Some(RawFact { kind, default: None, one_of: Vec::new() });
        }
        let fields = self.fields(node, &FACT)?;
        let Some(kind) = fields.get("type") else {
            self.error_hint(&key.span, format!("the fact `{}` has no type", key.text), "add `type: string`");
            return None;
        };
        let kind = self.choice(kind, &FactKind::WORDS)?.value;
        let default = fields.get("default").filter(|node| node.what() != "nothing");
        let default = default.and_then(|node| self.json_at(node));
        let one_of =
            fields.get("one_of").and_then(|node| self.list(node, "a list of values")).unwrap_or_default();
        let one_of = one_of.iter().filter_map(|node| self.json_at(node)).collect();
        Some(RawFact { kind, default, one_of })
    }

    pub(crate) fn json_at(&mut self, node: &Node) -> Option<At<String>> {
        Some(At { value: self.json(node)?, span: node.span.clone() })
    }

    /// `defaults:`, and the same options at the top of the file.
    fn defaults(&mut self, fields: &Fields<'_>, read: &mut ReadFile<'_>) -> Vec<Setting> {
        let mut settings = Vec::new();
        if let Some(node) = fields.get("defaults")
            && let Some(options) = self.fields(node, &TOOL)
        {
            settings = self.settings(&options, read);
            for key in states::OPTIONS {
                let Some((name, _)) = options.member(key) else { continue };
                let message = format!("`{key}` counts the calls of one entry");
                self.error_hint(&name.span, message, "write it under `tools`, for instance for `\"*\"`");
            }
        }
        for key in AT_THE_TOP {
            let Some((name, node)) = fields.member(key) else { continue };
            if settings.iter().any(|setting| setting.key == key) {
                self.error(&name.span, format!("`{key}` is set here and under `defaults`"));
            }
            settings.extend(self.setting(key, node, read));
        }
        settings
    }

    fn settings(&mut self, fields: &Fields<'_>, read: &mut ReadFile<'_>) -> Vec<Setting> {
        let is_own = |key: &&&str| !asks::OPTIONS.contains(key) && !states::OPTIONS.contains(key);
        let own = OPTIONS.iter().filter(is_own);
        let keys = own.filter_map(|key| Some((*key, fields.get(key)?)));
        let mut settings: Vec<Setting> =
            keys.filter_map(|(key, node)| self.setting(key, node, read)).collect();
        settings.extend(self.asking(fields));
        settings.extend(self.provenance(fields));
        settings
    }

    fn setting(&mut self, key: &'static str, node: &Node, read: &mut ReadFile<'_>) -> Option<Setting> {
        let arguments = [
            ("strict", Arguments::Strict),
            ("coerce", Arguments::Coerce),
            ("unchecked", Arguments::Unchecked),
        ];
        let undeclared = [("schema", Undeclared::Schema), ("refuse", Undeclared::Refuse)];
        let value = match key {
            "approve" => Set::Approve(self.choice(node, APPROVE)?.value),
            "arguments" => Set::Arguments(self.choice(node, &arguments)?.value),
            "definitions" => Set::Definitions(self.choice(node, DEFINITIONS)?.value),
            "hidden" => Set::Hidden(self.boolean(node)?.value),
            "invisible" => Set::Invisible(self.invisible(node)?),
            "mode" => Set::Mode(self.choice(node, MODES)?.value),
            "remember" => Set::Remember(self.choice(node, REMEMBER)?.value),
            "show_rules" => Set::ShowRules(self.boolean(node)?.value),
            "schema" => Set::Schema(self.schema(node, read)?),
            _ => Set::Undeclared(self.choice(node, &undeclared)?.value),
        };
        Some(Setting { key, value, span: node.span.clone() })
    }

    fn invisible(&mut self, node: &Node) -> Option<InvisibleBy> {
        let Value::Map(members) = &node.value else {
            let otherwise = self.choice(node, INVISIBLE)?.value;
            return Some(InvisibleBy { otherwise, ..InvisibleBy::default() });
        };
        let one =
            |(key, node): &(Key, Rc<Node>)| Some((key.text.clone(), self.choice(node, INVISIBLE)?.value));
        Some(InvisibleBy { arguments: members.iter().filter_map(one).collect(), ..InvisibleBy::default() })
    }

    fn schema(&mut self, node: &Node, read: &mut ReadFile<'_>) -> Option<Schema> {
        let text = match &node.value {
            Value::Map(_) => self.json(node)?,
            Value::Scalar(_) => {
                let path = self.words(node, "a schema: a mapping, or the path of a JSON file")?;
                match read(&path.value) {
                    Ok(text) => text,
                    Err(reason) => {
                        self.error(&path.span, format!("cannot read the schema `{}`: {reason}", path.value));
                        return None;
                    }
                }
            }
            Value::List(_) => {
                self.expected("a schema: a mapping, or the path of a JSON file", node);
                return None;
            }
        };
        match json::Document::read(text.into(), &json::Limits::default()) {
            Ok(document) if document.root().kind() == json::Kind::Object => Some(Schema(Arc::new(document))),
            Ok(document) => {
                self.error(
                    &node.span,
                    format!("a schema must be an object, this one is {}", document.root().kind()),
                );
                None
            }
            Err(fault) => {
                self.error(&node.span, format!("the schema is no strict JSON: {fault}"));
                None
            }
        }
    }

    fn tools(&mut self, fields: &Fields<'_>, read: &mut ReadFile<'_>) -> Vec<(At<Glob>, Vec<Setting>)> {
        let mut tools: Vec<(At<Glob>, Vec<Setting>)> = Vec::new();
        let mut names = BTreeSet::new();
        if let Some(node) = fields.get("tools")
            && let Some(hint) = slips::of_tools(node)
        {
            self.expected_hint("a mapping of tools", node, Some(hint));
            return tools;
        }
        for (key, node) in self.raw_nodes(fields, "tools") {
            let glob = self.glob(&key.text, &key.span);
            if let Value::Scalar(word) = &node.value
                && !word.is_null()
            {
                self.expected_hint("the tool's options", &node, Some(slips::of_options(word).to_owned()));
                continue;
            }
            let Some(options) = self.fields(&node, &TOOL) else { continue };
            let mut settings = self.settings(&options, read);
            let Some(glob) = glob else { continue };
            settings.extend(self.allowances((&glob, &key.span), &options));
            for setting in &mut settings {
                setting.name_apart(&mut names);
            }
            tools.push((At { value: glob, span: key.span }, settings));
        }
        tools
    }

    pub(crate) fn glob(&mut self, text: &str, span: &Range<usize>) -> Option<Glob> {
        match Glob::parse(text) {
            Ok(glob) => Some(glob),
            Err(GlobError::Empty) => {
                self.error_hint(
                    span,
                    "a tool's name is missing",
                    "write `tool`, `server/tool`, or a pattern with `*`",
                );
                None
            }
            Err(error) => {
                self.error(span, error.to_string());
                None
            }
        }
    }

    fn rules(&mut self, fields: &Fields<'_>) -> Vec<RawRule> {
        let Some(node) = fields.get("rules") else { return Vec::new() };
        if let Value::Map(_) = node.value {
            self.expected_hint("a list of rules", node, Some("begin each rule with `- name: …`".to_owned()));
            return Vec::new();
        }
        let rules = self.list(node, "a list of rules").unwrap_or_default();
        self.few(&node.span, "rules", rules.len());
        let rules: Vec<RawRule> = rules.iter().take(ENTRIES_MAX).filter_map(|node| self.rule(node)).collect();
        if rules.iter().map(|rule| rule.tools.len()).sum::<usize>() > RULE_PATTERNS_MAX {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("more than {RULE_PATTERNS_MAX} patterns under the `tools` of all rules"));
        }
        rules
    }

    /// Reads every part before it gives up, so that all faults of a rule are seen.
    fn rule(&mut self, node: &Node) -> Option<RawRule> {
        let fields = self.fields(node, &RULE)?;
        let name = self.required(&fields, "name").and_then(|node| self.rule_name(node));
        let tools = fields.get("tools").map(|node| self.globs(node)).unwrap_or_default();
        let when = fields.get("when").map(|node| self.cel(node));
        let effects = self.effects(&fields);
        // What has effects need demand nothing.
        let that = match (fields.get("that"), fields.get("program")) {
            (None, None) if !effects.is_empty() => Some(None),
            _ => self.that_or_program(&fields).map(Some),
        };
        let otherwise = fields.get("otherwise").map(|node| self.choice(node, OTHERWISE));
        let because = fields.get("because").map(|node| self.words(node, "a reason for people"));
        let advice = fields.get("advice").map(|node| self.words(node, "advice for the model"));
        let mode = fields.get("mode").map(|node| self.choice(node, MODES));
        Some(RawRule {
            name: name?,
            tools,
            when: flat(when)?,
            that: that?,
            otherwise: flat(otherwise)?.map(|at| at.value).unwrap_or_default(),
            because: flat(because)?.map(|at| at.value).unwrap_or_default(),
            advice: flat(advice)?.map(|at| at.value),
            mode: flat(mode)?.map(|at| at.value).unwrap_or_default(),
            effects,
            made_of: None,
        })
    }

    pub(crate) fn required<'n>(&mut self, fields: &Fields<'n>, key: &str) -> Option<&'n Node> {
        let found = fields.get(key);
        if found.is_none() {
            let at = fields.span.start..fields.span.start;
            self.error(&at, format!("`{key}` is missing here"));
        }
        found
    }

    /// A rule's name appears in records and beside the names of the other checks.
    pub(crate) fn rule_name(&mut self, node: &Node) -> Option<At<String>> {
        let name = self.words(node, "a name")?;
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !name.value.chars().all(fine) || name.value.len() > 128 {
            let hint = "use letters, digits, `_`, `-` and `.`, at most 128 of them";
            self.error_hint(&name.span, format!("`{}` cannot be a rule's name", name.value), hint);
            return None;
        }
        Some(name)
    }

    fn globs(&mut self, node: &Node) -> Vec<At<Glob>> {
        if let Some(hint) = slips::of_patterns(node) {
            self.expected_hint("a list of tools", node, Some(hint));
            return Vec::new();
        }
        let items = self.list(node, "a list of tools").unwrap_or_default();
        if items.is_empty() && matches!(node.value, Value::List(_)) {
            self.error_hint(
                &node.span,
                "a rule for no tool",
                "leave `tools` out for all tools with its arguments",
            );
        }
        self.few(&node.span, "tools", items.len());
        let mut globs = Vec::new();
        for item in items.iter().take(ENTRIES_MAX) {
            let Some(text) = self.text(item, "a tool's name or pattern") else { continue };
            globs.extend(self.glob(&text.value, &text.span).map(|value| At { value, span: text.span }));
        }
        globs
    }

    fn passage(&mut self, node: &Node) -> Option<RawPassage> {
        if let Value::Scalar(_) = node.value {
            let passes = self.choice(node, &[("pass", true), ("deny", false)])?.value;
            return Some(if passes { RawPassage::Pass } else { RawPassage::Deny });
        }
        let fields = self.fields(node, &RULING)?;
        let that = self.required(&fields, "that").and_then(|node| self.cel(node));
        let because = fields.get("because").map(|node| self.words(node, "a reason for people"));
        let otherwise = fields.get("otherwise").map(|node| self.choice(node, OTHERWISE));
        Some(RawPassage::Ruled {
            that: that?,
            otherwise: flat(otherwise)?.map(|at| at.value).unwrap_or_default(),
            because: flat(because)?.map(|at| at.value).unwrap_or_default(),
        })
    }
}

/// Not given is fine, given and wrong is not.
fn flat<T>(given: Option<Option<T>>) -> Option<Option<T>> {
    match given {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}
