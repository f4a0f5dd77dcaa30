//! `framegate test`: sessions with expectations, and what differs from them.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framegate_guard::praxiom::Dialect;
use framegate_guard::world::NoWorld;

use super::out::{Failure, LINE_BYTES_MAX, Out, read_line};
use crate::args::{FactArgs, TestArgs};
use crate::exit::Exit;
use crate::explain::{Decided, Difference, Played, Setting, Stage, differences};

/// Expectations met and not met; a file that cannot be played to its end counts as one not met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
}

pub(crate) fn main(args: &TestArgs) -> Exit {
    match test(&args.files, &mut Out::stdout()) {
        Ok(Tally { failed: 0, .. }) => Exit::Clean,
        Ok(_) => Exit::Failed,
        Err(why) => Failure::stdout(&why).said(),
    }
}

fn test(files: &[PathBuf], out: &mut Out) -> io::Result<Tally> {
    let mut all = Tally::default();
    for file in files {
        let (tally, failures) = play(file);
        if failures.is_empty() {
            let calls = if tally.passed == 1 { "call" } else { "calls" };
            out.line(&format!("ok    {} ({} {calls})", file.display(), tally.passed))?;
        } else {
            out.line(&format!("FAIL  {}", file.display()))?;
            failures.iter().try_for_each(|failure| out.line(failure))?;
        }
        all.passed += tally.passed;
        all.failed += tally.failed;
    }
    out.line(&format!("{} passed, {} failed", all.passed, all.failed))?;
    out.flush()?;
    Ok(all)
}

/// Plays one file to its end; each text is one thing that failed.
fn play(file: &Path) -> (Tally, Vec<String>) {
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    if let Err(why) = play_lines(file, &mut tally, &mut failures) {
        tally.failed += 1;
        failures.push(why);
    } else if tally == Tally::default() {
        tally.failed += 1;
        failures.push(format!("{}: nothing is expected: no call has `expect` beside it", file.display()));
    }
    (tally, failures)
}

fn play_lines(file: &Path, tally: &mut Tally, failures: &mut Vec<String>) -> Result<(), String> {
    let mut stage = Stage::new(Setting {
        server: "server".to_owned(),
        folder: file.parent().unwrap_or(Path::new("")).to_owned(),
        facts: FactArgs { fact: Vec::new(), facts: None },
        dialect: Dialect::Safe,
        // A case that reads this machine's disk or clock would pass here and fail elsewhere.
        world: Arc::new(NoWorld),
        programs: None,
    });
    let mut lines = BufReader::new(Failure::open(file).map_err(|failure| failure.text)?);
    let mut number = 0_usize;
    while let Some(line) = read_line(&mut lines, LINE_BYTES_MAX).map_err(|why| why.to_string())? {
        number += 1;
        let place = format!("{}:{number}", file.display());
        let line = line.ok_or_else(|| Failure::too_long(&place).text)?;
        let played = stage.line(&line).map_err(|why| format!("{place}: {why}"))?;
        let Played::Decided(decided) = played else { continue };
        let Some(expect) = &decided.expect else { continue };
        let different = differences(expect.root(), &decided).map_err(|why| format!("{place}: {why}"))?;
        if different.is_empty() {
            tally.passed += 1;
        } else {
            tally.failed += 1;
            failures.push(diff(&place, &decided, &different));
        }
    }
    Ok(())
}

fn diff(place: &str, decided: &Decided, different: &[Difference]) -> String {
    let mut text = decided.text(place);
    for Difference { key, expected, got } in different {
        text.push_str(&format!("\n  {key}\n    expected  {expected}\n    got       {got}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"{"policy_text":"framegate: 1\ntools: { f: {} }\nrules:\n  - { name: small, that: args.n <= 1.5, because: Too big. }\n"}"#;

    fn played(lines: &[&str]) -> (Tally, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("case.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let (tally, failures) = play(&file);
        let folder = format!("{}/", folder.path().display());
        (tally, failures.into_iter().map(|failure| failure.replace(&folder, "")).collect())
    }

    #[test]
    fn what_is_as_expected_passes() {
        let (tally, failures) = played(&[
            "# comments and blank lines are skipped",
            "",
            POLICY,
            r#"{"call":{"name":"f","arguments":{"n":1.50}},"expect":{"outcome":"allow","sent":{"n":1.5},"sent_text":"{\"n\":1.50}","failed":[],"reasons":[]}}"#,
            r#"{"call":{"name":"f","arguments":{"n":2}},"expect":{"outcome":"deny","failed":["small"],"reasons":["Too big"],"message":"Too big","would":"deny"}}"#,
            r#"{"call":{"name":"f","arguments":{"n":3}}}"#,
        ]);
        assert_eq!((tally, failures), (Tally { passed: 2, failed: 0 }, Vec::new()));
    }

    #[test]
    fn what_differs_is_shown_where_it_stands() {
        let (tally, failures) = played(&[
            POLICY,
            r#"{"call":{"name":"f","arguments":{"n":2}},"expect":{"outcome":"allow","reasons":[]}}"#,
            r#"{"call":{"name":"f","arguments":{"n":1}},"expect":{"outcome":"allow"}}"#,
        ]);
        assert_eq!(tally, Tally { passed: 1, failed: 1 });
        let text = failures.join("\n");
        assert!(
            text.starts_with("case.jsonl:2: f {\"n\":2}\n  deny\n  why: small: Too big. [deny]\n"),
            "{text}"
        );
        assert!(text.contains("\n  outcome\n    expected  \"allow\"\n    got       \"deny\"\n"), "{text}");
        assert!(
            text.ends_with("\n  reasons\n    expected  []\n    got       [\"small: Too big.\"]"),
            "{text}"
        );
    }

    #[test]
    fn a_file_that_cannot_be_played_fails_once_and_keeps_what_was_found_before() {
        let good = r#"{"call":{"name":"f","arguments":{"n":1}},"expect":{"outcome":"allow"}}"#;
        let (tally, failures) = played(&[POLICY, good, "{", good]);
        assert_eq!(tally, Tally { passed: 1, failed: 1 });
        assert_eq!(failures, ["case.jsonl:3: no strict JSON: unfinished value at byte 1"]);
        let (_, failures) = played(&[good]);
        assert!(
            failures[0].contains("no policy: give --policy FILE, or begin the session with"),
            "{failures:?}"
        );
        let (_, failures) = played(&[POLICY, POLICY]);
        assert_eq!(failures, ["case.jsonl:2: a session has one policy, and says so in its first line"]);
        let (_, failures) = played(&[POLICY, r#"{"call":{"name":"f"}}"#]);
        assert_eq!(
            failures,
            ["case.jsonl: nothing is expected: no call has `expect` beside it"].map(|text| text.to_owned())
        );
        let (_, failures) = played(&[POLICY, r#"{"call":{"name":"f"},"expect":{"outcom":"deny"}}"#]);
        assert!(
            failures[0].starts_with("case.jsonl:2: unknown key `expect.outcom`; known are"),
            "{failures:?}"
        );
        let (_, failures) = played(&[POLICY, r#"{"call":{"name":"f"},"expect":{"message":1}}"#]);
        assert_eq!(failures, ["case.jsonl:2: `expect.message` is a string, not 1"]);
        let (_, failures) = played(&[r#"{"policy":"none.yaml"}"#]);
        assert!(failures[0].contains("none.yaml` cannot be read"), "{failures:?}");
    }
}
