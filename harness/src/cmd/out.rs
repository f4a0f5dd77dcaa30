//! What commands beside `run` print, read and say.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, StdoutLock, Write};
use std::path::Path;

use framegate_guard::store::StoreError;

use crate::exit::Exit;
use crate::history::line::visible;

/// Bytes of one line of a session.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The one writer to stdout.
pub(crate) struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    pub(crate) fn stdout() -> Self {
        Self(BufWriter::new(io::stdout().lock()))
    }

    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())?;
        self.0.write_all(b"\n")
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// One message on stderr.
pub(crate) fn say(text: &str) {
    // Names come from files and servers: nothing of them moves the cursor.
    let lines: Vec<String> = text.split('\n').map(|line| visible(line.to_owned())).collect();
    // Nobody is left to tell if stderr is gone.
    let _ = writeln!(io::stderr(), "framegate: {}", lines.join("\n"));
}

/// Why a command ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn open(path: &Path) -> Result<File, Self> {
        File::open(path).map_err(|why| Self {
            exit: Exit::File,
            text: format!("`{}` cannot be read: {why}", path.display()),
        })
    }

    pub(crate) fn read(name: &str, why: &io::Error) -> Self {
        Self { exit: Exit::File, text: format!("`{name}` cannot be read: {why}") }
    }

    pub(crate) fn too_long(place: &str) -> Self {
        Self { exit: Exit::Data, text: format!("{place}: a line of more than {LINE_BYTES_MAX} bytes") }
    }

    pub(crate) fn stdout(why: &io::Error) -> Self {
        if why.kind() == io::ErrorKind::BrokenPipe {
            // `framegate log | head`: who has read enough is told nothing, as of a program that SIGPIPE ends.
            return Self { exit: Exit::Server(128 + 13), text: String::new() };
        }
        Self { exit: Exit::Broken, text: format!("stdout cannot be written: {why}") }
    }

    /// Of a policy that cannot be used.
    pub(crate) fn policy(why: &dyn std::fmt::Display) -> Self {
        Self { exit: Exit::Policy, text: why.to_string() }
    }

    /// Says why, and gives the exit code.
    pub(crate) fn said(self) -> Exit {
        if !self.text.is_empty() {
            say(&format!("error: {}", self.text));
        }
        self.exit
    }
}

/// What is wrong with a record's file.
pub(crate) fn store_failure(path: &Path, why: &StoreError) -> Failure {
    let exit = match why {
        StoreError::Altered(_) | StoreError::Corrupt(_) | StoreError::NotAStore(_) | StoreError::Newer(_) => {
            Exit::Data
        }
        _ => Exit::File,
    };
    let (path, why) = (format!("`{}`", path.display()), why.to_string());
    // Some say the path themselves. SQLite names what it finds in the file: it begins no line of its own.
    let text = if why.contains(&path) { why } else { format!("{path}: {why}") };
    Failure { exit, text: visible(text) }
}

/// The next line without its end; `None` at the end of the input, `Some(None)` for one of more than `max` bytes.
pub(crate) fn read_line(lines: &mut dyn BufRead, max: usize) -> io::Result<Option<Option<Vec<u8>>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    if lines.take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > max {
        return Ok(Some(None));
    }
    Ok(Some(Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_names_begins_no_line_and_moves_no_cursor() {
        let why = StoreError::Corrupt("malformed (a\nframegate: fine\u{1b}[2J\u{9b}\u{202e}\u{2028})".into());
        let failure = store_failure(Path::new("r\u{1b}.db"), &why);
        assert!(failure.text.chars().all(crate::calls::is_shown), "{:?}", failure.text);
        assert_eq!(failure.exit, Exit::Data);
    }

    #[test]
    fn lines_end_at_their_limit() {
        let mut input: &[u8] = b"123\n1234\n\n12345\n";
        let mut next = || read_line(&mut input, 4).unwrap();
        assert_eq!(next(), Some(Some(b"123".to_vec())));
        assert_eq!(next(), Some(Some(b"1234".to_vec())));
        assert_eq!(next(), Some(Some(Vec::new())));
        assert_eq!(next(), Some(None));
        let mut unfinished: &[u8] = b"1234";
        assert_eq!(read_line(&mut unfinished, 4).unwrap(), Some(Some(b"1234".to_vec())));
        assert_eq!(read_line(&mut unfinished, 4).unwrap(), None);
    }
}
