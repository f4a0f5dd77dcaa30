//! The servers that misbehave in a way frames cannot describe.

use std::{
    ffi::c_int,
    fs::File,
    process::Command,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{
    Invocation, Stop,
    core::{answer, id_or_null, is_call, result_frame},
    wire::{Input, Output},
};
use crate::scan;

const SLOW: Duration = Duration::from_millis(1500);
const FLOOD_PIECE_BYTES: usize = 1 << 16;
const FLOOD_PIECES: usize = 80 * 16;

pub(super) fn chatty(mut input: Input, output: &Output) -> Result<(), Stop> {
    let tick = concat!(
        r#"{"jsonrpc":"2.0","method":"notifications/message","#,
        r#""params":{"level":"info","data":"tick"}}"#,
        "\n"
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                // A closed stdout does not end it: that is the fault it plays.
                let _closed = output.put(tick.as_bytes());
                thread::sleep(Duration::from_millis(50));
            }
        });
        while let Some(line) = input.line()? {
            answer(output, &line, "ok")?;
        }
        sleep_for_ever()
    })
}

pub(super) fn close_stdout(mut input: Input, output: &Output) -> Result<(), Stop> {
    while let Some(line) = input.line()? {
        if is_call(&line, Some("shut")) {
            // Replacing fd 1 closes the pipe's write end, which is what the reader sees.
            let nowhere = File::options().write(true).open("/dev/null")?;
            rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
            thread::sleep(Duration::from_secs(120));
        }
        answer(output, &line, "ok")?;
    }
    Ok(())
}

pub(super) fn concurrent(mut input: Input, output: &Output) -> Result<(), Stop> {
    thread::scope(|scope| {
        while let Some(line) = input.line()? {
            if is_call(&line, Some("slow")) {
                scope.spawn(move || {
                    thread::sleep(SLOW);
                    answer(output, &line, "slow done")
                });
            } else {
                answer(output, &line, "ok")?;
            }
        }
        Ok(())
    })
}

pub(super) fn content_length(mut input: Input, output: &Output) -> Result<(), Stop> {
    let mut pending = Vec::new();
    while let Some(bytes) = input.bytes()? {
        pending.extend_from_slice(&bytes);
        while let Some((body, end)) = headed_body(&pending) {
            let result = result_frame(id_or_null(body), b"{}");
            let result = result.trim_ascii_end();
            let head = format!("Content-Length: {}\r\n\r\n", result.len());
            output.put(&[head.as_bytes(), result].concat())?;
            pending.drain(..end);
        }
    }
    Ok(())
}

/// The first whole body behind a `Content-Length` header, and where it ends.
fn headed_body(pending: &[u8]) -> Option<(&[u8], usize)> {
    let start = scan::find(pending, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&pending[..start]);
    let (_, length) = head.split_once("Content-Length:")?;
    let length: usize = length.lines().next()?.trim().parse().ok()?;
    let end = start + length;
    Some((pending.get(start..end)?, end))
}

pub(super) fn env(mut input: Input, output: &Output, more: &[String]) -> Result<(), Stop> {
    while let Some(line) = input.line()? {
        if !is_call(&line, None) {
            answer(output, &line, "ok")?;
            continue;
        }
        let text = |name: &str| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned());
        let mut names: Vec<_> =
            std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        names.sort();
        let seen = json!({
            "PATH": text("PATH"), "HOME": text("HOME"), "CASE_TOKEN": text("CASE_TOKEN"),
            "names": names, "cwd": std::env::current_dir()?.to_string_lossy(), "argv": more,
        });
        let result = json!({"content": [{"type": "text", "text": seen.to_string()}]});
        output.put(&result_frame(id_or_null(&line), result.to_string().as_bytes()))?;
    }
    Ok(())
}

pub(super) fn farewell(mut input: Input, output: &Output) -> Result<(), Stop> {
    while let Some(line) = input.line()? {
        answer(output, &line, "ok")?;
    }
    thread::sleep(Duration::from_millis(300));
    let last = concat!(
        r#"{"jsonrpc":"2.0","method":"notifications/message","#,
        r#""params":{"level":"info","data":"farewell"}}"#,
        "\n"
    );
    Ok(output.put(last.as_bytes())?)
}

pub(super) fn flood(mut input: Input, output: &Output, prefix: bool) -> Result<(), Stop> {
    while let Some(line) = input.line()? {
        if !is_call(&line, None) {
            answer(output, &line, "ok")?;
            continue;
        }
        let mut first = Vec::new();
        if prefix {
            first.extend(result_frame(b"1", br#"{"content":[]}"#));
            first.extend(result_frame(b"2", br#"{"content":[]}"#));
        }
        first.extend(br#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":""#);
        first.extend([b'A'; 50_000]);
        output.put(&first)?;
        let piece = vec![b'A'; FLOOD_PIECE_BYTES];
        // The reader may give up half way; the server then stays, and has to be ended.
        let _closed = (0..FLOOD_PIECES).try_for_each(|_| output.put_unrecorded(&piece));
        thread::sleep(Duration::from_secs(60));
    }
    Ok(())
}

pub(super) fn stubborn(mut input: Input, output: &Output, eof_only: bool) -> Result<(), Stop> {
    if !eof_only {
        ignore(&[SIGTERM, SIGINT, SIGHUP])?;
    }
    while let Some(line) = input.line()? {
        answer(output, &line, "ok")?;
    }
    sleep_for_ever()
}

/// The real server behind `wrapper`; it does not leave on EOF.
pub(super) fn inner(mut input: Input, output: &Output) -> Result<(), Stop> {
    while let Some(line) = input.line()? {
        answer(output, &line, "ok")?;
    }
    sleep_for_ever()
}

/// The wrapper itself: never touches the pipes, waits for the server that has them.
pub(super) fn start_inner(invocation: &Invocation) -> Result<(), Stop> {
    let status = Command::new(std::env::current_exe()?)
        .arg(&invocation.mode)
        .args([&invocation.file, &invocation.record])
        .arg("inner")
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
    if code == 0 { Ok(()) } else { Err(Stop::Exit(code)) }
}

/// A handler that does nothing stands for `SIG_IGN`, which only unsafe code can set.
fn ignore(signals: &[c_int]) -> Result<(), Stop> {
    for signal in signals {
        signal_hook::flag::register(*signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}
