//! Which rules of another policy are for any tool that the record has calls of.
//!
//! `run` sees the server's whole listing, and a rule that is for none of its tools makes every call ask. A record has
//! only the tools that were called: here such a rule would be passed over in silence, and a misspelt argument would
//! look like calls that are newly allowed.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use framegate_guard::json::{Document, Limits};
use framegate_guard::policy::Policy;
use framegate_guard::trace::{ListedAs, Trace};
use framegate_guard::{Facts, Guard};

/// The rules that were seen to be for a tool.
#[derive(Debug)]
pub(crate) struct Reach {
    policy: Policy,
    /// Servers, tools and definitions that were looked at.
    seen: HashSet<(String, String, Bytes)>,
    reached: BTreeSet<String>,
}

impl Reach {
    pub(crate) fn of(policy: Policy) -> Reach {
        Reach { policy, seen: HashSet::new(), reached: BTreeSet::new() }
    }

    /// A call that is decided by the policy.
    pub(crate) fn see(&mut self, trace: &Trace) {
        let ListedAs::Tool { definition: Some(definition), .. } = &trace.listed else { return };
        if !self.seen.insert((trace.server.clone(), trace.tool.clone(), definition.clone())) {
            return;
        }
        let Ok(read) = Document::read(definition.clone(), &Limits::default()) else { return };
        let guard = Guard::new(self.policy.clone(), &trace.server, Facts::default());
        let (guard, _) = guard.adopt([(trace.tool.clone(), Ok(read))]);
        self.reached.extend(guard.checks_of(&trace.tool).into_iter().map(|check| check.name));
    }

    /// The rules that were for none; nothing where no definition was seen.
    pub(crate) fn unreached(&self) -> impl Iterator<Item = &str> {
        let rules = self.policy.rules().iter().filter(|rule| !self.seen.is_empty() && !rule.has_effects_only);
        rules.map(|rule| rule.name.as_str()).filter(|name| !self.reached.contains(*name))
    }
}
