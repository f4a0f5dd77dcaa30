//! `scripted`: plays a case's `server_frames`.
//!
//! Items without `on` are written at start. A rule answers the first request it matches, at most
//! `times` times; what no rule covers gets a plain answer.

use std::{fs, io, io::Write, path::Path, thread, time::Duration};

use serde_json::Value;

use super::{
    Stop,
    core::{id_or_null, result_frame},
    wire::{Input, Output},
};
use crate::{payload, scan};

const TOOLS: &str = r#"[{"name":"touch","description":"probe","inputSchema":{"type":"object"}}]"#;

pub(super) fn run(mut input: Input, output: &Output, case: &Path) -> Result<(), Stop> {
    let mut script = Script::load(case)?;
    for item in std::mem::take(&mut script.at_start) {
        emit(output, &item, b"null")?;
    }
    while let Some(line) = input.line()? {
        script.handle(output, &line)?;
    }
    Ok(())
}

struct Script {
    at_start: Vec<Value>,
    rules: Vec<Rule>,
    tools: String,
}

struct Rule {
    on: String,
    name: Option<String>,
    times_left: u64,
    emit: Vec<Value>,
}

impl Script {
    fn load(case: &Path) -> Result<Self, Stop> {
        let bad = |error: serde_json::Error| Stop::Fault(format!("{}: {error}", case.display()));
        let case: Value = serde_json::from_slice(&fs::read(case)?).map_err(bad)?;
        let mut script = Self { at_start: Vec::new(), rules: Vec::new(), tools: TOOLS.to_owned() };
        for item in case["server_frames"].as_array().into_iter().flatten() {
            if let Some(on) = item["on"].as_str() {
                script.rules.push(Rule::new(on, item));
            } else if let Some(tools) = item.get("tools") {
                script.tools = tools.as_str().map_or_else(|| tools.to_string(), str::to_owned);
            } else {
                script.at_start.push(item.clone());
            }
        }
        Ok(script)
    }

    fn handle(&mut self, output: &Output, line: &[u8]) -> Result<(), Stop> {
        let method = scan::strings(line, "method").first().map(|raw| unescaped(raw));
        let names = scan::strings(line, "name");
        for rule in &mut self.rules {
            if rule.matches(method.as_deref(), &names) {
                rule.times_left -= 1;
                let id = id_or_null(line);
                return rule.emit.iter().try_for_each(|item| emit(output, item, id));
            }
        }
        match (scan::id(line), method) {
            (Some(id), Some(method)) => Ok(output.put(&self.plain_answer(id, &method, &names, line))?),
            _ => Ok(()),
        }
    }

    fn plain_answer(&self, id: &[u8], method: &str, names: &[&[u8]], line: &[u8]) -> Vec<u8> {
        let result = match method {
            "initialize" => {
                let asked = scan::strings(line, "protocolVersion");
                let version = asked.first().copied().unwrap_or(b"2025-06-18");
                [
                    br#"{"protocolVersion":""#,
                    version,
                    br#"","capabilities":{"tools":{"listChanged":true}},"#,
                    br#""serverInfo":{"name":"scripted","version":"1"}}"#,
                ]
                .concat()
            }
            "tools/list" => [br#"{"tools":"#, self.tools.as_bytes(), b"}"].concat(),
            "tools/call" => {
                let name = names.first().copied().unwrap_or(b"?");
                [br#"{"content":[{"type":"text","text":"ran "#, name, br#""}]}"#].concat()
            }
            "ping" => b"{}".to_vec(),
            _ => {
                let error = br#","error":{"code":-32601,"message":"Method not found"}}"#;
                return [br#"{"jsonrpc":"2.0","id":"#, id, error, b"\n"].concat();
            }
        };
        result_frame(id, &result)
    }
}

// === impl Rule ===

impl Rule {
    fn new(on: &str, item: &Value) -> Self {
        let emit = match (item["emit"].as_array(), item.get("reply")) {
            (Some(items), _) if !items.is_empty() => items.clone(),
            (_, Some(reply)) => vec![reply.clone()],
            _ => Vec::new(),
        };
        Self {
            on: on.to_owned(),
            name: item["name"].as_str().map(str::to_owned),
            times_left: item["times"].as_u64().unwrap_or(u64::MAX),
            emit,
        }
    }

    fn matches(&self, method: Option<&str>, names: &[&[u8]]) -> bool {
        (self.on == "*" || Some(self.on.as_str()) == method)
            && self.name.as_ref().is_none_or(|name| names.contains(&name.as_bytes()))
            && self.times_left > 0
    }
}

/// The one escape that method names really meet: `tools\/call`.
fn unescaped(method: &[u8]) -> String {
    String::from_utf8_lossy(method).replace("\\/", "/")
}

fn emit(output: &Output, item: &Value, id: &[u8]) -> Result<(), Stop> {
    let expand = |item: &Value| payload::answer(item, id).map_err(Stop::Fault);
    if let Some(pause) = item["sleep_ms"].as_u64() {
        thread::sleep(Duration::from_millis(pause));
    } else if let Some(frame) = item.get("drip") {
        let gap = Duration::from_millis(item["gap_ms"].as_u64().unwrap_or(1));
        for byte in expand(frame)? {
            output.put(&[byte])?;
            thread::sleep(gap);
        }
    } else if let Some(text) = item["stderr"].as_str() {
        let times = usize::try_from(item["times"].as_u64().unwrap_or(1)).unwrap_or(usize::MAX);
        io::stderr().write_all(text.repeat(times).as_bytes())?;
    } else if let Some(code) = item["exit"].as_u64() {
        return Err(Stop::Exit(u8::try_from(code).unwrap_or(u8::MAX)));
    } else if let Some(items) = item["join"].as_array() {
        // Several frames in one write.
        let frames: Vec<Vec<u8>> = items.iter().map(expand).collect::<Result<_, _>>()?;
        output.put(&frames.concat())?;
    } else {
        output.put(&expand(item)?)?;
    }
    Ok(())
}
