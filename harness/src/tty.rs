//! The terminal of whoever started us, whatever stdin and stdout are: what is asked there is asked of a person.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// Longest line that is read.
const LINE_BYTES_MAX: usize = 1024;

/// An open terminal.
pub(crate) struct Tty {
    file: File,
}

/// Why nothing was typed.
#[derive(Debug)]
pub(crate) enum NoLine {
    /// Ctrl-C, Ctrl-D, or nobody is there any more.
    GaveUp,
    Failed(io::Error),
    TooLong,
}

impl Tty {
    /// # Errors
    /// When there is none: a program starts us, not a person.
    pub(crate) fn open() -> io::Result<Tty> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        tcgetattr(&file)?;
        Ok(Tty { file })
    }

    /// Shows something; it begins and ends as it is.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }

    /// Reads a line that is not shown.
    ///
    /// # Errors
    /// [`NoLine`].
    pub(crate) fn secret(&mut self, prompt: &str) -> Result<String, NoLine> {
        // First: what is typed at the prompt is not shown for a moment either.
        let quiet = Quiet::begin(&self.file).map_err(NoLine::Failed)?;
        self.say(prompt).map_err(NoLine::Failed)?;
        let read = self.line();
        drop(quiet);
        self.say("\n").map_err(NoLine::Failed)?;
        read
    }

    /// Byte by byte, since signals are off: they would leave the terminal as it is now.
    fn line(&mut self) -> Result<String, NoLine> {
        const BACKSPACE: [u8; 2] = [8, 127];
        const GIVE_UP: [u8; 3] = [3, 4, 28];
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            if self.file.read(&mut byte).map_err(NoLine::Failed)? == 0 {
                return Err(NoLine::GaveUp);
            }
            let [byte] = byte;
            match byte {
                b'\r' | b'\n' => {
                    return String::from_utf8(line)
                        .map_err(|_| NoLine::Failed(io::Error::other("what was typed is not UTF-8")));
                }
                // The whole line, as shells have it.
                21 => line.clear(),
                byte if GIVE_UP.contains(&byte) => return Err(NoLine::GaveUp),
                byte if BACKSPACE.contains(&byte) => pop(&mut line),
                byte => line.push(byte),
            }
            if line.len() > LINE_BYTES_MAX {
                return Err(NoLine::TooLong);
            }
        }
    }
}

/// The last character, which may be of several bytes.
fn pop(line: &mut Vec<u8>) {
    while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
}

/// A terminal that shows nothing of what is typed, until this goes.
struct Quiet {
    file: File,
    before: Termios,
}

impl Quiet {
    fn begin(file: &File) -> io::Result<Quiet> {
        let file = file.try_clone()?;
        let before = tcgetattr(&file)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question is no answer to it.
        tcsetattr(&file, OptionalActions::Flush, &quiet)?;
        Ok(Quiet { file, before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone needs no care.
        let _ = tcsetattr(&self.file, OptionalActions::Flush, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_goes_whole() {
        let mut line = "aä🙂".as_bytes().to_vec();
        for left in ["aä", "a", "", ""] {
            pop(&mut line);
            assert_eq!(std::str::from_utf8(&line).unwrap(), left);
        }
    }
}
