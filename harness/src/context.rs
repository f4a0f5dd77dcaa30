//! `--context FILE`: what was said between the user and the model, as whoever holds the conversation writes it.
//!
//! A stdio wrapper sees calls and results, and nobody's words. So the client's side (a hook that is given each
//! prompt, an agent of one's own) appends JSON lines to a file, `{"message":{"role":"user","content":"…"}}` as
//! `framegate explain` reads them, and this follows it. It is looked at when a call is to be decided, not by a
//! timer: what was written before the call was sent counts for it. Whoever can write the file can speak for the
//! user, so it belongs where the agent's own tools cannot write.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use framegate_guard::messages::{Message, Role};

use crate::explain::event::{self, Event};

/// The longest line; what a window keeps of it is much less.
pub(crate) const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What one look reads at most. A call that comes while there is more left is one whose user is not known.
pub(crate) const LOOK_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Bytes by which the file is known again.
const TAIL_BYTES: usize = 256;

/// Others than its owner may write the file.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Where the user's words come from, and how much is kept of what is said.
#[derive(Debug, Default)]
pub struct ContextSettings {
    /// Where they are written; without it nothing is known of the user.
    pub file: Option<ContextFile>,
    /// Messages and outputs that are kept, instead of the policy's `context: { messages }`; 0 is all.
    pub messages: Option<usize>,
    /// Code points of them, instead of `context: { chars }`; 0 is all.
    pub chars: Option<usize>,
}

/// The file, as far as it was read.
#[derive(Debug)]
pub struct ContextFile {
    path: PathBuf,
    /// The file that `read` is a place in: its device and inode.
    is: Option<(u64, u64)>,
    /// Bytes read; a line that has not ended yet is in `rest`.
    read: u64,
    /// The last bytes before that: another file that took the place of this one is told by them.
    tail: Vec<u8>,
    /// The beginning of a line; at most [`LINE_BYTES_MAX`], the end of a longer one is passed over.
    rest: Vec<u8>,
    /// Lines that ended, from 1.
    line: u64,
    /// Why it could not be looked at the last time: said once.
    failing: Option<String>,
    /// A line was passed over since the last one that could be read: perhaps it was a *no*.
    is_missing_some: bool,
}

/// What a look found.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// What was said since the last one, oldest first.
    pub(crate) messages: Vec<Message>,
    /// What a person should know: lines that cannot be read, a file that was replaced.
    pub(crate) warnings: Vec<String>,
    /// All that stands in the file was read: what the user said is known.
    pub(crate) is_whole: bool,
}

impl ContextFile {
    /// A file to follow. It need not exist yet: nothing is known of the user until it does.
    ///
    /// # Errors
    /// A sentence, for what can never be followed: a folder, a pipe, a device.
    pub fn follow(path: &Path) -> Result<ContextFile, String> {
        let shown = path.display();
        match std::fs::metadata(path) {
            Ok(about) if !about.is_file() => {
                return Err(format!("--context `{shown}` is no regular file: give one that is appended to"));
            }
            Ok(_) => {}
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(format!("--context `{shown}` cannot be read: {why}")),
        }
        let path = path.to_owned();
        Ok(ContextFile {
            path,
            is: None,
            read: 0,
            tail: Vec::new(),
            rest: Vec::new(),
            line: 0,
            failing: None,
            is_missing_some: false,
        })
    }

    /// Whether it is there yet.
    pub(crate) fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// Reads what was appended since the last look.
    pub(crate) fn look(&mut self) -> Look {
        let mut look = Look::default();
        match self.appended(&mut look) {
            Ok(is_whole) => {
                look.is_whole = is_whole && !self.is_missing_some;
                self.failing = None;
            }
            Err(why) => {
                let why = why.to_string();
                if self.failing.as_ref() != Some(&why) {
                    let warning = format!(
                        "{}: {why}; until it can be read, what the user said is unknown",
                        self.path.display()
                    );
                    look.warnings.push(warning);
                    self.failing = Some(why);
                }
            }
        }
        look
    }

    fn appended(&mut self, look: &mut Look) -> io::Result<bool> {
        // A pipe in its place would be waited for, and the pump's thread with it.
        let not_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut file = File::options().read(true).custom_flags(not_waiting).open(&self.path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(io::Error::other("it is no regular file any more"));
        }
        let is_continued = self.is_continued(&file);
        self.same_file(&about, is_continued, look);
        let due = about.len().saturating_sub(self.read);
        if due == 0 {
            return Ok(true);
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        // Not past what stood there: a writer that never stops must not be read for ever.
        file.take(due.min(LOOK_BYTES_MAX)).read_to_end(&mut bytes)?;
        self.read += bytes.len() as u64;
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or_default());
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.piece(piece, look);
        }
        Ok(due <= LOOK_BYTES_MAX)
    }

    /// A file that was replaced or cut is read from its start; what was said stays said.
    /// Whether what was read last still stands there.
    fn is_continued(&self, file: &File) -> bool {
        let mut there = vec![0; self.tail.len()];
        let start = self.read.saturating_sub(self.tail.len() as u64);
        file.read_exact_at(&mut there, start).is_ok() && there == self.tail
    }

    fn same_file(&mut self, about: &std::fs::Metadata, is_continued: bool, look: &mut Look) {
        let is = (about.dev(), about.ino());
        let shown = self.path.display();
        if self.is.is_none() && about.mode() & WRITABLE_BY_OTHERS != 0 {
            let mode = about.mode() & 0o777;
            let warning = format!(
                "{shown}: others than its owner may write it (mode {mode:o}), and whoever writes it speaks for the user: chmod 600"
            );
            look.warnings.push(warning);
        }
        // A number of a file that is gone is given to the next one.
        let is_same = self.is == Some(is) && about.len() >= self.read && is_continued;
        if self.is.is_some() && !is_same {
            look.warnings.push(format!("{shown}: it was replaced or cut; it is read again from its start"));
        }
        if !is_same {
            (self.read, self.line) = (0, 0);
            self.rest.clear();
            self.tail.clear();
        }
        self.is = Some(is);
    }

    fn piece(&mut self, piece: &[u8], look: &mut Look) {
        let room = (LINE_BYTES_MAX + 1).saturating_sub(self.rest.len());
        self.rest.extend_from_slice(piece.get(..room).unwrap_or(piece));
        if !piece.ends_with(b"\n") {
            return;
        }
        self.line += 1;
        let line = std::mem::take(&mut self.rest);
        let read = match line.len() {
            0..=LINE_BYTES_MAX => event::read(&line),
            _ => Err(format!("more than {LINE_BYTES_MAX} bytes")),
        };
        match read {
            Ok(Event::Nothing) => {}
            Ok(Event::Messages(messages)) if messages.is_empty() => self.unread(
                "it says nothing: `role` is `user`, `assistant`, `tool` or `system`, `content` a text or a list of such",
                look,
            ),
            Ok(Event::Messages(messages)) => {
                self.is_missing_some &= !messages.iter().any(|message| message.role == Role::User);
                look.messages.extend(messages);
            }
            Ok(_) => self.unread("only `message` lines may stand here", look),
            Err(why) => self.unread(&why, look),
        }
    }

    /// What cannot be read may have been a *no*: until the user is heard again, what they said is not known.
    fn unread(&mut self, why: &str, look: &mut Look) {
        self.is_missing_some = true;
        look.warnings.push(format!(
            "{}:{}: {why}; the line is passed over, and until the user's next one what they said is unknown",
            self.path.display(),
            self.line
        ));
    }
}

#[cfg(test)]
mod tests;
