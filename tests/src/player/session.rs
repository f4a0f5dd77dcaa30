//! A wrapper around one mode of the fake server, for tests written by hand.

use std::{path::Path, time::Duration};

use super::{Client, Record, Setup, WRITE_WITHIN};
use crate::Wrapper;

const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A client and the record of its server. The client is dropped first: it ends who writes there.
#[derive(Debug)]
pub struct Session {
    /// The client.
    pub client: Client,
    /// What the server saw.
    pub record: Record,
}

impl Session {
    /// Starts the wrapper around `fake-server MODE FILE RECORD MORE...`.
    pub fn start(wrapper: &Wrapper, name: &str, mode: &str, file: &Path, more: &[String]) -> Self {
        let record = Record::new(name);
        let setup = Setup {
            command: wrapper.around(wrapper.fake_server(mode, file, record.path(), more)),
            directory: record.path().to_owned(),
            env: Vec::new(),
            replies: Vec::new(),
            leave_stderr_unread: false,
        };
        let client = Client::start(setup).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { client, record }
    }

    /// Sends one frame; the line feed is added.
    pub fn send(&self, frame: &str) -> Result<(), String> {
        self.client.send(format!("{frame}\n").into_bytes(), WRITE_WITHIN)
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, id: &str, method: &str, params: &str) -> Result<(), String> {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        self.client.wait_id(id, ANSWER_WITHIN)
    }

    /// The legacy opening exchange.
    pub fn open(&mut self, version: &str) -> Result<(), String> {
        let params = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"case","version":"1"}}}}"#
        );
        self.ask("\"open\"", "initialize", &params)?;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    /// EOF; the wrapper must end and leave nobody behind. Gives its exit code.
    pub fn end(&mut self, within: Duration) -> Result<i32, String> {
        self.client.close_stdin();
        let ms = within.as_millis();
        let code = self.client.wait_exit(within);
        let code = code.ok_or_else(|| format!("the wrapper still ran {ms} ms after end of file"))?;
        let left = self.record.wait_no_leftover(Duration::from_secs(3));
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(ToString::to_string).collect();
            return Err(format!("processes left: {}", left.join(", ")));
        }
        self.client.wait_output_end(Duration::from_secs(1));
        Ok(code)
    }
}
