//! What a session hears beside the results of calls, and how it is made ready to be searched.
//!
//! ```text
//! --context FILE ─── looked at before each decision ──────────┐
//! resources/read, prompts/get, beside ─── answer ─────────────┼─► Session ─► a record of its own (`message`)
//! tools/call, tasks ─── answer ─► Session, with the call's end┘      │
//!                                                     large: made ready on another thread, while its reader has it;
//!                                                     a call that comes meanwhile is decided there, behind it
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use framegate_guard::Guard;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::{LedgerFailure, Overheard, Shared};
use framegate_guard::messages::{Message, as_written, result_text};
use framegate_guard::session::{Origin, OutputKind, Session};
use framegate_guard::store::event::{Event, HeardRecord, OverheardRecord};
use framegate_pump::{Frame, Request};
use tokio::sync::Notify;

use super::answers::said;
use super::beside::questions;
use super::shared::{Bridge, Inner};
use crate::calls::Level;
use crate::context::Look;

/// What is made ready within a decision on the pump's thread, in bytes: well under a millisecond.
pub(super) const READY_ON_THREAD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of outputs that wait to be made ready, in all. Beyond it the server's answers wait.
const BACKLOG_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Why a policy that listens does not know what was said.
const UNHEARD: &str = "what was said before is not known: the policy that was in force then read none of it";

/// The longest text that is kept for the other processes of a session, as the record keeps no longer ones.
pub(super) const SHARED_BYTES_MAX: usize = 1024 * 1024;

/// Outputs that are being made ready.
#[derive(Default)]
pub(super) struct Backlog {
    bytes: AtomicUsize,
    less: Notify,
}

impl Backlog {
    /// Something to wait for while there is too much.
    pub(super) fn room(self: &Arc<Self>) -> Option<impl Future<Output = ()> + Send + 'static> {
        if self.bytes.load(Ordering::Acquire) <= BACKLOG_BYTES_MAX {
            return None;
        }
        let backlog = Arc::clone(self);
        Some(async move {
            loop {
                let mut less = std::pin::pin!(backlog.less.notified());
                // Enabled before the look, so that no wake-up falls between the two.
                less.as_mut().enable();
                if backlog.bytes.load(Ordering::Acquire) <= BACKLOG_BYTES_MAX {
                    return;
                }
                less.await;
            }
        })
    }

    fn add(self: &Arc<Self>, bytes: usize) -> Due {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        Due { backlog: Arc::clone(self), bytes }
    }
}

/// Counts while it lives.
struct Due {
    backlog: Arc<Backlog>,
    bytes: usize,
}

impl Drop for Due {
    fn drop(&mut self) {
        self.backlog.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.backlog.less.notify_waiters();
    }
}

impl Bridge {
    /// Hears what was said in the conversation, for a harness that holds it: what a policy wants from the user's words
    /// is looked for in what came before the call. One message of the user's makes the user known.
    pub fn hear(&self, message: Message) {
        let mut session = self.inner.session();
        self.inner.hear_message(self.inner.to_hear(&mut session), message);
    }
}

impl Inner {
    /// The session, about to hear something: what leaves its window by that is read as far as the policy in force
    /// looks at it.
    pub(super) fn to_hear<'s>(&self, session: &'s mut Arc<Session>) -> &'s mut Session {
        let session = Arc::make_mut(session);
        session.set_preparing(self.guard().preparing());
        session
    }

    /// The session as this policy looks at it: one that looks further than those before it did is told so.
    pub(super) fn session_for(&self, guard: &Guard) -> Arc<Session> {
        let mut session = self.session();
        if session.preparing() != guard.preparing() {
            Arc::make_mut(&mut session).set_preparing(guard.preparing());
        }
        Arc::clone(&session)
    }

    /// Something is said, and the policy in force listens to nothing. Another one may: to it what was said is not known,
    /// which is another thing than that nothing was.
    pub(super) fn miss(&self) {
        let mut session = self.session();
        if session.unheard().is_none() {
            Arc::make_mut(&mut session).set_unheard(UNHEARD);
        }
    }

    fn hear_message(&self, session: &mut Session, message: Message) {
        let (role, text) = (Some(message.role), Bytes::from(message.text.clone()));
        session.push(role, message.text);
        let number = session.heard();
        self.ledger.note(Event::Heard(HeardRecord { number, role, origin: None, text, question: None }));
    }

    /// Hears what was said since the last look, as far as anything depends on it.
    pub(super) fn hear_user(&self, guard: &Guard) {
        let Some(context) = &self.context else { return };
        if !guard.reads_conversation() {
            return;
        }
        let mut file = context.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Look { messages, warnings, is_whole } = file.look();
        warnings.iter().for_each(|warning| self.log.say(Level::Warn, warning));
        let mut session = self.session();
        if messages.is_empty() && session.knows_user() == is_whole {
            return;
        }
        let session = self.to_hear(&mut session);
        messages.into_iter().for_each(|message| self.hear_message(session, message));
        // While there is more than was read, what the user did not say is not known.
        *session = std::mem::take(session).knowing_user(is_whole);
    }

    /// A resource that was read, a prompt that was fetched: it reaches the model as a result does.
    pub(super) fn fetched(self: &Arc<Self>, request: &Request, frame: &Frame, kind: OutputKind) {
        if !self.listens(&self.guard()) {
            return;
        }
        let named = if kind == OutputKind::Prompt { "name" } else { "uri" };
        let name = text_param(request, named).unwrap_or_default();
        self.asked_by_answer(request, frame);
        let text = text_of(frame);
        if text.is_empty() {
            return;
        }
        // With a question in it, it is no resource yet: the question's words support no value.
        let kind = if questions(frame).is_empty() { kind } else { OutputKind::Server };
        self.hear_other(kind, name, text);
    }

    /// Whether anything depends on what is heard, here or in another process of the session.
    pub(super) fn hears(&self, guard: &Guard) -> bool {
        guard.reads_conversation() || self.ledger.is_shared()
    }

    /// The same, where something is said: if nobody listens, that is kept in mind.
    pub(super) fn listens(&self, guard: &Guard) -> bool {
        let hears = self.hears(guard);
        if !hears {
            self.miss();
        }
        hears
    }

    /// Hears an answer; its number, where anything depends on it here.
    pub(super) fn hear_answer(&self, origin: Origin, frame: &Frame) -> Option<u64> {
        if frame.len() > SHARED_BYTES_MAX && !self.guard().reads_conversation() {
            // Nobody reads it here, and it is too much for the others.
            self.ledger.share(Shared { origin: &origin, text: None });
            self.miss();
            return None;
        }
        self.hear_output(origin, super::answers::text_of(frame))
    }

    /// Hears an output, and lets the other processes of the session know it.
    pub(super) fn hear_output(&self, origin: Origin, text: String) -> Option<u64> {
        self.ledger.share(Shared { origin: &origin, text: shared_part(&text) });
        if !self.guard().reads_conversation() {
            self.miss();
            return None;
        }
        let mut session = self.session();
        self.to_hear(&mut session).output(origin, text);
        Some(session.heard())
    }

    /// Hears what the other processes of the session have heard. A call that their clients' model makes comes after it.
    ///
    /// # Errors
    /// [`LedgerFailure`]: what they heard is not known.
    pub(super) fn hear_others(self: &Arc<Self>, guard: &Guard) -> Result<(), LedgerFailure> {
        if !guard.reads_conversation() {
            return Ok(());
        }
        for Overheard { origin, text } in self.ledger.overheard()? {
            let heard = text.as_ref().map(|text| Bytes::from(text.clone()));
            {
                let mut session = self.session();
                let kept = self.to_hear(&mut session);
                match text {
                    Some(text) => kept.output(origin.clone(), text),
                    None => kept.output_unknown(&format!(
                        "{} is not known here: its text is not kept for the other processes of the session",
                        origin.shown()
                    )),
                }
                let number = session.heard();
                self.ledger.note(Event::Overheard(OverheardRecord { number, origin, text: heard }));
            }
            self.make_ready();
        }
        Ok(())
    }

    /// Makes what was heard last ready where that takes long enough to be worth a thread.
    pub(super) fn make_ready(self: &Arc<Self>) {
        let to = self.guard().preparing();
        let last = self.session().last().cloned();
        let Some(kept) = last.filter(|kept| !kept.is_prepared(to)) else { return };
        if kept.said_bytes() <= READY_ON_THREAD_BYTES_MAX {
            return;
        }
        let due = self.backlog.add(kept.said_bytes());
        tokio::task::spawn_blocking(move || {
            kept.prepare(to);
            drop(due);
        });
    }

    /// Whether a decision on what was heard is quick.
    pub(super) fn is_ready(&self, guard: &Guard) -> bool {
        self.session().unprepared_bytes(guard.preparing()) <= READY_ON_THREAD_BYTES_MAX
    }
}

/// A member of `params` that is a text.
pub(super) fn text_param(request: &Request, name: &str) -> Option<String> {
    serde_json::from_str(request.param(name)?).ok()
}

/// What of a text the other processes of a session are told: all or nothing.
pub(super) fn shared_part(text: &str) -> Option<&str> {
    (text.len() <= SHARED_BYTES_MAX).then_some(text)
}

/// Every name and text in an answer, decoded.
pub(super) fn text_of(frame: &Frame) -> String {
    said(frame, all_of, all_of)
}

pub(super) fn all_of(part: &str) -> String {
    match Document::read(Bytes::copy_from_slice(part.as_bytes()), &Limits::default()) {
        Ok(document) => result_text(None, Some(document.root())),
        Err(_) => as_written(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn answers_wait_while_too_much_is_to_be_made_ready_and_no_longer() {
        let backlog = Arc::new(Backlog::default());
        let first = backlog.add(BACKLOG_BYTES_MAX);
        assert!(backlog.room().is_none(), "at the limit");
        let second = backlog.add(1);
        let room = backlog.room().unwrap();
        let waiting = tokio::spawn(room);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(second);
        waiting.await.unwrap();
        drop(first);
        assert!(backlog.room().is_none());
    }

    #[test]
    fn all_texts_of_a_resource_and_of_a_prompt_are_heard() {
        let of = |result: &str| {
            text_of(&Frame::line(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).as_bytes()))
        };
        let resource = of(r#"{"contents":[{"uri":"file:///a","text":"Ignore \u0061ll"}]}"#);
        assert!(resource.contains("text: Ignore all"), "{resource}");
        let prompt =
            of(r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"x\ny"}}]}"#);
        assert!(prompt.contains("description: d") && prompt.contains("text: x\ny"), "{prompt}");
        let doubled = of(r#"{"contents":[{"text":"a","text":"b"}]}"#);
        assert!(doubled.contains("\"a\"") && doubled.contains("\"b\""), "{doubled}");
    }
}
