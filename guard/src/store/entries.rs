//! Events as records: what their bodies say, and what lies beside.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::chain::Hash;
use super::content;
use super::entry::Entry;
use super::event::{
    ApprovalRecord, CallRecord, CloseRecord, EndRecord, FrameRecord, FrameSent, HeardRecord, How,
    MethodRecord, OverheardRecord, Peer, Sent, StateRecord,
};
use super::keep::Keep;
use crate::decision::{Decision, Outcome};
use crate::finding::{Effect, Finding};
use crate::messages::Role;
use crate::schema::Edit;

/// Code points of a foreign string in a body.
pub const CLIPPED_CHARS: usize = 200;
/// Names of arguments in a body: a schema may require any number.
const NAMES_MAX: usize = 64;
/// Bytes of a result that are kept; of a larger one there is its hash.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of an odd frame that are kept.
pub const FRAME_BYTES_MAX: usize = 4 * 1024;

/// Plain SHA-256.
#[must_use]
pub fn hash(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

/// Numbers of the records that another one names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) session: u64,
    pub(super) context: u64,
    pub(super) definition: Option<u64>,
}

impl Entry {
    /// A foreign string: clipped, and then with its hash beside it.
    #[must_use]
    pub fn foreign(self, key: &str, value: &str) -> Entry {
        // A character is a byte or more.
        let end = if value.len() <= CLIPPED_CHARS { None } else { value.char_indices().nth(CLIPPED_CHARS) };
        match end {
            None => self.text(key, value),
            Some((end, _)) => {
                let head = value.get(..end).unwrap_or_default();
                self.text(key, &format!("{head}…")).hash(&format!("{key}_sha256"), &hash(value.as_bytes()))
            }
        }
    }

    fn some(self, key: &str, value: &str) -> Entry {
        if value.is_empty() { self } else { self.foreign(key, value) }
    }

    fn clipped_list<'a>(self, key: &str, values: impl Iterator<Item = &'a str>) -> Entry {
        let clipped = |value: &str| value.chars().take(CLIPPED_CHARS).collect::<String>();
        let values: Vec<String> = values.map(clipped).collect();
        if values.is_empty() { self } else { self.texts(key, values.iter().map(String::as_str)) }
    }
}

/// `call`.
pub(super) fn call(call: &CallRecord, names: Names, again: Option<u64>, keep: Keep) -> Entry {
    let decision = &*call.decision;
    let entry = Entry::new("call").number("session", names.session).number("context", names.context);
    let entry = entry.foreign("tool", &decision.tool);
    let entry = match &decision.call_id {
        Some(id) => entry.foreign("call_id", id),
        None => entry,
    };
    let entry = listed(entry, call, names.definition).number("bytes", size(&call.frame));
    let entry = judged(entry, decision).text("sent", sent(&call.sent));
    let entry = entry.clipped_list("missing", decision.missing.iter().take(NAMES_MAX).map(String::as_str));
    let filled = call.filled.iter().flat_map(|filled| &filled.names).take(NAMES_MAX);
    let entry = entry.clipped_list("filled", filled.map(String::as_str));
    let entry = match &call.arguments {
        Some(_) => entry.number("start", number(call.start)),
        None => entry,
    };
    let entry = if call.heard > 0 { entry.number("heard", call.heard) } else { entry };
    let entry = match &call.unheard {
        Some(why) => entry.text("unheard", why),
        None => entry,
    };
    let entry = entry.flag("made", decision.was_made);
    let entry = match again {
        Some(again) => entry.number("again", again),
        None => entry,
    };
    let entry = entry.flag("waived", call.is_waived).number("decided_us", call.decided_us);
    beside(entry, call, keep)
}

fn listed(entry: Entry, call: &CallRecord, definition: Option<u64>) -> Entry {
    let (guard, tool) = (&call.guard, call.decision.tool.as_str());
    if !guard.is_listed() {
        return entry.text("listed", "unknown");
    }
    if !guard.lists(tool) {
        return entry.text("listed", "missing");
    }
    let entry = entry.text("listed", "tool");
    let entry = match definition {
        Some(definition) => entry.number("definition", definition),
        None => entry,
    };
    match guard.doubt_of(tool) {
        Some(doubt) => entry.foreign("doubt", doubt),
        None => entry,
    }
}

fn judged(entry: Entry, decision: &Decision) -> Entry {
    let entry = entry.text("outcome", &decision.outcome.to_string());
    let entry = if decision.would == decision.outcome {
        entry
    } else {
        entry.text("would", &decision.would.to_string())
    };
    // Where nothing failed, and the call is held all the same: since these could not be evaluated.
    let has_failed = decision.findings.iter().any(|finding| finding.effect > Effect::Unevaluated);
    let is_unevaluated = !has_failed && decision.would != Outcome::Allow;
    let names = |is_trial: bool| {
        let counts = move |finding: &&Finding| {
            finding.monitor == is_trial && (is_unevaluated || finding.effect > Effect::Unevaluated)
        };
        let mut names: Vec<&str> = Vec::new();
        for finding in decision.findings.iter().filter(counts) {
            if !names.contains(&finding.check.as_str()) {
                names.push(&finding.check);
            }
        }
        names
    };
    let entry = entry.clipped_list("failed", names(false).into_iter());
    entry.clipped_list("observed", names(true).into_iter())
}

fn sent(sent: &Sent) -> &'static str {
    match sent {
        Sent::Edited => "edited",
        Sent::No => "no",
        Sent::Verbatim => "verbatim",
    }
}

/// What lies beside a call.
fn beside(entry: Entry, call: &CallRecord, keep: Keep) -> Entry {
    let decision = &*call.decision;
    let entry = keep.add_some(entry, "arguments", call.arguments.clone());
    let mut entry = keep.hash_of(entry, "frame", &call.frame);
    if call.sent == Sent::Edited {
        entry = keep.hash_of(entry, "out", &edited(call));
        if !decision.edits.is_empty() {
            entry = keep.add(entry, "edited", decision.arguments.clone());
        }
    }
    if call.guard.is_listed() && !call.guard.lists(&decision.tool) {
        let names: serde_json::Value = call.guard.tools().collect();
        entry = keep.add(entry, "names", names.to_string().into());
    }
    let findings = (!decision.findings.is_empty()).then(|| content::findings(&decision.findings));
    let about = [
        ("findings", findings),
        ("answers", content::answers(&decision.answers)),
        ("changes", content::changes(decision)),
        ("approval", decision.approval.as_ref().map(content::approval)),
        ("state", decision.state.as_deref().map(crate::state::noted)),
    ];
    for (field, value) in about {
        if let Some(value) = value {
            entry = keep.add_about(entry, field, value.to_string(), call.arguments.as_ref());
        }
    }
    match decision.transition.as_ref().and_then(|transition| transition.praxiom()) {
        Some(transition) => keep.add_about(entry, "praxiom", transition.record(), call.arguments.as_ref()),
        None => entry,
    }
}

/// The frame with all its edits made; they do not overlap.
fn edited(call: &CallRecord) -> Vec<u8> {
    let (frame, cuts) = match &call.filled {
        Some(filled) => (&filled.frame, &[][..]),
        None => (&call.frame, &call.cuts[..]),
    };
    let mut out = Vec::with_capacity(frame.len());
    let mut edits: Vec<&Edit> = call.decision.edits.iter().chain(cuts).collect();
    edits.sort_by_key(|edit| edit.range.start);
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(frame.get(at..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.bytes);
        at = edit.range.end;
    }
    out.extend_from_slice(frame.get(at..).unwrap_or_default());
    out
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Fault {
    code: Option<serde_json::Number>,
}

/// `end`, of the call with this number.
pub(super) fn end(end: &EndRecord, session: u64, call: u64, keep: Keep) -> Entry {
    let entry = ended(end, session, call, keep);
    keep.add_some(entry, "state", end.state.clone())
}

/// `state`, of the call with this number: what its answer made of the state, where its `end` was written before.
pub(super) fn state(state: &StateRecord, session: u64, call: Option<u64>, keep: Keep) -> Entry {
    let entry = Entry::new("state").number("session", session);
    let entry = match call {
        Some(call) => entry.number("call", call),
        None => entry,
    };
    keep.add(entry, "state", state.state.clone())
}

fn ended(end: &EndRecord, session: u64, call: u64, keep: Keep) -> Entry {
    let entry = Entry::new("end").number("session", session).number("call", call).text("how", end.how.name());
    let Some(frame) = &end.frame else {
        let entry = if end.is_unsent { entry.text("sent", "no") } else { entry };
        return entry.number("latency_us", end.latency_us);
    };
    let answer: Option<Answer<'_>> = serde_json::from_slice(frame).ok();
    let member = answer.as_ref().and_then(|answer| answer.error.or(answer.result));
    let code = member
        .filter(|_| end.how == How::Error)
        .and_then(|error| serde_json::from_str::<Fault>(error.get()).ok()?.code?.as_i64());
    let entry = match code {
        Some(code) => entry.number("code", code),
        None => entry,
    };
    let mut entry = entry.number("latency_us", end.latency_us).number("bytes", size(frame));
    if let Some(heard) = end.heard {
        entry = entry.number("heard", heard);
        // What an error says was not always heard: a record of then has no word of it.
        entry = if end.how == How::Error { entry.text("heard_as", "error") } else { entry };
    }
    let mut entry = keep.hash_of(entry, "frame", frame);
    if let Some(out) = &end.out {
        entry = keep.hash_of(entry, "out", out);
    }
    let Some(member) = member else {
        // Heard all the same, as it is written.
        let said = crate::messages::as_written(&String::from_utf8_lossy(body(frame)));
        return if end.heard.is_some() { keep.add(entry, "text", said.into()) } else { entry };
    };
    let result = within(frame, member.get());
    if result.len() <= RESULT_BYTES_MAX {
        return keep.add(entry, "result", result);
    }
    let entry = entry.committed("result", result);
    if end.heard.is_none() {
        return entry;
    }
    let said = crate::messages::heard_text(member.get());
    // What is longer than a result that is kept is not kept either: what was decided on it cannot be made again.
    if said.len() <= RESULT_BYTES_MAX {
        keep.add(entry, "text", said.into())
    } else {
        entry.committed("text", said.into())
    }
}

/// The frame without its terminator.
fn body(frame: &[u8]) -> &[u8] {
    let line = frame.strip_suffix(b"\n").unwrap_or(frame);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a frame that a borrowed text is, without a copy.
fn within(frame: &Bytes, part: &str) -> Bytes {
    frame.slice_ref(part.as_bytes())
}

/// `frame`.
pub(super) fn frame(frame: &FrameRecord, session: u64, keep: Keep) -> Entry {
    let entry = Entry::new("frame").number("session", session).text("from", frame.from.name());
    let entry = entry.some("method", &frame.method).some("reason", &frame.reason).some("rule", &frame.rule);
    let entry = entry.text("sent", frame.sent.name());
    let entry = if frame.is_unread { entry.raw("unread", "true") } else { entry };
    let bytes = frame.frame.as_ref().or(frame.out.as_ref()).map(size).or(frame.frame_bytes);
    let mut entry = match bytes {
        Some(bytes) => entry.number("bytes", bytes),
        None => entry,
    };
    if let Some((heard, _)) = &frame.heard {
        entry = entry.number("heard", *heard);
    }
    if let Some(bytes) = &frame.frame {
        entry = keep.hash_of_odd(entry, "frame", bytes);
        // An edited frame is a message like any other; what is odd is what somebody will want to look at.
        if frame.sent != FrameSent::Edited && bytes.len() <= FRAME_BYTES_MAX {
            entry = keep.add_frame(entry, "bytes", bytes.clone());
        }
    }
    if let (None, Some(hash)) = (&frame.frame, &frame.frame_sha256) {
        entry = keep.known_hash(entry, "frame", hash);
    }
    if let Some(out) = &frame.out {
        entry = keep.hash_of(entry, "out", out);
    }
    match &frame.heard {
        Some((_, text)) => keep.add(entry, "text", text.clone().into()),
        None => entry,
    }
}

/// `message`: what a session heard that is no call's answer.
pub(super) fn message(message: &HeardRecord, session: u64, keep: Keep) -> Entry {
    let entry = Entry::new("message").number("session", session).number("heard", message.number);
    let entry = match message.role {
        Some(role) => entry.text("role", role.name()),
        None => entry,
    };
    let entry = match &message.origin {
        Some((kind, name)) => entry.text("from", kind.name()).foreign("name", name),
        None => entry,
    };
    let entry = keep.add_some(entry, "question", message.question.clone());
    if message.text.len() <= RESULT_BYTES_MAX {
        keep.add(entry, "text", message.text.clone())
    } else {
        entry.committed("text", message.text.clone())
    }
}

/// `message`: what another process of the session heard. Of what it does not tell there is a commitment to nothing.
pub(super) fn overheard(heard: &OverheardRecord, session: u64, keep: Keep) -> Entry {
    let entry = Entry::new("message").number("session", session).number("heard", heard.number);
    let entry = entry.text("role", Role::Tool.name()).text("from", heard.origin.kind.name());
    let entry = entry.foreign("name", &heard.origin.name).flag("elsewhere", true);
    let entry = match heard.origin.read_only {
        Some(read_only) => entry.raw("read_only", if read_only { "true" } else { "false" }),
        None => entry,
    };
    let entry = keep.add_some(entry, "arguments", heard.origin.arguments.clone());
    match &heard.text {
        Some(text) => keep.add(entry, "text", text.clone()),
        None => entry.committed("text", Bytes::new()),
    }
}

/// `approval`, of the call with this number.
pub(super) fn approval(approval: &ApprovalRecord, session: u64, call: Option<u64>, keep: Keep) -> Entry {
    let entry = Entry::new("approval").number("session", session);
    let entry = match call {
        Some(call) => entry.number("call", call),
        None => entry,
    };
    let entry = entry.text("how", approval.how).foreign("by", &approval.by).text("outcome", approval.outcome);
    let entry = entry.number("after_ms", approval.after_ms).some("note", &approval.note);
    let Some(form) = &approval.form else { return entry };
    let entry = entry.clipped_list("missing", form.names.iter().take(NAMES_MAX).map(String::as_str));
    keep.add_some(keep.add(entry, "question", form.question.clone()), "answer", form.answer.clone())
}

/// `method`.
pub(super) fn method(method: &MethodRecord, session: u64, keep: Keep) -> Entry {
    let entry = Entry::new("method").number("session", session).text("from", method.from.name());
    let entry = entry.foreign("method", &method.method);
    let entry = if method.is_observed {
        entry.text("outcome", "allow").text("would", &method.outcome)
    } else {
        entry.text("outcome", &method.outcome)
    };
    let entry = entry.number("bytes", size(&method.frame));
    let entry = entry.text("sent", if method.is_observed { "verbatim" } else { "no" });
    let entry = keep.hash_of(entry, "frame", &method.frame);
    let entry = match &method.out {
        Some(out) => keep.hash_of(entry, "out", out),
        None => entry,
    };
    let params = method.params.clone().filter(|params| params.len() <= RESULT_BYTES_MAX);
    let entry = keep.add_some(entry, "params", params);
    keep.add(entry, "findings", serde_json::json!([{ "reason": method.text }]).to_string().into())
}

/// What a session did, in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) calls: u64,
    pub(super) refused: u64,
}

/// `close`.
pub(super) fn close(close: &CloseRecord, session: u64, counts: Counts) -> Entry {
    let entry = Entry::new("close").number("session", session).foreign("how", &close.how);
    entry.number("calls", counts.calls).number("refused", counts.refused)
}

/// What has no record of its own: calls that went through while the record could not be written (`gap`), or other
/// entries that too many waited before (`omitted`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub count: u64,
    /// Time of the first, in µs since 1970.
    pub from: i64,
    /// Time of the last.
    pub to: i64,
    /// Why.
    pub why: String,
}

/// `gap`.
pub(super) fn gap(gap: &Gap, session: u64) -> Entry {
    let entry = Entry::new("gap").number("session", session).number("count", gap.count);
    entry.number("from", gap.from).number("to", gap.to).foreign("why", &gap.why)
}

/// `omitted`.
pub(super) fn omitted(gap: &Gap, session: u64) -> Entry {
    let entry = Entry::new("omitted").number("session", session).number("count", gap.count);
    entry.number("from", gap.from).number("to", gap.to).foreign("why", &gap.why)
}

fn size(frame: &Bytes) -> u64 {
    number(frame.len())
}

fn number(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Who a method's or frame's sender is.
impl Peer {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Peer {
        match self {
            Peer::Client => Peer::Server,
            Peer::Server => Peer::Client,
        }
    }
}
