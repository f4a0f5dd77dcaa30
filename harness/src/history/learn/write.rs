//! The draft as text.

use std::collections::BTreeSet;

use super::Learned;
use super::seen::{Limit, SeenArgument, SeenTool};
use crate::history::line::utc;

/// The whole policy file.
pub(super) fn policy(learned: &Learned) -> String {
    let servers: BTreeSet<&String> = learned.tools.keys().map(|(server, _)| server).collect();
    let mut text = head(learned);
    text.push_str("framegate: 1\ndefault: deny\ntools:\n");
    let mut rules = Rules { learned, text: String::new(), names: BTreeSet::new() };
    for ((server, name), tool) in &learned.tools {
        if name.contains(['*', '?', '/']) {
            text.push_str(&format!(
                "  # {}: its name cannot be written as itself in a policy; left out\n",
                shown(name)
            ));
            continue;
        }
        let key = if servers.len() > 1 { format!("{server}/{name}") } else { name.clone() };
        let loose = learned.loose.get(&(server.clone(), name.clone())).copied();
        let options = match loose.or(tool.is_coerced.then_some("coerce")) {
            Some(arguments) => format!("{{ arguments: {arguments} }}"),
            None => "{}".to_owned(),
        };
        text.push_str(&format!("  {}: {options}  # {}\n", quoted(&key), calls(tool.calls)));
        rules.tool(&key, name, tool);
    }
    if rules.has_rule() {
        text.push_str("rules:\n");
    }
    text + &rules.text
}

fn head(learned: &Learned) -> String {
    let (from, to) = (utc(learned.from.unwrap_or_default()), utc(learned.to));
    let day = |time: &str| time.get(..10).unwrap_or_default().to_owned();
    let mut text = format!(
        "# DRAFT, learned by `framegate replay --learn`; it enforces what happened to be called, not what is right.\n\
         # Read every line, widen or narrow it, then try it: framegate replay --policy THIS\n\
         # It rests on {} that were allowed, in {}, {} to {}.\n\
         # Whatever was not called is refused.\n",
        calls(learned.calls),
        count(learned.sessions.len(), "session"),
        day(&from),
        day(&to),
    );
    if learned.unseen > 0 {
        text.push_str(&format!(
            "# The arguments of {} are not in the record any more.\n",
            calls(learned.unseen)
        ));
    }
    text
}

struct Rules<'l> {
    learned: &'l Learned,
    text: String,
    names: BTreeSet<String>,
}

impl Rules<'_> {
    fn has_rule(&self) -> bool {
        self.text.lines().any(|line| line.starts_with("  - "))
    }

    fn tool(&mut self, key: &str, name: &str, tool: &SeenTool) {
        for (argument, seen) in &tool.arguments {
            let rule = self.name(name, argument);
            let seen_in = format!("in {} of {}", seen.calls, calls(tool.calls));
            let Some((that, what)) = condition(argument, seen) else {
                let told = match seen.limit() {
                    Limit::Told(told) => told,
                    _ => "its name cannot be written in an expression".to_owned(),
                };
                self.text.push_str(&format!(
                    "  # {}, `{}`: {told}, {seen_in}\n",
                    shown(name),
                    shown(argument)
                ));
                continue;
            };
            if self.learned.dropped.contains(&rule) {
                self.text.push_str(&format!(
                    "  # {rule}: left out, since it does not hold for all calls: {}\n",
                    shown(&that)
                ));
                continue;
            }
            let when = if seen.calls < tool.calls {
                format!("    when: has(args.{argument})\n")
            } else {
                String::new()
            };
            self.text.push_str(&format!(
                "  - name: {rule}  # {seen_in}, {} different\n    tools: [{}]\n{when}    that: {}\n    because: {}\n",
                seen.different(),
                quoted(key),
                quoted(&that),
                quoted(&what),
            ));
        }
    }

    /// A rule's name: letters, digits and underlines, each once.
    fn name(&mut self, tool: &str, argument: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let base: String = format!("{tool}_{argument}").chars().take(60).map(plain).collect();
        let mut name = base.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

/// What must hold of an argument, and that in words.
fn condition(argument: &str, seen: &SeenArgument) -> Option<(String, String)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !argument.starts_with(|c: char| c.is_ascii_alphabetic()) || !argument.chars().all(is_plain) {
        return None;
    }
    let value = if seen.is_list { "it".to_owned() } else { format!("args.{argument}") };
    let (holds, what) = match seen.limit() {
        Limit::Folders(folders) => (
            format!("within({value}, {})", list(&folders)),
            format!("Only paths below {}.", folders.join(", ")),
        ),
        Limit::Prefixes(folders) => {
            // Where these paths lead is not in the record, so it cannot be asked; `within` would be better.
            let below = |folder: &String| {
                format!(
                    "{value} == {} || {value}.startsWith({})",
                    literal(folder),
                    literal(&format!("{folder}/"))
                )
            };
            let any = folders.iter().map(below).collect::<Vec<_>>().join(" || ");
            (
                format!("({any}) && !{value}.contains(\"..\")"),
                format!("Only paths below {}.", folders.join(", ")),
            )
        }
        Limit::Hosts(hosts) => (
            format!("host({value}) in [{}]", list(&hosts)),
            format!("Only these hosts: {}.", hosts.join(", ")),
        ),
        Limit::Words(words) => {
            (format!("{value} in [{}]", list(&words)), format!("Only these values: {}.", words.join(", ")))
        }
        Limit::Told(_) => return None,
    };
    let that = if seen.is_list { format!("args.{argument}.all(it, {holds})") } else { holds };
    Some((that, what))
}

fn list(texts: &[String]) -> String {
    texts.iter().map(|text| literal(text)).collect::<Vec<_>>().join(", ")
}

/// A string of an expression: escaped as in JSON, and in ASCII.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => match u32::from(c) {
                code @ 0..=0xffff => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push('"');
    out
}

/// A YAML scalar that means just this text.
fn quoted(text: &str) -> String {
    if text.chars().all(|c| matches!(c, ' '..='~')) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    literal(text)
}

/// In a comment.
fn shown(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='~') { c } else { '\u{fffd}' }).collect()
}

fn calls(number: u64) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{number} calls") }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
