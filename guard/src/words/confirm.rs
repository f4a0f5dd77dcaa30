//! Whether the user accepted what a call does.

use super::accept::{accepts_deed, refuses, yes};
use super::another::Speaks;
use super::deed::Deed;
use super::read::read;
use super::spoken::{other_words, price};
use super::{Said, accepts};
use crate::ground::{self, Match, Matcher, Sought};
use crate::json::Value;
use crate::messages::Role;

/// The most values that are looked for; a call with more is not confirmed.
pub const WANTED_MAX: usize = 256;

/// A value that must be named, and how.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Where it stands in the arguments.
    pub path: String,
    /// A string or a number.
    pub value: Value<'a>,
    /// Other words for it: the name of the record that an id stands for.
    pub words: Vec<String>,
    /// How it is looked for, where not as the others.
    pub matcher: Option<Matcher>,
    /// It need not stand in the accepted message if the user or the assistant named it earlier.
    pub may_be_earlier: bool,
}

/// What the user confirmed of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confirmed {
    /// The accepted message that names most of it, and the one that accepts it; the latest of these.
    pub pair: Option<(usize, usize)>,
    /// Paths of the values that are not named. Without a pair: of all.
    pub missing: Vec<String>,
    /// Those of them of which the yes names another one: `yes, B` to `A or B?`.
    pub another: Vec<String>,
    /// The tool cancels, and neither message speaks of it.
    pub is_deed_unsaid: bool,
}

impl Confirmed {
    /// Whether a message that the user accepted names what it has to.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.pair.is_some() && self.missing.is_empty() && !self.is_deed_unsaid
    }
}

/// What a call does, where a policy does not say which arguments count: every string and number, as a person would
/// write it too (`one way` for `one_way`, `May 17, 2024` for `2024-05-17`, `none` for 0).
///
/// Identifiers (`user_id`, `ids`) are seldom read out. They may have been named earlier in the conversation, by
/// the user or the assistant, never by a tool: else a tool could choose which record a yes is about. If there is
/// nothing but identifiers, they must stand in the accepted message as well.
#[must_use]
pub fn wanted<'a>(arguments: Value<'a>) -> Vec<Wanted<'a>> {
    let leaves = ground::leaves(arguments);
    let some_show = leaves.iter().take(WANTED_MAX + 1).any(|leaf| !leaf.name().is_some_and(is_identifier));
    // One more than the limit, so that it is seen.
    let leaves = leaves.into_iter().take(WANTED_MAX + 1);
    let wanted = |leaf: ground::Leaf<'a>| Wanted {
        may_be_earlier: some_show && leaf.name().is_some_and(is_identifier),
        ..named(leaf.path(), leaf.value)
    };
    leaves.map(wanted).collect()
}

/// A value that must stand in the accepted message, as it is or as a person would write it.
#[must_use]
pub fn named(path: String, value: Value<'_>) -> Wanted<'_> {
    let words = other_words(&path, value);
    Wanted { path, value, words, matcher: None, may_be_earlier: false }
}

/// Names of what stands for a record.
fn is_identifier(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let ends = |end: &str| small.strip_suffix(end).is_some_and(|head| head.ends_with(['_', '-', '.']));
    ["id", "ids", "uuid", "guid"].iter().any(|id| small == *id || ends(id))
        || name.ends_with("Id")
        || name.ends_with("Ids")
        || name.ends_with("ID")
}

/// The assistant's messages that the user accepted, each with the message that accepts it, the latest first.
///
/// What tools and the system say in between does not part the two; anything else of the user's does: who says
/// something else first speaks of something else. Nor does a yes count that came before a message in which the user
/// refuses or takes back anything: "no, stop" need not say what it stops. `last`: only among the user's so many last messages.
#[must_use]
pub fn accepted(said: &[Said<'_>], last: Option<usize>) -> Vec<(usize, usize)> {
    accepted_for(said, None, last)
}

/// The same for a tool that does `deed`.
fn accepted_for(said: &[Said<'_>], deed: Option<Deed>, last: Option<usize>) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    // The message of the user whose proposal is looked for, and whether it refuses any but one of the deed.
    let mut open: Option<(usize, bool)> = None;
    let mut users = 0;
    for (at, message) in said.iter().enumerate().rev() {
        match message.role {
            Some(Role::User) => {
                users += 1;
                if last.is_some_and(|last| users > last) {
                    break;
                }
                let text = message.text.text();
                let is_refusal = refuses(text);
                // What refuses, unless the deed was proposed, waits for the message before it and for no other.
                let waits = || deed.is_some_and(|deed| accepts_deed(text, deed));
                if open.is_some_and(|(_, is_refusal)| is_refusal) || is_refusal && !waits() {
                    break;
                }
                open = Some((at, is_refusal));
            }
            Some(Role::Assistant) => {
                let Some((yes, is_refusal)) = open.take() else { continue };
                let is_yes = if is_refusal {
                    deed.is_some_and(|deed| deed.is_named_in(message.text.text()))
                } else {
                    said.get(yes).is_some_and(|said| accepts(said.text.text()))
                };
                match (is_yes, is_refusal) {
                    (true, _) => pairs.push((at, yes)),
                    (false, true) => break,
                    (false, false) => {}
                }
            }
            _ => {}
        }
    }
    pairs
}

/// How a confirmation is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// What counts as naming a value, where it does not say it itself.
    pub matcher: Matcher,
    /// Only the user's so many last messages.
    pub last: Option<usize>,
    /// What the tool does, where the words for it refuse otherwise: the message that is accepted, or the yes, must
    /// speak of it. Else a yes to a change of an order would cancel it.
    pub deed: Option<Deed>,
}

impl From<Matcher> for How {
    fn from(matcher: Matcher) -> How {
        How { matcher, ..How::default() }
    }
}

/// Whether a message that the user accepted names every wanted value, it or the acceptance.
///
/// Numbers count as numbers whatever the matcher is; other words than the value's own are found without case. A value
/// is not named where the sentence that says yes speaks of another one of its kind.
#[must_use]
pub fn confirmed(said: &[Said<'_>], wanted: &[Wanted<'_>], how: &How) -> Confirmed {
    let pairs = if wanted.len() > WANTED_MAX { Vec::new() } else { accepted_for(said, how.deed, how.last) };
    let ways: Vec<Vec<Sought>> = wanted.iter().map(|wanted| ways(wanted, &how.matcher)).collect();
    let mut best: Option<Confirmed> = None;
    for pair in pairs {
        let look = Look { said, wanted, ways: &ways, pair, speaks: speaks(said, pair.1, how.deed) };
        let paths = |is_in: &dyn Fn(usize) -> bool| {
            let all = wanted.iter().enumerate().filter(|(at, _)| is_in(*at));
            all.map(|(_, wanted)| wanted.path.clone()).collect()
        };
        let found = Confirmed {
            pair: Some(pair),
            missing: paths(&|at| look.is_of_another(at) || !look.names(at)),
            another: paths(&|at| look.is_of_another(at) && look.names(at)),
            is_deed_unsaid: how.deed.is_some_and(|deed| !look.says(deed)),
        };
        if found.is_confirmed() {
            return found;
        }
        let lacks = |found: &Confirmed| found.missing.len() + usize::from(found.is_deed_unsaid);
        if best.as_ref().is_none_or(|best| lacks(&found) < lacks(best)) {
            best = Some(found);
        }
    }
    let all = || wanted.iter().map(|wanted| wanted.path.clone()).collect();
    best.unwrap_or_else(|| Confirmed { missing: all(), ..Confirmed::default() })
}

/// What the sentence that says yes speaks of.
fn speaks(said: &[Said<'_>], at: usize, deed: Option<Deed>) -> Option<Speaks> {
    let said = said.get(at)?.text.text();
    let text = read(said);
    let text = if yes(&text).is_some() { text } else { deed?.without(&text) };
    Some(Speaks::of(text.get(yes(&text)?)?, said))
}

/// One message that was accepted, with the yes.
struct Look<'l> {
    said: &'l [Said<'l>],
    wanted: &'l [Wanted<'l>],
    ways: &'l [Vec<Sought>],
    pair: (usize, usize),
    speaks: Option<Speaks>,
}

impl Look<'_> {
    fn says(&self, deed: Deed) -> bool {
        let said = [self.pair.0, self.pair.1].into_iter().filter_map(|at| self.said.get(at));
        said.into_iter().any(|said| deed.is_named_in(said.text.text()))
    }

    fn names(&self, at: usize) -> bool {
        let (Some(wanted), Some(ways)) = (self.wanted.get(at), self.ways.get(at)) else { return false };
        let (proposal, yes) = self.pair;
        let is_in =
            |at: usize| self.said.get(at).is_some_and(|said| ways.iter().any(|way| way.is_in(said.text)));
        let speaks = |at: &usize| {
            self.said.get(*at).is_some_and(|said| matches!(said.role, Some(Role::User | Role::Assistant)))
        };
        is_in(proposal) || is_in(yes) || wanted.may_be_earlier && (0..proposal).filter(speaks).any(is_in)
    }

    fn is_of_another(&self, at: usize) -> bool {
        self.speaks.as_ref().is_some_and(|speaks| speaks.of_another(at, self.wanted, self.ways))
    }
}

/// The value itself, and the other words for it.
fn ways(wanted: &Wanted<'_>, matcher: &Matcher) -> Vec<Sought> {
    let nocase = Matcher::from(Match::Nocase);
    let matcher = wanted.matcher.as_ref().unwrap_or(matcher);
    let words = wanted.words.iter().map(|words| Sought::text(&nocase, words));
    let price = wanted.value.number().and_then(price);
    std::iter::once(Sought::new(matcher, wanted.value)).chain(words).chain(price).collect()
}

#[cfg(test)]
mod tests;
