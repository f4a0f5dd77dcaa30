//! `--fidelity`: which frames did not go on as they came, and why.

use framegate_guard::store::chain::Hash;
use framegate_guard::store::fidelity::{Found, FrameRow, From, Segment, Sent, Totals};
use serde_json::{Value, json};

use crate::history::line::{visible, visible_json};

/// One line. As text only what differs; as JSON all.
pub(super) fn row(found: &Found, as_json: bool) -> Option<String> {
    match found {
        Found::Frame(row) if as_json => Some(visible_json(&frame_json(row).to_string())),
        Found::Segment(segment) if as_json => Some(visible_json(&segment_json(segment).to_string())),
        Found::Frame(row) => (row.sent != Sent::Verbatim).then(|| visible(frame_text(row))),
        Found::Segment(segment) => segment.sent.map(|sent| visible(segment_text(segment, &sent))),
    }
}

pub(super) fn totals(totals: &Totals) -> String {
    format!(
        "  frames with a record: {} as they came, {} not; {} others in {} segments, {} of which differ",
        totals.verbatim,
        totals.changed,
        totals.frames,
        totals.equal + totals.unequal,
        totals.unequal
    )
}

pub(super) fn totals_json(totals: &Totals) -> Value {
    json!({
        "verbatim": totals.verbatim,
        "changed": totals.changed,
        "frames_in_segments": totals.frames,
        "segments_equal": totals.equal,
        "segments_unequal": totals.unequal,
    })
}

fn frame_text(row: &FrameRow) -> String {
    let became = match row.sent {
        Sent::Verbatim => "as it came",
        Sent::Edited => "edited",
        Sent::No => "not sent on",
        Sent::Ours => "made here",
    };
    let from = row.from.map_or("framegate", name);
    let by = if row.by.is_empty() { String::new() } else { format!("  by {}", row.by) };
    format!(
        "record {}  session {}  from {from}  {}  {became}{by}  received {}  sent {}",
        row.seq,
        row.session,
        row.what,
        short(row.received.as_ref()),
        short(row.out.as_ref())
    )
}

fn segment_text(segment: &Segment, sent: &Hash) -> String {
    format!(
        "record {}  session {}  from {}  {} frames before it, {} bytes  edited  received {}  sent {}",
        segment.seq,
        segment.session,
        name(segment.from),
        segment.frames,
        segment.bytes,
        short(segment.received.as_ref()),
        short(Some(sent))
    )
}

fn frame_json(row: &FrameRow) -> Value {
    let sent = match row.sent {
        Sent::Verbatim => "verbatim",
        Sent::Edited => "edited",
        Sent::No => "no",
        Sent::Ours => "ours",
    };
    let out = row.out.or(row.received.filter(|_| row.sent == Sent::Verbatim));
    json!({
        "seq": row.seq,
        "session": row.session,
        "kind": row.kind,
        "from": row.from.map(name),
        "what": row.what,
        "sent": sent,
        "by": row.by,
        "received_sha256": row.received.map(|hash| hash.to_string()),
        "sent_sha256": out.map(|hash| hash.to_string()),
    })
}

fn segment_json(segment: &Segment) -> Value {
    json!({
        "seq": segment.seq,
        "session": segment.session,
        "from": name(segment.from),
        "frames": segment.frames,
        "bytes": segment.bytes,
        "received": segment.received.map(|hash| hash.to_string()),
        "sent": segment.sent.or(segment.received).map(|hash| hash.to_string()),
        "equal": segment.sent.is_none(),
    })
}

fn name(from: From) -> &'static str {
    match from {
        From::Client => "client",
        From::Server => "server",
    }
}

/// Enough of a hash to find it again.
fn short(hash: Option<&Hash>) -> String {
    hash.map_or_else(|| "-".to_owned(), |hash| hash.to_string().chars().take(12).collect())
}
