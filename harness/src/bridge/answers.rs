//! Answers of the server's: settled in the ledger, read where something depends on them, and passed on.

use std::sync::Arc;

use bytes::Bytes;
use framegate_guard::cel::Budget;
use framegate_guard::json::{Document, Limits, Value};
use framegate_guard::ledger::Settled;
use framegate_guard::look::fold;
use framegate_guard::messages::{self, as_written, heard_error, heard_text, structured, tool_result};
use framegate_guard::session::{Origin, OutputKind};
use framegate_guard::store::event::{Event, FrameRecord, FrameSent, How, Peer};
use framegate_guard::{Guard, MethodCall};
use framegate_pump::{Edits, Frame, Hold, HoldKind, Request, RpcError, Verdict};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::annotate::annotate;
use super::answered::Answered;
use super::beside::is_beside;
use super::calls::{ON_THREAD_BYTES_MAX, REFUSED};
use super::elicitations;
use super::hearing::text_param;
use super::listing;
use super::shared::{Bridge, Inner, Sent};
use crate::calls::{Level, outcome};

/// The largest answer whose `structuredContent` is held against the tool's `outputSchema`.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// A task's handle is small.
const HANDLE_BYTES_MAX: usize = 64 * 1024;
/// Tasks that are remembered until their result is in.
pub(super) const TASKS_MAX: usize = 4096;

/// The handle that stands for a result: nested in 2025-11-25, flat in the extension of 2026-07-28; and a task
/// with its outcome inside.
#[derive(Deserialize)]
struct TaskHandle<'a> {
    #[serde(borrow)]
    task: Option<&'a RawValue>,
    #[serde(rename = "taskId")]
    id: Option<String>,
    #[serde(rename = "resultType")]
    kind: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    status: Option<String>,
}

#[derive(Deserialize)]
struct TaskId {
    #[serde(rename = "taskId")]
    id: Option<String>,
}

impl Bridge {
    /// The server's answer to a request of the client's.
    pub(super) fn server_answer(&self, request: &Request, frame: &Frame) -> Verdict {
        self.once_shared(self.answered(request, frame))
    }

    /// Before the client has it, the other processes of the session can know it.
    fn once_shared(&self, verdict: Verdict) -> Verdict {
        match self.inner.ledger.sharing() {
            None => verdict,
            Some(sharing) => Hold::verdict(HoldKind::Machine, async move {
                sharing.await;
                verdict
            }),
        }
    }

    fn answered(&self, request: &Request, frame: &Frame) -> Verdict {
        // What waits waits to be made ready: what is not read yet cannot be held against a call.
        if let Some(room) = self.inner.backlog.room() {
            let bridge = Bridge { inner: Arc::clone(&self.inner) };
            let (request, frame) = (request.clone(), frame.clone());
            return Hold::verdict(HoldKind::Machine, async move {
                room.await;
                bridge.server_answer(&request, &frame)
            });
        }
        // What waits for the record is bounded: beyond it the answers of calls wait too, and nothing else.
        if request.method() == "tools/call"
            && let Some(room) = self.inner.ledger.room()
        {
            let bridge = Bridge { inner: Arc::clone(&self.inner) };
            let (request, frame) = (request.clone(), frame.clone());
            return Hold::verdict(HoldKind::Machine, async move {
                room.await;
                bridge.server_answer(&request, &frame)
            });
        }
        match request.method() {
            "tools/call" if self.inner.reads_much(request, frame) => {
                let [bridge, reader] = [(); 2].map(|()| Bridge { inner: Arc::clone(&self.inner) });
                let (request, frame) = (request.clone(), frame.clone());
                // The next call may depend on it, and the client sends that when it has read this one.
                return Hold::verdict(HoldKind::Machine, async move {
                    let read = tokio::task::spawn_blocking(move || reader.call_answer(&request, &frame));
                    bridge.once_shared(read.await.unwrap_or(Verdict::Forward))
                });
            }
            "tools/call" => return self.call_answer(request, frame),
            "initialize" => {
                self.inner.note_capabilities(frame);
                self.inner.note_client(request, frame);
                self.inner.said_beside(request, frame);
            }
            "server/discover" => {
                self.inner.note_capabilities(frame);
                self.inner.said_beside(request, frame);
            }
            "tools/list" => {
                self.inner.client_listing(frame);
                return self.with_rules(frame);
            }
            "tasks/result" | "tasks/get" | "tasks/cancel" => self.inner.task_answered(request, frame),
            "resources/read" => self.inner.fetched(request, frame, OutputKind::Resource),
            "prompts/get" => self.inner.fetched(request, frame, OutputKind::Prompt),
            method if is_beside(method) => self.inner.said_beside(request, frame),
            _ => {}
        }
        self.asks_for_input(request, frame)
    }

    fn call_answer(&self, request: &Request, frame: &Frame) -> Verdict {
        let verdict = self.asks_for_input(request, frame);
        let annotates = self.inner.annotates && matches!(verdict, Verdict::Forward);
        let edits = self.inner.call_answered(request, frame, annotates);
        // One that is refused reaches nobody.
        if matches!(verdict, Verdict::Forward) {
            self.inner.asked_inside(request, frame);
        }
        edits.map_or(verdict, Verdict::Replace)
    }

    /// Whether [`Bridge::server_answer`] looks inside this answer. What it finds at the ends of one is
    /// the same where its inside is broken.
    pub(super) fn reads_server_answer(&self, request: &Request, frame: &Frame) -> bool {
        let guard = self.guard();
        let reads = match request.method() {
            "tools/call" => {
                let of = |sent: &Sent| (guard.has_output_schema(&sent.tool), sent.waits_for_its_answer());
                let (has_schema, reads_it) =
                    self.inner.open().get(&request.head().ticket).map(of).unwrap_or_default();
                frame.len() <= HANDLE_BYTES_MAX
                    || reads_it
                    || self.inner.annotates
                    || guard.policy().reads_answers()
                    || self.inner.hears(&guard)
                    || (has_schema && frame.len() <= OUTPUT_BYTES_MAX)
            }
            "initialize" | "server/discover" | "tools/list" => true,
            "tasks/result" | "tasks/get" | "tasks/cancel" => true,
            "resources/read" | "prompts/get" => self.inner.hears(&guard),
            method => is_beside(method) && self.inner.hears(&guard),
        };
        // What is no JSON goes elsewhere then, so it has to be told from what is.
        let diverts_noise = self.inner.noise.is_some();
        reads || diverts_noise || !guard.policy().server_requests().all_pass()
    }

    /// What the server asks of the client inside an answer (`inputRequests`, 2026-07-28; `elicitations` in an
    /// error, 2025-11-25) is what it asked by requests of its own before: `server_requests:` rules on it. One
    /// that is refused refuses the answer.
    fn asks_for_input(&self, request: &Request, frame: &Frame) -> Verdict {
        // Asked first: reading a large answer for nothing costs more than carrying it.
        if self.guard().policy().server_requests().all_pass() {
            return Verdict::Forward;
        }
        let Some(answer) = Answer::read(frame.body()) else { return Verdict::Forward };
        let by_error = answer.error.map_or_else(|| Ok(Vec::new()), elicitations::in_error);
        let by_result = answer.result.map_or_else(|| Ok(Vec::new()), input_requests);
        match by_error.and_then(|elicited| Ok((elicited, by_result?))) {
            Ok((elicited, asked)) => {
                // One for all of them: how many there are is the server's to choose.
                let mut budget = Budget::default();
                let by_result = asked.iter().map(|asked| {
                    let method = asked.root().get("method").and_then(Value::as_str).unwrap_or_default();
                    (method, asked.root().get("params"))
                });
                let by_error = elicited.iter().map(|one| ("elicitation/create", Some(one.root())));
                let refused = by_error.chain(by_result).find_map(|(method, params)| {
                    self.ruled(&MethodCall { method, params, is_servers: true }, &mut budget)
                });
                refused.map_or(Verdict::Forward, |error| self.refuse_method(request, error))
            }
            Err(why) => {
                let text = format!("what the server asks for cannot be read for certain: {why}");
                self.refuse_method(request, RpcError::new(REFUSED, text))
            }
        }
    }
}

#[derive(Deserialize)]
struct Opened {
    #[serde(default)]
    capabilities: serde_json::Map<String, serde_json::Value>,
}

impl Bridge {
    /// `show_rules`: a model that knows the rules breaks fewer. Which rules are a tool's depends on its schema, so
    /// the client's first listing waits for ours, or it would differ from the next one.
    fn with_rules(&self, frame: &Frame) -> Verdict {
        let guard = self.guard();
        let depends = guard.shows_rules() || (guard.policy().hides_by_definition() && !guard.is_monitoring());
        if !depends {
            return Verdict::Forward;
        }
        if guard.is_listed() {
            return self.inner.listing_with_rules(frame);
        }
        let (inner, frame) = (Arc::clone(&self.inner), frame.clone());
        Hold::verdict(HoldKind::Machine, async move {
            // Without a listing of ours the descriptions stay as they are.
            let _ = inner.wait_listed(inner.listed.subscribe()).await;
            inner.listing_with_rules(&frame)
        })
    }
}

impl Inner {
    /// Whether the state depends on all that a large answer says: reading it would hold up the pump.
    fn reads_much(&self, request: &Request, frame: &Frame) -> bool {
        frame.len() > ON_THREAD_BYTES_MAX
            && self.open().get(&request.head().ticket).is_some_and(Sent::waits_for_its_answer)
    }

    /// What the server offers besides tools.
    fn note_capabilities(&self, frame: &Frame) {
        let result = Answer::read(frame.body()).and_then(|answer| answer.result);
        let opened = result.and_then(|result| serde_json::from_str::<Opened>(result.get()).ok());
        if opened.is_some_and(|opened| opened.capabilities.contains_key("resources")) {
            self.set_guard(Guard::clone(&self.guard()).with_resources(true));
        }
    }

    /// The listing with the rules in its descriptions.
    fn listing_with_rules(&self, frame: &Frame) -> Verdict {
        let guard = self.guard();
        let result = guard.is_listed().then(|| Answer::read(frame.body()).and_then(|answer| answer.result));
        let Some(result) = result.flatten() else { return Verdict::Forward };
        // A listing that cannot be read for certain goes on as it is, or is kept back by the pump.
        let Ok(read) = Document::read(Bytes::copy_from_slice(result.get().as_bytes()), &Limits::default())
        else {
            return Verdict::Forward;
        };
        let start = result.get().as_ptr().addr() - frame.body().as_ptr().addr();
        let mut edits = Edits::new();
        if let Some(tools) = read.root().get("tools") {
            for edit in guard.show_rules(tools) {
                edits.push(start + edit.range.start..start + edit.range.end, edit.bytes);
            }
        }
        if edits.is_empty() { Verdict::Forward } else { Verdict::Replace(edits) }
    }

    /// The edits by which the answer says where its call is recorded, if it is to.
    fn call_answered(self: &Arc<Self>, request: &Request, frame: &Frame, annotates: bool) -> Option<Edits> {
        let outcome = outcome(frame.body());
        let edits = |sent: &Sent| annotate(frame, sent.receipt.as_ref().filter(|_| annotates)?);
        if let Some(task) = task_id(frame, &outcome) {
            // A handle, not the outcome; but what stands beside it is shown like any result.
            let sent = self.open().remove(&request.head().ticket)?;
            let edits = edits(&sent);
            let reads = self.listens(&self.guard());
            let heard =
                reads.then(|| self.heard(self.origin(&sent, ended(&outcome).1), text_of(frame))).flatten();
            self.note_end(&sent, How::Task, Some((frame, edits.as_ref())), heard, None);
            self.said_of_task(&sent.tool, frame);
            let mut tasks = self.tasks();
            if tasks.len() < TASKS_MAX {
                tasks.insert(task, sent);
            }
            return edits;
        }
        let (settled, how) = ended(&outcome);
        let answer = Answered::new(frame, settled == Settled::Failed);
        let (sent, state) = self.settle(request.head().ticket, settled, Some(answer))?;
        let approval = sent.receipt.as_ref().and_then(|receipt| receipt.decision.approval.clone());
        // Its ends alone do not always tell that an answer asks for input (Python puts two long members before
        // `resultType`), so that of an approved or completed call is read.
        let is_read = how == How::Asks || frame.len() <= OUTPUT_BYTES_MAX;
        let has_more = is_read && (approval.is_some() || sent.fill.is_some());
        let asks = has_more && self.goes_on(request, frame, approval, sent.fill.clone());
        let how = if asks { How::Asks } else { how };
        let edits = edits(&sent);
        let heard = self.output(&sent, how, frame);
        self.note_end(&sent, how, Some((frame, edits.as_ref())), heard, state);
        edits
    }

    /// `tasks/result` gives what the call would have given; `tasks/get` has it inside once it is there. Whatever else
    /// is said of a task is heard too: one of another session's, a second outcome, how it is going.
    fn task_answered(self: &Arc<Self>, request: &Request, frame: &Frame) {
        self.asked_by_answer(request, frame);
        if !self.task_ended(request, frame) {
            self.said_beside(request, frame);
        }
    }

    /// Whether this is the outcome of a call that waits for it.
    fn task_ended(self: &Arc<Self>, request: &Request, frame: &Frame) -> bool {
        let Some(task) = text_param(request, "taskId") else { return false };
        let Some(sent) = self.tasks().get(&task).cloned() else { return false };
        let inside = Answer::read(frame.body()).and_then(|answer| answer.result);
        let handle = inside.and_then(|result| serde_json::from_str::<TaskHandle<'_>>(result.get()).ok());
        let Some((settled, how)) = task_end(request.method(), handle.as_ref(), frame) else { return false };
        // Polled again and again: the output counts once.
        self.tasks().remove(&task);
        let answer = (settled != Settled::Lost).then(|| Answered::new(frame, settled == Settled::Failed));
        let state = self.settle_step(sent.sequence, settled, answer);
        let heard = self.output(&sent, how, frame);
        self.note_end(&sent, how, Some((frame, None)), heard, state);
        self.told_outcome(frame);
        self.said_of_task(&sent.tool, frame);
        true
    }

    /// A line that only some readers take for an answer: what it says counts as said.
    pub(super) fn heard_unread(self: &Arc<Self>, frame: &Frame) {
        if frame.body().trim_ascii_start().starts_with(b"{") && self.listens(&self.guard()) {
            let text = as_written(&String::from_utf8_lossy(frame.body()));
            let Some(heard) = self.heard(Origin::new(OutputKind::Unread, "?"), text.clone()) else { return };
            self.ledger.note(Event::Frame(FrameRecord {
                frame: Some(frame.bytes().clone()),
                heard: Some((heard, text)),
                ..FrameRecord::new(Peer::Server, "unread", FrameSent::Verbatim)
            }));
        }
    }

    /// The running number under which it was heard, if there was anything to hear.
    fn heard(self: &Arc<Self>, origin: Origin, text: String) -> Option<u64> {
        if text.is_empty() {
            return None;
        }
        let heard = self.hear_output(origin, text)?;
        self.make_ready();
        Some(heard)
    }

    /// Where the output of a call comes from: the same is put together from its record.
    fn origin(&self, sent: &Sent, how: How) -> Origin {
        let kind = if is_failed(how) { OutputKind::Error } else { OutputKind::Result };
        let arguments = sent.receipt.as_ref().map(|receipt| receipt.decision.arguments.clone());
        let origin = Origin::new(kind, &sent.tool).read_only(self.guard().is_read_only(&sent.tool));
        Origin { arguments, ..origin }
    }

    /// Reads a result where something depends on it: rules over the conversation, a schema of the results.
    fn output(self: &Arc<Self>, sent: &Sent, how: How, frame: &Frame) -> Option<u64> {
        let guard = self.guard();
        let has_schema = guard.has_output_schema(&sent.tool) && frame.len() <= OUTPUT_BYTES_MAX;
        let hears = self.listens(&guard).then(|| self.hear_answer(self.origin(sent, how), frame));
        let heard = hears.flatten();
        if heard.is_some() {
            self.make_ready();
        }
        if has_schema {
            let (inner, tool, body) =
                (Arc::clone(self), sent.tool.clone(), Bytes::copy_from_slice(frame.body()));
            tokio::task::spawn_blocking(move || inner.check_output(&tool, &body));
        }
        heard
    }

    fn check_output(&self, tool: &str, body: &Bytes) {
        let Some(structured) = structured_of(body).filter(|_| !says_error(body)) else { return };
        let wrong = self.guard().check_output(tool, Bytes::copy_from_slice(structured.as_bytes()));
        if let Some(first) = wrong.first() {
            let (count, message) = (wrong.len(), &first.message);
            self.log.say(
                Level::Warn,
                &format!("a result of `{tool}` does not fit its outputSchema in {count} places (passed on): {message}"),
            );
        }
    }

    /// A listing that the client asked for: a tool that is another than the guard knows makes it look again.
    fn client_listing(self: &Arc<Self>, frame: &Frame) {
        let mut tools = Vec::new();
        if listing::page(frame.body(), &mut tools).is_err() {
            return;
        }
        let guard = self.guard();
        let mut is_news = false;
        {
            let mut shown = self.shown();
            for listing::Listed { name, definition } in tools {
                if definition.as_ref().is_ok_and(|definition| guard.knows(&name, definition)) {
                    // The client knows the right one again.
                    is_news |= shown.remove(&name).is_some();
                } else if shown.len() < listing::TOOLS_MAX || shown.contains_key(&name) {
                    is_news |= definition.is_ok() || guard.doubt_of(&name).is_none();
                    shown.insert(name, definition.ok());
                }
            }
        }
        // Two listings under way at once may differ: before ours is in, there is nothing to compare with.
        if is_news && guard.is_listed() {
            self.doubt_changed();
            self.list();
        }
    }

    /// What the client was shown counts, also if a listing of ours says otherwise, however often.
    pub(super) fn doubt_changed(&self) {
        let guard = self.guard();
        let mut shown = self.shown();
        shown.retain(|name, definition| !definition.as_ref().is_some_and(|it| guard.knows(name, it)));
        let (doubting, warnings) =
            guard.doubt(shown.iter().map(|(name, definition)| (name.as_str(), definition.as_ref())));
        drop(shown);
        if !warnings.is_empty() {
            self.set_guard(doubting);
        }
        warnings.iter().for_each(|warning| self.log.say_lines(Level::Warn, warning));
    }
}

/// The requests inside a result, under whatever some reader takes for `inputRequests`.
fn input_requests(result: &RawValue) -> Result<Vec<Document>, String> {
    let mut found = Vec::new();
    for asked in members_asked(result.get())? {
        let Members(asked) = serde_json::from_str(asked.get()).map_err(|why| why.to_string())?;
        for (_, request) in asked {
            let text = Bytes::copy_from_slice(request.get().as_bytes());
            found.push(Document::read(text, &Limits::default()).map_err(|why| why.to_string())?);
        }
    }
    Ok(found)
}

/// The same as they are written. What cannot be read has none: it is heard as a whole.
pub(super) fn asked_in(result: &str) -> impl Iterator<Item = &str> {
    members_asked(result).unwrap_or_default().into_iter().map(RawValue::get)
}

fn members_asked(result: &str) -> Result<Vec<&RawValue>, String> {
    if !result.starts_with('{') {
        return Ok(Vec::new());
    }
    let Members(members) = serde_json::from_str(result).map_err(|why| why.to_string())?;
    let asked =
        members.into_iter().filter(|(key, value)| fold(key) == "inputrequests" && value.get() != "null");
    Ok(asked.map(|(_, value)| value).collect())
}

/// The members of an object, doubles included.
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(all)
            }
        }
        reader.deserialize_map(All).map(Members)
    }
}

/// How a call ended, by what its answer says at its ends: a large result is not read through for it.
fn ended(outcome: &str) -> (Settled, How) {
    match outcome {
        "tool error" => (Settled::Failed, How::ToolError),
        // It was not made: it comes again, with what was asked for.
        "asks for input" => (Settled::Failed, How::Asks),
        _ if outcome.starts_with("error") => (Settled::Failed, How::Error),
        _ => (Settled::Done, How::Done),
    }
}

/// How a task ended, if this says so. What is said of its call stands inside what is said of the task.
fn task_end(method: &str, handle: Option<&TaskHandle<'_>>, frame: &Frame) -> Option<(Settled, How)> {
    let inside = handle.filter(|_| method != "tasks/result");
    let (result, error) = inside.map_or((None, None), |handle| (handle.result, handle.error));
    let is_error = || says_error(frame.body());
    match (method, result, error) {
        (_, _, Some(_)) => Some((Settled::Failed, How::Error)),
        (_, Some(_), _) if is_error() => Some((Settled::Failed, How::ToolError)),
        (_, Some(_), _) | ("tasks/result", ..) => Some(ended(&outcome(frame.body()))),
        // Nobody knows how far it came, and nobody waits for it any more.
        _ => (inside?.status.as_deref() == Some("cancelled")).then_some((Settled::Lost, How::Cancelled)),
    }
}

/// Whether an answer says that its call failed.
fn is_failed(how: How) -> bool {
    matches!(how, How::Error | How::ToolError)
}

fn task_id(frame: &Frame, outcome: &str) -> Option<String> {
    if outcome != "task" && frame.len() > HANDLE_BYTES_MAX {
        return None;
    }
    let answer = Answer::read(frame.body())?;
    let handle: TaskHandle<'_> = serde_json::from_str(answer.result?.get()).ok()?;
    let nested =
        handle.task.and_then(|task| serde_json::from_str::<TaskId>(task.get()).ok()).and_then(|task| task.id);
    nested.or(handle.id.filter(|_| handle.kind.as_deref() == Some("task")))
}

#[derive(Deserialize)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

impl<'a> Answer<'a> {
    pub(super) fn read(body: &'a [u8]) -> Option<Answer<'a>> {
        serde_json::from_slice(body).ok()
    }
}

/// A tool's result as it is written, also inside a task that has ended; nothing for an error.
pub(super) fn whole_result(body: &[u8]) -> Option<&str> {
    Some(tool_result(Answer::read(body)?.result?.get()))
}

/// The `structuredContent` of a result, as it is written.
pub(super) fn structured_of(body: &[u8]) -> Option<&str> {
    structured(Answer::read(body)?.result?.get())
}

/// Whether a result says that its call failed, wherever in it that stands.
pub(super) fn says_error(body: &[u8]) -> bool {
    Answer::read(body)
        .and_then(|answer| answer.result)
        .is_some_and(|result| messages::says_error(result.get()))
}

/// All that an answer says, as the session keeps it.
pub(super) fn text_of(frame: &Frame) -> String {
    said(frame, heard_error, heard_text)
}

/// What an answer says, by how its error and its result are read; one that cannot be read as it is written.
pub(super) fn said(frame: &Frame, error: fn(&str) -> String, result: fn(&str) -> String) -> String {
    let Some(answer) = Answer::read(frame.body()) else {
        return as_written(&String::from_utf8_lossy(frame.body()));
    };
    match (answer.error, answer.result) {
        (Some(read), _) => error(read.get()),
        (None, Some(read)) => result(read.get()),
        (None, None) => String::new(),
    }
}
