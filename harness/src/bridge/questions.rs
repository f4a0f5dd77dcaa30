//! What a person answers to a question of the server's: their own words, where the policy says so (`context.answers`).
//!
//! ```text
//! elicitation/create ── request ────────────────────────────► its answer ──────┐
//! inputRequests ─────── inside an answer, or told of a task ─► kept ─► inputResponses ─┴► what was typed ─► Session
//! ```
//!
//! What was typed may ground a value, as what is typed into Framegate's own forms, and does nothing else. A value that
//! stands in the question is the server's word, whoever typed it: the question goes along into the session and the
//! record. An answer whose question is not known counts for nothing.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::form::typed;
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_guard::messages::task_outcome;
use framegate_guard::session::{Origin, OutputKind};
use framegate_pump::{Frame, Request};

use super::answers::{Answer, asked_in};
use super::cuts::{RESPONSES, STATE};
use super::form_record::without_credentials;
use super::hearing::{all_of, text_param};
use super::shared::Inner;
use crate::calls::Level;
use crate::redact::MARK;
use crate::wire::ClientFrame;

/// The one question that a person answers with what they type.
const ELICITATION: &str = "elicitation/create";
/// Questions that wait for their answers. One more is not kept, and its answer counts for nothing: were an old one let go
/// instead, a server could ask a second time under the same key, and have its first question forgotten.
const OPEN_MAX: usize = 256;
/// The largest question, in bytes of its names and texts.
const QUESTION_BYTES_MAX: usize = 64 * 1024;
/// The largest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Questions inside answers, until they are answered.
#[derive(Default)]
pub(super) struct Questions(Mutex<Vec<Question>>);

struct Question {
    /// What brings the answer back: see [`mark`].
    mark: String,
    /// Its name among those that were asked at once.
    key: String,
    params: Document,
}

impl Questions {
    /// Whether there was room.
    fn ask(&self, question: Question) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = open.len() < OPEN_MAX;
        if has_room {
            open.push(question);
        }
        has_room
    }

    /// All that were asked by this name there: which of them is answered nobody can tell.
    fn take(&self, mark: &str, key: &str) -> Vec<Document> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |question: &mut Question| question.mark == mark && question.key == key;
        open.extract_if(.., of).map(|question| question.params).collect()
    }
}

/// By what the round goes on: the state that the server gave, the task, or else the very request.
fn mark(method: &str, state: Option<&str>, params: impl Fn(&str) -> Option<String>) -> String {
    match (state, params("taskId")) {
        (_, Some(task)) => format!("task {task}"),
        (Some(state), None) => format!("state {state}"),
        (None, None) => {
            format!("{method} {}", params("name").or_else(|| params("uri")).unwrap_or_default())
        }
    }
}

impl Inner {
    fn hears_answers(&self, guard: &Guard) -> bool {
        guard.policy().hears_answers() && guard.reads_conversation()
    }

    /// Keeps what a server asks inside its answer to this request.
    pub(super) fn asked_by_answer(&self, request: &Request, frame: &Frame) {
        if !self.hears_answers(&self.guard()) {
            return;
        }
        let Some(result) = Answer::read(frame.body()).and_then(|answer| answer.result) else { return };
        for said in [Some(result.get()), task_outcome(result.get())].into_iter().flatten() {
            self.asked_of(request, said);
        }
    }

    /// The same of a notification that tells of a task.
    pub(super) fn asked_by_notice(&self, notification: &Request) {
        if !self.hears_answers(&self.guard()) {
            return;
        }
        if let Some(params) = notification.params() {
            self.asked_of(notification, params);
        }
    }

    /// `said`: what it was answered, or says itself.
    fn asked_of(&self, request: &Request, said: &str) {
        // Most answers ask nothing: they are not read whole for it.
        let mut asked = asked_in(said).peekable();
        if asked.peek().is_none() {
            return;
        }
        let read = Document::read(Bytes::copy_from_slice(said.as_bytes()), &Limits::default()).ok();
        let Some(read) = read.filter(|read| read.root().get("inputRequests").is_some()) else { return };
        // A handle of a task, or what is said of it, has the task's name itself.
        let own = |name: &str| read.root().get(name).and_then(Value::as_str).map(str::to_owned);
        let of = |name: &str| {
            let param = || text_param(request, name);
            if name == "taskId" { own(name).or_else(param) } else { param() }
        };
        let mark = mark(request.method(), read.root().get(STATE).and_then(Value::as_str), of);
        for asked in asked {
            let Ok(asked) = Document::read(Bytes::copy_from_slice(asked.as_bytes()), &Limits::default())
            else {
                continue;
            };
            for (key, request) in asked.root().members() {
                let params = request.get("params").filter(|_| is_elicitation(request));
                let Some(params) = params.and_then(own_document) else { continue };
                let question = Question { mark: mark.clone(), key: key.to_owned(), params };
                if !self.questions.ask(question) {
                    let text = format!(
                        "{OPEN_MAX} questions of the server's are open: what is answered to one more is not counted as the user's words"
                    );
                    self.log.say(Level::Warn, &text);
                    return;
                }
            }
        }
    }

    /// The answers that a request of the client's brings back to questions inside answers.
    pub(super) fn hear_responses(&self, method: &str, params: Option<Value<'_>>) {
        let guard = self.guard();
        if !self.hears_answers(&guard) {
            return;
        }
        let Some((params, responses)) = params.and_then(|params| Some((params, params.get(RESPONSES)?)))
        else {
            return;
        };
        let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
        let mark = mark(method, params.get(STATE).and_then(Value::as_str), text);
        let name = text("name").unwrap_or_else(|| ELICITATION.to_owned());
        for (key, response) in responses.members() {
            let asked = self.questions.take(&mark, key);
            self.hear_typed(&guard, &name, &asked, response);
        }
    }

    /// The client's answer to a question that the server asked by a request of its own.
    pub(super) fn hear_reply(&self, request: &Request, answer: &ClientFrame) {
        let guard = self.guard();
        if request.method() != ELICITATION || !self.hears_answers(&guard) {
            return;
        }
        let asked = request
            .params()
            .map(|params| Document::read(Bytes::copy_from_slice(params.as_bytes()), &Limits::default()));
        if let (Some(Ok(asked)), Some(result)) = (asked, answer.result()) {
            self.hear_typed(&guard, ELICITATION, &[asked], result);
        }
    }

    /// `asked`: all questions that this may be an answer to. It counts as far as it answers each of them.
    fn hear_typed(&self, guard: &Guard, name: &str, asked: &[Document], response: Value<'_>) {
        let is_yes = response.get("action").and_then(Value::as_str) == Some("accept");
        let content = response.get("content").filter(|content| is_yes && content.kind() == Kind::Object);
        let content =
            content.filter(|content| content.raw().len() <= ANSWER_BYTES_MAX).and_then(own_document);
        let (Some(content), Some(last)) = (content, asked.last()) else { return };
        let shown = without_credentials(guard, name, &content);
        let Some((shown, form)) = shown.zip(last.root().get("requestedSchema")) else { return };
        let text = typed(shown.root(), form, Some(last.root()), MARK);
        let question = asked.iter().map(|asked| all_of(asked.root().raw())).collect::<Vec<_>>().join("\n");
        if text.is_empty() || question.len() > QUESTION_BYTES_MAX {
            return;
        }
        let question = Bytes::from(serde_json::Value::from(question).to_string());
        self.hear_of_user(Origin::new(OutputKind::Answer, name).called_with(question), text);
    }
}

fn is_elicitation(request: Value<'_>) -> bool {
    request.get("method").and_then(Value::as_str) == Some(ELICITATION)
}

fn own_document(value: Value<'_>) -> Option<Document> {
    let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    Document::read(Bytes::copy_from_slice(value.raw().as_bytes()), &whole).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(mark: &str, key: &str, text: &str) -> Question {
        let params = Document::read(format!(r#"{{"message":"{text}"}}"#).into(), &Limits::default()).unwrap();
        Question { mark: mark.to_owned(), key: key.to_owned(), params }
    }

    #[test]
    fn an_answer_takes_every_question_that_it_may_be_about_and_no_other() {
        let open = Questions::default();
        for (mark, key, text) in [("s", "k", "a"), ("s", "k", "b"), ("s", "l", "c"), ("t", "k", "d")] {
            assert!(open.ask(question(mark, key, text)));
        }
        let asked =
            |mark, key| open.take(mark, key).iter().map(|it| it.root().raw().to_owned()).collect::<Vec<_>>();
        assert_eq!(asked("s", "k"), [r#"{"message":"a"}"#, r#"{"message":"b"}"#]);
        assert!(asked("s", "k").is_empty(), "answered once");
        assert_eq!((asked("t", "k").len(), asked("s", "l").len(), asked("", "").len()), (1, 1, 0));
    }

    #[test]
    fn as_many_questions_are_open_as_the_limit_and_none_is_forgotten_for_another() {
        let open = Questions::default();
        assert!((0..OPEN_MAX - 1).all(|n| open.ask(question("s", &n.to_string(), "a"))));
        assert!(open.ask(question("s", "last", "a")) && !open.ask(question("s", "last", "b")));
        assert_eq!(open.take("s", "last").len(), 1);
        assert!(open.ask(question("s", "last", "b")) && open.take("s", "0").len() == 1);
    }

    #[test]
    fn a_round_goes_on_by_its_task_its_state_or_its_request() {
        let of = |state, params: &'static [(&str, &str)]| {
            let param = |name: &str| {
                params.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            mark("tools/call", state, param)
        };
        assert_eq!(of(None, &[("name", "pay")]), "tools/call pay");
        assert_eq!(of(None, &[("uri", "file:///a")]), "tools/call file:///a");
        assert_eq!(of(Some("S"), &[("name", "pay")]), "state S");
        assert_eq!(of(Some("S"), &[("taskId", "7")]), "task 7");
    }
}
