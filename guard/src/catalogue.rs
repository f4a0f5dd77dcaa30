//! A server's tools as they were first listed, each with what the policy says about it.
//!
//! The list first accepted counts: a tool whose definition changes later is judged by its first schema, and its
//! calls ask, for whoever chose the tool chose another one.

mod compiled;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::detect;
use crate::json::{Document, Limits, Value};
use crate::look::{look_alike, skeleton};
use crate::policy::{Bound, BoundTool, Definitions, Listed, Listing, Policy, Problem, Severity, ToolOptions};
use crate::refusal::{NAME_CHARS_MAX, plain};
use crate::schema::Schema;
use crate::trace::ListedAs;

use compiled::{Compiled, Schemas, Use};

/// Characters that a warning quotes of a definition.
const QUOTED_CHARS_MAX: usize = 160;

/// Longer names are taken for no other: whoever calls one must not make us fold megabytes.
const RESEMBLED_BYTES_MAX: usize = 4096;

/// Every tool that was listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogue {
    /// Those that the last listing has.
    tools: BTreeMap<String, Arc<Tool>>,
    /// The first definition of every tool that was ever listed.
    first: BTreeMap<String, Arc<Document>>,
    /// What their schemas were compiled to.
    schemas: Arc<Schemas>,
    /// Listed names by their skeleton, for look-alikes.
    skeletons: BTreeMap<String, Vec<String>>,
    /// Errors of the policy that are about no one tool: a rule that is for none may be meant for any.
    faults: Vec<String>,
}

/// One tool.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    /// What the policy says.
    pub(crate) bound: Arc<BoundTool>,
    /// The schema that its arguments are judged by, or why there is none.
    pub(crate) schema: Result<Arc<Schema>, String>,
    /// What its results should look like.
    pub(crate) output: Option<Arc<Schema>>,
    /// Why its definition cannot be relied on: its calls ask.
    pub(crate) doubt: Option<String>,
    /// What of its definition reads like an instruction, where that is looked for: for a person. A model that is told
    /// it is given the order.
    pub(crate) instructs: Option<String>,
    /// Entries of the policy say different things of it; `bound.options` are the defaults then.
    pub(crate) is_contradicted: bool,
}

impl Tool {
    /// A tool of which only the policy is known.
    pub(crate) fn unlisted(policy: &Policy, server: &str, name: &str, options: &ToolOptions) -> Option<Tool> {
        let unknown = || Err("the server's tools are not known".to_owned());
        let compile = |schema: &crate::policy::Schema| {
            Schema::compile(schema.document().root()).map(Arc::new).map_err(|why| why.to_string())
        };
        let is_contradicted = policy.options(server, name).is_err();
        // A listing that is not known has every tool.
        let bound = policy.bind(server, &Listing::unknown()).0.tool(name)?;
        Some(Tool {
            bound,
            schema: options.schema.as_ref().map_or_else(unknown, compile),
            output: None,
            doubt: None,
            instructs: None,
            is_contradicted,
        })
    }

    fn doubted(&self, doubt: String) -> Tool {
        Tool { doubt: Some(doubt), ..self.clone() }
    }
}

impl Catalogue {
    /// The next listing, and what a person should know of it.
    pub(crate) fn adopt(
        &self,
        (policy, server): (&Policy, &str),
        resources: bool,
        listing: impl IntoIterator<Item = (String, Result<Document, String>)>,
    ) -> (Catalogue, Vec<String>) {
        let mut warnings = Vec::new();
        let entries = entries(listing, &mut warnings);
        let mut first = self.first.clone();
        let mut doubts: BTreeMap<&str, String> = BTreeMap::new();
        for (name, entry) in &entries {
            match entry {
                Entry::Doubtful(why) => drop(doubts.insert(name, why.clone())),
                Entry::Read(definition) => match first.get(name) {
                    None => drop(first.insert(name.clone(), Arc::clone(definition))),
                    Some(before) if before.root() == definition.root() => {}
                    Some(before) => {
                        let what = changed(before.root(), definition.root());
                        doubts.insert(
                            name,
                            format!("the server changed it after it was first listed ({what})"),
                        );
                    }
                },
            }
        }
        warnings.extend(doubts.iter().map(|(name, why)| asks(name, why)));
        let listed = |name: &String| Listed {
            name: entries.get_key_value(name).map_or("", |(name, _)| name.as_str()),
            schema: first.get(name).and_then(|definition| definition.root().get("inputSchema")),
        };
        let listing = Listing { resources, ..Listing::of(entries.keys().map(listed).collect()) };
        let (bound, problems) = policy.bind(server, &listing);
        warnings.extend(problems.iter().map(ToString::to_string));
        let mut faults = general(&problems);
        if !faults.is_empty() && first.len() > entries.len() {
            // A rule for a tool that is not listed just now is no error of the policy.
            let ever =
                first.iter().map(|(name, tool)| Listed { name, schema: tool.root().get("inputSchema") });
            faults = general(&policy.bind(server, &Listing::of(ever.collect())).1);
        }
        let schemas = Arc::clone(&self.schemas);
        let mut compiling = schemas.begin();
        let tools = entries.keys().filter_map(|name| {
            let compiling = &mut compiling;
            let tool = tool(
                (&bound, compiling),
                name,
                first.get(name).map(AsRef::as_ref),
                doubts.get(name.as_str()),
            )?;
            if let (Err(why), true) = (&tool.schema, tool.bound.visible()) {
                warnings.push(asks(name, &format!("its schema cannot be used: {why}")));
            }
            warnings.extend(told(name, &tool));
            Some((name.clone(), Arc::new(tool)))
        });
        let tools: BTreeMap<String, Arc<Tool>> = tools.collect();
        compiling.end();
        let skeletons = skeletons(tools.keys());
        if !tools.is_empty() && !tools.values().any(|tool| tool.bound.visible()) {
            let text = format!("the policy offers none of the {} tools of `{server}`", tools.len());
            warnings.push(one_line(&text));
        }
        (Catalogue { tools, first, schemas, skeletons, faults }, warnings)
    }

    /// The same tools under another policy.
    pub(crate) fn under(&self, policy: &Policy, server: &str, resources: bool) -> (Catalogue, Vec<String>) {
        let again = self.tools.keys().map(|name| {
            let definition = self.first.get(name).map(|definition| Document::clone(definition));
            (name.clone(), definition.ok_or_else(|| "its definition was never readable".to_owned()))
        });
        let doubts: BTreeMap<&String, &String> =
            self.tools.iter().filter_map(|(name, tool)| Some((name, tool.doubt.as_ref()?))).collect();
        let (mut next, warnings) = self.adopt((policy, server), resources, again);
        for (name, doubt) in doubts {
            // A new policy does not undo a doubt about the server.
            if let Some(tool) = next.tools.get_mut(name).filter(|tool| tool.doubt.is_none()) {
                *tool = Arc::new(tool.doubted(doubt.clone()));
            }
        }
        (next, warnings)
    }

    /// The same with these errors of the policy in place of what its listing shows.
    pub(crate) fn with_faults(mut self, faults: Vec<String>) -> Catalogue {
        self.faults = faults;
        self
    }

    pub(crate) fn faults(&self) -> &[String] {
        &self.faults
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    pub(crate) fn knows(&self, name: &str, definition: &Document) -> bool {
        self.first.get(name).is_some_and(|first| first.root() == definition.root())
    }

    /// The same with doubts about tools of which other definitions were seen, or ones that nobody can read for
    /// certain (`None`), and what a person should know of that.
    pub(crate) fn doubting<'a>(
        &self,
        seen: impl IntoIterator<Item = (&'a str, Option<&'a Document>)>,
    ) -> (Catalogue, Vec<String>) {
        let (mut next, mut warnings) = (self.clone(), Vec::new());
        for (name, definition) in seen {
            let Some(tool) = next.tools.get_mut(name) else { continue };
            let doubt = match (definition, self.first.get(name)) {
                (Some(definition), Some(first)) if first.root() == definition.root() => continue,
                (Some(definition), first) => {
                    let what =
                        first.map_or_else(String::new, |first| changed(first.root(), definition.root()));
                    format!("the server changed it after it was first listed ({what})")
                }
                (None, _) => "its definition cannot be read for certain".to_owned(),
            };
            warnings.push(asks(name, &doubt));
            *tool = Arc::new(tool.doubted(doubt));
        }
        (next, warnings)
    }

    /// What a record says of a tool; nothing when no tools were known.
    pub(crate) fn of(listed: &ListedAs, tool: &str, policy: (&Policy, &str)) -> Option<Catalogue> {
        let none = Catalogue::default();
        match listed {
            ListedAs::Unknown => None,
            ListedAs::Missing { names } => {
                let named = |name: &String| (name.clone(), Ok(Document::empty_object()));
                Some(none.adopt(policy, false, names.iter().map(named)).0)
            }
            ListedAs::Tool { definition, doubt } => {
                let whole = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
                let unread = || Err("its definition was never readable".to_owned());
                let read = |text: &Bytes| Document::read(text.clone(), &whole).map_err(|why| why.to_string());
                let definition = definition.as_ref().map_or_else(unread, read);
                let mut catalogue = none.adopt(policy, false, [(tool.to_owned(), definition)]).0;
                if let (Some(doubt), Some(tool)) = (doubt, catalogue.tools.get_mut(tool)) {
                    *tool = Arc::new(tool.doubted(doubt.clone()));
                }
                Some(catalogue)
            }
        }
    }

    /// The same with one tool more.
    pub(crate) fn with(
        &self,
        policy: &Policy,
        server: &str,
        name: &str,
        definition: Document,
    ) -> (Catalogue, Vec<String>) {
        if self.tools.contains_key(name) {
            if self.knows(name, &definition) {
                return (self.clone(), Vec::new());
            }
            return self.doubting([(name, Some(&definition))]);
        }
        let alone = Catalogue { first: self.first.clone(), ..Catalogue::default() };
        // What the policy says of tools that are not in this listing of one is not wrong yet.
        let (alone, _) = alone.adopt((policy, server), false, [(name.to_owned(), Ok(definition))]);
        let mut warnings = Vec::new();
        for (name, tool) in &alone.tools {
            warnings.extend(tool.bound.problems.iter().map(ToString::to_string));
            if let Err(why) = &tool.schema {
                warnings.push(asks(name, &format!("its schema cannot be used: {why}")));
            }
            warnings.extend(tool.doubt.iter().map(|why| asks(name, why)));
        }
        let mut next = Catalogue { first: alone.first, ..self.clone() };
        next.tools.extend(alone.tools);
        next.skeletons = skeletons(next.tools.keys());
        (next, warnings)
    }

    pub(crate) fn definition(&self, name: &str) -> Option<&Arc<Document>> {
        self.first.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// A listed name that this one could be taken for, and how they differ.
    pub(crate) fn resembled(&self, name: &str) -> Option<(&str, String)> {
        if name.len() > RESEMBLED_BYTES_MAX {
            return None;
        }
        let alike = self.skeletons.get(&skeleton(name))?;
        alike.iter().find_map(|listed| Some((listed.as_str(), look_alike(name, listed)?.to_string())))
    }
}

fn skeletons<'n>(names: impl Iterator<Item = &'n String>) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names.filter(|name| name.len() <= RESEMBLED_BYTES_MAX) {
        all.entry(skeleton(name)).or_default().push(name.clone());
    }
    all
}

enum Entry {
    Read(Arc<Document>),
    Doubtful(String),
}

fn entries(
    listing: impl IntoIterator<Item = (String, Result<Document, String>)>,
    warnings: &mut Vec<String>,
) -> BTreeMap<String, Entry> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for (name, definition) in listing {
        if name.is_empty() {
            warnings
                .push("the server lists a tool without a name that can be read; it cannot be called".into());
            continue;
        }
        let entry = match definition {
            Ok(definition) => Entry::Read(Arc::new(definition)),
            Err(why) => Entry::Doubtful(format!("its definition cannot be read for certain: {why}")),
        };
        let twice = match (entries.remove(&name), entry) {
            (None, entry) => entry,
            (Some(Entry::Read(a)), Entry::Read(b)) if a.root() == b.root() => Entry::Read(a),
            (Some(_), _) => Entry::Doubtful("the server lists it twice, differently".into()),
        };
        entries.insert(name, twice);
    }
    entries
}

fn tool(
    (bound, compiling): (&Bound, &mut Use<'_>),
    name: &str,
    definition: Option<&Document>,
    doubt: Option<&String>,
) -> Option<Tool> {
    let is_contradicted = bound.policy().options(bound.server(), name).is_err();
    let bound = bound.tool(name)?;
    let own = bound.options.as_ref().and_then(|options| options.schema.clone());
    let member = |key: &str| definition.and_then(|definition| definition.root().get(key));
    let schema: Compiled = match &own {
        Some(schema) => compiling.schema(Some(schema.document().root())),
        None => compiling.schema(member("inputSchema")),
    };
    // A result is only reported on: a schema that cannot be used costs nothing but the report.
    let output = member("outputSchema").and_then(|schema| compiling.schema(Some(schema)).ok());
    let of = bound.options.as_ref().map_or_else(Definitions::default, |options| options.definitions);
    let is_read = of != Definitions::Unread && bound.visible();
    let instructs = definition.filter(|_| is_read).and_then(|definition| instructs(definition.root()));
    Some(Tool { bound, schema, output, doubt: doubt.cloned(), instructs, is_contradicted })
}

/// The first passage of a definition that reads like an instruction, and where it stands.
fn instructs(definition: Value<'_>) -> Option<String> {
    let found = detect::listing(definition);
    let detect::Instruction { pointer, quote, passage } = found.first()?;
    let (at, rule) = (plain::line(pointer, NAME_CHARS_MAX), passage.rule);
    if quote.is_empty() {
        return Some("its definition is too large to be read to its end".to_owned());
    }
    let quote = plain::line(quote, QUOTED_CHARS_MAX);
    Some(format!("its definition reads like an instruction at `{at}` ({rule}): \"{quote}\""))
}

/// What a person is told of a tool whose definition reads like an instruction.
fn told(name: &str, tool: &Tool) -> Option<String> {
    let why = tool.instructs.as_ref()?;
    let follows = match tool.bound.options.as_ref()?.definitions {
        Definitions::Ask => "its calls ask",
        Definitions::Hide => "it is hidden, and its calls are refused",
        Definitions::Report | Definitions::Unread => {
            "it is offered all the same (`definitions: ask` or `hide` in the policy)"
        }
    };
    Some(one_line(&format!("tool `{name}`: {why}; {follows}")))
}

/// Errors that are about no one tool.
/// A warning about a tool. Its name, and what of its definition the reason quotes, are the server's.
fn asks(name: &str, why: &str) -> String {
    one_line(&format!("tool `{name}`: {why}; its calls ask"))
}

/// Warnings are told apart by lines: nothing that a server wrote may begin one.
fn one_line(text: &str) -> String {
    let visible = |c: char| -> Box<dyn Iterator<Item = char>> {
        let breaks = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        if breaks { Box::new(c.escape_unicode()) } else { Box::new(std::iter::once(c)) }
    };
    text.chars().flat_map(visible).collect()
}

fn general(problems: &[Problem]) -> Vec<String> {
    let is_general = |problem: &&Problem| problem.severity() == Severity::Error && problem.tools().is_empty();
    problems.iter().filter(is_general).map(|problem| one_line(problem.message())).collect()
}

/// What a definition says of whether its tool changes anything: a hint of the server's.
pub(crate) fn read_only(definition: Value<'_>) -> Option<bool> {
    definition.get("annotations")?.get("readOnlyHint")?.as_bool()
}

/// Which members of a definition differ.
fn changed(before: Value<'_>, after: Value<'_>) -> String {
    let mut names: Vec<&str> = before.members().chain(after.members()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| before.get(name) != after.get(name));
    names.truncate(8);
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_about_a_tool_is_one_line_whatever_the_tool_is_called() {
        let policy = Policy::load("p", b"framegate: 1\ndefault: allow\n", &mut |_| Err(String::new()));
        let policy = policy.unwrap().policy;
        let bad = "t\n2026-01-01T00:00:00Z framegate: x ok\u{1b}[2J\u{2028}";
        let text = serde_json::json!({ "inputSchema": { "type": "object", "$ref": format!("#/{bad}") } });
        let listing = [
            (bad.to_owned(), Ok(Document::read(text.to_string().into(), &Limits::default()).unwrap())),
            (format!("u{bad}"), Err(bad.to_owned())),
        ];
        let (_, warnings) = Catalogue::default().adopt((&policy, bad), false, listing);
        assert!(warnings.len() >= 2, "{warnings:?}");
        assert!(warnings.iter().all(|text| !text.contains(['\n', '\u{1b}', '\u{2028}'])), "{warnings:?}");
    }

    #[test]
    fn a_schema_is_compiled_when_it_changes_and_forgotten_when_it_goes() {
        let policy = Policy::load("p", b"framegate: 1\ndefault: allow\n", &mut |_| Err(String::new()));
        let policy = policy.unwrap().policy;
        let listing = |of: std::ops::Range<usize>| {
            of.map(|n| {
                let text =
                    format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object","maxProperties":{n}}}}}"#);
                (format!("t{n}"), Ok(Document::read(text.into(), &Limits::default()).unwrap()))
            })
        };
        let adopt = |catalogue: &Catalogue, of| catalogue.adopt((&policy, "s"), false, listing(of)).0;
        let schema = |of: &Catalogue, name: &str| Arc::clone(of.tool(name).unwrap().schema.as_ref().unwrap());
        let first = adopt(&Catalogue::default(), 0..5);
        let second = adopt(&first, 1..6);
        assert!(Arc::ptr_eq(&schema(&first, "t1"), &schema(&second, "t1")), "kept");
        assert_eq!(second.schemas.len(), 5, "t0's is forgotten");
        let other = second.under(&policy, "s", false).0;
        assert!(Arc::ptr_eq(&schema(&second, "t5"), &schema(&other, "t5")), "kept under another policy");
        assert!(adopt(&other, 0..1).tool("t0").unwrap().schema.is_ok());
    }

    #[test]
    fn a_name_of_megabytes_resembles_nothing_and_costs_nothing() {
        let names = (0..1000).map(|i| format!("tool_{i}")).chain(["READ".into(), "read".into()]);
        let catalogue =
            Catalogue { skeletons: skeletons(names.collect::<Vec<_>>().iter()), ..Catalogue::default() };
        let since = std::time::Instant::now();
        assert_eq!(catalogue.resembled(&"é".repeat(1 << 20)), None);
        assert_eq!(catalogue.resembled(&"é".repeat(RESEMBLED_BYTES_MAX / 2)), None);
        assert!(since.elapsed() < std::time::Duration::from_secs(2), "{:?}", since.elapsed());
        assert_eq!(catalogue.resembled("Tool_7").unwrap().0, "tool_7");
        assert_eq!(catalogue.resembled("to\u{43e}l_7").unwrap().0, "tool_7");
        assert_eq!(catalogue.resembled("read").unwrap().0, "READ");
    }
}
