//! Sessions of real SDKs at every revision, replayed byte for byte and cut in awkward places.
//!
//! Client and fake server share the transcript. Each waits for exactly the bytes that come before
//! its turn, so a byte added, lost, changed or held back is found at the frame where it happens.

use std::{fs, path::Path, time::Duration};

use framegate_tests::{
    Wrapper, data,
    player::Session,
    server::FAULT_FILE,
    transcript::{Chunking, Side, Transcript, difference},
};

const TURN_WITHIN: Duration = Duration::from_secs(20);
const END_WITHIN: Duration = Duration::from_secs(5);

#[test]
fn one_byte_a_write() {
    replay_all(Chunking::EveryByte);
}

#[test]
fn thirteen_bytes_a_write() {
    replay_all(Chunking::Prime(13));
}

#[test]
fn writes_longer_than_most_frames() {
    replay_all(Chunking::Prime(1021));
}

#[test]
fn cut_inside_characters_and_before_line_feeds() {
    replay_all(Chunking::Seams);
}

#[test]
fn all_frames_of_a_turn_in_one_write() {
    replay_all(Chunking::Whole);
}

fn replay_all(chunking: Chunking) {
    let wrapper = framegate_tests::wrapper!();
    let listing = fs::read_dir(data("transcripts")).expect("data/transcripts is there");
    let mut files: Vec<_> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    assert!(files.len() >= 47, "only {} transcripts are there", files.len());
    let mut failures = Vec::new();
    for file in &files {
        if let Err(failure) = replay(&wrapper, file, chunking) {
            failures.push(format!("{}: {failure}", file.display()));
        }
    }
    assert!(failures.is_empty(), "writes {}:\n  - {}", chunking.name(), failures.join("\n  - "));
}

fn replay(wrapper: &Wrapper, file: &Path, chunking: Chunking) -> Result<(), String> {
    let transcript = Transcript::load(file)?;
    let mut session = Session::start(wrapper, "transcript", "replay", file, &[chunking.name()]);
    let played = take_turns(&session, &transcript, chunking);
    let ended = session.end(END_WITHIN);
    // The server's complaint is the cause; what the client saw is the effect.
    let fault = session.record.read(FAULT_FILE);
    if !fault.is_empty() {
        return Err(String::from_utf8_lossy(&fault).into_owned());
    }
    played?;
    same("client->server", &session.record.server_got(), &transcript.all_of(Side::Client))?;
    same("server->client", &session.client.received(), &transcript.all_of(Side::Server))?;
    match ended? {
        0 => Ok(()),
        code => Err(format!("exit code {code} after a session without fault")),
    }
}

fn take_turns(session: &Session, transcript: &Transcript, chunking: Chunking) -> Result<(), String> {
    let mut want = Vec::new();
    for turn in transcript.turns() {
        match turn.side {
            Side::Client => session.client.send_cut(turn.bytes.clone(), chunking, TURN_WITHIN)?,
            Side::Server => {
                want.extend_from_slice(&turn.bytes);
                session.client.wait_length(want.len(), TURN_WITHIN);
                same("server->client", &session.client.received(), &want)?;
            }
        }
    }
    Ok(())
}

fn same(direction: &str, got: &[u8], want: &[u8]) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{direction}: {}", difference(got, want))) }
}
