//! The options as they are typed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

use super::super::Otherwise;
use super::super::merge::{Set, Setting};
use super::super::problem::Problem;
use super::super::raw::{ENTRIES_MAX, OTHERWISE};
use super::super::read::{At, Fields, Keys, Reader};
use super::super::tree::{Key, Node, Value};
use super::{Confirm, From, Ground, Grounds, Instructions, Naming, RawContext, Request, ToolValues};
use crate::ground::{Locale, Match, Matcher};
use crate::words::Intent;

/// Arguments, intents or phrases in one list.
const LIST_MAX: usize = 200;
/// What `last` may be.
const LAST: std::ops::RangeInclusive<usize> = 1..=1000;
/// What `context` may keep, besides 0 for all.
const CONTEXT_MAX: usize = 100_000_000;

/// The name under `ground` that stands for every other argument.
pub(super) const OTHERS: &str = "*";

/// Keys of a tool's options.
pub(crate) const OPTIONS: &[&str] = &[
    "ground",
    "tool_values",
    "instructions",
    "once",
    "confirm",
    "require_request",
    "scan_user",
    "acts",
    "authorize",
];

/// What is said of one argument of `ground`.
pub(crate) const OF_AN_ARGUMENT: &[&str] = &["match", "from", "last", "locale", "otherwise", "program"];
const GROUND: Keys = Keys::known("an argument of `ground`", OF_AN_ARGUMENT);
const CONFIRM: Keys =
    Keys::known("`confirm`", &["otherwise", "arguments", "match", "named", "last", "locale"]);
const REQUEST: Keys = Keys::known("`require_request`", &["intents", "phrases", "otherwise"]);
const CONTEXT: Keys = Keys::known("`context`", &["messages", "chars", "answers"]);

const ROLES: &[(&str, u8)] = &[("user", 1), ("tool", 2), ("system", 4), ("facts", 8)];
const TOOL_VALUES: &[(&str, ToolValues)] = &[("deny", ToolValues::Deny), ("ask", ToolValues::Ask)];
const INSTRUCTIONS: &[(&str, Instructions)] = &[
    ("grounded", Instructions::Grounded),
    ("any", Instructions::Any),
    ("flow", Instructions::Flow),
    ("off", Instructions::Off),
];

/// The name of what instruction-like text leads to, as it is typed.
#[must_use]
pub fn instructions_name(instructions: Instructions) -> &'static str {
    INSTRUCTIONS.iter().find(|(_, other)| *other == instructions).map_or("off", |(name, _)| name)
}

impl Grounds {
    fn set(&mut self, name: String, ground: Ground) {
        if name == OTHERS {
            self.others = Some(ground);
        } else {
            self.named.insert(name, ground);
        }
    }
}

impl Reader<'_> {
    /// The settings that these options are.
    pub(crate) fn provenance(&mut self, fields: &Fields<'_>) -> Vec<Setting> {
        let mut settings = Vec::new();
        for key in OPTIONS {
            let Some(node) = fields.get(key) else { continue };
            let value = match *key {
                "ground" => self.ground(node).map(Set::Ground),
                "tool_values" => self.choice(node, TOOL_VALUES).map(|at| Set::ToolValues(at.value)),
                "instructions" => self.choice(node, INSTRUCTIONS).map(|at| Set::Instructions(at.value)),
                "authorize" => self.boolean(node).map(|at| Set::Authorize(at.value)),
                "acts" => self.boolean(node).map(|at| Set::Acts(at.value)),
                "once" => self.boolean(node).map(|at| Set::Once(at.value)),
                "confirm" => self.confirm(node).map(Set::Confirm),
                "require_request" => self.request(node).map(Set::Request),
                _ => self.boolean(node).map(|at| Set::ScanUser(at.value)),
            };
            settings.extend(value.map(|value| Setting { key, value, span: node.span.clone() }));
        }
        settings
    }

    /// `context:`
    pub(crate) fn context(&mut self, fields: &Fields<'_>) -> RawContext {
        let Some(context) = fields.get("context").and_then(|node| self.fields(node, &CONTEXT)) else {
            return RawContext::default();
        };
        let mut kept = |key: &str| {
            let hint = "write a whole number, 0 for all";
            context.get(key).and_then(|node| self.count(node, &(0..=CONTEXT_MAX), hint))
        };
        let (messages, chars) = (kept("messages"), kept("chars"));
        let answers = context.get("answers").and_then(|node| self.boolean(node));
        RawContext { messages, chars, answers }
    }

    fn count(&mut self, node: &Node, allowed: &std::ops::RangeInclusive<usize>, hint: &str) -> Option<usize> {
        let text = self.words(node, "a number")?;
        let number = text.value.parse().ok().filter(|number| allowed.contains(number));
        if number.is_none() {
            let (least, most) = (allowed.start(), allowed.end());
            let message = format!("`{}` is no whole number from {least} to {most}", text.value);
            self.error_hint(&text.span, message, hint);
        }
        number
    }

    fn last(&mut self, fields: &Fields<'_>) -> Option<usize> {
        let node = fields.get("last")?;
        self.count(node, &LAST, "write how many of the user's last messages count; leave it out for all")
    }

    fn ground(&mut self, node: &Node) -> Option<Grounds> {
        let mut all = Grounds::default();
        match &node.value {
            Value::List(_) => {
                for name in self.names(node, "a list of arguments")? {
                    all.set(name, Ground::default());
                }
            }
            Value::Map(members) => {
                self.not_too_many(node, members.len(), "arguments");
                for (key, node) in members.iter().take(LIST_MAX) {
                    if self.says_how(key, node) {
                        return None;
                    }
                    if matches!(&node.value, Value::Scalar(word) if word.text == "off") {
                        all.free.push(key.text.clone());
                    } else {
                        all.set(key.text.clone(), self.grounded(node)?);
                    }
                }
            }
            Value::Scalar(word) => {
                let hint = format!("write `[{}]`, or `{{ {}: {{ match: whole }} }}`", word.text, word.text);
                let hint = (!word.is_null()).then_some(hint);
                self.expected_hint("a list of arguments, or a mapping from arguments", node, hint);
                return None;
            }
        }
        Some(all)
    }

    /// `ground: { from: [user] }` leaves out of which argument it speaks. One that is called `from` can be written so:
    /// `from: { from: [user] }`.
    fn says_how(&mut self, key: &Key, node: &Node) -> bool {
        let is_argument = match &node.value {
            Value::Map(_) => true,
            Value::List(_) => false,
            Value::Scalar(word) => {
                word.is_null() || word.text == "off" || Match::names().any(|name| name == word.text)
            }
        };
        if is_argument || !OF_AN_ARGUMENT.contains(&key.text.as_str()) {
            return false;
        }
        let message = format!("`{}` says how an argument is grounded, and not which", key.text);
        let hint = format!("name the arguments: `ground: {{ ARGUMENT: {{ {}: … }} }}`", key.text);
        self.error_hint(&key.span, message, hint);
        true
    }

    /// `to: whole` is short for `to: { match: whole }`.
    fn grounded(&mut self, node: &Node) -> Option<Ground> {
        if let Value::Scalar(word) = &node.value
            && !word.is_null()
        {
            let how = self.matching(node)?;
            return Some(Ground { matcher: how.into(), ..Ground::default() });
        }
        let fields = self.fields(node, &GROUND)?;
        let program = self.matching_program(&fields)?;
        let matcher = self.matcher(&fields, Match::Token)?;
        let from = match fields.get("from") {
            Some(node) => self.roles(node)?,
            None => From::default(),
        };
        let otherwise = self.otherwise(&fields, Otherwise::Deny)?;
        Some(Ground { matcher, program, from, last: self.last(&fields), otherwise })
    }

    /// The program that says where a text names the value, in the place of a matcher.
    fn matching_program(&mut self, fields: &Fields<'_>) -> Option<Option<Arc<str>>> {
        let Some(node) = fields.get("program") else { return Some(None) };
        if let Some((key, _)) = fields.member("match").or_else(|| fields.member("locale")) {
            let message = format!("`program` stands in the place of `{}`", key.text);
            self.error_hint(&key.span, message, "leave one of them out");
            return None;
        }
        let name = self.words(node, "the name of a program")?;
        Some(Some(name.value.into()))
    }

    fn matcher(&mut self, fields: &Fields<'_>, otherwise: Match) -> Option<Matcher> {
        let how = match fields.get("match") {
            Some(node) => self.matching(node)?,
            None => otherwise,
        };
        Some(Matcher { how, locale: self.locale(fields) })
    }

    fn matching(&mut self, node: &Node) -> Option<Match> {
        self.named_choice(node, Match::names())
    }

    fn named_choice<T: FromStr>(
        &mut self,
        node: &Node,
        names: impl Iterator<Item = &'static str>,
    ) -> Option<T> {
        let words: Vec<(&'static str, &'static str)> = names.map(|name| (name, name)).collect();
        self.choice(node, &words)?.value.parse().ok()
    }

    fn locale(&mut self, fields: &Fields<'_>) -> Option<Locale> {
        let node = fields.get("locale")?;
        self.named_choice(node, Locale::names())
    }

    fn roles(&mut self, node: &Node) -> Option<From> {
        if let Value::Scalar(word) = &node.value
            && !word.is_null()
        {
            self.expected_hint("a list of roles", node, Some(format!("write `[{}]`", word.text)));
            return None;
        }
        let items = self.list(node, "a list of roles")?;
        let mut all = 0;
        for item in items {
            if matches!(&item.value, Value::Scalar(word) if word.text == "assistant") {
                let message = "the assistant's words support no value: it would support what it made up";
                self.error_hint(&item.span, message, "use `user`, `tool` or `system`");
                return None;
            }
            all |= self.choice(item, ROLES)?.value;
        }
        if all == 0 {
            let at = node.span.start..node.span.start;
            self.error_hint(&at, "values from nobody: every call would be refused", "name a role, `[user]`");
            return None;
        }
        Some(From { user: all & 1 != 0, tool: all & 2 != 0, system: all & 4 != 0, facts: all & 8 != 0 })
    }

    /// `true`, `false`, or how.
    fn confirm(&mut self, node: &Node) -> Option<Option<Confirm>> {
        let standard =
            Confirm { matcher: Matcher { how: Match::Nocase, ..Matcher::default() }, ..Confirm::default() };
        if let Value::Scalar(word) = &node.value
            && !word.is_null()
        {
            return Some(self.boolean(node)?.value.then_some(standard));
        }
        let fields = self.fields(node, &CONFIRM)?;
        // Every part before it gives up, so that all faults are seen.
        let otherwise = self.otherwise(&fields, Otherwise::Deny);
        // No arguments at all: a yes is enough, whatever it names.
        let is_none = |node: &Node| matches!(&node.value, Value::List(items) if items.is_empty());
        let arguments = fields.get("arguments").map(|node| {
            if is_none(node) { Some(Vec::new()) } else { self.names(node, "a list of arguments") }
        });
        let (named, last, locale) = (self.namings(&fields), self.last(&fields), self.locale(&fields));
        let (mut matcher, mut matchers) = (Matcher { locale, ..standard.matcher }, BTreeMap::new());
        match fields.get("match") {
            Some(node) if matches!(node.value, Value::Map(_)) => matchers = self.matchers(node, locale),
            Some(node) => matcher.how = self.matching(node)?,
            None => {}
        }
        let arguments = match arguments {
            Some(names) => Some(names?),
            None => None,
        };
        Some(Some(Confirm { otherwise: otherwise?, arguments, matcher, matchers, named, last }))
    }

    fn matchers(&mut self, node: &Node, locale: Option<Locale>) -> BTreeMap<String, Matcher> {
        let members = self.mapping(node, "a mapping").unwrap_or_default();
        self.not_too_many(node, members.len(), "arguments");
        let one = |(key, node): &(Key, Rc<Node>)| {
            Some((key.text.clone(), Matcher { how: self.matching(node)?, locale }))
        };
        members.iter().take(LIST_MAX).filter_map(one).collect()
    }

    fn namings(&mut self, fields: &Fields<'_>) -> BTreeMap<String, Naming> {
        let Some(node) = fields.get("named") else { return BTreeMap::new() };
        let members = self.mapping(node, "a mapping from arguments to expressions").unwrap_or_default();
        self.not_too_many(node, members.len(), "arguments");
        let one = |(key, node): &(Key, Rc<Node>)| {
            Some((key.text.clone(), Naming { cel: self.cel(node)?, condition: None }))
        };
        members.iter().take(LIST_MAX).filter_map(one).collect()
    }

    /// An intent, a list of them, or a mapping with phrases; `false` for none.
    fn request(&mut self, node: &Node) -> Option<Option<Request>> {
        let is_mapping = matches!(node.value, Value::Map(_));
        if let Value::Scalar(word) = &node.value
            && word.boolean() == Some(false)
        {
            return Some(None);
        }
        let fields = if is_mapping { Some(self.fields(node, &REQUEST)?) } else { None };
        let (named, phrases, otherwise) = match &fields {
            None => (self.intents(node)?, Vec::new(), Otherwise::Ask),
            Some(fields) => {
                let named = fields.get("intents").map(|node| self.intents(node));
                let phrases = fields.get("phrases").map(|node| self.phrases(node));
                let otherwise = self.otherwise(fields, Otherwise::Ask)?;
                (named.unwrap_or(Some(Vec::new()))?, phrases.unwrap_or(Some(Vec::new()))?, otherwise)
            }
        };
        if named.is_empty() && phrases.is_empty() {
            let at = node.span.start..node.span.start;
            self.error_hint(&at, "a request for nothing", "name an intent, `pay`, or give `phrases`");
            return None;
        }
        let mut words: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        if !phrases.is_empty() {
            words.push("phrase");
        }
        let (what, name) = (words.join(" or "), words.join("_or_"));
        let intents = named.into_iter().map(|(_, intent)| intent).chain(phrases).collect();
        Some(Some(Request { intents, what, name, otherwise }))
    }

    fn intents(&mut self, node: &Node) -> Option<Vec<(String, Intent)>> {
        let names = match &node.value {
            Value::Scalar(_) => vec![self.words(node, "an intent such as `pay`, or a list of them")?],
            _ => {
                let items = self.list(node, "an intent such as `pay`, or a list of them")?;
                self.not_too_many(node, items.len(), "intents");
                items
                    .iter()
                    .take(LIST_MAX)
                    .map(|item| self.words(item, "an intent"))
                    .collect::<Option<_>>()?
            }
        };
        let all: Vec<Option<(String, Intent)>> = names.into_iter().map(|name| self.intent(name)).collect();
        all.into_iter().collect()
    }

    fn intent(&mut self, name: At<String>) -> Option<(String, Intent)> {
        if let Some(intent) = Intent::named(&name.value) {
            return Some((name.value, intent));
        }
        let words = || Intent::NAMES.into_iter();
        let message = format!("`{}` is not one of {}", name.value, super::super::read::list(words()));
        let near = super::super::problem::did_you_mean(&name.value, words());
        let hint = near.unwrap_or_else(|| "or give `phrases` of your own".to_owned());
        self.error_hint(&name.span, message, hint);
        None
    }

    fn phrases(&mut self, node: &Node) -> Option<Vec<Intent>> {
        let items = self.list(node, "a list of phrases")?;
        self.not_too_many(node, items.len(), "phrases");
        let mut all = Vec::new();
        for item in items.iter().take(LIST_MAX) {
            let phrase = self.words(item, "a phrase")?;
            match Intent::phrases([phrase.value.as_str()]) {
                Ok(intent) => {
                    self.pattern_like(&phrase);
                    all.push(intent);
                }
                Err(why) => {
                    self.error(&phrase.span, why.to_string());
                    return None;
                }
            }
        }
        Some(all)
    }

    /// A phrase that is a pattern to whoever wrote it would never be said.
    fn pattern_like(&mut self, phrase: &At<String>) {
        let Some(words) = Intent::pattern_like(&phrase.value) else { return };
        let message =
            format!("`{}` reads like a pattern, and phrases are words: nobody says this", phrase.value);
        let hint = if words.is_empty() {
            "write the words that the user would say".to_owned()
        } else {
            format!(
                "write the words that the user would say, such as `{words}`: they match as whole words, in any case"
            )
        };
        self.problems.push(Problem::warning(self.source, phrase.span.clone(), message).hint(hint));
    }

    fn otherwise(&mut self, fields: &Fields<'_>, standard: Otherwise) -> Option<Otherwise> {
        match fields.get("otherwise") {
            Some(node) => Some(self.choice(node, OTHERWISE)?.value),
            None => Some(standard),
        }
    }

    /// Names, each once.
    fn names(&mut self, node: &Node, wanted: &str) -> Option<Vec<String>> {
        let items = self.list(node, wanted)?;
        self.not_too_many(node, items.len(), "arguments");
        let mut names: Vec<String> = Vec::new();
        for item in items.iter().take(LIST_MAX) {
            let name = self.words(item, "the name of an argument")?;
            if names.contains(&name.value) {
                self.error(&name.span, format!("`{}` stands twice here", name.value));
            } else {
                names.push(name.value);
            }
        }
        if names.is_empty() {
            let at = node.span.start..node.span.start;
            self.error_hint(&at, "a list of no arguments", "name one, or leave the list out");
            return None;
        }
        Some(names)
    }

    fn not_too_many(&mut self, node: &Node, count: usize, what: &str) {
        if count > LIST_MAX.min(ENTRIES_MAX) {
            let at = node.span.start..node.span.start;
            self.error(&at, format!("more than {LIST_MAX} {what}"));
        }
    }
}
