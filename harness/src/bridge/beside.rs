//! What a server says beside the results of calls: of its tasks, of itself, of what it offers.
//!
//! It reaches a model as results do, so what it carries counts; a value that stands only there is supported by
//! nothing, since of most of it nobody knows which call it belongs to.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::Shared;
use framegate_guard::messages::{Role, as_written, task_outcome};
use framegate_guard::session::{Origin, OutputKind};
use framegate_guard::store::event::{Event, HeardRecord};
use framegate_pump::{Frame, Request};

use super::answers::{Answer, asked_in};
use super::hearing::{all_of, shared_part, text_of, text_param};
use super::shared::Inner;

/// Texts that are known to have been said. Beyond them all are heard anew: twice is better than never.
const TOLD_MAX: usize = 4096;
/// The longest text that may be a point in time.
const TIME_BYTES_MAX: usize = 40;

/// What was said already. A client asks for a task again and again, and each answer would push another message
/// out of the window.
#[derive(Default)]
pub(super) struct Told {
    by: RandomState,
    hashes: Mutex<HashSet<u64>>,
}

impl Told {
    fn is_news(&self, text: &str) -> bool {
        let said: Vec<&str> = text.lines().filter(|line| !is_time(line)).collect();
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if hashes.len() >= TOLD_MAX {
            hashes.clear();
        }
        hashes.insert(self.by.hash_one(said))
    }
}

/// `lastUpdatedAt: 2026-01-01T00:00:00Z`: another one each time.
fn is_time(line: &str) -> bool {
    let Some((_, value)) = line.split_once(": ") else { return false };
    let fits = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | '+' | 'T' | 'Z');
    value.len() <= TIME_BYTES_MAX && value.contains('-') && value.contains(':') && value.chars().all(fits)
}

/// Whether the answers of this method are heard here.
pub(super) fn is_beside(method: &str) -> bool {
    method.starts_with("tasks/")
        || matches!(
            method,
            "completion/complete"
                | "initialize"
                | "prompts/list"
                | "resources/list"
                | "resources/templates/list"
                | "server/discover"
        )
}

impl Inner {
    /// An answer to one of these methods.
    pub(super) fn said_beside(self: &Arc<Self>, request: &Request, frame: &Frame) {
        let method = request.method();
        // A session begins with answers that mostly say nothing; of those of tasks there is no end.
        if method.starts_with("tasks/") && !self.listens(&self.guard()) {
            return;
        }
        let kind = match method {
            "prompts/list" => OutputKind::Prompt,
            "resources/list" | "resources/templates/list" => OutputKind::Resource,
            _ => OutputKind::Server,
        };
        let task = text_param(request, "taskId").filter(|_| method.starts_with("tasks/"));
        let text = match method {
            "initialize" | "server/discover" => part(frame, |result| [result.get("instructions"), None]),
            _ => text_of(frame),
        };
        self.hear_beside(kind, task.as_deref().unwrap_or(method), text);
    }

    /// What the server asks of the user or of the client's model, in its own words.
    pub(super) fn server_asked(self: &Arc<Self>, request: &Request) {
        let method = request.method();
        if matches!(method, "elicitation/create" | "sampling/createMessage") {
            self.hear_params(OutputKind::Server, request, all_of);
        }
    }

    /// A line of the server's log, how a call or a task is going: a client may show it to its model.
    pub(super) fn server_noticed(self: &Arc<Self>, notification: &Request) {
        match notification.method() {
            "notifications/message" | "notifications/tasks" | "notifications/tasks/status" => {
                self.asked_by_notice(notification);
                self.hear_params(OutputKind::Notice, notification, all_of);
            }
            "notifications/progress" => self.hear_params(OutputKind::Notice, notification, progress_message),
            _ => {}
        }
    }

    fn hear_params(self: &Arc<Self>, kind: OutputKind, said: &Request, text: fn(&str) -> String) {
        if let Some(params) = said.params().filter(|_| self.listens(&self.guard())) {
            self.hear_beside(kind, said.method(), text(params));
        }
    }

    /// What the server asks inside the answer of a call, in its own words: it supports no value, as the question that
    /// it asks by a request of its own does not.
    pub(super) fn asked_inside(self: &Arc<Self>, request: &Request, frame: &Frame) {
        if !self.listens(&self.guard()) {
            return;
        }
        self.asked_by_answer(request, frame);
        let tool = text_param(request, "name");
        self.hear_beside(OutputKind::Server, &tool.unwrap_or_default(), questions(frame));
    }

    /// What stands beside a task's outcome, which is heard as the call's.
    pub(super) fn said_of_task(self: &Arc<Self>, tool: &str, frame: &Frame) {
        if !self.listens(&self.guard()) {
            return;
        }
        let message = part(frame, |result| {
            let nested = result.get("task").and_then(|task| task.get("statusMessage"));
            [result.get("statusMessage"), nested]
        });
        self.hear_beside(OutputKind::Server, tool, message);
        self.hear_beside(OutputKind::Server, tool, questions(frame));
    }

    /// Notes that the outcome of a task was heard: asked for once more it says nothing new.
    pub(super) fn told_outcome(&self, frame: &Frame) {
        if self.hears(&self.guard()) {
            self.told.is_news(&text_of(frame));
        }
    }

    fn hear_beside(self: &Arc<Self>, kind: OutputKind, name: &str, text: String) {
        if !text.is_empty() && self.told.is_news(&text) {
            self.hear_other(kind, name.to_owned(), text);
        }
    }

    /// Hears what reached the model by another way than a call's answer.
    pub(super) fn hear_other(self: &Arc<Self>, kind: OutputKind, name: String, text: String) {
        self.ledger.share(Shared { origin: &Origin::new(kind, &name), text: shared_part(&text) });
        if !self.guard().reads_conversation() {
            self.miss();
            return;
        }
        let heard = Bytes::from(text.clone());
        {
            // Noted before it is let go: a call that hears it is recorded behind it.
            let mut session = self.session();
            self.to_hear(&mut session).output(Origin::new(kind, &name), text);
            let (number, role, origin) = (session.heard(), Some(Role::Tool), Some((kind, name)));
            self.ledger.note(Event::Heard(HeardRecord { number, role, origin, text: heard, question: None }));
        }
        self.make_ready();
    }
}

/// Some texts of a result; all of it where it cannot be read for certain.
fn part(frame: &Frame, of: impl Fn(Value<'_>) -> [Option<Value<'_>>; 2]) -> String {
    let Some(result) = Answer::read(frame.body()).and_then(|answer| answer.result) else {
        return text_of(frame);
    };
    match Document::read(Bytes::copy_from_slice(result.get().as_bytes()), &Limits::default()) {
        Ok(read) => {
            let texts = of(read.root()).into_iter().flatten().filter_map(Value::as_str);
            texts.collect::<Vec<_>>().join("\n")
        }
        Err(_) => as_written(result.get()),
    }
}

/// What an answer asks for, in the server's words: of the result, and of one inside a task.
pub(super) fn questions(frame: &Frame) -> String {
    let Some(result) = Answer::read(frame.body()).and_then(|answer| answer.result) else {
        return String::new();
    };
    let result = result.get();
    let asked = [Some(result), task_outcome(result)].into_iter().flatten().flat_map(asked_in);
    asked.map(all_of).collect::<Vec<_>>().join("\n")
}

/// The sentence beside a progress. The numbers are another each time, and the token is the client's.
fn progress_message(params: &str) -> String {
    match Document::read(Bytes::copy_from_slice(params.as_bytes()), &Limits::default()) {
        Ok(read) => {
            let message = read.root().get("message");
            message
                .map(|text| text.as_str().map_or_else(|| all_of(text.raw()), str::to_owned))
                .unwrap_or_default()
        }
        Err(_) => as_written(params),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_no_news_and_anything_else_is() {
        let told = Told::default();
        let said = |time: &str, message: &str| told.is_news(&format!("lastUpdatedAt: {time}\nm: {message}"));
        assert!(said("2026-01-01T00:00:00Z", "pay DE1"));
        assert!(!said("2026-01-01T00:00:01.5Z", "pay DE1"));
        assert!(said("2026-01-01T00:00:01.5Z", "pay DE2"));
        assert!(said("2026-01-01T00:00:00Z pay", "pay DE2"));
        assert!(said("1234", "pay DE2"), "a number may be an account's");
    }

    #[test]
    fn as_many_texts_as_the_limit_are_known() {
        let told = Told::default();
        assert!((0..TOLD_MAX - 1).all(|n| told.is_news(&n.to_string())));
        assert!(
            !told.is_news("0") && told.is_news("last") && told.is_news("0"),
            "at the limit all are forgotten"
        );
    }
}
