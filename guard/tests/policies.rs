//! Policy files on disk: what is said about bad ones, to the letter, and what good ones mean.
//!
//! `FRAMEGATE_BLESS=1` writes the expected texts anew; read the difference before committing it.

#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use framegate_guard::policy::{Policy, Problem};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/policies").join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect();
    found.sort();
    found
}

/// Schema files of the test folder.
fn schemas(path: &str) -> Result<String, String> {
    match path {
        "broken.json" => Ok("{".into()),
        "list.json" => Ok("[]".into()),
        "transfer.json" => Ok(r#"{"type":"object","properties":{"iban":{"type":"string"}}}"#.into()),
        _ => Err("no such file".into()),
    }
}

fn said(path: &Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = fs::read(path).unwrap();
    let shown = |problems: &[Problem]| problems.iter().map(|p| format!("{p}\n\n")).collect::<String>();
    match Policy::load(name, &text, &mut schemas) {
        Ok(loaded) if loaded.warnings.is_empty() => "fine\n".into(),
        Ok(loaded) => shown(&loaded.warnings),
        Err(errors) => format!("{errors}\n"),
    }
}

#[test]
fn each_file_gets_its_message() {
    let mut wrong = Vec::new();
    for path in files("bad") {
        let expected = path.with_extension("txt");
        let said = said(&path);
        if std::env::var_os("FRAMEGATE_BLESS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        if fs::read_to_string(&expected).ok().as_deref() != Some(said.as_str()) {
            wrong.push(format!("{}:\n{said}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn good_files_are_fine() {
    for path in files("good") {
        assert_eq!(said(&path), "fine\n", "{}", path.display());
    }
}

/// What a good file means, in short.
fn summary(policy: &Policy) -> String {
    let mut text = format!(
        "unnamed {:?}, surface {:?}, mode {:?}, limits {:?}\n",
        policy.unnamed(),
        policy.surface(),
        policy.mode(),
        policy.limits()
    );
    let facts = policy.facts().iter().map(|(name, fact)| format!("fact {name}: {}\n", fact.kind));
    let definitions =
        policy.definitions().iter().map(|d| format!("define {}: {}\n", d.name, d.value.expression.result()));
    let rules = policy.rules().iter().map(|rule| {
        format!(
            "rule {} {:?} {:?} {:?}: {}\n",
            rule.name,
            rule.otherwise,
            rule.mode,
            rule.tools,
            rule.that.expression.source()
        )
    });
    text.extend(facts.chain(definitions).chain(rules));
    for tool in ["read_text_file", "write_file", "printEnv", "longRunningOperation", "add", "send_payment"] {
        text += &format!("tool {tool}: {:?}\n", policy.tool("server", tool));
    }
    text
}

#[test]
fn good_files_mean_what_they_say() {
    for path in files("good") {
        let policy = Policy::load("good.yaml", &fs::read(&path).unwrap(), &mut schemas).unwrap().policy;
        let expected = path.with_extension("txt");
        if std::env::var_os("FRAMEGATE_BLESS").is_some() {
            fs::write(&expected, summary(&policy)).unwrap();
        }
        assert_eq!(fs::read_to_string(&expected).unwrap(), summary(&policy), "{}", path.display());
    }
}

mod mutated {
    use super::*;
    use framegate_guard::policy::fuzz;
    use proptest::prelude::*;

    fn corpus() -> Vec<Vec<u8>> {
        files("good").into_iter().chain(files("bad")).map(|path| fs::read(path).unwrap()).collect()
    }

    #[test]
    fn files_never_make_the_loader_panic() {
        corpus().iter().for_each(|bytes| fuzz(bytes));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn mutated_files_never_make_the_loader_panic(
            which in any::<prop::sample::Index>(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, "[-:{}\\[\\]&*!|>'\"#%@`,? \n\t\r\u{feff}a日]{0,4}"), 1..6),
        ) {
            let corpus = corpus();
            let mut bytes = which.get(&corpus).clone();
            for (at, removed, inserted) in edits {
                let at = at.index(bytes.len() + 1);
                let end = (at + removed).min(bytes.len());
                bytes.splice(at..end, inserted.bytes());
            }
            fuzz(&bytes);
        }
    }
}
