//! What is looked at: a policy of either kind, beside a server or alone.

use std::sync::Arc;

use framegate_guard::json::{Document, Value};
use framegate_guard::policy::{Bound, Listed, Listing, Loaded, Property};
use framegate_guard::praxiom::{Dialect, Praxiom};
use framegate_guard::prove::native::{self, Asks};
use framegate_guard::prove::{Asked, Model, Moment, Played, praxiom};
use framegate_guard::{Facts, Guard};

use super::super::ask;
use super::super::out::Failure;
use crate::args::{AsksArg, ProveArgs};
use crate::exit::Exit;
use crate::policy_file;

/// What patterns know a server by that nobody named.
const SERVER: &str = "server";

/// A policy, and the tools it is about.
pub(super) enum Policy {
    Native { guard: Guard, bound: Bound, asks: Asks },
    Praxiom { policy: Arc<Praxiom>, server: Option<String> },
}

/// A policy, what is asked about it, and its model.
pub(super) struct Subject {
    pub(super) policy: Policy,
    pub(super) asked: Vec<Asked>,
    pub(super) model: Model,
}

/// The tools that a server lists; none where no server was named.
type Tools = Option<Vec<(String, Option<Document>)>>;

pub(super) fn read(args: &ProveArgs) -> Result<Subject, Failure> {
    let loaded = policy_file::read(&args.policy, Dialect::Safe).map_err(|why| Failure::policy(&why))?;
    let mut asked = match loaded.policy.praxiom() {
        Some(_) => Vec::new(),
        None => loaded.policy.properties().iter().map(written).collect(),
    };
    if let Some(file) = &args.properties {
        let more = policy_file::properties(file).map_err(|why| Failure::policy(&why))?;
        if let Some(twice) = more.iter().find(|one| asked.iter().any(|other| other.name == one.name)) {
            let why = format!("`{}`: the policy has a property `{}` already", file.display(), twice.name);
            return Err(Failure::policy(&why));
        }
        asked.extend(more.iter().map(written));
    }
    asked.extend(typed(args)?);
    match loaded.policy.praxiom() {
        Some(policy) => of_praxiom(args, Arc::clone(policy), asked),
        None => of_native(args, loaded, asked),
    }
}

fn written(property: &Property) -> Asked {
    let Property { name, never, after } = property.clone();
    Asked { name, never, after }
}

/// `--never` and `--after`.
fn typed(args: &ProveArgs) -> Result<Vec<Asked>, Failure> {
    if args.after.is_some() && args.never.len() != 1 {
        return Err(Failure { exit: Exit::Usage, text: "--after goes with one --never".to_owned() });
    }
    let asked = |(at, never): (usize, &String)| Asked {
        name: format!("never {}", at + 1),
        never: never.clone(),
        after: args.after.clone(),
    };
    Ok(args.never.iter().enumerate().map(asked).collect())
}

fn tools(args: &ProveArgs) -> Result<Tools, Failure> {
    if args.command.is_empty() {
        return Ok(None);
    }
    let asked = ask::ask(&args.command, args.cwd.as_deref(), args.timeout)?;
    Ok(Some(asked.tools.into_iter().map(|tool| (tool.name, tool.definition.ok())).collect()))
}

fn of_praxiom(args: &ProveArgs, policy: Arc<Praxiom>, asked: Vec<Asked>) -> Result<Subject, Failure> {
    let prefixed = match (&args.name, tools(args)?) {
        (_, None) => None,
        (Some(name), Some(tools)) => {
            Some(tools.iter().map(|(tool, _)| format!("{name}__{tool}")).collect::<Vec<_>>())
        }
        (None, Some(_)) => {
            let text =
                "a policy of praxiom knows tools as NAME__TOOL: give the server's name by --name".to_owned();
            return Err(Failure { exit: Exit::Usage, text });
        }
    };
    let model = praxiom::model(&policy, args.name.as_deref(), prefixed.as_deref(), &asked);
    let model = model.map_err(|why| Failure::policy(&why))?;
    let server = args.name.clone();
    Ok(Subject { policy: Policy::Praxiom { policy, server }, asked, model })
}

fn of_native(args: &ProveArgs, loaded: Loaded, asked: Vec<Asked>) -> Result<Subject, Failure> {
    let policy = loaded.policy;
    let server = match args.command.as_slice() {
        [program, arguments @ ..] => {
            ask::name_of(args.name.as_deref(), program, arguments).as_str().to_owned()
        }
        [] => args.name.clone().unwrap_or_else(|| SERVER.to_owned()),
    };
    if args.command.is_empty() && args.name.is_none() && policy.names_others(&server) {
        let text =
            "the policy knows tools as SERVER/TOOL: say by --name whose calls are asked about".to_owned();
        return Err(Failure { exit: Exit::Usage, text });
    }
    let tools = tools(args)?;
    let guard = Guard::new(policy.clone(), &server, Facts::default());
    let asks = match args.asks {
        AsksArg::Possible => Asks::Granted,
        AsksArg::Refuse => Asks::Refused,
    };
    let (guard, bound, model) = match &tools {
        None => {
            let bound = policy.bind(&server, &Listing::unknown()).0;
            let model = native::model(&bound, None, asks, &asked);
            (guard, bound, model)
        }
        Some(tools) => {
            let listed: Vec<Listed<'_>> =
                tools.iter().map(|(name, definition)| Listed { name, schema: schema(definition) }).collect();
            let listing = Listing::of(listed);
            let bound = policy.bind(&server, &listing).0;
            let model = native::model(&bound, listing.tools.as_deref(), asks, &asked);
            let definitions = tools.iter().map(|(name, definition)| {
                let definition = definition.clone().ok_or_else(|| "it cannot be read for certain".to_owned());
                (name.clone(), definition)
            });
            (guard.adopt(definitions).0, bound, model)
        }
    };
    let model = model.map_err(|why| Failure::policy(&why))?;
    Ok(Subject { policy: Policy::Native { guard, bound, asks }, asked, model })
}

impl Subject {
    /// A sequence, decided in earnest.
    pub(super) fn played(&self, asked: &Asked, moments: &[Moment]) -> Played {
        match &self.policy {
            Policy::Native { guard, bound, asks } => {
                native::replay(guard, bound, *asks, &self.model, asked, moments)
            }
            Policy::Praxiom { policy, server } => {
                praxiom::replay(policy, server.as_deref(), &self.model, asked, moments)
            }
        }
    }
}

fn schema(definition: &Option<Document>) -> Option<Value<'_>> {
    definition.as_ref()?.root().get("inputSchema")
}
