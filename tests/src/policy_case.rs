//! Policy cases as `framegate test` reads them, cut into what `framegate run` can be given: sessions under one
//! policy with one set of facts.
//!
//! A case says more than a wrapper can know: what was said, what time it is. Such a case is not for `run`, and
//! [`Play::read`] says why.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json, value::RawValue};

/// One session.
#[derive(Debug, Default, Clone)]
pub struct Play {
    /// The policy's text.
    pub policy: String,
    /// `--facts`.
    pub facts: serde_json::Map<String, Value>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// One line of a case.
#[derive(Debug, Clone)]
pub enum Event {
    /// The server's tools, from here on; JSON text.
    Tools(String),
    /// A call.
    Call(Box<Call>),
}

/// A call, and what is right.
#[derive(Debug, Clone)]
pub struct Call {
    /// Where it stands.
    pub place: String,
    /// The tool.
    pub name: String,
    /// The arguments as the case spells them.
    pub arguments: Option<String>,
    /// The content that the tool gives.
    pub content: Value,
    /// Whether that is an error.
    pub is_error: bool,
    /// What is right.
    pub expect: Value,
}

/// What came of reading a file.
#[derive(Debug)]
pub enum Read {
    /// Sessions to play.
    Plays(Vec<Play>),
    /// Why a wrapper cannot play it.
    NotForRun(String),
}

/// An object's members as they are spelled.
type Members = BTreeMap<String, Box<RawValue>>;

impl Play {
    /// Reads a file. A path of the case is below `root`, where its links are laid out.
    pub fn read(file: &Path, root: &Path) -> Result<Read, String> {
        let read = |file: &Path| {
            let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok::<_, String>(moved(&text, root))
        };
        let (mut plays, mut tools) = (Vec::<Play>::new(), None);
        for (at, line) in read(file)?.lines().enumerate() {
            let place = format!("{}:{}", file.display(), at + 1);
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let bad = |error: serde_json::Error| format!("{place}: {error}");
            let raw: Members = serde_json::from_str(line).map_err(bad)?;
            // A call may hold numbers that are none to `Value`.
            let read_on = raw.iter().filter(|(key, _)| *key != "call" && *key != "tools");
            let event = read_on.map(|(key, text)| Ok((key.clone(), serde_json::from_str(text.get())?)));
            let event = event.collect::<Result<serde_json::Map<_, Value>, _>>().map_err(bad)?;
            let event = Value::from(event);
            let mut next = plays.last().cloned().unwrap_or_default();
            if let Some(why) = ["message", "now"].iter().find(|key| event.get(**key).is_some()) {
                return Ok(Read::NotForRun(format!("a wrapper is given no `{why}`")));
            }
            if let Some(policy) = event["policy"].as_str() {
                next = Play { policy: read(&file.with_file_name(policy))?, ..Play::default() };
            } else if let Some(text) = event["policy_text"].as_str() {
                next = Play { policy: text.to_owned(), ..Play::default() };
            } else if let Some(facts) = event["facts"].as_object() {
                next.facts.extend(facts.clone());
                next.events = tools.clone().into_iter().collect();
            } else if let Some(paths) = event["paths"].as_object() {
                lay_out(paths).map_err(|error| format!("{place}: {error}"))?;
                continue;
            } else if let Some(listed) = raw.get("tools") {
                tools = Some(Event::Tools(listed.get().to_owned()));
                let Some(play) = plays.last_mut() else { return Err(format!("{place}: no policy yet")) };
                play.events.extend(tools.clone());
                continue;
            } else if let Some(call) = raw.get("call") {
                let Some(play) = plays.last_mut() else { return Err(format!("{place}: no policy yet")) };
                play.events.push(Event::Call(Box::new(Call::read(place, call, &event)?)));
                continue;
            } else {
                return Err(format!("{place}: an event that nobody plays"));
            }
            // Policy and facts are fixed for a session of `run`, so others begin another one.
            plays.push(next);
        }
        plays.retain(|play| play.events.iter().any(|event| matches!(event, Event::Call(_))));
        Ok(Read::Plays(plays))
    }

    /// `server_frames` for the scripted server: the listings in order, and a result for each call that is
    /// expected to be made. A ping tells of the next listing.
    pub fn script(&self) -> Value {
        let mut frames = Vec::new();
        let listed = self.events.iter().filter_map(|event| match event {
            Event::Tools(tools) => Some(tools),
            Event::Call(_) => None,
        });
        let listed: Vec<&String> = listed.collect();
        for (at, tools) in listed.iter().enumerate() {
            let reply = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":{tools}}}}}"#);
            let is_last = at + 1 == listed.len();
            frames.push(
                json!({ "on": "tools/list", "times": if is_last { u64::MAX } else { 1 }, "reply": reply }),
            );
        }
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let pong = r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#;
        frames
            .push(json!({ "on": "ping", "times": listed.len().saturating_sub(1), "emit": [changed, pong] }));
        for event in &self.events {
            let Event::Call(call) = event else { continue };
            if call.expect["outcome"] == "allow" {
                let result = json!({ "content": call.content, "isError": call.is_error });
                let reply = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#);
                frames.push(json!({ "on": "tools/call", "name": call.name, "times": 1, "reply": reply }));
            }
        }
        frames.into()
    }
}

impl Call {
    fn read(place: String, raw: &RawValue, event: &Value) -> Result<Self, String> {
        let bad = |error: serde_json::Error| format!("{place}: {error}");
        let members: Members = serde_json::from_str(raw.get()).map_err(bad)?;
        let name = members.get("name").ok_or_else(|| format!("{place}: a call in another form"))?;
        let name: String = serde_json::from_str(name.get()).map_err(bad)?;
        if event["made"] == true && event["expect"]["outcome"] != "allow" {
            return Err(format!("{place}: `run` cannot make a call that is refused"));
        }
        let content = match &event["output"] {
            _ if event["made"] == false => json!([]),
            Value::Null => json!([{ "type": "text", "text": "done" }]),
            Value::String(text) => json!([{ "type": "text", "text": text }]),
            blocks => blocks.clone(),
        };
        Ok(Self {
            name,
            arguments: members.get("arguments").map(|text| text.get().to_owned()),
            content,
            is_error: event["is_error"].as_bool().unwrap_or_default(),
            expect: event["expect"].clone(),
            place,
        })
    }
}

/// A case's `/work` and `/etc`, where they begin a path, below a folder of this run's.
fn moved(text: &str, root: &Path) -> String {
    let mut text = text.to_owned();
    for name in ["\"/work", "'/work", "\"/etc"] {
        let (quote, path) = name.split_at(1);
        text = text.replace(name, &format!("{quote}{}{path}", root.display()));
    }
    text
}

/// Links by the path they have; `.` is where the server is started.
fn lay_out(paths: &serde_json::Map<String, Value>) -> std::io::Result<()> {
    for (path, target) in paths {
        let (path, target) = (Path::new(path), Path::new(target.as_str().unwrap_or_default()));
        fs::create_dir_all(target)?;
        if path != Path::new(".") {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            symlink(target, path)?;
        }
    }
    Ok(())
}
