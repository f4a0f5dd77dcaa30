//! Frames as real peers meet them.

mod client;
mod mutate;
mod server;
mod smuggling;
mod transcripts;

use bytes::Bytes;
use framegate_pump::Frame;

use super::*;

fn read(line: impl AsRef<[u8]>) -> Result<Option<ClientFrame>, Refusal> {
    client_frame(&frame(line), &Limits::default())
}

fn frame(line: impl AsRef<[u8]>) -> Frame {
    Frame::from_wire(Bytes::copy_from_slice(line.as_ref()))
}

fn refused(line: impl AsRef<[u8]>) -> Refusal {
    let line = line.as_ref();
    read(line).expect_err(&line.escape_ascii().to_string())
}

fn accepted(line: impl AsRef<[u8]>) -> ClientFrame {
    let line = line.as_ref();
    match read(line) {
        Ok(Some(read)) => read,
        other => panic!("{}: {other:?}", line.escape_ascii()),
    }
}

/// A call with these params.
fn call(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
}

/// The id a refusal goes to, as text; `none` when nobody is told, `null` when nobody is named.
fn told(refusal: &Refusal) -> Vec<String> {
    let id = |error: &Frame| {
        let value: serde_json::Value = serde_json::from_slice(error.body()).unwrap();
        value["id"].to_string()
    };
    refusal.errors().iter().map(id).collect()
}
