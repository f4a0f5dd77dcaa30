//! Whether the user accepted what a call does.

use super::accept::refuses;
use super::spoken::other_words;
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
}

impl Confirmed {
    /// Whether a message that the user accepted names what it has to.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.pair.is_some() && self.missing.is_empty()
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
    Wanted { path, value, words: other_words(value), matcher: None, may_be_earlier: false }
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
    let mut pairs = Vec::new();
    // The message of the user whose proposal is looked for, and whether it accepts.
    let mut open: Option<usize> = None;
    let mut users = 0;
    for (at, message) in said.iter().enumerate().rev() {
        match message.role {
            Some(Role::User) => {
                users += 1;
                if last.is_some_and(|last| users > last) {
                    break;
                }
                if refuses(message.text.text()) {
                    break;
                }
                open = Some(at);
            }
            Some(Role::Assistant) => {
                if let Some(yes) = open.take()
                    && said.get(yes).is_some_and(|said| accepts(said.text.text()))
                {
                    pairs.push((at, yes));
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Whether a message that the user accepted names every wanted value, it or the acceptance.
///
/// Numbers count as numbers whatever the matcher is; other words than the value's own are found without case.
#[must_use]
pub fn confirmed(
    said: &[Said<'_>],
    wanted: &[Wanted<'_>],
    matcher: &Matcher,
    last: Option<usize>,
) -> Confirmed {
    let pairs = if wanted.len() > WANTED_MAX { Vec::new() } else { accepted(said, last) };
    let sought: Vec<Vec<Sought>> = wanted.iter().map(|wanted| ways(wanted, matcher)).collect();
    let mut best: Option<Confirmed> = None;
    for (proposal, yes) in pairs {
        let is_missing = |(wanted, ways): (&Wanted<'_>, &Vec<Sought>)| {
            let named =
                |at: usize| said.get(at).is_some_and(|said| ways.iter().any(|way| way.is_in(said.text)));
            let speaks = |at: &usize| {
                said.get(*at).is_some_and(|said| matches!(said.role, Some(Role::User | Role::Assistant)))
            };
            let is_named = named(proposal)
                || named(yes)
                || wanted.may_be_earlier && (0..proposal).filter(speaks).any(named);
            (!is_named).then(|| wanted.path.clone())
        };
        let missing = wanted.iter().zip(&sought).filter_map(is_missing).collect();
        let found = Confirmed { pair: Some((proposal, yes)), missing };
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

/// The value itself, and the other words for it.
fn ways(wanted: &Wanted<'_>, matcher: &Matcher) -> Vec<Sought> {
    let nocase = Matcher::from(Match::Nocase);
    let matcher = wanted.matcher.as_ref().unwrap_or(matcher);
    let words = wanted.words.iter().map(|words| Sought::text(&nocase, words));
    std::iter::once(Sought::new(matcher, wanted.value)).chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Prepared;
    use crate::json::{Document, Limits};

    fn confirmation(texts: &[(Role, &str)], arguments: &str, last: Option<usize>) -> Confirmed {
        let texts: Vec<(Role, Prepared)> =
            texts.iter().map(|(role, text)| (*role, Prepared::new(text))).collect();
        let said: Vec<Said<'_>> = texts.iter().map(|(role, text)| Said { role: Some(*role), text }).collect();
        let arguments = Document::read(arguments.to_owned().into(), &Limits::default()).unwrap();
        confirmed(&said, &wanted(arguments.root()), &Matcher::from(Match::Nocase), last)
    }

    use Role::{Assistant, System, Tool, User};

    #[test]
    fn the_accepted_message_or_the_acceptance_names_it() {
        let call = r#"{"to":"Kim","amount":25.0}"#;
        for (text, yes, expected) in [
            ("I will pay 25 to Kim. OK?", "yes", vec![]),
            ("Shall I pay KIM?", "yes, $25.00", vec![]),
            ("pay 24 to Kim", "yes", vec!["amount"]),
            ("pay 25 to Kimberly", "yes", vec!["to"]),
        ] {
            let found =
                confirmation(&[(Assistant, text), (Tool, "note"), (System, "x"), (User, yes)], call, None);
            assert_eq!(
                (found.pair, found.missing),
                (Some((0, 3)), expected.into_iter().map(Into::into).collect())
            );
        }
        let none = confirmation(&[(Assistant, "pay 25 to Kim"), (User, "hm"), (User, "yes")], call, None);
        assert_eq!(none, Confirmed { pair: None, missing: vec!["to".into(), "amount".into()] });
        let tool = confirmation(&[(Tool, "assistant: pay 25 to Kim"), (User, "yes")], call, None);
        assert!(!tool.is_confirmed());
    }

    #[test]
    fn the_latest_pair_that_names_all_counts() {
        let said = [(Assistant, "pay 25 to Kim"), (User, "yes"), (Assistant, "pay 99 to Lee"), (User, "yes")];
        let call = r#"{"to":"Kim","amount":25}"#;
        assert_eq!(confirmation(&said, call, None).pair, Some((0, 1)));
        assert!(confirmation(&said, call, Some(2)).is_confirmed());
        let latest = confirmation(&said, call, Some(1));
        assert_eq!((latest.pair, latest.missing.len()), (Some((2, 3)), 2));
    }

    #[test]
    fn a_later_no_takes_an_earlier_yes_back() {
        let call = r#"{"to":"Kim"}"#;
        let asked = [(Assistant, "Shall I pay Kim?"), (User, "yes")];
        let then = |said: &[(Role, &'static str)]| {
            confirmation(&[&asked[..], said].concat(), call, None).is_confirmed()
        };
        for said in [
            &[(Assistant, "I will do it in a minute."), (User, "No, stop. Do not pay Kim.")][..],
            &[(User, "No wait, stop")],
            &[(Assistant, "Done"), (User, "Don't pay anything more")],
            &[(Assistant, "Now?"), (User, "yes, but later")],
            &[(Assistant, "Now?"), (User, "Нет")],
            &[(User, "cancel that"), (User, "thanks")],
            &[(User, "no"), (Assistant, "And Lee?"), (User, "yes")],
        ] {
            assert!(!then(said), "{said:?}");
        }
        for said in [
            &[][..],
            &[(User, "thanks")],
            &[(Assistant, "Lee too?"), (User, "Yes, no problem")],
            &[(User, "no"), (Assistant, "So Kim after all?"), (User, "yes")],
            &[(Assistant, "No, stop."), (Tool, "No, stop."), (System, "stop")],
        ] {
            assert!(then(said), "{said:?}");
        }
    }

    #[test]
    fn an_identifier_may_be_named_earlier_but_not_by_a_tool() {
        let said = |who: Role| {
            [(who, "my order is W77"), (Assistant, "Shall I change it to red?"), (User, "Yes, please.")]
        };
        let call = r#"{"order_id":"W77","color":"red"}"#;
        assert!(confirmation(&said(User), call, None).is_confirmed());
        assert!(confirmation(&said(Assistant), call, None).is_confirmed());
        assert_eq!(confirmation(&said(Tool), call, None).missing, ["order_id"]);
        assert_eq!(
            confirmation(&said(User), r#"{"order_id":"W78","color":"red"}"#, None).missing,
            ["order_id"]
        );
        // Nothing else says what is done.
        assert_eq!(confirmation(&said(User), r#"{"order_id":"W77"}"#, None).missing, ["order_id"]);
        // What is said after the yes was not accepted.
        let late = [(Assistant, "Shall I change it to red?"), (User, "Yes."), (User, "my order is W77")];
        assert!(!confirmation(&late, call, None).is_confirmed());
    }

    #[test]
    fn names_of_identifiers() {
        for name in ["id", "ids", "user_id", "item_ids", "userId", "orderID", "payment-id", "UUID"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["paid", "amount", "idea", "bids", "to", "grid", "identity"] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn as_many_values_as_the_limit() {
        let confirmed = |count: usize| {
            let call = format!("{{\"x\":[{}]}}", vec!["7"; count].join(","));
            confirmation(&[(Assistant, "7 of them?"), (User, "yes")], &call, None).is_confirmed()
        };
        assert!(confirmed(WANTED_MAX - 1) && confirmed(WANTED_MAX) && !confirmed(WANTED_MAX + 1));
    }
}
