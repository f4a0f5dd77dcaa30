//! Where the values of a call stand in the conversation: what the checks of provenance read.

use std::ops::Range;

use super::env::CallEnv;
use super::values::{self, Named, VALUES_MAX};
use crate::finding::Evidence;
use crate::ground::Sought;
use crate::json::Value;
use crate::messages::Role;
use crate::policy::Provenance;
use crate::policy::provenance::{Ground, Grounds, Instructions};
use crate::program::About;
use crate::rust_matcher::RustMatcher;
use crate::session::{Kept, OutputKind, Session};

/// Code points within which instruction-like text in the user's own message casts doubt on a value.
const NEAR_CHARS: usize = 200;

/// A place in a message, by the bytes that are kept of it.
#[derive(Debug, Clone)]
pub(crate) struct Place<'a> {
    pub(crate) kept: &'a Kept,
    pub(crate) range: Range<usize>,
}

/// Why a place does not support a value unasked.
#[derive(Debug, Clone)]
pub(crate) enum Taint<'a> {
    /// A tool output carries instructions: this one, or another.
    Output(&'a Kept),
    /// The user's own message has such text beside the value.
    Beside(Place<'a>),
}

/// One value that must be grounded.
#[derive(Debug)]
pub(crate) struct Traced<'a> {
    pub(crate) named: Named<'a>,
    pub(crate) ground: Ground,
    /// A place that supports it, best one without taint, else the first.
    pub(crate) found: Option<(Place<'a>, Option<Taint<'a>>)>,
    /// It stands in a tool output, whose words do not support it.
    pub(crate) by_tool: Option<Place<'a>>,
    /// The user wrote it, but too long ago to count.
    pub(crate) too_old: Option<Place<'a>>,
    pub(crate) is_blank: bool,
    /// A fact says it, where facts count.
    pub(crate) is_fact: bool,
    /// Whoever says where a text names it gave no answer, and why.
    pub(crate) broke: Option<String>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Trail<'a> {
    pub(crate) values: Vec<Traced<'a>>,
    /// More than are looked for.
    pub(crate) is_cut: bool,
}

/// Looks for every value that `ground`, or a matcher in Rust, names.
pub(crate) fn trail<'a>(env: &CallEnv<'a>, options: &Provenance, matchers: &'a [RustMatcher]) -> Trail<'a> {
    let own: Vec<&RustMatcher> =
        matchers.iter().filter(|matcher| matcher.names(env.server, env.tool)).collect();
    let mut trail = Trail::default();
    let all = sought(env, &options.ground, &own);
    if all.is_empty() {
        // Most tools: nobody reads the conversation for them.
        return trail;
    }
    let tainted = tainted(env.session, options);
    let users = Users::of(env);
    for (sought, ground, matcher) in all {
        for named in sought {
            if trail.values.len() == VALUES_MAX {
                trail.is_cut = true;
                return trail;
            }
            let ground = ground.clone();
            let look = Look { env, ground, matcher, tainted, users: &users, options };
            trail.values.push(look.trace(named));
        }
    }
    trail
}

/// What is to be looked for, and how.
fn sought<'a>(
    env: &CallEnv<'a>,
    grounds: &Grounds,
    own: &[&'a RustMatcher],
) -> Vec<(Vec<Named<'a>>, Ground, Option<&'a RustMatcher>)> {
    let of = |name: &str| {
        let mut named = values::of(env.arguments, name, env.schema);
        named.retain(|named| !is_default(env, name, named));
        named
    };
    let is_rusts = |name: &str| own.iter().any(|matcher| matcher.argument == name);
    let by_policy = grounds.named.iter().filter(|(name, _)| !is_rusts(name));
    let by_policy = by_policy.map(|(name, ground)| (of(name), ground.clone(), None));
    let by_rust = own.iter().map(|matcher| (of(&matcher.argument), matcher.ground.clone(), Some(*matcher)));
    let mut all: Vec<_> = by_policy.chain(by_rust).collect();
    if let Some(ground) = grounds.others.clone() {
        let names = grounds.named.keys().chain(&grounds.free).map(String::as_str);
        let names: Vec<&str> = names.chain(own.iter().map(|matcher| matcher.argument.as_str())).collect();
        let mut others = values::all(env.arguments, env.schema);
        others.retain(|named| {
            let is_free = named.value.as_bool().is_some() || values::is_blank(named.value);
            !is_free && !names.iter().any(|name| named.is_in(name)) && !is_choice(env, named)
        });
        all.push((others, ground, None));
    }
    all
}

/// One of the values that the schema itself lists for its argument.
fn is_choice(env: &CallEnv<'_>, named: &Named<'_>) -> bool {
    let lists = |schema: &crate::schema::Schema| {
        let property = schema.source().root().get("properties")?.get(named.argument())?;
        Some(property.get("enum").or(property.get("const")).is_some())
    };
    env.schema.and_then(lists) == Some(true)
}

/// The first tool output that carries instructions, where that matters.
fn tainted<'a>(session: &'a Session, options: &Provenance) -> Option<&'a Kept> {
    match options.instructions() {
        Instructions::Any | Instructions::Grounded => first_tainted(session),
        // What flows where is judged by itself.
        Instructions::Flow | Instructions::Off => None,
    }
}

/// The first tool output that carries instructions, in the window or before it.
pub(crate) fn first_tainted(session: &Session) -> Option<&Kept> {
    let mut outputs = session.left().chain(session.messages()).filter(|kept| kept.role() == Some(Role::Tool));
    outputs.find(|kept| kept.carries_instructions())
}

/// An empty text that the schema itself gives for what is not sent.
fn is_default(env: &CallEnv<'_>, name: &str, named: &Named<'_>) -> bool {
    let property = |schema: &'_ crate::schema::Schema| {
        let default = schema.source().root().get("properties")?.get(name)?.get("default")?;
        Some(default.as_str() == Some(""))
    };
    named.value.as_str() == Some("") && env.schema.and_then(property) == Some(true)
}

/// What is in the window, for this policy: another one may have let answers to the server's questions count.
fn heard<'a>(env: &CallEnv<'a>) -> impl DoubleEndedIterator<Item = &'a Kept> {
    let is_answer = |kept: &&Kept| kept.origin().is_some_and(|origin| origin.kind == OutputKind::Answer);
    let hears_answers = env.policy.hears_answers();
    env.session.messages().filter(move |kept| hears_answers || !is_answer(kept))
}

/// Which of the user's messages is the last but how many.
struct Users(Vec<u64>);

impl Users {
    fn of(env: &CallEnv<'_>) -> Users {
        let theirs = heard(env).rev().filter(|kept| kept.role() == Some(Role::User));
        Users(theirs.map(Kept::number).collect())
    }

    /// The number of the first that counts.
    fn since(&self, last: Option<usize>) -> u64 {
        let first = last.and_then(|last| self.0.get(last.saturating_sub(1)));
        first.copied().unwrap_or(0)
    }
}

struct Look<'a, 'l> {
    env: &'l CallEnv<'a>,
    ground: Ground,
    matcher: Option<&'a RustMatcher>,
    tainted: Option<&'a Kept>,
    users: &'l Users,
    options: &'l Provenance,
}

impl<'a> Look<'a, '_> {
    fn trace(&self, named: Named<'a>) -> Traced<'a> {
        let mut traced = Traced {
            is_blank: values::is_blank(named.value),
            is_fact: self.ground.from.facts && self.is_fact(&named),
            ground: self.ground.clone(),
            found: None,
            by_tool: None,
            too_old: None,
            broke: None,
            named,
        };
        if traced.is_fact {
            return traced;
        }
        let since = self.users.since(self.ground.last);
        let sought = Sought::new(&self.ground.matcher, traced.named.value);
        for kept in heard(self.env) {
            let Some(role) = kept.role() else { continue };
            let is_servers = kept
                .origin()
                .is_some_and(|origin| matches!(origin.kind, OutputKind::Notice | OutputKind::Server));
            let counts = !is_servers && (role != Role::User || kept.number() >= since);
            let supports = self.ground.from.has(role) && counts;
            let is_too_old = !supports && role == Role::User && self.ground.from.user;
            let is_told = is_too_old || role == Role::Tool && traced.by_tool.is_none();
            if !supports && !is_told {
                continue;
            }
            for range in self.places(kept, &sought, &mut traced) {
                let place = Place { kept, range };
                if !supports {
                    // Of the user's the latest is told.
                    if is_too_old {
                        traced.too_old = Some(place);
                    } else {
                        traced.by_tool.get_or_insert(place);
                    }
                    break;
                }
                match self.taint(&place, role) {
                    None => {
                        traced.found = Some((place, None));
                        return traced;
                    }
                    Some(taint) => drop(traced.found.get_or_insert((place, Some(taint)))),
                }
                // All of an output is tainted alike; beside what the user says, the next place may not be.
                if role != Role::User {
                    break;
                }
            }
        }
        traced
    }

    /// By value: a fact is given, not quoted.
    fn is_fact(&self, named: &Named<'_>) -> bool {
        let given = self.env.facts.iter().filter_map(|(_, value)| value);
        given.into_iter().any(|given| {
            let (document, span) = (given.document(), given.span());
            let inside = |value: &Value<'_>| span.contains(&value.span().start);
            document.all().filter(inside).any(|value| value == named.value)
        })
    }

    fn places(&self, kept: &Kept, sought: &Sought, traced: &mut Traced<'a>) -> Vec<Range<usize>> {
        if traced.is_blank || kept.is_asked_for(traced.named.value) {
            return Vec::new();
        }
        if self.matcher.is_none() && self.ground.program.is_none() {
            return kept.find(sought);
        }
        self.places_by_own(kept, &traced.named).unwrap_or_else(|why| {
            traced.broke = Some(why);
            Vec::new()
        })
    }

    /// The same where the policy or the library says itself what names a value: what is only said back is found by it,
    /// too.
    fn places_by_own(&self, kept: &Kept, named: &Named<'_>) -> Result<Vec<Range<usize>>, String> {
        let found = self.named_in(kept.text(), named)?;
        if found.is_empty() {
            return Ok(found);
        }
        let echoed = kept.echoed().map(|echoed| self.named_in(echoed.text(), named)).transpose()?;
        let is_echo = echoed.is_some_and(|echoed| !echoed.is_empty());
        Ok(if is_echo { Vec::new() } else { found })
    }

    fn named_in(&self, text: &str, named: &Named<'_>) -> Result<Vec<Range<usize>>, String> {
        match (self.matcher, &self.ground.program) {
            (Some(matcher), _) => {
                let panicked = || format!("the matcher `{}` panicked", matcher.name);
                matcher.find(text, named.value).ok_or_else(panicked)
            }
            (None, Some(program)) => self.asked(program, text, named),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// All of the text, where the program says that it names the value.
    fn asked(&self, program: &str, text: &str, named: &Named<'_>) -> Result<Vec<Range<usize>>, String> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let about = About::Value { argument: &named.path, value: named.value, text };
        let (allows, _) = self.env.yes_or_no(program, about)?;
        Ok(allows.then_some(0..text.len()).into_iter().collect())
    }

    fn taint(&self, place: &Place<'a>, role: Role) -> Option<Taint<'a>> {
        match role {
            Role::Tool => {
                let own = place.kept.carries_instructions();
                self.tainted.map(|first| Taint::Output(if own { place.kept } else { first }))
            }
            Role::User if self.options.scan_user => beside(place).map(Taint::Beside),
            _ => None,
        }
    }
}

/// The instruction-like passage near a place in the user's own words.
fn beside<'a>(place: &Place<'a>) -> Option<Place<'a>> {
    let text = place.kept.text();
    let near = |span: &Range<usize>| {
        let gap = if span.end <= place.range.start {
            span.end..place.range.start
        } else {
            place.range.end..span.start.max(place.range.end)
        };
        text.get(gap).is_some_and(|gap| gap.char_indices().nth(NEAR_CHARS).is_none())
    };
    let passages = &place.kept.scan().passages;
    let found = passages.iter().find(|passage| near(&passage.span))?;
    Some(Place { kept: place.kept, range: found.span.clone() })
}

impl Traced<'_> {
    /// It stands nowhere that counts.
    pub(crate) fn is_missing(&self) -> bool {
        self.found.is_none() && !self.is_fact
    }
}

impl Place<'_> {
    /// The words there.
    pub(crate) fn quote(&self) -> &str {
        self.kept.text().get(self.range.clone()).unwrap_or_default()
    }

    /// For people: `the output of `fetch` (message 3)`.
    pub(crate) fn shown(&self) -> String {
        shown(self.kept)
    }

    pub(crate) fn evidence(&self, about: &str) -> Evidence {
        let place = self.kept.original(&self.range);
        Evidence {
            about: about.to_owned(),
            quote: crate::refusal::plain::line(self.quote(), crate::refusal::REASON_CHARS_MAX),
            start: place.start,
            end: place.end,
            source: self.kept.role().map_or("", Role::name).to_owned(),
            message: Some(self.kept.number()),
        }
    }
}

/// A message for people.
pub(crate) fn shown(kept: &Kept) -> String {
    let number = kept.number();
    match (kept.origin(), kept.role()) {
        (Some(origin), _) => format!("{} (message {number})", origin.shown()),
        (None, Some(Role::Tool)) => format!("a tool output (message {number})"),
        (None, Some(role)) => format!("message {number} of the {role}"),
        (None, None) => format!("message {number}"),
    }
}

/// The first passage of a message that reads like an instruction.
pub(crate) fn first_passage(kept: &Kept) -> Option<Place<'_>> {
    let passage = kept.scan().passages.first()?;
    Some(Place { kept, range: passage.span.clone() })
}

/// What a message that carries instructions says, in a reason.
pub(crate) fn says(kept: &Kept) -> String {
    match first_passage(kept) {
        Some(place) => format!("says {}", values::passage(place.quote())),
        // Too long to be read to its end, or cut to nothing.
        None => "may carry instructions".to_owned(),
    }
}
