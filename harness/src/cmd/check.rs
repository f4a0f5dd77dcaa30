//! `framegate check`: what is wrong with a policy, alone and beside the server it is for.

mod differ;

use std::io::{self, Write};
use std::time::Duration;

use framegate_guard::json::{Document, Value};
use framegate_guard::policy::{Listed, Listing, Loaded, Policy, Problem, Severity};
use framegate_guard::{Facts, Guard};
use serde_json::json;

use super::out::{Failure, Out};
use crate::args::{CheckArgs, Era};
use crate::bridge::listing;
use crate::child::{ServerCommand, ServerName};
use crate::client::{Client, ClientError, Start};
use crate::exit::Exit;
use crate::explain::visible;
use crate::policy_file::{self, PolicyFileError};

/// How long each answer of the server's may take.
const ANSWER_WAIT: Duration = Duration::from_secs(60);
/// Pages of a listing that are followed.
const PAGES_MAX: usize = 1000;

pub(crate) fn main(args: &CheckArgs) -> Exit {
    let report = match check(args) {
        Ok(report) => report,
        Err(failure) => return failure.said(),
    };
    let mut out = Out::stdout();
    let text = if args.json { report.json() } else { report.text() };
    if let Err(why) = out.line(&text).and_then(|()| out.flush()) {
        return Failure::stdout(&why).said();
    }
    let is_fine = report.count(Severity::Error) == 0
        && !(args.strict && (report.count(Severity::Warning) > 0 || !report.remarks().is_empty()));
    if is_fine { Exit::Clean } else { Exit::Policy }
}

/// Everything found.
struct Report {
    policy: String,
    problems: Vec<Problem>,
    server: Option<Server>,
}

/// What the server lists, beside the policy.
struct Server {
    name: String,
    /// What a person should know of its listing.
    remarks: Vec<String>,
    tools: Vec<Tool>,
}

struct Tool {
    name: String,
    is_offered: bool,
    /// Some entry under `tools:` names it, or `default: allow` lets it through.
    is_named: bool,
    rules: Vec<String>,
    /// Where the policy's schema is another than the server's.
    differences: Vec<String>,
}

fn check(args: &CheckArgs) -> Result<Report, Failure> {
    let name = args.policy.display().to_string();
    let Loaded { policy, warnings } = match policy_file::read(&args.policy) {
        Ok(loaded) => loaded,
        Err(PolicyFileError::Policy(errors)) => {
            let problems = errors.problems().to_vec();
            return Ok(Report { policy: name, problems, server: None });
        }
        Err(why) => return Err(Failure { exit: Exit::Policy, text: why.to_string() }),
    };
    let mut report = Report { policy: name, problems: warnings, server: None };
    if let [program, arguments @ ..] = args.command.as_slice() {
        let given = args.name.as_deref().map(ServerName::given);
        let server = given.unwrap_or_else(|| ServerCommand::new(program.clone(), arguments.to_vec()).name());
        let (tools, has_resources) = ask(args)?;
        let (server, problems) = beside(&policy, server.as_str(), tools, has_resources);
        report.problems.extend(problems);
        report.server = Some(server);
    }
    Ok(report)
}

/// Starts the server once and lists its tools; and whether it offers resources.
fn ask(args: &CheckArgs) -> Result<(Vec<listing::Listed>, bool), Failure> {
    let start = Start {
        command: &args.command,
        policy: None,
        cwd: args.cwd.as_deref(),
        timeout: ANSWER_WAIT,
        is_bare: true,
    };
    let system = |why: ClientError| Failure { exit: Exit::Broken, text: why.to_string() };
    let mut client = Client::start(&start).map_err(system)?;
    let listed = client.open(Era::Auto).map_err(|why| why.to_string()).and_then(|()| list(&mut client));
    let has_resources = client.capabilities.get("resources").is_some();
    let (said, code) = client.close();
    listed.map(|tools| (tools, has_resources)).map_err(|why| {
        let code = code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
        // What the server said is mostly why.
        let _ = io::stderr().write_all(said.as_bytes());
        let text = format!("the server's tools are not known: {why}");
        Failure { exit: code.map_or(Exit::Broken, Exit::Server), text }
    })
}

fn list(client: &mut Client) -> Result<Vec<listing::Listed>, String> {
    let (mut params, mut tools) = (json!({}), Vec::new());
    for _ in 0..PAGES_MAX {
        let line = match client.request_line("tools/list", params) {
            Ok(line) => line,
            // A server without tools says so by "method not found".
            Err(ClientError::Refused(_, text)) if text.starts_with("-32601:") => return Ok(tools),
            Err(why) => return Err(why.to_string()),
        };
        match listing::page(&line, &mut tools)? {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok(tools),
        }
    }
    Err(format!("the listing has more than {PAGES_MAX} pages"))
}

/// The policy beside a listing.
fn beside(
    policy: &Policy,
    name: &str,
    tools: Vec<listing::Listed>,
    has_resources: bool,
) -> (Server, Vec<Problem>) {
    let definitions: Vec<(String, Option<Document>)> =
        tools.iter().map(|tool| (tool.name.clone(), tool.definition.as_ref().ok().cloned())).collect();
    let listed: Vec<Listed<'_>> =
        definitions.iter().map(|(name, tool)| Listed { name, schema: schema_of(tool.as_ref()) }).collect();
    let listing = Listing { tools: Some(listed.clone()), resources: has_resources };
    let (_, problems) = policy.bind(name, &listing);
    let guard = Guard::new(policy.clone(), name, Facts::default());
    let (guard, remarks) = guard.adopt(tools.into_iter().map(|tool| (tool.name, tool.definition)));
    // Those that have a place in the file are among the problems already.
    let placed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let remarks = remarks.into_iter().filter(|remark| !placed.contains(remark)).collect();
    let tool = |listed: &Listed<'_>| Tool {
        name: listed.name.to_owned(),
        is_offered: guard.offers(listed.name),
        is_named: guard.options(listed.name).is_some(),
        rules: guard.checks_of(listed.name).into_iter().map(|check| check.name).collect(),
        differences: own_schema(&guard, listed),
    };
    let tools = listed.iter().map(tool).collect();
    (Server { name: name.to_owned(), remarks, tools }, problems)
}

fn schema_of(definition: Option<&Document>) -> Option<Value<'_>> {
    definition?.root().get("inputSchema")
}

fn own_schema(guard: &Guard, listed: &Listed<'_>) -> Vec<String> {
    let own = guard.options(listed.name).and_then(|options| options.schema.clone());
    match (own, listed.schema) {
        (Some(own), Some(server)) => differ::differences(own.document().root(), server),
        _ => Vec::new(),
    }
}

impl Report {
    fn count(&self, severity: Severity) -> usize {
        self.problems.iter().filter(|problem| problem.severity() == severity).count()
    }

    fn remarks(&self) -> &[String] {
        self.server.as_ref().map_or(&[], |server| &server.remarks)
    }

    fn text(&self) -> String {
        let mut parts: Vec<String> = self.problems.iter().map(|problem| format!("{problem}\n")).collect();
        if let Some(server) = &self.server {
            parts.push(server.text());
        }
        let warnings = self.count(Severity::Warning) + self.remarks().len();
        parts.push(format!(
            "{}: {}, {}",
            visible(&self.policy),
            counted(self.count(Severity::Error), "error"),
            counted(warnings, "warning")
        ));
        parts.join("\n")
    }

    fn json(&self) -> String {
        let problem = |problem: &Problem| {
            json!({
                "severity": if problem.severity() == Severity::Error { "error" } else { "warning" },
                "file": problem.file(),
                "line": problem.line(),
                "column": problem.column(),
                "message": problem.message(),
                "hint": problem.advice(),
                "tools": problem.tools(),
            })
        };
        let problems: Vec<serde_json::Value> = self.problems.iter().map(problem).collect();
        json!({
            "policy": self.policy,
            "ok": self.count(Severity::Error) == 0,
            "problems": problems,
            "server": self.server.as_ref().map(Server::json),
        })
        .to_string()
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

impl Server {
    fn text(&self) -> String {
        let offered = self.tools.iter().filter(|tool| tool.is_offered).count();
        let mut text = String::new();
        for remark in &self.remarks {
            text.push_str(&format!("warning: {}\n", visible(remark)));
        }
        text.push_str(&format!(
            "`{}` lists {}: {offered} offered, {} hidden\n",
            visible(&self.name),
            counted(self.tools.len(), "tool"),
            self.tools.len() - offered
        ));
        for tool in &self.tools {
            text.push_str(&format!("  {}\n", visible(&tool.line())));
            for difference in &tool.differences {
                text.push_str(&format!("             schema: {}\n", visible(difference)));
            }
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let tool = |tool: &Tool| {
            json!({
                "name": tool.name,
                "offered": tool.is_offered,
                "named": tool.is_named,
                "rules": tool.rules,
                "schema_differences": tool.differences,
            })
        };
        let tools: Vec<serde_json::Value> = self.tools.iter().map(tool).collect();
        json!({ "name": self.name, "warnings": self.remarks, "tools": tools })
    }
}

impl Tool {
    fn line(&self) -> String {
        match (self.is_offered, self.is_named, self.rules.as_slice()) {
            (true, _, []) => format!("offered  {} (no rules)", self.name),
            (true, _, rules) => format!("offered  {} (rules: {})", self.name, rules.join(", ")),
            (false, true, _) => format!("hidden   {} (the policy says `hidden`)", self.name),
            (false, false, _) => format!("hidden   {} (not named)", self.name),
        }
    }
}
