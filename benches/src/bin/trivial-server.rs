//! A stdio MCP server that costs next to nothing, so that what is measured is the way to it.
//!
//! `tools/call` takes `{"size":N,"body":"text|escaped|records|json","id":"first|last"}` and
//! answers with about N bytes; without them the answer is small. Bodies are built once and kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::AsFd;

use framegate_benches::json::member;
use memchr::memchr;

const CHUNK_BYTES: usize = 256 * 1024;
/// Beyond this all bodies are forgotten: 32 cases of 60 MB in eight servers would not fit.
const KEPT_BYTES_MAX: usize = 160_000_000;

const INITIALIZE: &str = "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\
\"serverInfo\":{\"name\":\"trivial\",\"version\":\"0\"}}";
const LIST: &str = "{\"tools\":[{\"name\":\"echo\",\"description\":\"Returns text.\",\
\"inputSchema\":{\"type\":\"object\"}}]}";
const SMALL: &str = "{\"content\":[{\"type\":\"text\",\"text\":\
\"The quick brown fox jumps over the lazy dog, then rests.\"}],\"isError\":false}";
const UNKNOWN: &str = "{\"code\":-32601,\"message\":\"method not found\"}";

fn main() -> io::Result<()> {
    let mut input = bare(io::stdin())?;
    let mut server = Server { output: bare(io::stdout())?, batch: Vec::new(), bodies: HashMap::new() };
    let mut buffer = vec![0; CHUNK_BYTES];
    let (mut end, mut scanned) = (0, 0);
    loop {
        if end == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let count = input.read(buffer.get_mut(end..).unwrap_or_default())?;
        if count == 0 {
            return Ok(());
        }
        end += count;
        let mut start = 0;
        while let Some(at) = memchr(b'\n', buffer.get(scanned..end).unwrap_or_default()) {
            server.frame(buffer.get(start..scanned + at).unwrap_or_default())?;
            scanned += at + 1;
            start = scanned;
        }
        server.flush()?;
        buffer.copy_within(start..end, 0);
        end -= start;
        scanned = end;
    }
}

fn bare(standard: impl AsFd) -> io::Result<File> {
    standard.as_fd().try_clone_to_owned().map(File::from)
}

struct Server {
    output: File,
    /// Small answers waiting to leave together.
    batch: Vec<u8>,
    bodies: HashMap<Vec<u8>, String>,
}

impl Server {
    fn frame(&mut self, frame: &[u8]) -> io::Result<()> {
        let Some(id) = member(frame, "id") else {
            return Ok(());
        };
        match member(frame, "method") {
            Some(br#""tools/call""#) => self.call(frame, id),
            Some(br#""initialize""#) => self.small(id, "result", INITIALIZE),
            Some(br#""tools/list""#) => self.small(id, "result", LIST),
            Some(br#""ping""#) => self.small(id, "result", "{}"),
            Some(_) => self.small(id, "error", UNKNOWN),
            None => Ok(()),
        }
    }

    fn small(&mut self, id: &[u8], kind: &str, value: &str) -> io::Result<()> {
        self.batch.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        self.batch.extend_from_slice(id);
        writeln!(self.batch, ",\"{kind}\":{value}}}")
    }

    fn call(&mut self, frame: &[u8], id: &[u8]) -> io::Result<()> {
        let arguments = member(frame, "params").and_then(|params| member(params, "arguments"));
        let wanted = |key| arguments.and_then(|arguments| member(arguments, key));
        let Some(size) = wanted("size") else {
            return self.small(id, "result", SMALL);
        };
        let kind = wanted("body").unwrap_or_default();
        let key = [kind, size].concat();
        if !self.bodies.contains_key(&key) {
            let size = std::str::from_utf8(size).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            if self.bodies.values().map(String::len).sum::<usize>() + size > KEPT_BYTES_MAX {
                self.bodies.clear();
            }
            self.bodies.insert(key.clone(), body(kind, size));
        }
        self.flush()?;
        let result = self.bodies.get(&key).map(String::as_bytes).unwrap_or_default();
        let mut parts: [&[u8]; 5] = if wanted("id") == Some(br#""last""#) {
            [b"{\"jsonrpc\":\"2.0\",\"result\":", result, b",\"id\":", id, b"}\n"]
        } else {
            [b"{\"jsonrpc\":\"2.0\",\"id\":", id, b",\"result\":", result, b"}\n"]
        };
        write_parts(&mut self.output, &mut parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.write_all(&self.batch)?;
        self.batch.clear();
        Ok(())
    }
}

/// One system call where the pipe takes it, and never a copy of a 60 MB body.
fn write_parts(output: &mut File, parts: &mut [&[u8]; 5]) -> io::Result<()> {
    let mut slices = parts.map(IoSlice::new);
    let mut left = &mut slices[..];
    while !left.is_empty() {
        let count = output.write_vectored(left)?;
        IoSlice::advance_slices(&mut left, count);
    }
    Ok(())
}

/// A result object of about `size` bytes.
fn body(kind: &[u8], size: usize) -> String {
    let (open, unit, close) = match kind {
        br#""records""# => (
            "{\"content\":[],\"structuredContent\":{\"rows\":[",
            "{\"id\":18,\"name\":\"row\",\"price\":12.5,\"tags\":[\"a\",\"b\"],\"ok\":true},",
            "null]},\"isError\":false}",
        ),
        br#""escaped""# => (
            TEXT_OPEN,
            "fn main() {\\n\\tlet s = \\\"a\\\\tb\\\";\\n\\tprintln!(\\\"{s}\\\");\\n}\\n",
            TEXT_CLOSE,
        ),
        br#""json""# => (
            TEXT_OPEN,
            "{\\\"id\\\":18,\\\"name\\\":\\\"row\\\",\\\"price\\\":12.5,\\\"ok\\\":true},",
            TEXT_CLOSE,
        ),
        _ => (TEXT_OPEN, "The quick brown fox jumps over the lazy dog. ", TEXT_CLOSE),
    };
    let count = size.saturating_sub(open.len() + close.len()) / unit.len();
    [open, &unit.repeat(count), close].concat()
}

const TEXT_OPEN: &str = "{\"content\":[{\"type\":\"text\",\"text\":\"";
const TEXT_CLOSE: &str = "\"}],\"isError\":false}";
