//! `framegate calibrate`: the authorizer's threshold, from calls whose right answer is known.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use framegate_guard::authorize::{Calibration, CalibrationError, Labelled, calibrate};
use framegate_guard::json::{Document, Kind, Limits, Value};
use framegate_guard::policy::Authorizing;
use framegate_guard::praxiom::Dialect;
use framegate_guard::program::{Open, Score};
use framegate_guard::world::NoWorld;
use serde_json::json;

use super::ask;
use super::out::{Failure, LINE_BYTES_MAX, Out, read_line};
use crate::args::CalibrateArgs;
use crate::exit::Exit;
use crate::policy_file;
use crate::program::Asking;

/// Examples that are read.
const EXAMPLES_MAX: usize = 1_000_000;
/// What an example may say beside what the authorizer is asked.
const BESIDE: [&str; 3] = ["label", "score", "id"];
/// What the authorizer may be told.
const QUESTION: [&str; 5] = ["task", "tool", "arguments", "conversation", "user_request"];

/// One line of the file.
#[derive(Debug)]
struct Example {
    place: String,
    authorized: bool,
    /// What the authorizer said of it, where the file has it.
    score: Option<f64>,
    question: Document,
}

pub(crate) fn main(args: &CalibrateArgs) -> Exit {
    match calibrated(args) {
        Ok(exit) => exit,
        Err(failure) => failure.said(),
    }
}

fn calibrated(args: &CalibrateArgs) -> Result<Exit, Failure> {
    let examples = read(&args.examples)?;
    let scored = scored(args, &examples)?;
    let found = calibrate(&scored, args.max_risk, args.confidence).map_err(|why| refused(&why, &examples))?;
    let mut out = Out::stdout();
    let text = if args.json { as_json(&found, args) } else { as_text(&found, args) };
    out.line(&text).and_then(|()| out.flush()).map_err(|why| Failure::stdout(&why))?;
    Ok(if found.threshold > 1.0 { Exit::Failed } else { Exit::Clean })
}

fn refused(why: &CalibrationError, examples: &[Example]) -> Failure {
    let text = match why {
        CalibrationError::Certainty(at, certainty) => {
            let place = examples.get(*at).map_or("", |example| example.place.as_str());
            format!("{place}: the score {certainty} is no number from 0 to 1")
        }
        other => other.to_string(),
    };
    let exit = if matches!(why, CalibrationError::Share { .. }) { Exit::Usage } else { Exit::Data };
    Failure { exit, text }
}

fn read(file: &Path) -> Result<Vec<Example>, Failure> {
    let name = file.display().to_string();
    let mut lines: Box<dyn std::io::BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(Failure::open(file)?))
    };
    let mut examples = Vec::new();
    let mut number = 0_usize;
    while let Some(line) = read_line(&mut lines, LINE_BYTES_MAX).map_err(|why| Failure::read(&name, &why))? {
        number += 1;
        let place = format!("{name}:{number}");
        let line = line.ok_or_else(|| Failure::too_long(&place))?;
        if line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b"#") {
            continue;
        }
        if examples.len() == EXAMPLES_MAX {
            return Err(Failure {
                exit: Exit::Data,
                text: format!("{place}: more than {EXAMPLES_MAX} examples"),
            });
        }
        let example = example(&line, place.clone());
        examples.push(example.map_err(|why| Failure { exit: Exit::Data, text: format!("{place}: {why}") })?);
    }
    Ok(examples)
}

fn example(line: &[u8], place: String) -> Result<Example, String> {
    let limits = Limits { depth: Limits::DEPTH_MAX, ..Limits::default() };
    let question =
        Document::read(line.to_vec().into(), &limits).map_err(|fault| format!("no strict JSON: {fault}"))?;
    let object = question.root();
    if object.kind() != Kind::Object {
        return Err(format!("an example is a JSON object, not a JSON {}", object.kind()));
    }
    if let Some((key, _)) = object.members().find(|(key, _)| !BESIDE.contains(key) && !QUESTION.contains(key))
    {
        return Err(format!(
            "unknown key `{key}`; an example has {}, and `label`, `score`",
            QUESTION.join(", ")
        ));
    }
    let authorized = match object.get("label").and_then(Value::as_str) {
        Some("safe") => true,
        Some("unsafe") => false,
        _ => return Err("`label` is \"safe\" or \"unsafe\"".to_owned()),
    };
    let score = match object.get("score") {
        None => None,
        Some(score) => {
            let number = score.number().and_then(|number| number.parse().ok()).and_then(Score::new);
            Some(number.ok_or("`score` is no number from 0 to 1")?.value())
        }
    };
    let asks = object.get("tool").and_then(Value::as_str).is_some()
        && object.get("arguments").is_some_and(|arguments| arguments.kind() == Kind::Object)
        && (object.get("conversation").is_some() != object.get("user_request").is_some());
    if score.is_none() && !asks {
        return Err(
            "without a `score` the authorizer is asked: give `tool`, `arguments` and `conversation` or `user_request`"
                .to_owned(),
        );
    }
    Ok(Example { place, authorized, score, question })
}

/// The examples with what the authorizer says of each.
fn scored(args: &CalibrateArgs, examples: &[Example]) -> Result<Vec<Labelled>, Failure> {
    let unscored = examples.iter().filter(|example| example.score.is_none()).count();
    let asking = match (unscored, &args.policy) {
        (0, _) => None,
        (_, Some(policy)) => Some(authorizer(policy)?),
        (count, None) => {
            let text = format!(
                "{count} of {} examples have no `score`: give the policy whose authorizer is asked, --policy FILE",
                examples.len()
            );
            return Err(Failure { exit: Exit::Usage, text });
        }
    };
    let mut scored = Vec::with_capacity(examples.len());
    for example in examples {
        let certainty = match (example.score, &asking) {
            (Some(score), _) => score,
            (None, Some((asking, authorizing))) => ask(example, asking, authorizing)?,
            (None, None) => continue,
        };
        scored.push(Labelled { certainty, authorized: example.authorized });
    }
    Ok(scored)
}

fn authorizer(policy: &Path) -> Result<(Asking, Authorizing), Failure> {
    let loaded = policy_file::read(policy, Dialect::default()).map_err(|why| Failure::policy(&why))?.policy;
    let authorizing = loaded.authorizer().cloned();
    let authorizing = authorizing.ok_or_else(|| Failure::policy(&"the policy has no `authorizer`"))?;
    let asking = ask::programs(policy.parent().unwrap_or(Path::new("")), Arc::new(NoWorld))?;
    asking.start_authorizer(&loaded).map_err(|why| Failure::policy(&why))?;
    Ok((asking, authorizing))
}

fn ask(example: &Example, asking: &Asking, authorizing: &Authorizing) -> Result<f64, Failure> {
    let given = example.question.root();
    let task = authorizing.task.as_deref().filter(|_| given.get("task").is_none());
    let task = task.map(|task| serde_json::Value::from(task).to_string());
    // In the order in which a decision asks.
    let members = QUESTION.iter().filter_map(|key| Some((*key, given.get(key)?.raw())));
    let question = Open::to_authorizer(task.iter().map(|task| ("task", task.as_str())).chain(members));
    let answer = asking.ask(question).map_err(|why| Failure {
        exit: Exit::Data,
        text: format!("{}: the authorizer gave no score: {why}", example.place),
    })?;
    Ok(answer.certainty())
}

fn as_json(found: &Calibration, args: &CalibrateArgs) -> String {
    let Calibration { threshold, risk, unauthorized, authorized } = found;
    json!({
        "threshold": threshold, "risk_at_most": risk, "max_risk": args.max_risk, "confidence": args.confidence,
        "unsafe": unauthorized.0, "unsafe_passing": unauthorized.1,
        "safe": authorized.0, "safe_passing": authorized.1,
        "usable": *threshold <= 1.0,
    })
    .to_string()
}

fn as_text(found: &Calibration, args: &CalibrateArgs) -> String {
    let Calibration { threshold, risk, unauthorized, authorized } = found;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let (max, confidence) = (percent(args.max_risk), percent(args.confidence));
    if *threshold > 1.0 {
        return format!(
            "no threshold keeps the risk at {max}: too many of the {} unsafe calls got the highest score\nno call can be let through by this authorizer; write no `authorize: true` for it",
            unauthorized.0
        );
    }
    format!(
        "threshold {threshold}\n\
         of {} unsafe calls {} pass, of {} safe calls {} pass; the others ask a person\n\
         a call that is not authorized passes with a probability of at most {} (wanted: {max}), with a confidence of {confidence}\n\
         this holds for calls like these examples, and not against somebody who writes calls to pass; asking again \
         (`perturb`) only lets fewer through\n\
         in the policy:\n  authorizer: {{ threshold: {threshold} }}",
        unauthorized.0,
        unauthorized.1,
        authorized.0,
        authorized.1,
        percent(*risk)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_says_what_was_asked_and_what_is_right() {
        let of = |line: &str| example(line.as_bytes(), "e:1".into());
        let fine = of(r#"{"tool":"pay","arguments":{},"user_request":"pay","label":"unsafe"}"#).unwrap();
        assert!(!fine.authorized && fine.score.is_none());
        assert_eq!(of(r#"{"label":"safe","score":0.5}"#).unwrap().score, Some(0.5));
        for (wrong, why) in [
            ("[]", "not a JSON array"),
            (r#"{"score":1}"#, "`label` is"),
            (r#"{"label":"bad","score":1}"#, "`label` is"),
            (r#"{"label":"safe","score":1.5}"#, "no number from 0 to 1"),
            (r#"{"label":"safe","score":"1"}"#, "no number from 0 to 1"),
            (r#"{"label":"safe"}"#, "without a `score`"),
            (r#"{"label":"safe","tool":"t","arguments":{}}"#, "without a `score`"),
            (
                r#"{"label":"safe","tool":"t","arguments":{},"user_request":"","conversation":[]}"#,
                "without a `score`",
            ),
            (r#"{"label":"safe","score":1,"label":"unsafe"}"#, "no strict JSON"),
            (r#"{"label":"safe","score":1,"wieght":2}"#, "unknown key `wieght`"),
        ] {
            let said = of(wrong).unwrap_err();
            assert!(said.contains(why), "{wrong}: {said}");
        }
    }
}
