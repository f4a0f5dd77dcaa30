//! A policy of another gateway's format (praxiom), among policies of our own.
//!
//! Such a file says nothing of schemas, hidden tools or who is asked. What holds for its server beside its rules is what
//! [`SHELL`] says: as that gateway did, every tool is shown and any arguments are let through to the rules.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::problem::{PolicyErrors, Problem, Source};
use super::{CallLimits, Inner, Listing, Loaded, Policy, check};
use crate::praxiom::{Dialect, INT_DIGITS_MAX, Praxiom};
use crate::refusal::{NAME_CHARS_MAX, plain};

/// What a policy of our own would have to say for everything but its rules to be as there.
const SHELL: &str = "framegate: 1\ndefault: allow\narguments: unchecked\ninvisible: allow\n";
/// Names of tools and globs that a message lists.
const NAMED_MAX: usize = 5;

/// Reads a file of that format.
pub(super) fn load(name: &str, bytes: &[u8], dialect: Dialect) -> Result<Loaded, PolicyErrors> {
    let praxiom = Praxiom::load(name, bytes, dialect)?;
    let text = String::from_utf8_lossy(bytes);
    let shell = check::load(&Source::new(name, SHELL), &mut |_| Err("it names no files".to_owned()))?;
    let source = Source::new(name, &text);
    let digest = digest(&source, dialect);
    let Some(inner) = Arc::into_inner(shell.policy.0) else {
        let message = format!("policy {name} cannot be set up");
        return Err(PolicyErrors::new(vec![Problem::error(&source, 0..0, message)]));
    };
    let limits = CallLimits { number_digits: INT_DIGITS_MAX, ..inner.limits };
    let inner =
        Inner { source: Arc::clone(&source), digest, praxiom: Some(Arc::new(praxiom)), limits, ..inner };
    Ok(Loaded { policy: Policy(Arc::new(inner)), warnings: Vec::new() })
}

/// The dialect decides too.
fn digest(source: &Source, dialect: Dialect) -> [u8; 32] {
    let mut files = BTreeMap::new();
    if dialect == Dialect::Original {
        files.insert("dialect".to_owned(), dialect.name().to_owned());
    }
    super::digest(source, &files)
}

impl Policy {
    /// The policy of praxiom that this is, if it is one. All but its limits and the like is in there.
    #[must_use]
    pub fn praxiom(&self) -> Option<&Arc<Praxiom>> {
        self.0.praxiom.as_ref()
    }

    /// What is wrong with it for a server of this name, as far as that shows without a listing: no action can be for any
    /// of its tools, whatever they are called. Nothing for a policy of our own.
    #[must_use]
    pub fn unmatched(&self, server: &str) -> Option<Problem> {
        let praxiom = self.praxiom()?;
        let prefix = Praxiom::prefixed(server, "");
        if praxiom.may_cover(&prefix) {
            return None;
        }
        let message = format!(
            "no action can match any tool of `{}`: to this policy they are called `{}…`, and its globs are {}",
            shown(server),
            shown(&prefix),
            listed(praxiom.globs().flat_map(|(_, globs)| globs))
        );
        let problem = Problem::error(&self.0.source, self.first_globs(praxiom), message);
        Some(problem.hint("give the name that the policy means: `framegate run --name NAME`"))
    }

    /// The same beside a listing; and a warning for each action that is for none of its tools.
    pub(super) fn beside_listing(&self, server: &str, listing: &Listing<'_>) -> Vec<Problem> {
        let (Some(praxiom), Some(tools)) = (self.praxiom(), &listing.tools) else { return Vec::new() };
        // A server without tools has no call that could slip through.
        if tools.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> = tools.iter().map(|tool| Praxiom::prefixed(server, tool.name)).collect();
        let idle: Vec<(&str, Range<usize>)> = praxiom.idle(&names).collect();
        if idle.len() == praxiom.globs().count() {
            let message = format!(
                "no action matches any tool of `{}`: they are called {}, and its globs are {}",
                shown(server),
                listed(names.iter().map(String::as_str)),
                listed(praxiom.globs().flat_map(|(_, globs)| globs))
            );
            return vec![Problem::error(&self.0.source, self.first_globs(praxiom), message)];
        }
        let warn = |(name, span): (&str, Range<usize>)| {
            let message =
                format!("the action `{}` matches none of the tools of `{}`", shown(name), shown(server));
            Problem::warning(&self.0.source, span, message)
        };
        idle.into_iter().map(warn).collect()
    }

    fn first_globs(&self, praxiom: &Praxiom) -> Range<usize> {
        praxiom.idle(&[]).next().map_or(0..0, |(_, span)| span)
    }
}

fn shown(text: &str) -> String {
    plain::line(text, NAME_CHARS_MAX)
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let mut out: Vec<String> =
        names.iter().take(NAMED_MAX).map(|name| format!("`{}`", shown(name))).collect();
    if names.len() > NAMED_MAX {
        out.push(format!("{} more", names.len() - NAMED_MAX));
    }
    if out.is_empty() { "none".to_owned() } else { out.join(", ") }
}
