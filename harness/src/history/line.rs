//! A call as a row for people, or as one JSON object.

use std::io::IsTerminal as _;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use framegate_guard::store::StoreError;
use framegate_guard::store::read::Record;
use framegate_guard::store::retrace::{Missing, Retracer, SessionInfo};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::call::RecordedCall;
use super::file::RecordFile;
use super::reply;
use crate::calls::LogArguments;
use crate::calls::arguments::{shown, whole};
use crate::redact;

/// What a row has.
const COLUMNS: [&str; 10] =
    ["#", "time", "server/session", "outcome", "tool", "arguments", "by", "person", "ended", "latency"];
/// Characters of arguments in a row, at least.
const ARGUMENTS_CHARS_MIN: usize = 24;
/// Characters of a row's other foreign strings.
const SHOWN_CHARS: usize = 40;

/// What a row says.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) call: RecordedCall,
    pub(crate) session: SessionInfo,
    /// As a row shows them, or in brackets why it does not.
    pub(crate) arguments: String,
}

/// A call with all of its arguments, for programs.
#[derive(Debug)]
pub(crate) struct Whole {
    call: RecordedCall,
    session: SessionInfo,
    /// Without credentials; JSON, or null.
    arguments: Value,
    /// Why there are none although there were some.
    missing: Option<String>,
    what: LogArguments,
}

impl Line {
    pub(crate) fn of(
        call: RecordedCall,
        retracer: &mut Retracer<'_, RecordFile>,
        what: LogArguments,
    ) -> Result<Line, StoreError> {
        let session = retracer.session(&call.record)?.map(|session| (*session).clone()).unwrap_or_default();
        let arguments = arguments(&call.record, retracer, what)?;
        Ok(Line { call, session, arguments })
    }

    /// For people, before they are in columns. Where the width has no bound, nothing is cut: a program reads it.
    fn cells(&self, width: usize) -> [String; COLUMNS.len()] {
        let call = &self.call;
        let beside = if width == usize::MAX { usize::MAX } else { SHOWN_CHARS };
        [
            call.seq().to_string(),
            local(call.record.time().0),
            format!("{}/{}", self.session.server, call.session()),
            call.outcome().to_owned(),
            clip(call.tool(), beside),
            clip(&self.arguments, width),
            clip(&call.by(), beside),
            clip(&call.person(), beside),
            call.how(),
            call.latency_us().map(milliseconds).unwrap_or_default(),
        ]
    }

    /// A row alone, where the next ones are not known yet.
    pub(crate) fn row(&self) -> String {
        let [seq, time, session, outcome, tool, arguments, by, person, how, latency] =
            self.cells(usize::MAX).map(visible);
        let by = if by.is_empty() { by } else { format!(" ({by})") };
        let person = if person.is_empty() { person } else { format!(" [{person}]") };
        format!(
            "{seq:>6}  {time}  {session}  {outcome:<5}  {tool}  {arguments}  {how}{by}{person}  {latency}"
        )
    }
}

impl Whole {
    pub(crate) fn of(
        call: RecordedCall,
        retracer: &mut Retracer<'_, RecordFile>,
        what: LogArguments,
    ) -> Result<Whole, StoreError> {
        let session = retracer.session(&call.record)?.map(|session| (*session).clone()).unwrap_or_default();
        let (kept, missing) = match retracer.kept(&call.record, "arguments")? {
            Ok(kept) => (kept, None),
            Err(why) => (None, Some(why.to_string())),
        };
        let text = kept.and_then(|bytes| whole(&bytes, what));
        let arguments =
            text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or_else(|_| text.into()));
        Ok(Whole { call, session, arguments, missing, what })
    }

    /// One JSON object.
    pub(crate) fn json(&self) -> String {
        let call = &self.call;
        let list = |key: &str| call.record.texts(key).map(Value::from).collect::<Value>();
        let end = |key: &str| call.end.as_ref().and_then(|end| end.value(key)).cloned();
        let is_full = self.what == LogArguments::Full;
        let clean = |text: &str| if is_full { text.to_owned() } else { redact::text(text).into_owned() };
        let approvals = call.replies.iter().map(|said| reply::json(said, clean)).collect::<Value>();
        let json = json!({
            "seq": call.seq(), "kind": call.record.kind(), "time": utc(call.record.time().0), "session": call.session(),
            "name": self.session.name, "server": self.session.server, "tool": call.record.text("tool"),
            "method": call.record.text("method"), "by": call.by(),
            "arguments": self.arguments, "arguments_missing": self.missing,
            "outcome": call.outcome(), "would": call.would(), "failed": list("failed"), "observed": list("observed"),
            "sent": call.record.text("sent"), "how": end("how"), "code": end("code"), "bytes": end("bytes"),
            "latency_us": end("latency_us"), "again": call.again(), "approvals": approvals, "hash": call.hash.to_string(),
        });
        visible_json(&json.to_string())
    }
}

/// Rows in columns, as wide as the terminal is.
pub(crate) fn table(lines: &[Line]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(COLUMNS);
    let others = |line: &Line| line.cells(0).iter().map(|cell| cell.chars().count() + 2).sum();
    let widest: usize = lines.iter().map(others).max().unwrap_or_default();
    let width = match terminal_width() {
        Some(width) => width.saturating_sub(widest).max(ARGUMENTS_CHARS_MIN),
        None => usize::MAX,
    };
    for line in lines {
        table.add_row(line.cells(width).map(|cell| Cell::new(visible(cell))));
    }
    let is_asked = lines.iter().any(|line| !line.call.person().is_empty());
    for (column, name) in table.column_iter_mut().zip(COLUMNS) {
        match name {
            "#" | "latency" => column.set_cell_alignment(CellAlignment::Right),
            // Most pages have nobody's.
            "person" if !is_asked => {
                column.set_constraint(ColumnConstraint::Hidden);
            }
            _ => {}
        }
    }
    table
}

fn terminal_width() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(out).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

fn arguments(
    call: &Record,
    retracer: &mut Retracer<'_, RecordFile>,
    what: LogArguments,
) -> Result<String, StoreError> {
    // Which tool an unrecorded call was for stands only in its frame.
    let field = match call.kind() {
        "frame" => "bytes",
        "method" => "params",
        _ => "arguments",
    };
    Ok(match retracer.kept(call, field)? {
        Ok(Some(bytes)) => shown(&bytes, what).into_owned(),
        Ok(None) => String::new(),
        Err(Missing::NeverKept(_)) => "(not kept)".into(),
        Err(Missing::Removed(_)) => "(removed)".into(),
        Err(why) => format!("({why})"),
    })
}

/// Nothing in a row moves the cursor or begins another row.
pub(crate) fn visible(text: impl Into<String>) -> String {
    let text = text.into();
    let is_plain = |c: char| !c.is_control() && crate::calls::is_shown(c);
    if text.chars().all(is_plain) {
        return text;
    }
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// The same for JSON: whatever would move the cursor or turn the text around stands in strings only, and is escaped
/// there. A program reads the same value.
pub(crate) fn visible_json(json: &str) -> String {
    let mut units = [0; 2];
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if crate::calls::is_shown(c) {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

pub(crate) fn clip(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Milliseconds, two digits behind the point.
pub(crate) fn milliseconds(micros: i64) -> String {
    format!("{}.{:02} ms", micros / 1000, micros % 1000 / 10)
}

/// A time of the record as RFC 3339.
pub(crate) fn utc(micros: i64) -> String {
    jiff::Timestamp::from_microsecond(micros).map(|time| format!("{time:.6}")).unwrap_or_default()
}

/// The same on this machine's clock.
pub(crate) fn local(micros: i64) -> String {
    let time = jiff::Timestamp::from_microsecond(micros).map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_shows_no_character_that_moves_the_cursor_or_turns_it_around() {
        for odd in ["\u{1b}[2J", "\u{9b}", "\u{202e}", "\u{2028}", "\u{e0041}", "a\nb", "\u{200b}"] {
            let shown = visible(odd);
            assert!(
                shown.contains('\u{fffd}') && shown.chars().all(crate::calls::is_shown),
                "{odd:?}: {shown:?}"
            );
        }
        assert_eq!(visible("é 😀"), "é 😀");
    }

    #[test]
    fn json_shows_no_character_that_moves_the_cursor_and_says_the_same() {
        let odd = "a\u{1b}\u{7f}\u{9b}31m\u{202e}\u{2028}\u{e0041}\u{1f600}é\\";
        let json = visible_json(&json!({ "tool": odd, odd: [odd] }).to_string());
        assert!(json.chars().all(crate::calls::is_shown), "{json}");
        assert!(json.contains("\\u202e") && json.contains('é'), "{json}");
        let read: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read, json!({ "tool": odd, odd: [odd] }));
    }
}
