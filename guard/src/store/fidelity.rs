//! Whether frames went through as they came: what the record says of each, and where they differ, by which rule.
//!
//! A call, an answer, a frame that is odd has a record of its own, with the hash of the bytes received (`frame`)
//! and, where other bytes were sent, of those (`out`). All other frames stand in the running hashes (`flow`) that a
//! later record of the session closes: one for each direction, and a second one where other bytes were sent.

use serde_json::Value;

use super::chain::Hash;
use super::source::RawContent;
use super::spelling::Body;
use super::verify::Watch;

/// What became of one frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRow {
    /// Its record.
    pub seq: u64,
    /// The session's record.
    pub session: u64,
    /// `call`, `end`, `frame` or `method`.
    pub kind: String,
    /// Who sent it to us; nobody for one that we made.
    pub from: Option<From>,
    /// The tool, or the method.
    pub what: String,
    /// Of the bytes received; not there when it was removed, or nothing was received.
    pub received: Option<Hash>,
    /// Of other bytes that were sent, to the other side or back.
    pub out: Option<Hash>,
    /// What became of it.
    pub sent: Sent,
    /// The rules that changed it, or another reason.
    pub by: String,
}

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It went on as it came.
    Verbatim,
    /// Other bytes went on.
    Edited,
    /// It did not go on.
    No,
    /// It is ours.
    Ours,
}

/// Frames without a record of their own, in one direction, since the last record of their session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The record that closes it.
    pub seq: u64,
    /// The session's record.
    pub session: u64,
    /// Who sent them.
    pub from: From,
    /// How many.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Running hash of the frames received; nothing where one of them may hold a secret.
    pub received: Option<Hash>,
    /// The same of the frames sent, if it differs.
    pub sent: Option<Hash>,
}

/// What is found on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A frame with its own record.
    Frame(FrameRow),
    /// Frames without.
    Segment(Segment),
}

/// How much was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Frames with a record of their own that went on as they came.
    pub verbatim: u64,
    /// Frames with a record of their own that did not.
    pub changed: u64,
    /// Segments that were sent as received.
    pub equal: u64,
    /// Segments that were not.
    pub unequal: u64,
    /// Frames in segments.
    pub frames: u64,
}

/// Watches for frames while a store is verified, and gives each to a function.
pub struct Fidelity<'f> {
    /// How much was found so far.
    pub totals: Totals,
    each: Box<dyn FnMut(Found) + Send + 'f>,
}

impl std::fmt::Debug for Fidelity<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fidelity").field("totals", &self.totals).finish_non_exhaustive()
    }
}

impl<'f> Fidelity<'f> {
    /// Gives what it finds to this function.
    pub fn new(each: impl FnMut(Found) + Send + 'f) -> Fidelity<'f> {
        Fidelity { totals: Totals::default(), each: Box::new(each) }
    }

    fn segments(&mut self, body: &Body<'_>) {
        let Some(flow) = value(body, "flow") else { return };
        for (key, from) in [("c2s", From::Client), ("s2c", From::Server)] {
            let Some(segment) = segment(body, &flow, key, from) else { continue };
            let is_equal = segment.sent.is_none();
            self.totals.frames = self.totals.frames.saturating_add(segment.frames);
            self.totals.equal += u64::from(is_equal);
            self.totals.unequal += u64::from(!is_equal);
            (self.each)(Found::Segment(segment));
        }
    }
}

impl Watch for Fidelity<'_> {
    fn record(&mut self, body: &Body<'_>, contents: &[RawContent]) {
        self.segments(body);
        let Some(row) = frame(body, contents) else { return };
        let is_verbatim = row.sent == Sent::Verbatim;
        self.totals.verbatim += u64::from(is_verbatim);
        self.totals.changed += u64::from(!is_verbatim);
        (self.each)(Found::Frame(row));
    }
}

fn frame(body: &Body<'_>, contents: &[RawContent]) -> Option<FrameRow> {
    let from = match &*body.kind {
        "call" => Some(From::Client),
        "end" => Some(From::Server),
        "frame" | "method" => match text(body, "from").as_deref() {
            Some("client") => Some(From::Client),
            Some("server") => Some(From::Server),
            _ => None,
        },
        _ => return None,
    };
    let commits = |field: &str| body.commitments.iter().any(|(name, _)| name == field);
    let sent = match text(body, "sent").as_deref() {
        Some("edited") => Sent::Edited,
        Some("no") => Sent::No,
        Some("ours") => Sent::Ours,
        // A method has a record only because it was refused.
        None if body.kind == "method" => Sent::No,
        // An answer that never came is no frame.
        None if !commits("frame") && !commits("out") => return None,
        _ if commits("out") => Sent::Edited,
        _ => Sent::Verbatim,
    };
    let from = from.filter(|_| sent != Sent::Ours);
    let what = text(body, "tool").or_else(|| text(body, "method")).or_else(|| {
        // An answer names its call.
        body.raw("call").map(|call| format!("answer to record {call}"))
    });
    Some(FrameRow {
        seq: body.seq,
        session: number(body, "session"),
        kind: body.kind.to_string(),
        from,
        what: what.unwrap_or_default(),
        received: hash(contents, "frame"),
        out: hash(contents, "out"),
        sent,
        by: by(body, sent),
    })
}

/// What changed it, as it is named where it was asked for; else the rule, or the rules that failed, or the reason.
fn by(body: &Body<'_>, sent: Sent) -> String {
    if let Some(known) = part(body, sent) {
        return known.to_owned();
    }
    let failed = value(body, "failed");
    let failed: Vec<&str> =
        failed.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    text(body, "rule")
        .or_else(|| (!failed.is_empty()).then(|| failed.join(", ")))
        .or_else(|| text(body, "reason"))
        .or_else(|| text(body, "how").filter(|how| how != "done"))
        .unwrap_or_default()
}

/// The option or the part of a policy that changes frames of this kind.
fn part(body: &Body<'_>, sent: Sent) -> Option<&'static str> {
    let text = |key| text(body, key).unwrap_or_default();
    let is_edited = sent == Sent::Edited;
    let is_filled = body.raw("filled").is_some();
    Some(match &*body.kind {
        "call" if is_edited && body.commitments.iter().any(|(name, _)| name == "edited") => {
            "arguments: coerce"
        }
        "call" if is_edited && is_filled => "a person's answer, put in",
        // A retry carries what its user said, and what is ours is cut out of it.
        "call" if is_edited => "a person's reply, cut out",
        "end" if is_edited && matches!(&*text("how"), "done" | "tool error" | "task") => "--annotate",
        "method" if text("from") == "server" => "server_requests:",
        "method" => "methods:",
        "frame" if is_edited && text("method") == "tools/list" => "hidden tools or show_rules",
        "frame" if text("reason") == "made" => "a message of framegate's own",
        "frame" if text("reason") == "answered" => "an answer of framegate's own",
        _ => return None,
    })
}

fn segment(body: &Body<'_>, flow: &Value, key: &str, from: From) -> Option<Segment> {
    let parts = flow.get(key)?.as_array()?;
    let hash = |at: usize| parts.get(at)?.as_str()?.parse().ok();
    Some(Segment {
        seq: body.seq,
        session: number(body, "session"),
        from,
        frames: parts.first()?.as_u64()?,
        bytes: parts.get(1)?.as_u64()?,
        received: hash(2),
        sent: hash(3),
    })
}

fn hash(contents: &[RawContent], field: &str) -> Option<Hash> {
    let bytes = contents.iter().find(|content| content.field == field)?.bytes.as_ref()?;
    Some(Hash(bytes.as_ref().try_into().ok()?))
}

fn value(body: &Body<'_>, key: &str) -> Option<Value> {
    serde_json::from_str(body.raw(key)?).ok()
}

fn text(body: &Body<'_>, key: &str) -> Option<String> {
    super::spelling::string(body.raw(key)?).map(std::borrow::Cow::into_owned)
}

fn number(body: &Body<'_>, key: &str) -> u64 {
    body.raw(key).and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::store::entry::Entry;

    fn watched(entry: &Entry) -> (Vec<Found>, Totals) {
        let mut found = Vec::new();
        let mut fidelity = Fidelity::new(|one| found.push(one));
        let text = entry.body(9, 1, &vec![[0; 16]; entry.contents().len()]);
        let contents: Vec<RawContent> = entry
            .contents()
            .iter()
            .map(|content| RawContent {
                field: content.field.to_owned(),
                salt: Some([0; 16]),
                bytes: Some(content.bytes.clone()),
                text: None,
                is_double: false,
            })
            .collect();
        fidelity.record(&Body::read(&text).unwrap(), &contents);
        let totals = fidelity.totals;
        drop(fidelity);
        (found, totals)
    }

    fn bytes(byte: u8) -> Bytes {
        Bytes::from(vec![byte; 32])
    }

    #[test]
    fn a_refused_call_names_its_rules() {
        let call = Entry::new("call").number("session", 2).text("tool", "rm").text("sent", "no");
        let call =
            call.texts("failed", ["a", "b"].into_iter()).content("frame", bytes(1)).content("out", bytes(2));
        let (found, totals) = watched(&call);
        let [Found::Frame(row)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((row.from, row.sent, &*row.what, &*row.by), (Some(From::Client), Sent::No, "rm", "a, b"));
        assert_eq!((row.received, row.out), (Some(Hash([1; 32])), Some(Hash([2; 32]))));
        assert_eq!((totals.verbatim, totals.changed), (0, 1));
    }

    #[test]
    fn answers_are_verbatim_unless_other_bytes_were_sent() {
        let end = Entry::new("end").number("session", 2).number("call", 5).text("how", "done");
        let (_, totals) = watched(&end.clone().content("frame", bytes(1)));
        assert_eq!((totals.verbatim, totals.changed), (1, 0));
        let (found, _) = watched(&end.clone().content("frame", bytes(1)).content("out", bytes(2)));
        assert!(matches!(found.as_slice(), [Found::Frame(FrameRow { sent: Sent::Edited, .. })]), "{found:?}");
        let (found, _) = watched(&Entry::new("end").number("call", 5).text("how", "lost"));
        assert_eq!(found, []);
    }

    #[test]
    fn what_changed_a_frame_is_named_as_it_was_asked_for() {
        let by = |entry: &Entry| match watched(entry).0.as_slice() {
            [Found::Frame(row)] => row.by.clone(),
            other => panic!("{other:?}"),
        };
        let call = || Entry::new("call").text("tool", "x").text("sent", "edited").content("out", bytes(2));
        assert_eq!(by(&call().content("edited", bytes(3))), "arguments: coerce");
        assert_eq!(by(&call()), "a person's reply, cut out");
        assert_eq!(by(&call().texts("filled", ["city"].into_iter())), "a person's answer, put in");
        let end = Entry::new("end").number("call", 5).text("how", "tool error").content("frame", bytes(1));
        assert_eq!(by(&end.clone().content("out", bytes(2))), "--annotate");
        assert_eq!(by(&end), "tool error", "it went on as it came");
        let frame = |reason: &str, sent: &str| {
            Entry::new("frame")
                .text("from", "server")
                .text("method", "tools/list")
                .text("reason", reason)
                .text("sent", sent)
        };
        assert_eq!(by(&frame("edited", "edited")), "hidden tools or show_rules");
        assert_eq!(by(&frame("made", "ours")), "a message of framegate's own");
        assert_eq!(by(&frame("dropped", "no")), "dropped");
        let method =
            |from: &str| Entry::new("method").text("from", from).text("method", "x/y").text("sent", "no");
        assert_eq!(
            (by(&method("client")), by(&method("server"))),
            ("methods:".into(), "server_requests:".into())
        );
    }

    #[test]
    fn segments_are_equal_where_only_one_hash_stands() {
        let hash = "a".repeat(64);
        let flow = format!("{{\"c2s\":[3,99,\"{hash}\"],\"s2c\":[1,10,\"{hash}\",\"{}\"]}}", "b".repeat(64));
        let (found, totals) = watched(&Entry::new("close").number("session", 2).raw("flow", &flow));
        assert_eq!(found.len(), 2);
        assert_eq!((totals.equal, totals.unequal, totals.frames), (1, 1, 4));
        let hidden = watched(&Entry::new("close").number("session", 2).raw("flow", "{\"c2s\":[3,99,null]}"));
        assert!(
            matches!(hidden.0.as_slice(), [Found::Segment(Segment { received: None, .. })]),
            "{hidden:?}"
        );
        assert_eq!((hidden.1.equal, hidden.1.frames), (1, 3));
    }
}
