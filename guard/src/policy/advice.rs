//! What is worth a word before a policy is used: in `framegate check`, never while calls are decided.

mod asked;

use std::ops::Range;

use super::bind::{Bound, BoundTool, Listing, arguments_of};
use super::glob::Glob;
use super::lint::{conditions, place_of_argument};
use super::merge::setting;
use super::problem::{PROBLEMS_MAX, Problem, nearest, sort};
use super::{Condition, Missing, Policy, Rule};
use crate::Facts;
use crate::json::Value;

/// What a policy is held against.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    /// What is given; nothing when what was given cannot be used.
    pub facts: Option<&'a Facts>,
    /// The server's name, where one is meant.
    pub server: Option<&'a str>,
    /// What it lists, where it was asked.
    pub listing: Option<&'a Listing<'a>>,
    /// Whether a session hears the user's words; nothing where that is not known.
    pub hears_user: Option<bool>,
    /// Whether a path is there, where the server's disk can be looked at.
    pub exists: Option<&'a dyn Fn(&str) -> bool>,
}

impl std::fmt::Debug for Beside<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Beside { facts, server, listing, .. } = self;
        f.debug_struct("Beside")
            .field("facts", facts)
            .field("server", server)
            .field("listing", listing)
            .finish_non_exhaustive()
    }
}

impl Policy {
    /// Where it needs the user's words, for a session that does not hear them: those calls ask. By position.
    #[must_use]
    pub fn unheard_user(&self) -> Vec<Problem> {
        let beside =
            Beside { facts: None, server: None, listing: None, hears_user: Some(false), exists: None };
        let mut problems = Advice { policy: self, beside: &beside }.unheard_user();
        sort(&mut problems);
        problems.truncate(PROBLEMS_MAX);
        problems
    }

    /// What is allowed and hardly meant, where [`Policy::bind`] has nothing against it. By position.
    #[must_use]
    pub fn advise(&self, beside: &Beside<'_>) -> Vec<Problem> {
        let advice = Advice { policy: self, beside };
        let mut problems = advice.missing_facts();
        problems.extend(advice.other_servers());
        problems.extend(advice.unheard_user());
        if let (Some(server), Some(listing)) = (beside.server, beside.listing) {
            let bound = self.bind(server, listing).0;
            let of = |rule| advice.optional_arguments(rule, listing, &bound);
            problems.extend(self.rules().iter().flat_map(|rule| of(rule)));
            problems.extend(advice.asked_arguments(server, listing, &bound));
        }
        problems.extend(advice.roots());
        problems.extend(advice.idle_answers());
        sort(&mut problems);
        problems.truncate(PROBLEMS_MAX);
        problems
    }
}

struct Advice<'a> {
    policy: &'a Policy,
    beside: &'a Beside<'a>,
}

impl Advice<'_> {
    fn warn(&self, span: &Range<usize>, message: String) -> Problem {
        Problem::warning(&self.policy.0.source, span.clone(), message)
    }

    /// Facts without a value that something reads, and does not ask for with `has()`.
    fn missing_facts(&self) -> Vec<Problem> {
        let Some(facts) = self.beside.facts else { return Vec::new() };
        let all = conditions(&self.policy.0);
        let of = |path: &Vec<String>, name: &str| matches!(path.as_slice(), [first, second, ..] if first == "facts" && second == name);
        let is_read =
            |name: &str| all.iter().any(|c| c.expression.reads().paths.iter().any(|path| of(path, name)));
        let is_tested =
            |name: &str| all.iter().any(|c| c.expression.reads().tested.iter().any(|path| of(path, name)));
        let missing = self.policy.facts().keys().filter(|name| facts.value(name).is_none());
        let missing = missing.filter(|name| is_read(name) && !is_tested(name));
        let problem = |name: &String| {
            let span = self.policy.0.names.get(&("facts", name.clone()))?;
            let message = format!("the fact `{name}` has no default and is not given: what reads it asks");
            let hint = format!("give it here and to `run`: `--fact {name}=…`; or add a `default`");
            Some(self.warn(span, message).hint(hint))
        };
        missing.filter_map(problem).collect()
    }

    /// `server/tool` where the server has another name. Several servers may share a file, so a name that is far
    /// from this one's is odd only where no pattern has this one's.
    fn other_servers(&self) -> Vec<Problem> {
        let Some(server) = self.beside.server else { return Vec::new() };
        let inner = &self.policy.0;
        let entries = inner.tools.all().iter().map(|entry| (&entry.glob, &entry.span));
        let rules = inner.rules.iter().flat_map(|rule| rule.tools.iter().zip(&rule.spans.tools));
        let all: Vec<(&Glob, &Range<usize>)> =
            entries.chain(rules).filter(|(glob, _)| glob.as_str().contains('/')).collect();
        let is_shared = all.iter().any(|(glob, _)| glob.matches_server(server));
        let other = all.into_iter().filter(|(glob, _)| !glob.matches_server(server));
        let problem = |(glob, span): (&Glob, &Range<usize>)| {
            let (theirs, tool) = glob.as_str().split_once('/')?;
            // A tool with a slash in its name is told about where the listing shows it.
            let is_tool = self.tools().any(|name| name == glob.as_str());
            if is_tool || (is_shared && nearest(theirs, [server]).is_none()) {
                return None;
            }
            let message = format!("`{glob}` is for a server called `{theirs}`, and this one is `{server}`");
            let name = if theirs.contains(['*', '?']) {
                String::new()
            } else {
                format!(", or call the server so: `--name {theirs}`, here and for `run`")
            };
            Some(self.warn(span, message).hint(format!("write `{server}/{tool}`, or `{tool}` alone{name}")))
        };
        other.filter_map(problem).collect()
    }

    /// Options that need the user's words, where nobody says them.
    fn unheard_user(&self) -> Vec<Problem> {
        if self.beside.hears_user != Some(false) {
            return Vec::new();
        }
        let inner = &self.policy.0;
        let mut problems = Vec::new();
        for (own, settings) in inner.tools.provenances() {
            for key in own.needs_user() {
                let Some(setting) = setting(settings, key) else { continue };
                let message = if key == "ground" && inner.answers.is_some() {
                    format!(
                        "`{key}` needs the user's words, and only their answers to the server give any: other calls ask"
                    )
                } else {
                    format!("`{key}` needs the user's words, which nothing gives: its calls ask")
                };
                let problem = self.warn(&setting.span, message);
                problems.push(problem.hint("give the conversation to `run`: `--context FILE`"));
            }
        }
        problems
    }

    /// `context.answers` where nothing is grounded in the user's words.
    fn idle_answers(&self) -> Option<Problem> {
        let inner = &self.policy.0;
        let span = inner.answers.as_ref()?;
        let grounds =
            inner.tools.provenances().any(|(own, _)| own.ground.all().any(|ground| ground.from.user));
        let message = "`answers` changes nothing: no tool grounds a value in the user's words".to_owned();
        let hint = "say which arguments must be the user's: `ground: { iban: { from: [user] } }`";
        (!grounds).then(|| self.warn(span, message).hint(hint))
    }

    fn tools(&self) -> impl Iterator<Item = &str> {
        self.beside.listing.iter().flat_map(|listing| listing.tools.iter().flatten()).map(|tool| tool.name)
    }

    /// Arguments that a rule reads although a call may leave them out: such a call asks.
    fn optional_arguments(&self, rule: &Rule, listing: &Listing<'_>, bound: &Bound) -> Vec<Problem> {
        let wanted = arguments_of(self.policy, rule);
        let mut problems: Vec<Problem> = Vec::new();
        for name in &wanted.needed {
            let mut problem = self.optional_argument(rule, name);
            let mut is_found = false;
            for tool in bound.tools().filter(|tool| tool.visible()) {
                let Some(schema) = schema_of(tool, listing) else { continue };
                let is_for = tool.rules.iter().any(|bound| bound.rule.name == rule.name);
                if is_for && may_be_left_out(tool, schema, name, rule) {
                    problem.also_about_tool(&tool.name);
                    is_found = true;
                }
            }
            problems.extend(is_found.then_some(problem));
        }
        problems
    }

    fn optional_argument(&self, rule: &Rule, name: &str) -> Problem {
        let message = format!(
            "the rule `{}` reads `args.{name}`, which a call may leave out: such a call asks",
            rule.name
        );
        let hint = format!(
            "write `!has(args.{name}) || …` if it may be left out, `has(args.{name}) && …` if it must be sent"
        );
        self.warn(&place_of_argument(rule, name), message).hint(hint)
    }

    /// Roots of `within` that are written out.
    fn roots(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for condition in conditions(&self.policy.0) {
            for root in &condition.expression.reads().roots {
                problems.extend(self.root(condition, root));
            }
        }
        problems
    }

    fn root(&self, condition: &Condition, root: &str) -> Option<Problem> {
        let written = |quote: &str| condition.cel.text.find(&format!("{quote}{root}{quote}"));
        let at = written("\"").or_else(|| written("'")).map(|at| at + 1..at + 1 + root.len());
        let span = at.map_or_else(|| condition.cel.span.clone(), |at| condition.cel.place(&at));
        if root.starts_with('~') {
            let problem = self.warn(&span, format!("the root `{root}` is a folder named `~`, not your home"));
            return Some(problem.hint("write the whole path, such as `/home/me/work`"));
        }
        if !root.starts_with('/') {
            let message = format!("the root `{root}` counts from wherever the server is started");
            return Some(self.warn(&span, message).hint("write the whole path, from `/` on"));
        }
        if self.beside.exists.is_some_and(|exists| !exists(root)) {
            let message = format!("there is no `{root}` here");
            let hint = "correct the path, or create the folder";
            return Some(self.warn(&span, message).hint(hint));
        }
        None
    }
}

/// The schema that a tool's calls are judged by.
fn schema_of<'a>(tool: &'a BoundTool, listing: &'a Listing<'_>) -> Option<Value<'a>> {
    let own = tool.options.as_ref().and_then(|options| options.schema.as_ref());
    let listed = || listing.tools.iter().flatten().find(|listed| listed.name == tool.name);
    own.map(|own| own.document().root()).or_else(|| listed()?.schema)
}

/// Whether a schema declares an argument, plainly, and a call without it is not held up as one that lacks it.
fn may_be_left_out(tool: &BoundTool, schema: Value<'_>, name: &str, rule: &Rule) -> bool {
    // A schema put together from parts may require it in any of them.
    let is_plain = !["$ref", "allOf", "anyOf", "oneOf"].iter().any(|part| schema.get(part).is_some());
    let Some(argument) = schema.get("properties").and_then(|all| all.get(name)) else { return false };
    let required =
        schema.get("required").is_some_and(|all| all.items().any(|one| one.as_str() == Some(name)));
    let is_filled = argument.get("default").is_some()
        && rule.conditions().any(|condition| condition.cel.text.contains("with_defaults"));
    let options = tool.options.as_deref();
    let passes = options.is_some_and(|options| options.missing() == Missing::Pass);
    let is_asked = options.is_some_and(|options| options.ask.required.iter().any(|asked| asked == name));
    is_plain && (passes || !(required || is_asked)) && !is_filled
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Listed, Loaded};
    use super::*;
    use crate::json::{Document, Limits};

    fn advised(text: &str, server: &str, facts: bool) -> Vec<String> {
        let Loaded { policy, .. } =
            Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap();
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"note":{"type":"string"},"n":{"type":"number","default":1}},"required":["path"]}"#;
        let schema = Document::read(schema.to_owned().into(), &Limits::default()).unwrap();
        let tools = ["read_file", "write_file"].map(|name| Listed { name, schema: Some(schema.root()) });
        let none = Facts::new(&policy, &BTreeMap::new()).unwrap();
        let listing = Listing::of(tools.to_vec());
        let beside = Beside {
            facts: facts.then_some(&none),
            server: Some(server),
            listing: Some(&listing),
            hears_user: None,
            exists: Some(&|path| path == "/work"),
        };
        let shown = |p: &Problem| {
            format!("{}:{} {} [{}]", p.line(), p.column(), p.title(), p.advice().unwrap_or("-"))
        };
        policy.advise(&beside).iter().map(shown).collect()
    }

    fn rule(that: &str) -> String {
        format!(
            "framegate: 1\ndefault: allow\nfacts: {{ role: string }}\nrules:\n  - {{ name: r, that: '{that}' }}\n"
        )
    }

    #[test]
    fn what_all_tools_need_of_the_user_is_told_like_what_one_needs() {
        for options in ["tools: { t: { confirm: true } }", "defaults: { confirm: true }"] {
            let text = format!("framegate: 1\ndefault: allow\n{options}\n");
            let policy =
                Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap().policy;
            let said: Vec<String> =
                policy.unheard_user().iter().map(|problem| problem.title().to_owned()).collect();
            assert_eq!(
                said,
                ["`confirm` needs the user's words, which nothing gives: its calls ask"],
                "{options}"
            );
        }
    }

    #[test]
    fn answers_to_the_server_are_told_where_they_change_nothing_or_are_all_there_is() {
        let said = |options: &str| {
            let text = format!(
                "framegate: 1\ndefault: allow\ncontext: {{ answers: true }}\ntools: {{ t: {{ {options} }} }}\n"
            );
            let policy =
                Policy::load("p.yaml", text.as_bytes(), &mut |_| Err("no files".into())).unwrap().policy;
            let facts = Facts::new(&policy, &BTreeMap::new()).unwrap();
            let beside = Beside {
                facts: Some(&facts),
                server: None,
                listing: None,
                hears_user: Some(false),
                exists: None,
            };
            policy.advise(&beside).iter().map(|problem| problem.title().to_owned()).collect::<Vec<_>>()
        };
        let idle = "`answers` changes nothing: no tool grounds a value in the user's words";
        assert_eq!(said("once: true"), [idle]);
        assert_eq!(said("ground: { to: { from: [tool] } }"), [idle]);
        assert_eq!(
            said("ground: { to: { from: [user] } }"),
            [
                "`ground` needs the user's words, and only their answers to the server give any: other calls ask"
            ]
        );
    }

    #[test]
    fn an_argument_that_may_be_left_out_is_read_after_asking_for_it() {
        let said = advised(&rule(r#"args.note != "x" && args.path != "y""#), "files", true);
        assert_eq!(
            said,
            [
                "5:23 the rule `r` reads `args.note`, which a call may leave out: such a call asks (tools `read_file`, `write_file`) \
              [write `!has(args.note) || …` if it may be left out, `has(args.note) && …` if it must be sent]"
            ]
        );
        for fine in
            ["!has(args.note) || args.note != \"x\"", "with_defaults(args).n > 1", "args.path != \"x\""]
        {
            assert_eq!(advised(&rule(fine), "files", true), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn what_a_call_lacks_is_asked_for_unless_it_is_passed_on() {
        let of = |options: &str, argument: &str| {
            let text = rule(&format!(r#"args.{argument} != "x""#));
            advised(&text.replace("rules:", &format!("defaults: {{ {options} }}\nrules:")), "files", true)
                .len()
        };
        assert_eq!((of("mode: enforce", "path"), of("mode: enforce", "note")), (0, 1));
        assert_eq!((of("missing: pass", "path"), of("arguments: unchecked", "path")), (1, 1));
        assert_eq!(of("ask: { required: [note] }", "note"), 0);
    }

    #[test]
    fn an_argument_that_is_asked_for_and_that_no_tool_has_is_named() {
        let of = |ask: &str| {
            let text = format!("framegate: 1\ntools:\n  '*_file':\n    ask: {ask}\n");
            advised(&text, "files", true)
        };
        assert_eq!(
            of("{ required: [path, nota], fields: { other: { title: T } } }"),
            [
                "4:22 `ask` speaks of an argument `nota`, and the tool declares none (tools `read_file`, `write_file`) [did you mean `note`?]",
                "4:44 `ask` speaks of an argument `other`, and the tool declares none (tools `read_file`, `write_file`) [-]",
            ]
        );
        assert_eq!(of("{ required: [path, note], fields: { n: {} } }"), Vec::<String>::new());
    }

    #[test]
    fn a_fact_that_nothing_gives_is_named() {
        let said = advised(&rule("facts.role == \"x\""), "files", true);
        assert_eq!(
            said,
            ["3:10 the fact `role` has no default and is not given: what reads it asks \
              [give it here and to `run`: `--fact role=…`; or add a `default`]"]
        );
        assert_eq!(advised(&rule("facts.role == \"x\""), "files", false), Vec::<String>::new());
        assert_eq!(
            advised(&rule("has(facts.role) && facts.role == \"x\""), "files", true),
            Vec::<String>::new()
        );
    }

    #[test]
    fn patterns_for_a_server_of_another_name_are_named() {
        let text = "framegate: 1\ntools: { files/read_file: {}, 'git*/*': {} }\n";
        assert_eq!(advised(text, "files", true), Vec::<String>::new(), "two servers share the file");
        assert_eq!(
            advised(text, "server-ab12", true),
            [
                "2:10 `files/read_file` is for a server called `files`, and this one is `server-ab12` \
                 [write `server-ab12/read_file`, or `read_file` alone, or call the server so: `--name files`, here and for `run`]",
                "2:31 `git*/*` is for a server called `git*`, and this one is `server-ab12` \
                 [write `server-ab12/*`, or `*` alone]",
            ]
        );
        let near = advised(&text.replace("git*", "flies"), "files", true);
        assert!(near.len() == 1 && near[0].contains("called `flies`"), "{near:?}");
    }

    #[test]
    fn roots_are_whole_paths_that_exist() {
        let text = "framegate: 1\ndefault: allow\nlists: { roots: [/work, lists] }\nrules:\n  \
            - { name: r, that: 'within(args.path, \"/work\", \"/wrok\", \"~/x\")' }\n  \
            - { name: l, that: 'within(args.path, lists.roots)' }\n";
        assert_eq!(
            advised(text, "files", true),
            [
                "5:51 there is no `/wrok` here [correct the path, or create the folder]",
                "5:60 the root `~/x` is a folder named `~`, not your home [write the whole path, such as `/home/me/work`]",
                "6:22 the root `lists` counts from wherever the server is started [write the whole path, from `/` on]",
            ]
        );
    }
}
