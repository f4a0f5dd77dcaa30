//! What a person is asked.

use framegate_guard::decision::Decision;
use framegate_guard::finding::{Effect, Finding};
use framegate_guard::json::{Document, Kind, Limits, Value};

use super::visible::{line, middle, plain, quoted};
use crate::redact;

/// Characters of all arguments together. They are shown in full where they fit.
pub(crate) const ARGUMENTS_CHARS_MAX: usize = 3000;
/// Characters of one argument where all of them do not fit, the first that makes them fit.
const ARGUMENT_CHARS: [usize; 4] = [1000, 400, 160, 60];
/// Arguments that are shown.
pub(crate) const ARGUMENTS_MAX: usize = 40;
/// Of those the last ones.
const LAST_ARGUMENTS: usize = 10;
/// Raw JSON of one argument that is read whole before it is cut.
const RAW_BYTES_MAX: usize = 4 * ARGUMENTS_CHARS_MAX;
/// Reasons that are written out, and characters of each.
const REASONS_MAX: usize = 12;
const REASON_CHARS_MAX: usize = 400;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 128;

/// The principal of who uses this machine.
pub(crate) const LOCAL: &str = "local";

/// What a question is made of.
pub(crate) struct Shown<'a> {
    pub(crate) server: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) tool: &'a str,
    /// JSON.
    pub(crate) arguments: bytes::Bytes,
    /// What stands against the call.
    pub(crate) findings: &'a [Finding],
    pub(crate) approval_key: &'a str,
}

/// One call that needs a person's yes, as it is put to that person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The server, as the user named it, made visible.
    pub server: String,
    /// Whose session it is, made visible, where the question says so: another than this machine's user.
    pub principal: Option<String>,
    /// The tool, made visible.
    pub tool: String,
    /// One line an argument, values as they are sent: characters that do not show are written out, long values
    /// cut in the middle, credentials replaced.
    pub arguments: Vec<String>,
    /// Why a person is asked.
    pub reasons: Vec<String>,
    /// What is not known, or not shown.
    pub unknown: Vec<String>,
    /// What a yes approves: this call and these reasons.
    pub approval_key: String,
}

impl Question {
    /// The question about a decision that asks.
    pub(crate) fn of(server: &str, decision: &Decision) -> Question {
        Question::shown(&Shown {
            server,
            principal: LOCAL,
            tool: &decision.tool,
            arguments: decision.arguments.clone(),
            findings: &decision.findings,
            approval_key: &decision.approval_key,
        })
    }

    /// The question about this.
    pub(crate) fn shown(of: &Shown<'_>) -> Question {
        let redacted = redact::json(of.arguments.clone());
        let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
        let read =
            redacted.ok().and_then(|found| Some((Document::read(found.bytes, &whole).ok()?, found.secrets)));
        let mut unknown = Vec::new();
        let (arguments, secrets) = match read {
            Some((document, secrets)) => (arguments(document.root(), &mut unknown), secrets),
            None => {
                unknown.push("The arguments cannot be shown.".to_owned());
                (Vec::new(), Vec::new())
            }
        };
        if !secrets.is_empty() {
            unknown.push("What looks like a credential is shown as ***.".to_owned());
        }
        let standing = || of.findings.iter().filter(|finding| !finding.monitor);
        let by = |effect| standing().filter(move |finding| finding.effect == effect);
        let said = |finding: &Finding| line(&redact::without(reason(finding), &secrets), REASON_CHARS_MAX);
        let unread =
            |finding: &Finding| format!("{} could not be checked: {}", check(finding), said(finding));
        unknown.extend(listed(by(Effect::Unevaluated).map(unread)));
        Question {
            server: line(of.server, NAME_CHARS_MAX),
            principal: (of.principal != LOCAL).then(|| line(of.principal, NAME_CHARS_MAX)),
            tool: line(of.tool, NAME_CHARS_MAX),
            arguments,
            reasons: listed(by(Effect::Ask).map(said)),
            unknown,
            approval_key: of.approval_key.to_owned(),
        }
    }

    /// The whole as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "Allow this tool call? It has not been made.\n\ntool: {}\nserver: {}\n",
            self.tool, self.server
        );
        if let Some(principal) = &self.principal {
            text.push_str(&format!("for: {principal}\n"));
        }
        if self.arguments.is_empty() {
            text.push_str("arguments: none\n");
        } else {
            text.push_str("arguments, as they would be sent:\n");
            self.arguments.iter().for_each(|argument| text.push_str(&format!("  {argument}\n")));
        }
        section(&mut text, "Why you are asked:", &self.reasons);
        section(&mut text, "Not known:", &self.unknown);
        text.push_str("\nA yes is for this one call.");
        text
    }
}

/// A name is shown letter by letter as it is: no other looks the same.
pub(crate) fn is_shown_whole(name: &str) -> bool {
    line(name, NAME_CHARS_MAX) == name
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.push_str(&format!("\n{title}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
}

fn reason(finding: &Finding) -> &str {
    if finding.because.is_empty() { &finding.reason } else { &finding.because }
}

fn check(finding: &Finding) -> String {
    let name = line(&finding.check, NAME_CHARS_MAX);
    if finding.is_rule { format!("rule `{name}`") } else { format!("`{name}`") }
}

/// Each once; the others are counted.
fn listed(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in lines {
        if !all.contains(&line) {
            all.push(line);
        }
    }
    let more = all.len().saturating_sub(REASONS_MAX);
    all.truncate(REASONS_MAX);
    if more > 0 {
        all.push(format!("and {more} more that are not shown"));
    }
    all
}

// === arguments ===

fn arguments(root: Value<'_>, unknown: &mut Vec<String>) -> Vec<String> {
    let count = root.len();
    let shown = |at: usize| {
        count <= ARGUMENTS_MAX || at < ARGUMENTS_MAX - LAST_ARGUMENTS || at >= count - LAST_ARGUMENTS
    };
    let members: Vec<(&str, Value<'_>)> =
        root.members().enumerate().filter(|(at, _)| shown(*at)).map(|(_, member)| member).collect();
    let lines = |max: usize| -> Vec<String> {
        members.iter().map(|(name, value)| argument(name, *value, max)).collect()
    };
    let fits = |lines: &[String]| {
        lines.iter().map(|line| line.chars().count()).sum::<usize>() <= ARGUMENTS_CHARS_MAX
    };
    let mut all = lines(ARGUMENTS_CHARS_MAX);
    let mut smaller = ARGUMENT_CHARS.iter();
    while !fits(&all)
        && let Some(max) = smaller.next()
    {
        all = lines(*max);
    }
    let is_cut = all.iter().any(|line| line.contains(super::visible::CUT_OPEN));
    if count > members.len() {
        let left_out = count - members.len();
        all.insert(ARGUMENTS_MAX - LAST_ARGUMENTS, format!("⟦{left_out} of {count} arguments not shown⟧"));
    }
    if is_cut || count > members.len() {
        unknown.push(
            "The arguments are too long to be shown whole; where something is left out, ⟦⟧ says so."
                .to_owned(),
        );
    }
    all
}

fn argument(name: &str, value: Value<'_>, max: usize) -> String {
    let shown = match value.kind() {
        // Cut first: escaping a megabyte to show sixty characters takes long, and a cut inside an escape reads ill.
        Kind::String => quoted_within(value.as_str().unwrap_or_default(), max),
        _ if value.raw().len() > RAW_BYTES_MAX => plain_within(value.raw(), max),
        _ => {
            let mut out = String::new();
            compact(value, &mut out);
            middle(&out, max).into_owned()
        }
    };
    format!("{}: {shown}", line(name, NAME_CHARS_MAX))
}

/// A string in quotes; where it is cut, the note stands between two quoted parts, for it is no part of the value.
fn quoted_within(text: &str, max: usize) -> String {
    match cut(text, max) {
        None => middle(&quoted(text), max + 2).into_owned(),
        Some((head, note, tail)) => format!("{}{note}{}", quoted(head), quoted(tail)),
    }
}

fn plain_within(text: &str, max: usize) -> String {
    match cut(text, max) {
        None => plain(text),
        Some((head, note, tail)) => format!("{}{note}{}", plain(head), plain(tail)),
    }
}

fn cut(text: &str, max: usize) -> Option<(&str, String, &str)> {
    let chars = text.chars().count();
    if chars <= max {
        return None;
    }
    let (head, tail) = (max * 2 / 3, max / 3);
    let at = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let note = format!(" ⟦{} of {chars} characters not shown⟧ ", chars - head - tail);
    Some((text.get(..at(head))?, note, text.get(at(chars - tail)..)?))
}

/// JSON on one line; strings as they are read, numbers as they are written.
fn compact(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Object => {
            out.push('{');
            for (at, (key, value)) in value.members().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&quoted(key));
                out.push_str(": ");
                compact(value, out);
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for (at, item) in value.items().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                compact(item, out);
            }
            out.push(']');
        }
        Kind::String => out.push_str(&quoted(value.as_str().unwrap_or_default())),
        Kind::Bool | Kind::Null | Kind::Number => out.push_str(value.raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::ledger::Snapshot;
    use framegate_guard::policy::Policy;
    use framegate_guard::session::Session;
    use framegate_guard::world::NoWorld;
    use framegate_guard::{Call, Facts, Guard};

    fn question(arguments: &str) -> Question {
        let policy = "framegate: 1\ndefault: allow\ndefaults: { arguments: unchecked }\nfacts: { role: { type: string } }\nrules:\n  - { name: ask, that: 'false', otherwise: ask, because: \"Writes need\\n a yes.\" }\n  - { name: who, that: facts.role == 'admin', otherwise: ask, because: Admins only. }\n";
        let policy = Policy::load("p", policy.as_bytes(), &mut |_| Err(String::new())).unwrap().policy;
        let guard = Guard::new(policy, "files", Facts::default());
        let document = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        let call = Call { tool: "wri\u{200b}te", id: None, arguments: document.root() };
        Question::of("files", &guard.decide(&call, &Session::default(), &Snapshot::nothing(), &NoWorld))
    }

    #[test]
    fn a_question_says_what_is_about_to_happen_and_what_is_not_known() {
        let text = question(r#"{"path":"\u002fwork/a\n","n":1.50,"deep":{"on":[true,null,"x"]}}"#).text();
        assert!(
            text.starts_with(
                "Allow this tool call? It has not been made.\n\ntool: wri\\u{200b}te\nserver: files\n"
            ),
            "{text}"
        );
        for line in [
            "  path: \"/work/a\\n\"\n",
            "  n: 1.50\n",
            "  deep: {\"on\": [true, null, \"x\"]}\n",
            "\nWhy you are asked:\n- Writes need a yes.\n",
            "- rule `who` could not be checked: ",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(question("{}").text().contains("arguments: none\n"));
    }

    #[test]
    fn no_value_can_add_a_line_of_its_own() {
        let text = question(r#"{"a":"x\n\nWhy you are asked:\n- nothing\n","b\n- all is well":1}"#).text();
        assert_eq!(text.matches("\nWhy you are asked:").count(), 1, "{text}");
        assert!(!text.contains("\n- all is well"), "{text}");
    }

    #[test]
    fn credentials_are_not_shown_nor_quoted_by_reasons() {
        let question = question(r#"{"password":"hunter2hunter2"}"#);
        assert_eq!(question.arguments, [r#"password: "***""#]);
        assert!(!question.text().contains("hunter2"));
        assert!(question.unknown.iter().any(|line| line.contains("credential")));
    }

    #[test]
    fn arguments_that_fit_are_whole_and_longer_ones_are_cut_with_their_length() {
        let of = |chars: usize| question(&format!(r#"{{"content":"{}"}}"#, "ö".repeat(chars)));
        let fits = ARGUMENTS_CHARS_MAX - r#"content: """#.len();
        for (chars, is_whole) in [(fits - 1, true), (fits, true), (fits + 1, false), (300_000, false)] {
            let question = of(chars);
            let note = format!("of {chars} characters not shown⟧");
            assert_eq!(question.arguments[0].contains(&note), !is_whole, "{chars}");
            assert_eq!(question.unknown.iter().any(|line| line.contains("too long")), !is_whole, "{chars}");
            assert!(question.text().chars().count() < 2 * ARGUMENTS_CHARS_MAX);
        }
        let list = format!(r#"{{"list":[{}"end"]}}"#, "1,".repeat(200_000));
        let shown = &question(&list).arguments[0];
        assert!(shown.contains("characters not shown") && shown.ends_with(r#""end"]"#), "{shown}");
    }

    #[test]
    fn many_arguments_are_counted() {
        let of = |count: usize| {
            let members: Vec<String> = (0..count).map(|n| format!(r#""a{n}":{n}"#)).collect();
            question(&format!("{{{}}}", members.join(",")))
        };
        assert_eq!(of(ARGUMENTS_MAX - 1).arguments.len(), ARGUMENTS_MAX - 1);
        assert_eq!(of(ARGUMENTS_MAX).arguments.len(), ARGUMENTS_MAX);
        let more = of(ARGUMENTS_MAX + 1);
        assert_eq!(more.arguments.len(), ARGUMENTS_MAX + 1, "one line says how many are not shown");
        assert!(more.arguments.contains(&"⟦1 of 41 arguments not shown⟧".to_owned()));
        assert_eq!(more.arguments.last().unwrap(), "a40: 40");
    }
}
