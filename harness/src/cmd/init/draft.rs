//! The text of a policy to start from. What it lets through, it lets through because the server says that it only
//! reads; everything else is there as a comment.

use std::collections::BTreeMap;

use framegate_guard::json::Document;
use framegate_guard::policy::{Listed, Listing, PATTERN_BYTES_MAX, Policy, Severity};

use super::guess::{Argument, arguments};
use crate::bridge::listing;
use crate::history::line::visible;

/// Characters of a tool's description that are shown.
const SHOWN_CHARS: usize = 70;

/// Words that YAML readers take for something else than text.
const YAML_WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// What the policy is for.
pub(super) struct Draft {
    /// What the file is called, as one would type it.
    pub(super) file: String,
    pub(super) command: String,
    pub(super) tools: Vec<Tool>,
    /// Where files may be used.
    pub(super) folders: Vec<String>,
    pub(super) has_resources: bool,
}

/// One tool of the listing.
pub(super) struct Tool {
    name: String,
    /// Nothing where nobody can read it for certain.
    definition: Option<Document>,
}

/// Each tool once; one that is listed twice is as good as unread.
pub(super) fn once(listed: Vec<listing::Listed>) -> Vec<Tool> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut tools: Vec<Tool> = Vec::new();
    for listing::Listed { name, definition } in listed {
        match places.get(&name).and_then(|place| tools.get_mut(*place)) {
            Some(first) => first.definition = None,
            None => {
                places.insert(name.clone(), tools.len());
                tools.push(Tool { name, definition: definition.ok() });
            }
        }
    }
    tools
}

impl Tool {
    fn only_reads(&self) -> bool {
        let root = self.definition.as_ref().map(Document::root);
        let hint = root.and_then(|tool| tool.get("annotations")?.get("readOnlyHint"));
        hint.and_then(|hint| hint.as_bool()) == Some(true)
    }

    fn arguments(&self) -> Vec<Argument> {
        arguments(self.definition.as_ref().and_then(|tool| tool.root().get("inputSchema")))
    }

    fn description(&self) -> String {
        let Some(definition) = &self.definition else {
            return "its definition cannot be read for certain".to_owned();
        };
        let text = definition.root().get("description").and_then(|text| text.as_str()).unwrap_or_default();
        short(text.trim().lines().next().unwrap_or_default(), SHOWN_CHARS)
    }

    /// As a key under `tools`; nothing for a name that no key can mean.
    fn key(&self) -> Option<String> {
        if self.name.is_empty() || self.name.len() + 2 > PATTERN_BYTES_MAX || self.name.contains(['*', '?']) {
            return None;
        }
        let is_plain = self.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            && self.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !YAML_WORDS.contains(&self.name.to_ascii_lowercase().as_str());
        Some(match (is_plain, self.name.contains('/')) {
            (true, _) => self.name.clone(),
            // The first slash is the border between a server's name and a tool's.
            (false, true) => quoted(&format!("*/{}", self.name)),
            (false, false) => quoted(&self.name),
        })
    }

    /// `rules`: those that are not in force and that its calls need.
    fn line(&self, key: &str, rules: &[&str]) -> String {
        let entry = format!("{key}: {{}}");
        let mut about = self.description();
        if !rules.is_empty() {
            about = format!("(with the rule {} below) {about}", rules.join(" and the rule "))
                .trim_end()
                .to_owned();
        }
        if about.is_empty() { entry } else { format!("{entry:<28} # {about}") }
    }
}

/// For those who have no server yet.
pub(super) fn blank(file: &str) -> String {
    let commands = [
        ("framegate init -- SERVER".to_owned(), "writes one that names the server's tools"),
        (format!("framegate check {file} -- SERVER"), "says what is wrong with it"),
        (format!("framegate run --policy {file} -- SERVER"), "decides every call by it"),
    ];
    let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default() + 2;
    let lines: String =
        commands.iter().map(|(command, what)| format!("#   {command:<width$}{what}\n")).collect();
    let head = format!(
        "# A policy for Framegate: which tools a model may use, and how. The keys and functions:
#   https://github.com/framegate/framegate/blob/main/guard/POLICY.md
{lines}"
    );
    head + "framegate: 1

# mode: monitor                # decide and log, change nothing: a good first day

# What a tool's output asks for is not simply done: a call that follows it is put to a person.
defaults: { instructions: flow }

# Tools that are not named here are hidden from the model, and refused if they are called all the same.
tools:
  # read_file: {}
  # \"write_*\": { arguments: coerce }    # \"2\" becomes 2 where the schema wants a number

# rules:
#   - name: inside_work
#     that: within(args.path, \"/work\")  # \"..\" and links are resolved first
#     because: Only files under /work may be used.
"
}

impl Draft {
    pub(super) fn text(&self) -> String {
        let rules = self.rules();
        let head = format!(
            "# A policy for: {command}
# Written by `framegate init`. The keys and functions: https://github.com/framegate/framegate/blob/main/guard/POLICY.md
# Read it, change it, then
#   framegate check {file} -- {command}
#   framegate run --policy {file} -- {command}
framegate: 1

# mode: monitor                # decide and log, change nothing: a good first day

# What a tool's output asks for is not simply done: a call that follows it is put to a person.
defaults: {{ instructions: flow }}
{resources}
# Tools that are not named here are hidden from the model, and refused if they are called all the same.
tools:
",
            command = self.command,
            file = self.file,
            resources = if self.has_resources { RESOURCES } else { "" },
        );
        format!("{head}{}\n{}", self.tools_text(&rules), rules_text(&rules))
    }

    /// `rules` are the drafted ones: a tool that is let through later needs those of its arguments.
    fn tools_text(&self, rules: &[Rule]) -> String {
        let mut text = String::new();
        let offered: Vec<String> =
            self.offered().filter_map(|tool| Some(format!("  {}\n", tool.line(&tool.key()?, &[])))).collect();
        if !offered.is_empty() {
            text.push_str("  # The server says that these only read. That is its word: take out what you do not want.\n");
            text.extend(offered);
        }
        let mut others = self.tools.iter().filter(|tool| !self.offers(tool)).peekable();
        if others.peek().is_some() {
            text.push_str("  # The server does not say so of these. Take the `# ` away from those that the model may use.\n");
        }
        for tool in others {
            match tool.key() {
                Some(key) => {
                    let needed: Vec<&str> = rules
                        .iter()
                        .filter(|rule| rule.is_needed_for(tool))
                        .map(|rule| rule.name.as_str())
                        .collect();
                    text.push_str(&format!("  # {}\n", tool.line(&key, &needed)));
                }
                None => {
                    text.push_str(&format!("  # (no entry can name `{}`)\n", short(&tool.name, SHOWN_CHARS)))
                }
            }
        }
        text
    }

    fn offers(&self, tool: &Tool) -> bool {
        tool.only_reads() && tool.key().is_some()
    }

    fn offered(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| self.offers(tool))
    }

    /// A rule for each argument that names files or addresses; on where a tool that is offered has it and the
    /// rule fits all of those.
    fn rules(&self) -> Vec<Rule> {
        let mut all: BTreeMap<(&'static str, bool), (bool, bool)> = BTreeMap::new();
        for tool in &self.tools {
            for Argument { name, is_list, is_required } in tool.arguments() {
                let (are_required, is_offered) = all.entry((name, is_list)).or_insert((true, false));
                *are_required &= is_required;
                *is_offered |= self.offers(tool);
            }
        }
        let rule = |((name, is_list), (is_required, is_offered))| {
            let argument = Argument { name, is_list, is_required };
            // Of the name alone a tool may have it as a list, and another one not.
            let (for_all, for_some) = (self.rule_text(&argument, false), self.rule_text(&argument, true));
            let fits_all = self.fits(&for_all);
            let is_on = is_offered && (fits_all || self.fits(&for_some));
            let is_for_all = fits_all || !is_on;
            let text = if is_for_all { for_all } else { for_some };
            Rule { name: rule_name(&argument), argument: (name, is_list), is_on, is_for_all, text }
        };
        all.into_iter().map(rule).collect()
    }

    /// `names_tools`: for those alone that are let through and have it so.
    fn rule_text(&self, argument: &Argument, names_tools: bool) -> String {
        let Argument { name, is_required, .. } = argument;
        let (roots, because) = if argument.is_address() {
            (
                vec![quoted("https://example.com/")],
                "Only addresses under https://example.com/ may be used.".into(),
            )
        } else {
            let folders = self.folders.join(" and ");
            let because = format!("Only files under {folders} may be used.");
            (self.folders.iter().map(|folder| quoted(folder)).collect(), because)
        };
        let has = |tool: &&Tool| tool.arguments().iter().any(|one| one.is_same(argument));
        let tools: Vec<String> = self.offered().filter(has).filter_map(Tool::key).collect();
        let tools = if names_tools { format!("    tools: [{}]\n", tools.join(", ")) } else { String::new() };
        let when = if *is_required { String::new() } else { format!("    when: has(args.{name})\n") };
        let note = if argument.is_address() { "  # put the addresses here that may be used\n" } else { "" };
        format!(
            "{note}  - name: {}\n{tools}{when}    that: {}\n    because: {}\n",
            rule_name(argument),
            yaml(&argument.condition(&roots)),
            yaml(&because)
        )
    }

    /// Whether a policy with this rule has no error beside the listing.
    fn fits(&self, rule: &str) -> bool {
        let text = format!("framegate: 1\ntools:\n{}\nrules:\n{rule}", self.tools_text(&[]));
        let Ok(loaded) = Policy::load("draft", text.as_bytes(), &mut |_| Err(String::new())) else {
            return false;
        };
        let listed = self.tools.iter().filter_map(|tool| {
            let schema = tool.definition.as_ref()?.root().get("inputSchema");
            Some(Listed { name: &tool.name, schema })
        });
        let listing = Listing::of(listed.collect());
        let (_, problems) = loaded.policy.bind("server", &listing);
        problems.iter().all(|problem| problem.severity() != Severity::Error)
    }
}

const RESOURCES: &str = "
# The server also offers resources, which rules over a tool's arguments do not see. With this line a client gets
# at the tools alone:
# surface: tools
";

struct Rule {
    name: String,
    /// The argument it is about, and whether that is a list.
    argument: (&'static str, bool),
    text: String,
    is_on: bool,
    /// It has no `tools:` of its own.
    is_for_all: bool,
}

impl Rule {
    fn is_needed_for(&self, tool: &Tool) -> bool {
        let has_it = tool.arguments().iter().any(|one| (one.name, one.is_list) == self.argument);
        has_it && !(self.is_on && self.is_for_all)
    }
}

fn rule_name(argument: &Argument) -> String {
    let what = if argument.is_address() { "address" } else { "inside" };
    let list = if argument.is_list && argument.name != "paths" { "_list" } else { "" };
    format!("{}{list}_{what}", argument.name)
}

fn rules_text(rules: &[Rule]) -> String {
    if rules.is_empty() {
        return "# rules:\n#   - name: example\n#     that: '!contains_any(texts, [\"/.ssh\", \"/.env\"])'\n#     because: Keys are not for the model.\n"
            .to_owned();
    }
    let head = "# What must hold for a call. A rule without `tools` is for every tool that has the arguments it reads.\n";
    let is_any_on = rules.iter().any(|rule| rule.is_on);
    let mut text = format!("{head}{}rules:\n", if is_any_on { "" } else { "# " });
    for rule in rules {
        match rule.is_on {
            true => text.push_str(&rule.text),
            false => text.extend(
                rule.text.lines().map(|line| format!("  # {}\n", line.strip_prefix("  ").unwrap_or(line))),
            ),
        }
    }
    text
}

/// A string of YAML and of CEL at once: both know JSON's escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as a YAML value: as it is where every reader takes it so.
fn yaml(text: &str) -> String {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_odd = text.contains(": ")
        || text.contains(" #")
        || text.ends_with(':')
        || text.chars().any(char::is_control);
    if starts && !is_odd { text.to_owned() } else { quoted(text) }
}

fn short(text: &str, chars: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// Foreign text in a comment: nothing in it ends the line.
pub(super) fn one_line(text: &str) -> String {
    visible(text)
}

#[cfg(test)]
mod tests;
