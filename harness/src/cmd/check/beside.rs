//! The policy beside what its server really lists.

use std::collections::BTreeMap;
use std::path::Path;

use framegate_guard::json::{Document, Value};
use framegate_guard::policy::{Beside, Listed, Listing, Policy, Problem, Severity};
use framegate_guard::{Facts, Guard};

use super::differ;
use super::report::Finding;
use crate::bridge::listing;
use crate::cmd::ask::Asked;
use crate::explain::options;

/// What the server lists.
pub(super) struct Server {
    pub(super) name: String,
    /// In the order of the listing.
    pub(super) tools: Vec<Tool>,
}

pub(super) struct Tool {
    pub(super) name: String,
    pub(super) is_offered: bool,
    /// Its definition is why it is not.
    pub(super) is_poisoned: bool,
    /// Some entry under `tools:` names it, or `default: allow` lets it through.
    pub(super) is_named: bool,
    pub(super) rules: Vec<String>,
    /// Options that are checks of their own.
    pub(super) checks: Vec<&'static str>,
    /// What holds for it.
    pub(super) options_text: String,
    pub(super) options_json: serde_json::Value,
    /// Where the policy's schema is another than the server's.
    pub(super) differences: Vec<String>,
}

/// The policy beside a listing.
pub(super) fn beside(
    policy: &Policy,
    facts: Option<&Facts>,
    name: &str,
    (cwd, hears_user): (Option<&Path>, bool),
    asked: Asked,
) -> (Server, Vec<Finding>) {
    let Asked { tools, has_resources } = asked;
    let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let definitions = definitions(&tools);
    let listed: Vec<Listed<'_>> =
        definitions.iter().map(|(name, tool)| Listed { name, schema: schema_of(tool.as_ref()) }).collect();
    let listing = Listing { tools: Some(listed), resources: has_resources };
    let (_, mut problems) = policy.bind(name, &listing);
    let exists = |path: &str| cwd.unwrap_or(Path::new(".")).join(path).exists();
    problems.extend(policy.advise(&Beside {
        facts,
        server: Some(name),
        listing: Some(&listing),
        hears_user: Some(hears_user),
        exists: Some(&exists),
    }));
    let guard =
        Guard::new(policy.clone(), name, facts.cloned().unwrap_or_default()).with_resources(has_resources);
    let (guard, remarks) = guard.adopt(tools.into_iter().map(|tool| (tool.name, tool.definition)));
    let remarks: Vec<String> = remarks.into_iter().filter(|remark| !is_told(remark, &problems)).collect();
    let found = problems.into_iter().map(Finding::Placed);
    let said = remarks.into_iter().map(|remark| Finding::Said(Severity::Warning, remark));
    let of = |options: crate::explain::Options<'_>| {
        let definition = definitions.get(options.tool()).and_then(Option::as_ref);
        (options.tool().to_owned(), tool(&guard, &options, schema_of(definition)))
    };
    let mut all: BTreeMap<String, Tool> = options(&guard).map(of).collect();
    let tools = names.iter().filter_map(|name| all.remove(name)).collect();
    (Server { name: name.to_owned(), tools }, found.chain(said).collect())
}

/// By name, as the guard has them: one that nobody can read for certain, or that is listed twice, has none.
fn definitions(tools: &[listing::Listed]) -> BTreeMap<String, Option<Document>> {
    let mut all: BTreeMap<String, Option<Document>> = BTreeMap::new();
    for tool in tools.iter().filter(|tool| !tool.name.is_empty()) {
        let definition = tool.definition.as_ref().ok().cloned();
        all.entry(tool.name.clone())
            .and_modify(|first| {
                let same = first.as_ref().map(Document::root) == definition.as_ref().map(Document::root);
                *first = first.take().filter(|_| same);
            })
            .or_insert(definition);
    }
    all
}

/// Whether the guard says again what has a place in the file. Its text names the tools in its own order.
fn is_told(remark: &str, problems: &[Problem]) -> bool {
    problems.iter().any(|problem| {
        remark.starts_with(&format!("{}:{}:{}: ", problem.file(), problem.line(), problem.column()))
            && remark.contains(problem.message())
    })
}

fn tool(guard: &Guard, options: &crate::explain::Options<'_>, server: Option<Value<'_>>) -> Tool {
    let name = options.tool();
    Tool {
        name: name.to_owned(),
        is_offered: guard.offers(name),
        is_poisoned: guard.hidden_for(name).is_some(),
        is_named: guard.options(name).is_some(),
        rules: rules(guard, name),
        checks: guard.options(name).map_or_else(Vec::new, |options| options.provenance.checks().collect()),
        options_text: options.text_in_force(),
        options_json: options.options_json(),
        differences: own_schema(guard, name, server),
    }
}

/// The rules that a tool's calls meet; under a policy of praxiom the actions that cover it.
fn rules(guard: &Guard, tool: &str) -> Vec<String> {
    match guard.policy().praxiom() {
        Some(praxiom) => praxiom.actions(&guard.whole_name(tool).0).map(str::to_owned).collect(),
        None => guard.checks_of(tool).into_iter().map(|check| check.name).collect(),
    }
}

fn schema_of(definition: Option<&Document>) -> Option<Value<'_>> {
    definition?.root().get("inputSchema")
}

fn own_schema(guard: &Guard, name: &str, server: Option<Value<'_>>) -> Vec<String> {
    let own = guard.options(name).and_then(|options| options.schema.clone());
    match (own, server) {
        (Some(own), Some(server)) => differ::differences(own.document().root(), server),
        _ => Vec::new(),
    }
}
