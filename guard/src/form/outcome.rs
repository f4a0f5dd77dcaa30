//! What the model reads when a call was not completed, and what the person reads when asked.

use super::answer::{Rejected, write};
use super::why::Unaskable;
use crate::policy::Ask;
use crate::refusal::{NAME_CHARS_MAX, plain};

/// Characters of the policy's own question.
const MESSAGE_CHARS_MAX: usize = 1000;
/// Names and reasons that a text lists.
const LISTED_MAX: usize = 32;

/// Why a call that lacks arguments goes nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The person closed the question.
    Cancelled,
    /// The person said no.
    Declined,
    /// `missing: refuse`.
    Disabled,
    /// The client answered with an error, or with what is no answer.
    Failed,
    /// Looks like a credential: no form asks for it. The arguments are those alone.
    Sensitive,
    /// There were too many questions: why, and what to do.
    Limited(String),
    /// The second answer did not complete the call either: why.
    StillMissing(Vec<String>),
    /// Nobody answered in time.
    TimedOut,
    /// No form can ask for these.
    Unaskable(Vec<Unaskable>),
    /// The client cannot show forms.
    Unsupported,
}

impl Outcome {
    /// The result's JSON, one line: `error`, `tool`, `status`, `reason`, `missing_or_ambiguous`, `message`. The caller
    /// puts it into a text block, and says `isError: true`.
    #[must_use]
    pub fn json(&self, tool: &str, missing: &[String]) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let names: Vec<String> = missing.iter().map(|name| quoted(name)).collect();
        let members = [
            ("error", quoted(self.error())),
            ("tool", quoted(tool)),
            ("status", quoted(self.status())),
            ("reason", quoted(self.reason())),
            ("missing_or_ambiguous", format!("[{}]", names.join(","))),
            ("message", quoted(&self.message(missing))),
        ];
        let mut text = String::from("{");
        for (position, (name, value)) in members.iter().enumerate() {
            write(&mut text, position == 0, &quoted(name), value);
        }
        text.push('}');
        text
    }

    /// `tool_call_blocked`, or `elicitation_required`.
    #[must_use]
    pub fn error(&self) -> &'static str {
        match self {
            Outcome::Sensitive | Outcome::StillMissing(_) | Outcome::Unaskable(_) => "tool_call_blocked",
            _ => "elicitation_required",
        }
    }

    /// `reject`, or `needs_elicitation`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Sensitive => "reject",
            _ => "needs_elicitation",
        }
    }

    /// In one word, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Outcome::Cancelled => "elicitation_cancelled",
            Outcome::Declined => "elicitation_declined",
            Outcome::Disabled => "elicitation_disabled",
            Outcome::Failed => "elicitation_failed",
            Outcome::Limited(_) => "elicitation_limited",
            Outcome::Sensitive => "sensitive_required_field",
            Outcome::StillMissing(_) => "required_fields_missing_or_empty",
            Outcome::TimedOut => "elicitation_timed_out",
            Outcome::Unaskable(_) => "fields_not_askable",
            Outcome::Unsupported => "elicitation_unsupported",
        }
    }

    /// In words, for the model: what happened, and what to do next.
    #[must_use]
    pub fn message(&self, missing: &[String]) -> String {
        let names = list(missing);
        let again = format!("Call the tool again with values for: {names}.");
        match self {
            Outcome::Cancelled => format!("The user closed the question without an answer. {again}"),
            Outcome::Declined => {
                format!(
                    "The user declined to give these values: {names}. Do not guess them; ask what to do instead."
                )
            }
            Outcome::Disabled => format!("The call lacks required arguments. {again}"),
            Outcome::Failed => format!("The user could not be asked: the client's answer was none. {again}"),
            Outcome::Limited(why) => format!("Nobody was asked: {why}. {again}"),
            Outcome::Sensitive => sensitive(missing),
            Outcome::StillMissing(reasons) if reasons.is_empty() => {
                format!("Tool call requires additional input for: {names}.")
            }
            Outcome::StillMissing(reasons) => {
                let shown: Vec<&str> = reasons.iter().take(LISTED_MAX).map(String::as_str).collect();
                format!(
                    "Tool call requires additional input for: {names}. The answer did not fit: {}.",
                    shown.join("; ")
                )
            }
            Outcome::TimedOut => format!("The user did not answer in time. {again}"),
            Outcome::Unaskable(fields) => {
                let shown: Vec<String> = fields.iter().take(LISTED_MAX).map(ToString::to_string).collect();
                format!("The user cannot be asked for these in a form: {}. {again}", shown.join("; "))
            }
            Outcome::Unsupported => format!("The client cannot ask its user. {again}"),
        }
    }
}

fn sensitive(missing: &[String]) -> String {
    let sentence = |name: &String| {
        let name = plain::line(name, NAME_CHARS_MAX);
        format!(
            "Tool call blocked because form-mode elicitation cannot request sensitive required field '{name}'."
        )
    };
    let sentences: Vec<String> = missing.iter().take(LISTED_MAX).map(sentence).collect();
    sentences.join(" ")
}

fn list(names: &[String]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(LISTED_MAX).map(|name| plain::line(name, NAME_CHARS_MAX)).collect();
    if names.len() > LISTED_MAX {
        shown.push(format!("and {} more", names.len() - LISTED_MAX));
    }
    shown.join(", ")
}

/// What the person reads above the form; after an answer that did not fit, why.
#[must_use]
pub fn question(tool: &str, ask: &Ask, rejected: Option<&Rejected>) -> String {
    let usual = || {
        let tool = plain::line(tool, NAME_CHARS_MAX);
        format!("Input for tool '{tool}' is incomplete. Please provide the missing fields.")
    };
    let message =
        ask.message.as_deref().map_or_else(usual, |message| plain::line(message, MESSAGE_CHARS_MAX));
    let Some(rejected) = rejected else { return message };
    let reasons: Vec<String> = rejected.reasons().into_iter().take(LISTED_MAX).collect();
    match reasons.is_empty() {
        true => format!("{message} The last answer could not be used."),
        false => format!("{message} The last answer did not fit: {}.", reasons.join("; ")),
    }
}
