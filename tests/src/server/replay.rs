//! `replay`: the server's side of a recorded session.
//!
//! Before its turn to write it must have read exactly the client's bytes that come before, and
//! nothing else: a byte too many is a frame from the wrapper, a byte too few its buffering.

use std::fs;

use super::{
    Invocation, Stop,
    wire::{Input, Output},
};
use crate::transcript::{Chunking, Side, Transcript, difference};

/// Where in the record directory the server says what it saw wrong.
pub const FAULT_FILE: &str = "replay_fault.txt";

pub(super) fn run(input: Input, output: &Output, invocation: &Invocation) -> Result<(), Stop> {
    let result = replay(input, output, invocation);
    if let Err(Stop::Fault(text)) = &result {
        fs::write(invocation.record.join(FAULT_FILE), text)?;
    }
    result
}

fn replay(mut input: Input, output: &Output, invocation: &Invocation) -> Result<(), Stop> {
    let transcript = Transcript::load(&invocation.file).map_err(Stop::Fault)?;
    let chunking = invocation.more.first().and_then(|name| Chunking::named(name));
    let chunking = chunking.ok_or_else(|| Stop::Fault("which chunking?".to_owned()))?;
    let (mut got, mut want) = (Vec::new(), Vec::new());
    for turn in transcript.turns() {
        match turn.side {
            Side::Client => {
                want.extend_from_slice(&turn.bytes);
                // Not a byte of a wrong beginning is waited for: the rest may never come.
                while got.len() < want.len() && want.starts_with(&got) {
                    match input.bytes()? {
                        Some(bytes) => got.extend(bytes),
                        None => return Err(fault("end of file too early", &got, &want)),
                    }
                }
                if got != want {
                    return Err(fault("before it was the server's turn", &got, &want));
                }
            }
            Side::Server => {
                for piece in chunking.pieces(&turn.bytes) {
                    output.put(piece)?;
                    chunking.pause();
                }
            }
        }
    }
    while let Some(bytes) = input.bytes()? {
        got.extend(bytes);
    }
    if got == want { Ok(()) } else { Err(fault("after the last frame", &got, &want)) }
}

fn fault(when: &str, got: &[u8], want: &[u8]) -> Stop {
    Stop::Fault(format!("client->server {when}: {}", difference(got, want)))
}
