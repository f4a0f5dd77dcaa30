//! `--record FILE`: the raw frames of both directions, as JSON lines that another tool can
//! replay.
//!
//! One object a line:
//!
//! ```json
//! {"t":"2026-11-30T07:12:01.123456Z","session":4711,"dir":"c2s","raw":"{\"jsonrpc\":…}"}
//! ```
//!
//! * `t`: when the frame was received (or, for `sent`, put on the wire), UTC.
//! * `session`: the process that wrote it; a file that is there is appended to.
//! * `dir`: `c2s` client to server, `s2c` server to client.
//! * `raw`: the frame without its terminator; `raw_base64` instead, if it is not UTF-8.
//! * `eol`: its terminator, if that is not `"\n"`: `"\r\n"`, or `""` for an unterminated last line.
//! * `sent`: `"edited"` or `"ours"` on a frame that went out and is not what came in. Frames
//!   without it are frames as received; to replay a session, play those.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_pump::{Frame, How, Observer, Point, Seen, Side};

use crate::stderr::Stderr;

/// Frames that wait for the disk. When it is slower than that the session waits: a record with
/// holes is none.
const WAITING_FRAMES: usize = 256;
/// Lines are gathered up to this many bytes for one write.
const BATCH_BYTES: usize = 64 * 1024;

struct Entry {
    time: SystemTime,
    point: Point,
    frame: Frame,
}

/// The observer that writes the record. Frames are written by a thread of its own.
#[derive(Debug)]
pub struct Recorder {
    entries: Mutex<Option<SyncSender<Entry>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Recorder {
    /// Appends to `path`, and creates it readable for its owner only: frames hold whatever tools
    /// were told. Clients start a server's command again for each health check, so one file may
    /// have several writers: lines are written whole.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, stderr: Stderr) -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let file = File::options().append(true).create(true).mode(0o600).open(path)?;
        let (entries, waiting) = sync_channel(WAITING_FRAMES);
        let writer = std::thread::Builder::new().name("record".into()).spawn(move || {
            if let Err(why) = write_all(file, &waiting) {
                stderr.line(&format!("framegate: warning: the record is incomplete: {why}"));
            }
        })?;
        Ok(Self { entries: Mutex::new(Some(entries)), writer: Mutex::new(Some(writer)) })
    }

    /// Writes what still waits and closes the file.
    pub fn finish(&self) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.take();
        }
        if let Ok(mut writer) = self.writer.lock()
            && let Some(writer) = writer.take()
        {
            // A panic of the writer's has been printed already.
            let _ = writer.join();
        }
    }
}

impl Observer for Recorder {
    fn frame(&self, seen: &Seen<'_>) {
        if matches!(seen.point, Point::Sent(_, How::Verbatim)) {
            return;
        }
        let Ok(entries) = self.entries.lock() else { return };
        if let Some(entries) = &*entries {
            // The writer has stopped after an error, which it has reported.
            let _ =
                entries.send(Entry { time: SystemTime::now(), point: seen.point, frame: seen.frame.clone() });
        }
    }
}

fn write_all(mut file: File, waiting: &Receiver<Entry>) -> io::Result<()> {
    let mut lines = String::new();
    while let Ok(first) = waiting.recv() {
        lines.clear();
        lines.push_str(&line(&first));
        while lines.len() < BATCH_BYTES
            && let Ok(entry) = waiting.try_recv()
        {
            lines.push_str(&line(&entry));
        }
        // One write: at the end of the file, and not mixed with another session's.
        file.write_all(lines.as_bytes())?;
    }
    Ok(())
}

fn line(entry: &Entry) -> String {
    let (dir, sent) = match entry.point {
        Point::Received(Side::Client) => ("c2s", None),
        Point::Received(Side::Server) => ("s2c", None),
        Point::Sent(to, how) => {
            let how = if how == How::Edited { "edited" } else { "ours" };
            (if to == Side::Server { "c2s" } else { "s2c" }, Some(how))
        }
    };
    let time = humantime::format_rfc3339_micros(entry.time);
    let body = entry.frame.body();
    let (key, raw) = match std::str::from_utf8(body) {
        Ok(text) => ("raw", serde_json::Value::from(text).to_string()),
        Err(_) => ("raw_base64", serde_json::Value::from(STANDARD.encode(body)).to_string()),
    };
    let eol = match entry.frame.bytes().get(body.len()..) {
        Some(b"\n") => "",
        Some(b"\r\n") => r#","eol":"\r\n""#,
        _ => r#","eol":"""#,
    };
    let sent = sent.map_or(String::new(), |how| format!(r#","sent":"{how}""#));
    let session = std::process::id();
    format!("{{\"t\":\"{time}\",\"session\":{session},\"dir\":\"{dir}\",\"{key}\":{raw}{eol}{sent}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_record_gives_every_byte_back() {
        for wire in
            [&b"{\"a\":\"\\u00e9\xc3\xa9\"}\n"[..], b"x\r\n", b"\xff\xfe\n", b"last", b"\n", b"a\rb\n"]
        {
            let entry = Entry {
                time: SystemTime::UNIX_EPOCH,
                point: Point::Received(Side::Server),
                frame: Frame::from_wire(Bytes::copy_from_slice(wire)),
            };
            let value: serde_json::Value = serde_json::from_str(&line(&entry)).unwrap();
            let mut bytes = match value.get("raw") {
                Some(raw) => raw.as_str().unwrap().as_bytes().to_vec(),
                None => STANDARD.decode(value["raw_base64"].as_str().unwrap()).unwrap(),
            };
            bytes.extend_from_slice(value.get("eol").map_or("\n", |eol| eol.as_str().unwrap()).as_bytes());
            assert_eq!(bytes, wire);
            assert_eq!(value["t"], "1970-01-01T00:00:00.000000Z");
        }
    }
}
