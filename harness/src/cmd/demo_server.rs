//! `framegate demo-server`: a small MCP server of both eras over a temporary folder, so that
//! `framegate try` works where there is no Node and no Python.

use std::io::{self, BufRead, Write};
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::mcp::{LEGACY, MODERN, VERSION_KEY, text_result};

/// Hits of a search, at most.
const HITS_MAX: usize = 50;

pub(crate) fn main() -> Exit {
    match serve() {
        Ok(()) => Exit::Clean,
        // The client has left.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Exit::Clean,
        Err(_) => Exit::Broken,
    }
}

fn serve() -> io::Result<()> {
    let folder = tempfile::Builder::new().prefix("framegate-demo-").tempdir()?;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().split(b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(&line?) else { continue };
        if let Some(answer) = answer(&message, folder.path()) {
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

fn answer(message: &Value, folder: &Path) -> Option<Value> {
    let (id, method) = (message.get("id")?, message.get("method")?.as_str()?);
    let params = message.get("params").unwrap_or(&Value::Null);
    let body = match method {
        "initialize" => Ok(json!({
            "protocolVersion": agreed_version(params), "capabilities": { "tools": {} }, "serverInfo": server_info(),
        })),
        "server/discover" => match params.pointer("/_meta").and_then(|meta| meta.get(VERSION_KEY)) {
            Some(_) => Ok(json!({
                "resultType": "complete", "supportedVersions": [MODERN], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private", "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
            })),
            None => Err((-32602, "params._meta lacks the protocol version".to_owned())),
        },
        "ping" => Ok(json!({})),
        "tools/list" => {
            Ok(json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools() }))
        }
        "tools/call" => call(params, folder),
        _ => Err((-32601, format!("no method `{method}`"))),
    };
    Some(match body {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, text)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } })
        }
    })
}

fn server_info() -> Value {
    json!({ "name": "framegate-demo", "version": env!("CARGO_PKG_VERSION") })
}

fn agreed_version(params: &Value) -> &str {
    const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or(LEGACY);
    if KNOWN.contains(&asked) { asked } else { LEGACY }
}

fn tools() -> Value {
    let tool = |name: &str, text: &str, reads: bool, keys: &[(&str, &str)]| {
        let properties: serde_json::Map<String, Value> = keys
            .iter()
            .map(|(key, text)| ((*key).to_owned(), json!({ "type": "string", "description": text })))
            .collect();
        let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        json!({
            "name": name, "description": text, "annotations": { "readOnlyHint": reads },
            "inputSchema": { "type": "object", "properties": properties, "required": required },
        })
    };
    let path = ("path", "file name inside the demo folder");
    json!([
        tool(
            "write_file",
            "Writes a text file in a temporary folder",
            false,
            &[path, ("text", "what to write")]
        ),
        tool("read_file", "Reads a text file of that folder", true, &[path]),
        tool("search", "Finds lines that contain a text", true, &[("text", "what to look for")]),
    ])
}

fn call(params: &Value, folder: &Path) -> Result<Value, (i64, String)> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let argument = |key: &str| {
        let value =
            params.pointer("/arguments").and_then(|arguments| arguments.get(key)).and_then(Value::as_str);
        value.ok_or_else(|| format!("argument `{key}` is missing or not a string"))
    };
    let done = match name {
        "write_file" => argument("path").and_then(|path| write(folder, path, argument("text")?)),
        "read_file" => argument("path").and_then(|path| read(folder, path)),
        "search" => argument("text").and_then(|text| search(folder, text)),
        _ => return Err((-32602, format!("no tool `{name}`"))),
    };
    Ok(match done {
        Ok(text) => text_result(&text, false),
        Err(text) => text_result(&text, true),
    })
}

/// A path inside the folder: plain names only, so that the demo cannot reach anything else.
fn inside(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.is_empty() || !Path::new(path).components().all(plain) {
        return Err(format!("`{path}` is not a name inside the demo folder"));
    }
    Ok(folder.join(path))
}

fn write(folder: &Path, path: &str, text: &str) -> Result<String, String> {
    let file = inside(folder, path)?;
    let parent = file.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(&file, text))
        .map(|()| format!("wrote {} bytes to {path}", text.len()))
        .map_err(|why| format!("`{path}` cannot be written: {why}"))
}

fn read(folder: &Path, path: &str) -> Result<String, String> {
    std::fs::read_to_string(inside(folder, path)?).map_err(|why| format!("`{path}` cannot be read: {why}"))
}

fn search(folder: &Path, text: &str) -> Result<String, String> {
    let mut hits = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).map_err(|why| why.to_string())?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let content = std::fs::read_to_string(&path).unwrap_or_default();
            let lines = content.lines().enumerate().filter(|(_, line)| line.contains(text));
            hits.extend(lines.map(|(at, line)| format!("{name}:{}: {line}", at + 1)));
        }
    }
    hits.sort();
    hits.truncate(HITS_MAX);
    Ok(if hits.is_empty() { format!("nothing contains `{text}`") } else { hits.join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, name: &str, arguments: Value) -> Value {
        let message = json!({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":name,"arguments":arguments}});
        answer(&message, folder).unwrap()
    }

    #[test]
    fn files_are_written_read_and_found() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), "write_file", json!({"path":"a/b.txt","text":"one\ntwo"}));
        let read = run(folder.path(), "read_file", json!({"path":"a/b.txt"}));
        assert_eq!(read.pointer("/result/content/0/text"), Some(&json!("one\ntwo")));
        let found = run(folder.path(), "search", json!({"text":"tw"}));
        assert_eq!(found.pointer("/result/content/0/text"), Some(&json!("a/b.txt:2: two")));
    }

    #[test]
    fn nothing_outside_the_folder_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../x", "/etc/passwd", "a/../../x", ""] {
            let answer = run(folder.path(), "read_file", json!({ "path": path }));
            assert_eq!(answer.pointer("/result/isError"), Some(&json!(true)), "{path}");
        }
    }
}
