//! Ways of judging a call, and the conversation that they judge it in.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use bytes::Bytes;
use framegate_guard::json::{Document, Limits};
use framegate_guard::ledger::Snapshot;
use framegate_guard::messages::{Message, Role};
use framegate_guard::policy::Policy;
use framegate_guard::session::{Origin, Session, Window};
use framegate_guard::world::NoWorld;
use framegate_guard::{Call, Facts, Guard, Outcome};

use crate::eval::data::{self, Step, Tool};

/// How calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Everything is allowed.
    AllowAll,
    /// A person is asked about everything that does not only read.
    AskWrites,
    /// By the policy; only tool outputs are known, as behind a wrapped server.
    Outputs,
    /// By the policy; the user's prompt is known too.
    Prompt,
}

impl How {
    /// All of them.
    pub const ALL: [How; 4] = [How::AllowAll, How::AskWrites, How::Outputs, How::Prompt];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            How::AllowAll => "allow all",
            How::AskWrites => "ask on every write",
            How::Outputs => "P: tool outputs known",
            How::Prompt => "U: prompt known too",
        }
    }

    /// Whether the policy decides.
    pub fn is_guard(self) -> bool {
        matches!(self, How::Outputs | How::Prompt)
    }
}

/// Name and definition of each tool.
type Listing = Vec<(String, Result<Document, String>)>;

/// The guards of all suites, under one policy.
#[derive(Debug)]
pub struct Judges {
    guards: HashMap<String, Guard>,
    /// Suite and name of each tool that only reads.
    readers: HashSet<(String, String)>,
}

impl Judges {
    /// Guards for the tools of a file.
    pub fn read(folder: &Path, tools: &str, policy: &Policy) -> io::Result<Judges> {
        let tools: Vec<Tool> = data::rows(folder, tools)?;
        let mut listings: HashMap<String, Listing> = HashMap::new();
        let mut readers = HashSet::new();
        for tool in tools {
            let definition = serde_json::json!({
                "name": tool.name, "description": tool.description, "inputSchema": tool.schema,
            });
            let definition = Document::from_value(&definition, &Limits::default());
            let definition = definition.map_err(|why| why.to_string());
            listings.entry(tool.suite.clone()).or_default().push((tool.name.clone(), definition));
            if tool.read_only {
                readers.insert((tool.suite, tool.name));
            }
        }
        let facts =
            Facts::new(policy, &Default::default()).map_err(|wrong| io::Error::other(wrong.join("\n")))?;
        let guard = |suite: &str, listing| Guard::new(policy.clone(), suite, facts.clone()).adopt(listing).0;
        let guards = listings.into_iter().map(|(suite, listing)| (suite.clone(), guard(&suite, listing)));
        Ok(Judges { guards: guards.collect(), readers })
    }

    /// Whether a tool only reads.
    pub fn only_reads(&self, suite: &str, tool: &str) -> bool {
        self.readers.contains(&(suite.to_owned(), tool.to_owned()))
    }
}

/// A conversation as it grows, judged in one way.
#[derive(Debug)]
pub struct Talk<'j> {
    judges: &'j Judges,
    suite: &'j str,
    how: How,
    session: Session,
}

impl<'j> Talk<'j> {
    /// Begins with what the user says.
    pub fn new(judges: &'j Judges, suite: &'j str, how: How, prompt: &str) -> Talk<'j> {
        let mut session = Session::new(Window::default()).knowing_user(how == How::Prompt);
        if how == How::Prompt {
            session.add(Message { role: Role::User, text: prompt.to_owned() });
        }
        Talk { judges, suite, how, session }
    }

    /// A call was made, and this came back.
    pub fn made(&mut self, step: &Step, text: &str) {
        if self.how.is_guard() {
            let origin = Origin::tool(&step.name).called_with(arguments(step));
            self.session.output(origin, text.to_owned());
        }
    }

    /// Why a call is not allowed; empty: it is.
    pub fn judge(&self, step: &Step) -> Vec<String> {
        match self.how {
            How::AllowAll => Vec::new(),
            How::AskWrites if self.judges.only_reads(self.suite, &step.name) => Vec::new(),
            How::AskWrites => vec!["it does not only read".to_owned()],
            How::Outputs | How::Prompt => self.decide(step),
        }
    }

    fn decide(&self, step: &Step) -> Vec<String> {
        // A tool that a model made up does nothing.
        let Some(guard) = self.judges.guards.get(self.suite).filter(|guard| guard.lists(&step.name)) else {
            return Vec::new();
        };
        let Ok(arguments) = Document::read(arguments(step), &Limits::default()) else {
            return vec!["its arguments cannot be read".to_owned()];
        };
        let call = Call { tool: &step.name, id: None, arguments: arguments.root() };
        let decision = guard.decide(&call, &self.session, &Snapshot::nothing(), &NoWorld);
        if decision.outcome == Outcome::Allow {
            return Vec::new();
        }
        decision
            .findings
            .into_iter()
            .map(|finding| format!("{}: {}", finding.check, finding.reason))
            .collect()
    }
}

/// The arguments as JSON text.
fn arguments(step: &Step) -> Bytes {
    if step.arguments.is_null() { Bytes::from_static(b"{}") } else { step.arguments.to_string().into() }
}
