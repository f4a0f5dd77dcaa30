//! Whether the user accepted what a call does.

use super::{Said, accepts};
use crate::ground::{self, Match, Matcher, Prepared, Sought};
use crate::json::{Kind, Value};
use crate::messages::Role;

/// A value that must be named, and how else it may be.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Where it stands in the arguments.
    pub path: String,
    /// A string or a number.
    pub value: Value<'a>,
    /// Other words for it: the name of the record that an id stands for.
    pub words: Vec<String>,
}

/// What the user confirmed of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confirmed {
    /// The accepted message that names most of it, and the one that accepts it; the latest of these.
    pub pair: Option<(usize, usize)>,
    /// Paths of the values that neither of the two names. Without a pair: of all.
    pub missing: Vec<String>,
}

impl Confirmed {
    /// Whether a message that the user accepted names every value.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.pair.is_some() && self.missing.is_empty()
    }
}

/// Every string and number in the arguments, as [`ground::leaves`] finds them.
#[must_use]
pub fn wanted(arguments: Value<'_>) -> Vec<Wanted<'_>> {
    let leaves = ground::leaves(arguments).into_iter();
    leaves.map(|leaf| Wanted { path: leaf.path(), value: leaf.value, words: Vec::new() }).collect()
}

/// The assistant's messages that the user accepted, each with the message that accepts it, the latest first.
///
/// What tools and the system say in between does not part the two; anything else of the user's does: who says
/// something else first speaks of something else. `last`: only among the user's so many last messages.
#[must_use]
pub fn accepted(said: &[Said<'_>], last: Option<usize>) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut users = 0;
    for (yes, message) in said.iter().enumerate().rev() {
        if message.role != Some(Role::User) {
            continue;
        }
        users += 1;
        if last.is_some_and(|last| users > last) {
            break;
        }
        let before = said.get(..yes).unwrap_or_default();
        let speaker = before.iter().rposition(|said| matches!(said.role, Some(Role::User | Role::Assistant)));
        if let Some(proposal) = speaker
            && before.get(proposal).is_some_and(|said| said.role == Some(Role::Assistant))
            && accepts(message.text.text())
        {
            pairs.push((proposal, yes));
        }
    }
    pairs
}

/// Whether a message that the user accepted names every wanted value, it or the acceptance.
///
/// Numbers count as numbers whatever the matcher is.
#[must_use]
pub fn confirmed(
    said: &[Said<'_>],
    wanted: &[Wanted<'_>],
    matcher: &Matcher,
    last: Option<usize>,
) -> Confirmed {
    let sought: Vec<(&Wanted<'_>, Vec<Sought>)> =
        wanted.iter().map(|wanted| (wanted, ways(wanted, matcher))).collect();
    let mut best: Option<Confirmed> = None;
    for (proposal, yes) in accepted(said, last) {
        let texts = [proposal, yes].map(|at| said.get(at).map(|said| said.text));
        let is_named = |ways: &[Sought]| texts.iter().flatten().any(|text| names(text, ways));
        let missing =
            sought.iter().filter(|(_, ways)| !is_named(ways)).map(|(wanted, _)| wanted.path.clone());
        let found = Confirmed { pair: Some((proposal, yes)), missing: missing.collect() };
        if found.is_confirmed() {
            return found;
        }
        if best.as_ref().is_none_or(|best| found.missing.len() < best.missing.len()) {
            best = Some(found);
        }
    }
    let all = || wanted.iter().map(|wanted| wanted.path.clone()).collect();
    best.unwrap_or_else(|| Confirmed { pair: None, missing: all() })
}

fn names(text: &Prepared, ways: &[Sought]) -> bool {
    ways.iter().any(|way| way.is_in(text))
}

/// The value itself, and the other words for it.
fn ways(wanted: &Wanted<'_>, matcher: &Matcher) -> Vec<Sought> {
    let nocase = Matcher::from(Match::Nocase);
    let itself = match wanted.value.kind() {
        Kind::Bool | Kind::Null => None,
        _ => Some(Sought::new(matcher, wanted.value)),
    };
    itself.into_iter().chain(wanted.words.iter().map(|words| Sought::text(&nocase, words))).collect()
}
