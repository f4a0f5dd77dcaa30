//! The draft as text.

use std::collections::{BTreeMap, BTreeSet};

use super::Learned;
use super::seen::{Limit, SeenArgument, SeenTool};
use crate::history::line::{clip, utc};

/// Characters of an expression that is not one of the draft.
const SHOWN_CHARS: usize = 200;
/// Tools whose calls were left out, by name.
const LEFT_OUT_MAX: usize = 20;
/// Stands before a rule about paths where nothing says where they led.
const UNPROVEN: &str = "  # Where these paths led is not in the record: that this rule allows all of these calls is not proved.\n";

/// A policy file.
pub(super) struct Draft {
    pub(super) text: String,
    /// Rules about paths of which the record does not say where they led.
    pub(super) unproven: BTreeSet<String>,
}

/// The whole policy file.
pub(super) fn policy(learned: &Learned) -> Draft {
    let servers: BTreeSet<&String> = learned.tools.keys().map(|(server, _)| server).collect();
    let mut text = head(learned);
    let is_written = |name: &str, tool: &SeenTool| tool.seen > 0 && !name.contains(['*', '?', '/']);
    let none = !learned.tools.iter().any(|((_, name), tool)| is_written(name, tool));
    text.push_str(if none {
        "framegate: 1\ndefault: deny\ntools: {}\n"
    } else {
        "framegate: 1\ndefault: deny\ntools:\n"
    });
    let mut rules = Rules { learned, text: String::new(), names: BTreeSet::new(), unproven: BTreeSet::new() };
    for ((server, name), tool) in &learned.tools {
        if name.contains(['*', '?', '/']) {
            text.push_str(&format!(
                "  # {}: its name cannot be written as itself in a policy; left out\n",
                shown(name)
            ));
            continue;
        }
        if servers.len() > 1 && server.contains(['*', '?', '/']) {
            text.push_str(&format!(
                "  # {}: the name of its server, {}, cannot be written in a policy; left out\n",
                shown(name),
                shown(server)
            ));
            continue;
        }
        let key = if servers.len() > 1 { format!("{server}/{name}") } else { name.clone() };
        let loose = learned.loose.get(&(server.clone(), name.clone())).copied();
        let options = match loose.or(tool.is_coerced.then_some("coerce")) {
            Some(arguments) => format!("{{ arguments: {arguments} }}"),
            None => "{}".to_owned(),
        };
        if tool.seen == 0 {
            // A tool without a rule may be called with anything, and nobody ever saw what.
            text.push_str(&format!(
                "  # {}: {options}  # {}, and their arguments are not in the record: left out, for no rule could limit them\n",
                shown(&quoted(&key)),
                calls(tool.calls)
            ));
            continue;
        }
        let unseen = match tool.calls - tool.seen {
            0 => String::new(),
            unseen => format!(", the arguments of {unseen} are not in the record"),
        };
        text.push_str(&format!("  {}: {options}  # {}{unseen}\n", quoted(&key), calls(tool.calls)));
        rules.tool(&key, name, tool);
    }
    if rules.has_rule() {
        text.push_str("rules:\n");
    }
    Draft { text: text + &rules.text, unproven: rules.unproven }
}

/// In monitor mode these went through: whoever tries a policy out would miss them in the draft.
fn left_out(learned: &Learned) -> String {
    let all: u64 = learned.refused.values().sum();
    if all == 0 {
        return String::new();
    }
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, tool), count) in &learned.refused {
        *tools.entry(tool).or_default() += count;
    }
    let listed = tools.iter().take(LEFT_OUT_MAX).map(|(tool, count)| format!("{} {count}", shown(tool)));
    let mut listed: Vec<String> = listed.collect();
    if tools.len() > LEFT_OUT_MAX {
        listed.push(format!("and {} more tools", tools.len() - LEFT_OUT_MAX));
    }
    format!(
        "# Left out: {} that the policy of then did not allow, or (monitor mode) would not have: {}.\n",
        calls(all),
        listed.join(", ")
    )
}

fn head(learned: &Learned) -> String {
    let (from, to) = (utc(learned.from.unwrap_or_default()), utc(learned.to));
    let day = |time: &str| time.get(..10).unwrap_or_default().to_owned();
    let mut text = format!(
        "# DRAFT, learned by `framegate replay --learn`; it enforces what happened to be called, not what is right.\n\
         # Read every line, widen or narrow it, then try it: framegate replay --policy THIS\n\
         # It rests on {}, in {}, {} to {}.\n\
         # Whatever was not called is refused. An argument that has no rule below is not limited at all.\n",
        allowed(learned.calls),
        count(learned.sessions.len(), "session"),
        day(&from),
        day(&to),
    );
    text.push_str(&left_out(learned));
    if learned.unseen > 0 {
        text.push_str(&format!(
            "# The arguments of {} are not in the record: never kept, deleted or redacted.\n",
            calls(learned.unseen)
        ));
    }
    text
}

struct Rules<'l> {
    learned: &'l Learned,
    text: String,
    names: BTreeSet<String>,
    unproven: BTreeSet<String>,
}

impl Rules<'_> {
    fn has_rule(&self) -> bool {
        self.text.lines().any(|line| line.starts_with("  - "))
    }

    fn tool(&mut self, key: &str, name: &str, tool: &SeenTool) {
        for (argument, seen) in &tool.arguments {
            let rule = self.name(name, argument);
            let seen_in = format!("in {} of {}", seen.calls, calls(tool.seen));
            let limit = seen.limit(&self.learned.places);
            let Some((that, what)) = condition(argument, seen, &limit) else {
                let Limit::Told(told) = limit else { continue };
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
            let when = when(argument, seen, tool);
            let proof = if matches!(limit, Limit::Unproven(_)) { UNPROVEN } else { "" };
            let text = format!(
                "{proof}  - name: {rule}  # {seen_in}, {} different\n    tools: [{}]\n{when}    that: {}\n    because: {}\n",
                seen.different(),
                quoted(key),
                quoted(&that),
                quoted(&what),
            );
            if self.learned.is_checked && !loads(key, &text) {
                // No more of it: too long is one reason why it does not load.
                self.text.push_str(&format!(
                    "  # {rule}: left out, since it cannot be written: {}\n",
                    clip(&shown(&that), SHOWN_CHARS)
                ));
                continue;
            }
            if matches!(limit, Limit::Unproven(_)) {
                self.unproven.insert(rule);
            }
            self.text.push_str(&text);
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

/// An argument in an expression.
enum Member {
    /// `args.path`
    Named(String),
    /// `args["in"]`: no name that the language reads.
    Indexed(String),
}

fn member(argument: &str) -> Member {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = argument.starts_with(|c: char| c.is_ascii_alphabetic()) && argument.chars().all(is_plain);
    if is_name && !framegate_guard::cel::is_reserved(argument) {
        Member::Named(format!("args.{argument}"))
    } else {
        Member::Indexed(format!("args[{}]", literal(argument)))
    }
}

/// A rule about an argument that not every call had is for those that have it.
fn when(argument: &str, seen: &SeenArgument, tool: &SeenTool) -> String {
    match member(argument) {
        _ if seen.calls >= tool.seen => String::new(),
        Member::Named(_) => format!("    when: has(args.{argument})\n"),
        Member::Indexed(_) => format!("    when: {}\n", quoted(&format!("{} in args", literal(argument)))),
    }
}

/// Whether a rule loads alone.
fn loads(key: &str, rule: &str) -> bool {
    let text = format!("framegate: 1\ndefault: deny\ntools:\n  {}: {{}}\nrules:\n{rule}", quoted(key));
    super::load(&text).is_ok()
}

/// What must hold of an argument, and that in words.
fn condition(argument: &str, seen: &SeenArgument, limit: &Limit) -> Option<(String, String)> {
    let (Member::Named(member) | Member::Indexed(member)) = member(argument);
    let value = if seen.is_list { "it".to_owned() } else { member.clone() };
    let (holds, what) = match limit {
        // Also where nothing proves it: a comparison of texts would let links and `%2e%2e` through.
        Limit::Folders(folders) | Limit::Unproven(folders) => (
            format!("within({value}, {})", list(folders)),
            format!("Only paths below {}.", folders.join(", ")),
        ),
        Limit::Hosts(hosts) => (
            format!("host({value}) in [{}]", list(hosts)),
            format!("Only these hosts: {}.", hosts.join(", ")),
        ),
        Limit::Words(words) => {
            (format!("{value} in [{}]", list(words)), format!("Only these values: {}.", words.join(", ")))
        }
        Limit::Told(_) => return None,
    };
    let that = if seen.is_list { format!("{member}.all(it, {holds})") } else { holds };
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

/// As a sentence has it: one call was, several were.
fn allowed(number: u64) -> String {
    let were = if number == 1 { "was" } else { "were" };
    format!("{} that {were} allowed", calls(number))
}

fn calls(number: u64) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{number} calls") }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_was_allowed_and_several_were() {
        let head = |calls| head(&Learned { calls, ..Learned::default() });
        assert!(head(1).contains("It rests on 1 call that was allowed, in"), "{}", head(1));
        assert!(head(2).contains("It rests on 2 calls that were allowed, in"), "{}", head(2));
    }

    #[test]
    fn what_was_left_out_is_said_by_tool_and_in_one_line() {
        let refused = |tools: &[(&str, u64)]| {
            let of = |(tool, count): &(&str, u64)| (("s".to_owned(), (*tool).to_owned()), *count);
            head(&Learned { calls: 1, refused: tools.iter().map(of).collect(), ..Learned::default() })
        };
        assert!(!refused(&[]).contains("Left out"), "{}", refused(&[]));
        let text = refused(&[("a\nb: {}", 1), ("write", 2)]);
        assert!(text.contains("Left out: 3 calls that"), "{text}");
        assert!(text.contains(": a\u{fffd}b: {} 1, write 2.\n"), "{text}");
        let names: Vec<String> = (0..=LEFT_OUT_MAX).map(|n| format!("t{n:02}")).collect();
        let many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        assert!(refused(&many).contains("t19 1, and 1 more tools.\n"), "{}", refused(&many));
        assert!(!refused(&many[1..]).contains("more tools"), "{}", refused(&many[1..]));
    }
}
