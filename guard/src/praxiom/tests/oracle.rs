//! What praxiom 0.2.0 decides (`tests/data/oracle/praxiom.jsonl.gz`): verdict, message, state and audit line of each
//! call, and the start-up errors.
//!
//! Where we decide otherwise on purpose the row stands in [`SAFER`] (with its reason), or is one of the rows marked
//! `divergent`. A row there that agrees is an error.

use std::collections::BTreeSet;
use std::io::Read as _;

use crate::json::{Document, Limits, Value};
use crate::praxiom::audit::{self, Arguments, Event};
use crate::praxiom::python::repr;
use crate::praxiom::{Because, Call, Dialect, Praxiom, State, Verdict};

const ROWS: &[u8] = include_bytes!("../../../tests/data/oracle/praxiom.jsonl.gz");

/// Rows that are not marked but differ, all for one reason: an escape in a value is text to us, and a character
/// beyond U+2FFFF is a character. In most of them only the state's spelling tells; `p0121`, `p0215` and `p0533` are
/// let through by the original because of it.
pub(super) const SAFER: [&str; 15] = [
    "p0121", "p0214", "p0215", "p0431", "p0440", "p0457", "p0479", "p0480", "p0507", "p0515", "p0533",
    "p0545", "p0549", "p0556", "p0561",
];

/// The marked rows: what we say to each call. `-` is a file that is refused.
const DIVERGENT: [(&str, &str, &str); 11] = [
    ("p0028", "DENY DENY", "zero divisor: the guard is undecided"),
    ("p0031", "ALLOW DENY ALLOW", "zero divisor that does not matter"),
    ("p0032", "DENY DENY ALLOW", "the same"),
    ("p0033", "ALLOW ALLOW DENY", "the same"),
    ("p0034", "DENY DENY DENY", "zero divisor: the effect has no value"),
    ("p0124", "DENY ALLOW ALLOW ALLOW", "an escape in a value is its text"),
    ("p0126", "DENY ALLOW DENY", "the same, in a literal"),
    ("p0127", "DENY DENY DENY", "the same"),
    ("p0229", "-", "`x` and `x_next` of one type"),
    ("p0230", "-", "the same"),
    ("p0231", "ALLOW DENY", "of different types they do not collide"),
];

/// Rows of [`DIVERGENT`] that differ in the original's dialect too: there is no answer to give.
pub(super) const NO_ANSWER: [&str; 2] = ["p0028", "p0034"];

/// Messages that are the solver's or Python's own: ours say the same in other words.
const OTHER_WORDS: [&str; 2] = ["p0312", "p0314"];

pub(super) fn rows() -> Vec<Document> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(ROWS).read_to_string(&mut text).unwrap();
    let limits = Limits { number_digits: 5000, ..Limits::default() };
    text.lines().map(|line| Document::read(line.to_owned().into(), &limits).unwrap()).collect()
}

pub(super) fn text<'a>(value: Value<'a>, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

pub(super) fn flag(row: Value<'_>) -> bool {
    row.get("divergent").is_some()
}

/// A verdict in the rows' words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) verdict: String,
    pub(super) kind: Option<String>,
    pub(super) rule: Option<String>,
    pub(super) actions: Vec<String>,
    pub(super) message: Option<String>,
    pub(super) state_check: Vec<(String, String)>,
    pub(super) state: Vec<(String, String)>,
    pub(super) audit: String,
}

pub(super) fn shown(policy: &Praxiom, state: &State) -> Vec<(String, String)> {
    policy.each_shown(state).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn python(value: Value<'_>) -> String {
    match (value.as_bool(), value.as_str()) {
        (Some(true), _) => "True".to_owned(),
        (Some(false), _) => "False".to_owned(),
        (_, Some(text)) => repr(text),
        _ => value.raw().to_owned(),
    }
}

fn values(state: Value<'_>) -> Vec<(String, String)> {
    state.members().map(|(name, value)| (name.to_owned(), python(value))).collect()
}

pub(super) fn expected(row: Value<'_>) -> Said {
    let state = values(row.get("state_after").unwrap());
    let owned = |key| text(row, key).map(str::to_owned);
    Said {
        verdict: owned("verdict").unwrap(),
        kind: owned("kind"),
        rule: owned("rule"),
        actions: row
            .get("actions")
            .into_iter()
            .flat_map(Value::items)
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        message: owned("message"),
        state_check: row.get("state_after_check").map_or_else(|| state.clone(), values),
        state,
        audit: owned("audit").unwrap(),
    }
}

fn kind(because: Because) -> &'static str {
    match because {
        Because::Argument => "argument",
        Because::Default => "default",
        Because::Guard => "guard",
        Because::InFlight => "in flight",
        Because::Invariant => "invariant",
        Because::Solver => "solver",
        Because::Undecided => "undecided",
    }
}

/// The row's result as a server would write it.
pub(super) fn result_document(result: Option<Value<'_>>) -> Document {
    let blocks = |texts: Vec<String>| -> String {
        let blocks: Vec<String> =
            texts.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{text}}}")).collect();
        blocks.join(",")
    };
    let texts = match result.and_then(|result| result.get("texts")) {
        Some(texts) => texts.items().map(|text| text.raw().to_owned()).collect(),
        None => vec!["\"ok\"".to_owned()],
    };
    let structured = result.and_then(|result| result.get("structured")).map_or("null", Value::raw);
    let result = format!("{{\"content\":[{}],\"structuredContent\":{structured}}}", blocks(texts));
    Document::read(result.into(), &Limits::default()).unwrap()
}

/// The text that the original makes of the row's result.
fn result_text(policy: &Praxiom, result: Option<Value<'_>>) -> String {
    policy.result_text(result_document(result).root())
}

/// Runs one call as the gateway does.
fn run(policy: &Praxiom, state: &mut State, row: Value<'_>) -> Said {
    let tool = text(row, "tool").unwrap();
    let call = Call { tool, upstream: tool.split_once("__").unwrap().0, arguments: row.get("arguments") };
    let arguments = audit::arguments(call.arguments, Arguments::Redacted);
    let mut said = Said {
        verdict: "PASS".to_owned(),
        kind: None,
        rule: None,
        actions: Vec::new(),
        message: None,
        state_check: shown(policy, state),
        state: shown(policy, state),
        audit: audit::line(Event::Pass, tool, &arguments, "no policy action covers this tool"),
    };
    match policy.decide(state, &call, &[]) {
        Verdict::Pass => {}
        Verdict::Deny(denied) => {
            said.verdict = "DENY".to_owned();
            said.kind = Some(kind(denied.because).to_owned());
            said.rule = denied.rule;
            said.audit = audit::line(Event::Deny, tool, &arguments, &denied.reason);
            said.message = Some(denied.text);
        }
        Verdict::Allow(allowed) => {
            said.verdict = "ALLOW".to_owned();
            let mut detail = format!("[{}] {}", allowed.actions.join(", "), policy.shown(&allowed.next));
            said.actions = allowed.actions;
            *state = allowed.next;
            said.state_check = shown(policy, state);
            let result = row.get("result");
            let raised = result.and_then(|result| text(result, "raise"));
            let observed = if raised.is_none() {
                policy.answer(state, &call, &result_text(policy, result))
            } else {
                None
            };
            if let Some(observed) = observed {
                if observed.changed {
                    let shown = policy.shown(&observed.next);
                    detail = format!("[{}] result → {shown}", observed.actions.join(", "));
                }
                *state = observed.next;
            }
            said.state = shown(policy, state);
            said.audit = match raised {
                Some(raised) => {
                    audit::line(Event::Error, tool, &arguments, &format!("RuntimeError: {raised}"))
                }
                None => audit::line(Event::Allow, tool, &arguments, &detail),
            };
        }
    }
    said
}

/// Whether another failing rule is named, which the solver does where it decides that one first.
pub(super) fn names_another(row: Value<'_>, ours: &Said, wanted: &Said) -> bool {
    let also: BTreeSet<&str> =
        row.get("also_failing").into_iter().flat_map(Value::items).filter_map(Value::as_str).collect();
    let both = ours.verdict == "DENY" && wanted.verdict == "DENY" && ours.state == wanted.state;
    both && ours.rule.as_deref().is_some_and(|rule| also.contains(rule))
}

/// What differs in a row's calls.
fn differences(row: Value<'_>, dialect: Dialect) -> Vec<String> {
    let policy = match Praxiom::load("policy.yaml", text(row, "policy").unwrap().as_bytes(), dialect) {
        Ok(policy) => policy,
        Err(errors) => return vec![format!("not loaded: {errors}")],
    };
    let mut state = policy.initial();
    let calls = row.get("calls").unwrap().items().zip(row.get("verdicts").unwrap().items());
    let mut differences = Vec::new();
    for (at, (call, verdict)) in calls.enumerate() {
        let (ours, wanted) = (run(&policy, &mut state, call), expected(verdict));
        if ours != wanted && !names_another(verdict, &ours, &wanted) {
            differences.push(format!("call {at}:\n  ours   {ours:?}\n  theirs {wanted:?}"));
        }
    }
    differences
}

pub(super) fn calls(rows: &[Document]) -> impl Iterator<Item = (&str, Value<'_>)> {
    let rows = rows.iter().map(Document::root).filter(|row| row.get("startup_error").is_none());
    rows.map(|row| (text(row, "id").unwrap(), row))
}

#[test]
fn every_verdict_of_the_original_is_ours_in_its_own_dialect() {
    let rows = rows();
    let mut wrong = Vec::new();
    for (id, row) in calls(&rows) {
        for difference in differences(row, Dialect::Original) {
            if !NO_ANSWER.contains(&id) {
                wrong.push(format!("{id} {} {difference}", text(row, "tag").unwrap()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_verdict_of_the_original_is_ours_unless_it_is_unsafe() {
    let rows = rows();
    let mut wrong = Vec::new();
    for (id, row) in calls(&rows).filter(|(_, row)| !flag(*row)) {
        let differences = differences(row, Dialect::Safe);
        if SAFER.contains(&id) {
            assert!(!differences.is_empty(), "{id} agrees: it does not belong to the list");
            // Once more is refused there is another state: what the original lets through we may not.
            let (ours, theirs) = (verdicts(row), said(row));
            let looser = ours.iter().zip(theirs).any(|(ours, theirs)| ours == "ALLOW" && theirs == "DENY");
            assert!(!looser, "{id}: {ours:?}");
            continue;
        }
        wrong.extend(differences.iter().map(|difference| format!("{id} {difference}")));
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Our verdicts alone.
pub(super) fn verdicts(row: Value<'_>) -> Vec<String> {
    let loaded = Praxiom::load("policy.yaml", text(row, "policy").unwrap().as_bytes(), Dialect::Safe);
    let Ok(policy) = loaded else { return vec!["-".to_owned()] };
    let mut state = policy.initial();
    row.get("calls").unwrap().items().map(|call| run(&policy, &mut state, call).verdict).collect()
}

fn said(row: Value<'_>) -> Vec<&str> {
    row.get("verdicts").unwrap().items().map(|verdict| text(verdict, "verdict").unwrap()).collect()
}

#[test]
fn the_marked_rows_get_the_safer_answer() {
    let rows = rows();
    let marked: Vec<(&str, Value<'_>)> = calls(&rows).filter(|(_, row)| flag(*row)).collect();
    assert_eq!(marked.len(), DIVERGENT.len());
    for ((id, row), (listed, answer, why)) in marked.into_iter().zip(DIVERGENT) {
        assert_eq!(id, listed);
        assert_eq!(verdicts(row).join(" "), answer, "{id}: {why}");
    }
}

#[test]
fn the_rows_are_all_there() {
    let rows = rows();
    let refused = rows.iter().filter(|row| row.root().get("startup_error").is_some()).count();
    let answered: usize = calls(&rows).map(|(_, row)| row.get("calls").unwrap().len()).sum();
    assert_eq!((rows.len(), refused, calls(&rows).count(), answered), (348, 97, 251, 948));
}

#[test]
fn every_file_that_the_original_refuses_is_refused() {
    let rows = rows();
    let mut wrong = Vec::new();
    for row in rows.iter().map(Document::root) {
        let Some(startup) = text(row, "startup_error") else { continue };
        let id = text(row, "id").unwrap();
        match Praxiom::load("policy.yaml", text(row, "policy").unwrap().as_bytes(), Dialect::Safe) {
            Ok(_) => wrong.push(format!("{id} loaded; theirs {startup}")),
            Err(errors) => {
                let ours: Vec<&str> = errors.problems().iter().map(|problem| problem.message()).collect();
                // Python's own exceptions are ordinary messages here.
                let raised = startup.starts_with("TypeError");
                let theirs = startup.trim_start_matches("praxiom: ").lines();
                let missing = theirs.filter(|line| {
                    let typed = |ours: &&str| ours.contains("ill-typed expression ");
                    let same = |ours: &&str| ours == line || (typed(ours) && ours.starts_with(line));
                    match raised || OTHER_WORDS.contains(&id) {
                        true => !ours.iter().any(typed),
                        false => !ours.iter().any(same),
                    }
                });
                wrong.extend(missing.map(|line| format!("{id}\n  ours   {ours:?}\n  theirs {line}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
