//! What is allowed, and hardly meant.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::bind::{BoundTool, Listing, Wanted, arguments_of, schema_has};
use super::glob::{Glob, Steps};
use super::merge::{Entry, Set};
use super::methods::Passage;
use super::problem::{PROBLEMS_MAX, Problem, nearest};
use super::provenance::unfitting_patterns;
use super::{Condition, Inner, Policy, Rule, Unnamed};

/// What the file alone shows.
pub(crate) fn file(inner: &Inner) -> Vec<Problem> {
    let mut problems = Vec::new();
    let warn = |span: &Range<usize>, message: String| Problem::warning(&inner.source, span.clone(), message);
    if inner.unnamed == Unnamed::Deny {
        if inner.tools.all().is_empty() {
            let problem = warn(&(0..0), "no tool is named: every call is refused".into());
            problems.push(problem.hint("name tools under `tools`, or write `default: allow`"));
        }
        let mut steps = Steps::default();
        let unnamed = inner.rules.iter().flat_map(|rule| unnamed_tools(inner, rule, &mut steps));
        problems.extend(unnamed.take(PROBLEMS_MAX));
    }
    for rule in &inner.rules {
        if rule.that.cel.text.trim() == "true" && !rule.has_effects_only {
            problems.push(warn(&rule.that.cel.span, format!("the rule `{}` always holds", rule.name)));
        }
        problems.extend(hidden_tools(inner, rule));
        if let Some(span) = &rule.effects.undo {
            let message =
                format!("a server takes back what `{}` counts by answering with an error", rule.name);
            let problem = warn(span, message);
            problems
                .push(problem.hint("an error does not prove that nothing was done: leave `on_error` out"));
        }
    }
    if let Some(span) = &inner.secrets_asked {
        let problem = warn(span, "forms will ask for passwords, tokens and the like".into());
        problems.push(problem.hint("what a person types there is shown, kept and read by the model"));
    }
    problems.extend(super::provenance::contradictions(inner));
    problems.extend(hidden_and_named(inner));
    problems.extend(never_read(inner));
    problems
}

/// With `default: deny` a rule over tools that nothing under `tools` names speaks of calls that are refused
/// anyway; mostly the name is mistyped.
fn unnamed_tools(inner: &Inner, rule: &Rule, steps: &mut Steps) -> Vec<Problem> {
    let entries = inner.tools.all();
    let mut unnamed = |(glob, _): &(&Glob, &Range<usize>)| {
        let named = entries.iter().any(|entry| entry.glob.common(glob, steps).is_some());
        !(named || entries.is_empty() || steps.exhausted())
    };
    let patterns = rule.tools.iter().zip(&rule.spans.tools).filter(|pattern| unnamed(pattern));
    let problem = |(glob, span): (&Glob, &Range<usize>)| {
        let near = nearest(glob.as_str(), inner.tools.all().iter().map(|entry| entry.glob.as_str()));
        let hint = near.map_or_else(
            || "a rule declares no tool: name it under `tools` too".to_owned(),
            |name| format!("did you mean `{name}`?"),
        );
        let message = format!("nothing under `tools` names `{glob}`: its calls are refused before any rule");
        Problem::warning(&inner.source, span.clone(), message).hint(hint)
    };
    patterns.take(PROBLEMS_MAX).map(problem).collect()
}

fn hides(entry: &Entry) -> Option<bool> {
    entry.setting("hidden").map(|setting| setting.value == Set::Hidden(true))
}

/// A rule for a tool that is hidden by its own name.
fn hidden_tools(inner: &Inner, rule: &Rule) -> Vec<Problem> {
    let hidden = |glob: &Glob| {
        let decides = |entry: &&Entry| hides(entry).is_some() && entry.glob.covers(glob);
        glob.exact_tool().is_some() && inner.tools.all().iter().find(decides).and_then(hides) == Some(true)
    };
    let patterns = rule.tools.iter().zip(&rule.spans.tools).filter(|(glob, _)| hidden(glob));
    let problem = |(glob, span): (&Glob, &Range<usize>)| {
        let message = format!("`{glob}` is hidden: nobody can reach the rule `{}` through it", rule.name);
        Problem::warning(&inner.source, span.clone(), message)
    };
    patterns.map(problem).collect()
}

/// A name that is written out, and hidden by a pattern.
fn hidden_and_named(inner: &Inner) -> Vec<Problem> {
    let named =
        inner.tools.all().iter().filter(|entry| entry.glob.exact_tool().is_some() && hides(entry).is_none());
    let problem = |entry: &Entry| {
        let by = inner
            .tools
            .all()
            .iter()
            .find(|other| hides(other).is_some() && other.glob.covers(&entry.glob))?;
        if hides(by) == Some(false) {
            return None;
        }
        let message = format!("`{}` is named here and hidden by `{}`", entry.glob, by.glob);
        let problem = Problem::warning(&inner.source, entry.span.clone(), message);
        Some(problem.hint("add `hidden: false`, or take the name out"))
    };
    named.filter_map(problem).collect()
}

/// Facts, lists and definitions that no expression reads.
fn never_read(inner: &Inner) -> Vec<Problem> {
    let conditions = conditions(inner);
    let reads = |variable: &str| -> Option<BTreeSet<&str>> {
        let mut names = BTreeSet::new();
        for path in conditions
            .iter()
            .flat_map(|c| c.expression.reads().paths.iter().chain(&c.expression.reads().tested))
        {
            match path.as_slice() {
                [only] if only == variable => return None,
                [first, name, ..] if first == variable => {
                    names.insert(name.as_str());
                }
                _ => {}
            }
        }
        Some(names)
    };
    let mut unread = Vec::new();
    let declared = [
        ("facts", inner.facts.keys().map(String::as_str).collect::<Vec<_>>()),
        ("lists", inner.lists.root().members().map(|(name, _)| name).collect()),
        ("state", inner.states_of_the_file().collect()),
        ("defs", inner.definitions.iter().map(|definition| definition.name.as_str()).collect()),
    ];
    for (variable, names) in declared {
        let Some(read) = reads(variable) else { continue };
        let names = names.into_iter().filter(|name| !read.contains(name));
        unread.extend(names.filter_map(|name| {
            let span = inner.names.get(&(variable, name.to_owned()))?.clone();
            let problem = Problem::warning(&inner.source, span, format!("nothing reads `{variable}.{name}`"));
            // What one server's policy notes another one's may read.
            let shared = "take it out, if no other policy of the same `--session` reads it";
            Some(problem.hint_maybe((variable == "state").then(|| shared.to_owned())))
        }));
    }
    unread
}

/// Every expression of the file.
pub(super) fn conditions(inner: &Inner) -> Vec<&Condition> {
    let ruled = inner.methods.entries().iter().chain(inner.server_requests.entries());
    let ruled = ruled.filter_map(|entry| match &entry.passage {
        Passage::Ruled(ruling) => Some(&ruling.that),
        _ => None,
    });
    let rules = inner.rules.iter().flat_map(|rule| rule.conditions());
    let confirms = inner.tools.confirms().flat_map(|confirm| confirm.named.values());
    let named = confirms.filter_map(super::provenance::Naming::condition);
    let definitions = inner.definitions.iter().map(|definition| &definition.value);
    let invariants = inner.invariants.iter().map(|invariant| &invariant.that);
    rules.chain(definitions).chain(ruled).chain(named).chain(invariants).collect()
}

/// What only a real listing shows.
pub(crate) fn bound(
    policy: &Policy,
    server: &str,
    listing: &Listing<'_>,
    tools: &[Arc<BoundTool>],
) -> Vec<Problem> {
    let lint = Lint { policy, server, listing, tools };
    let mut problems = lint.unlisted();
    problems.extend(policy.rules().iter().flat_map(|rule| lint.rule(rule)));
    problems.extend(lint.slashes());
    problems.extend(lint.resources());
    problems.extend(lint.provenance());
    problems
}

struct Lint<'a> {
    policy: &'a Policy,
    server: &'a str,
    listing: &'a Listing<'a>,
    tools: &'a [Arc<BoundTool>],
}

impl Lint<'_> {
    fn warn(&self, span: &Range<usize>, message: String) -> Problem {
        Problem::warning(&self.policy.0.source, span.clone(), message)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// Patterns for this server that match none of its tools.
    fn unlisted(&self) -> Vec<Problem> {
        let inner = &self.policy.0;
        let entries = inner.tools.all().iter().map(|entry| (&entry.glob, &entry.span));
        let rules = inner.rules.iter().flat_map(|rule| rule.tools.iter().zip(&rule.spans.tools));
        let mine = entries.chain(rules).filter(|(glob, _)| glob.matches_server(self.server));
        let nothing = mine.filter(|(glob, _)| !self.names().any(|name| glob.matches(self.server, name)));
        let problem = |(glob, span): (&Glob, &Range<usize>)| match glob.exact_tool() {
            Some(tool) => {
                let problem = self.warn(span, format!("`{}` has no tool `{tool}`", self.server));
                let near = nearest(tool, self.names()).map(|name| format!("did you mean `{name}`?"));
                problem.hint_maybe(near.or_else(|| self.listed()))
            }
            None => {
                let problem = self.warn(span, format!("`{glob}` matches no tool of `{}`", self.server));
                let near = glob.nearest(self.names()).map(|glob| format!("did you mean `{glob}`?"));
                problem.hint_maybe(near.or_else(|| self.listed()))
            }
        };
        nothing.take(PROBLEMS_MAX).map(problem).collect()
    }

    /// What there is to choose from.
    fn listed(&self) -> Option<String> {
        const SHOWN: usize = 8;
        let names: Vec<&str> = self.names().take(SHOWN).collect();
        let more = self.tools.len().saturating_sub(SHOWN);
        let names = if more > 0 {
            let each = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            format!("{each} and {more} more")
        } else {
            super::read::listed(names.into_iter(), "and")
        };
        (!names.is_empty()).then(|| format!("it lists {names}"))
    }

    fn rule(&self, rule: &Rule) -> Vec<Problem> {
        let about = |tool: &&Arc<BoundTool>| tool.has_rule(&rule.name);
        let applied: Vec<&Arc<BoundTool>> = self.tools.iter().filter(about).collect();
        let wanted = arguments_of(self.policy, rule);
        if applied.is_empty() {
            // Whatever else is wrong: a rule that is for no tool must not be lost behind another's error.
            return self.applies_to_none(rule, &wanted).into_iter().collect();
        }
        if applied.iter().all(|tool| !tool.visible()) {
            let message = format!("all tools of the rule `{}` are hidden: nobody can reach it", rule.name);
            return vec![self.warn(&rule.spans.name, message)];
        }
        self.unknown_arguments(rule, &wanted, &applied)
    }

    fn applies_to_none(&self, rule: &Rule, wanted: &Wanted) -> Option<Problem> {
        // A rule with `tools` whose patterns match nothing was told so pattern by pattern.
        if !rule.tools.is_empty() || self.tools.is_empty() {
            return None;
        }
        let names: Vec<String> =
            wanted.needed.iter().chain(&wanted.optional).map(|name| format!("`{name}`")).collect();
        let message = format!("the rule `{}` applies to no tool of `{}`", rule.name, self.server);
        let problem = Problem::error(&self.policy.0.source, rule.spans.name.clone(), message);
        let none = format!("no tool that the policy names has {}", names.join(" and "));
        Some(problem.hint(
            self.nearest_argument(wanted).map_or(none, |(typed, name)| {
                format!("did you mean `args.{name}` instead of `args.{typed}`?")
            }),
        ))
    }

    /// Arguments that none of the rule's tools has: the rule can never be evaluated, every call asks.
    fn unknown_arguments(&self, rule: &Rule, wanted: &Wanted, tools: &[&Arc<BoundTool>]) -> Vec<Problem> {
        let schemas: Option<Vec<_>> = tools.iter().map(|tool| self.schema(tool)).collect();
        let Some(schemas) = schemas else { return Vec::new() };
        let all = wanted.needed.iter().chain(&wanted.optional);
        let missing = all.filter(|name| !schemas.iter().any(|schema| schema_has(*schema, name)));
        let problem = |name: &String| {
            let message = format!("no tool of the rule `{}` has an argument `{name}`", rule.name);
            let known = schemas.iter().filter_map(|schema| schema.get("properties"));
            let known: BTreeSet<&str> =
                known.flat_map(|names| names.members().map(|(name, _)| name)).collect();
            let problem = self.warn(&place_of_argument(rule, name), message);
            problem.hint_maybe(nearest(name, known).map(|near| format!("did you mean `args.{near}`?")))
        };
        missing.map(problem).collect()
    }

    fn schema<'s>(&'s self, tool: &'s BoundTool) -> Option<crate::json::Value<'s>> {
        let own = tool.options.as_ref().and_then(|options| options.schema.as_ref());
        let listed = || self.listing.tools.iter().flatten().find(|listed| listed.name == tool.name);
        own.map(|schema| schema.document().root()).or_else(|| listed()?.schema)
    }

    fn nearest_argument(&self, wanted: &Wanted) -> Option<(String, String)> {
        let schemas = self.listing.tools.iter().flatten().filter_map(|tool| tool.schema?.get("properties"));
        let known: BTreeSet<&str> = schemas.flat_map(|names| names.members().map(|(name, _)| name)).collect();
        let typed =
            wanted.needed.iter().chain(&wanted.optional).find(|name| !known.contains(name.as_str()))?;
        nearest(typed, known).map(|name| (typed.clone(), name.to_owned()))
    }

    /// `a/b` under `tools` means tool `b` of server `a`, also where this server lists a tool called `a/b`.
    fn slashes(&self) -> Vec<Problem> {
        let listed =
            |entry: &&Entry| self.names().any(|name| name.contains('/') && name == entry.glob.as_str());
        let problem = |entry: &Entry| {
            let message = format!(
                "`{}` is a tool of `{}`, but here it means a server and its tool",
                entry.glob, self.server
            );
            self.warn(&entry.span, message).hint(format!("write `*/{}`", entry.glob))
        };
        self.policy.0.tools.all().iter().filter(listed).map(problem).collect()
    }

    fn provenance(&self) -> Vec<Problem> {
        unfitting_patterns((&self.policy.0, self.server), self.tools, |tool| self.schema(tool))
    }

    /// Resources are read past every rule over a tool's path.
    fn resources(&self) -> Option<Problem> {
        let ruled = !matches!(self.policy.methods().of("resources/read"), Passage::Pass);
        if !self.listing.resources || ruled || self.policy.surface() == super::Surface::Tools {
            return None;
        }
        let rule = self
            .policy
            .rules()
            .iter()
            .find(|rule| rule.conditions().any(|c| c.cel.text.contains("within(")))?;
        let message =
            format!("`{}` also offers resources, which the rule `{}` does not see", self.server, rule.name);
        let hint = "deny or rule `resources/read` under `methods`, or write `surface: tools`";
        Some(self.warn(&rule.spans.name, message).hint(hint))
    }
}

/// Where a rule names an argument; its name when that cannot be said.
pub(super) fn place_of_argument(rule: &Rule, name: &str) -> Range<usize> {
    let wanted = format!("args.{name}");
    let found = |condition: &Condition| {
        let at = condition.cel.text.find(&wanted)?;
        Some(condition.cel.place(&(at..at + wanted.len())))
    };
    rule.conditions().find_map(found).unwrap_or_else(|| rule.spans.name.clone())
}
