//! The program behind `fake-server`: a scripted MCP server that works on bytes.
//!
//! `fake-server MODE FILE RECORD_DIR [ARGS...]`; FILE is the case (a transcript for `replay`). Every
//! byte read goes to `RECORD_DIR/c2s.bin`, every byte written to `RECORD_DIR/s2c.bin`.
//!
//! | mode | does |
//! |---|---|
//! | `scripted` | plays the case's `server_frames` |
//! | `chatty` | a notification every 50 ms; ignores EOF and a closed stdout |
//! | `close_stdout` | on the call `shut`: closes stdout and sleeps on |
//! | `concurrent` | answers the call `slow` after 1.5 s from a thread, all else at once |
//! | `content_length` | frames like LSP: headers, no line feed |
//! | `env` | answers a call with environment, working directory and arguments |
//! | `farewell` | works for 300 ms after EOF, then writes a last notification |
//! | `flood [prefix]` | on a call: 80 MiB without a line feed, after two whole answers in the same write with `prefix` |
//! | `stubborn [eof]` | never leaves on EOF; without `eof` nor on TERM, INT, HUP |
//! | `wrapper` | plays npx: the real server is a grandchild on the same pipes and ignores EOF |
//! | `replay` | a transcript's server side, cut as the argument after RECORD_DIR says |

mod core;
mod kinds;
mod replay;
mod scripted;
mod wire;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub use replay::FAULT_FILE;

/// Why a mode ends before its input does.
#[derive(Debug)]
enum Stop {
    /// The case says so.
    Exit(u8),
    /// A pipe failed, or the case cannot be read.
    Fault(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Fault(error.to_string())
    }
}

/// A mode's command line.
struct Invocation {
    mode: String,
    file: PathBuf,
    record: PathBuf,
    more: Vec<String>,
}

/// The program.
pub fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(mode), Some(file), Some(record)) = (words.next(), words.next(), words.next()) else {
        eprintln!("usage: fake-server MODE FILE RECORD_DIR [ARGS...]");
        return ExitCode::from(64);
    };
    let invocation = Invocation { mode, file: file.into(), record: record.into(), more: words.collect() };
    match run(&invocation) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Fault(text)) => {
            eprintln!("fake-server {}: {text}", invocation.mode);
            ExitCode::FAILURE
        }
    }
}

fn run(invocation: &Invocation) -> Result<(), Stop> {
    let more = invocation.more.as_slice();
    let first = more.first().map_or("", String::as_str);
    if invocation.mode == "wrapper" && first != "inner" {
        return kinds::start_inner(invocation);
    }
    let (input, output) = wire::open(Path::new(&invocation.record))?;
    match invocation.mode.as_str() {
        "scripted" => scripted::run(input, &output, &invocation.file),
        "chatty" => kinds::chatty(input, &output),
        "close_stdout" => kinds::close_stdout(input, &output),
        "concurrent" => kinds::concurrent(input, &output),
        "content_length" => kinds::content_length(input, &output),
        "env" => kinds::env(input, &output, more),
        "farewell" => kinds::farewell(input, &output),
        "flood" => kinds::flood(input, &output, first == "prefix"),
        "stubborn" => kinds::stubborn(input, &output, first == "eof"),
        "wrapper" => kinds::inner(input, &output),
        "replay" => replay::run(input, &output, invocation),
        mode => Err(Stop::Fault(format!("unknown mode `{mode}`"))),
    }
}
