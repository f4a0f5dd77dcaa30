//! Real processes that answer, and that do everything else.

use std::sync::Mutex;
use std::time::Duration;

use framegate_guard::json::Document;
use framegate_guard::program::{About, Asked};

use super::*;

const JUDGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/programs/judge.py");

fn policy(mode: &str, timeout: &str, log: &Path) -> Policy {
    let log = log.display();
    let text = format!(
        "framegate: 1\nprograms: {{ judge: {{ command: [python3, '{JUDGE}', {mode}, '{log}'], timeout: {timeout} }} }}\ntools: {{ t: }}\nrules: [{{ name: r, tools: [t], program: judge }}]\n"
    );
    Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy
}

fn start(mode: &str, timeout: &str, log: &Path) -> Programs {
    heard(mode, timeout, log).0
}

/// With what is said of it.
fn heard(mode: &str, timeout: &str, log: &Path) -> (Programs, Arc<Mutex<Vec<String>>>) {
    let said = Arc::<Mutex<Vec<String>>>::default();
    let to = Arc::clone(&said);
    let say = move |text: &str| to.lock().unwrap().push(text.to_owned());
    let launch = Launch::new(Path::new(""), Stderr::to(std::io::sink()), Arc::new(say));
    (Programs::start(launch, &policy(mode, timeout, log)).unwrap(), said)
}

fn question(tool: &str) -> Open {
    let none = Document::empty_object();
    Asked::new("judge", tool, none.root(), About::Call).open()
}

async fn ask(programs: &Programs, tool: &str) -> Result<Answer, Unknown> {
    programs.ask_all(vec![question(tool)]).await.pop_first().unwrap().1
}

fn certainty(answer: &Result<Answer, Unknown>) -> f64 {
    answer.as_ref().unwrap().certainty()
}

#[tokio::test]
async fn a_program_is_started_once_and_answers_what_it_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let programs = start("yes", "20", &log);
    for _ in 0..3 {
        assert!((certainty(&ask(&programs, "t").await) - 1.0).abs() < f64::EPSILON);
    }
    let asked = std::fs::read_to_string(&log).unwrap();
    let first: serde_json::Value = serde_json::from_str(asked.lines().next().unwrap()).unwrap();
    assert_eq!(first, serde_json::json!({"id": 1, "program": "judge", "tool": "t", "arguments": {}}));
    assert_eq!(asked.lines().count(), 3);
}

#[tokio::test]
async fn answers_are_matched_by_their_ids_in_whatever_order_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let programs = start("turned", "20", &folder.path().join("log"));
    let answers = programs.ask_all(vec![question("good"), question("bad")]).await;
    for tool in ["good", "bad"] {
        let said = certainty(answers.get(&question(tool).key).unwrap());
        assert!((said - f64::from(u8::from(tool == "good"))).abs() < f64::EPSILON, "{tool}");
    }
}

#[tokio::test]
async fn whatever_is_no_answer_in_time_is_none_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, why) in [
        ("silent", "it gave no answer within 0.2 s"),
        ("die", "exited with code 7"),
        ("broken", "exited with code 3"),
        // Its stdout stays open.
        ("orphan", "exited with code 7"),
        ("garbage", "a line that is no answer"),
        ("wrong_id", "under which nothing was asked"),
        ("huge", "a line that is too long for an answer"),
        ("nonsense", "it reports an error: no mode nonsense"),
    ] {
        let timeout = if mode == "silent" { "0.2" } else { "20" };
        let programs = start(mode, timeout, &folder.path().join(mode));
        let said = ask(&programs, "t").await.unwrap_err().0;
        assert!(said.contains(why), "{mode}: {said}");
    }
}

#[tokio::test]
async fn one_that_ended_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let programs = start("die_once", "20", &folder.path().join("log"));
    assert!(ask(&programs, "t").await.unwrap_err().0.contains("exited with code 7"));
    assert!(ask(&programs, "t").await.is_ok());
}

#[tokio::test]
async fn one_that_ends_again_and_again_is_started_less_and_less_often_and_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let programs = start("die", "20", &folder.path().join("log"));
    for _ in 0..6 {
        assert!(ask(&programs, "t").await.unwrap_err().0.contains("exited with code 7"));
    }
    // Down for seconds now: what comes is told so, and does not wait for its own limit.
    for _ in 0..5 {
        assert!(ask(&programs, "t").await.unwrap_err().0.contains("exited with code 7"));
    }
}

#[tokio::test]
async fn a_question_that_nobody_waits_for_takes_no_place_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let programs = start("silent", "20", &log);
    let many = |count: usize| (0..count).map(|n| question(&format!("t{n}"))).collect::<Vec<_>>();
    // All places, and one question that waits for one of them.
    let given_up = programs.ask_all(many(running::IN_FLIGHT_MAX + 1));
    assert!(tokio::time::timeout(Duration::from_millis(500), given_up).await.is_err());
    let seen = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    assert!(seen() <= running::IN_FLIGHT_MAX);
    // It answered none of them: it is started anew, and is asked what comes now.
    let seen = async {
        while !std::fs::read_to_string(&log).unwrap_or_default().contains("\"tool\":\"new\"") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        _ = programs.ask_all(vec![question("new")]) => panic!("it was not asked in time"),
        () = seen => {}
    }
}

/// Nothing that it does keeps the one who asks reading, writing or waiting for ever.
#[tokio::test]
async fn one_that_does_not_read_or_does_not_stop_writing_is_started_anew() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, why) in [
        ("deaf", "it does not read what it is asked"),
        ("closes", "it closed its stdin"),
        ("flood", "lines that answer nothing"),
        ("blank", "lines that answer nothing"),
    ] {
        let log = folder.path().join(mode);
        let (programs, said) = heard(mode, "0.4", &log);
        while mode == "closes" && !log.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // More than fits into a pipe.
        assert!(ask(&programs, &"t".repeat(1_000_000)).await.is_err(), "{mode}");
        while !said.lock().unwrap().iter().any(|said| said.contains(why)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let lines = said.lock().unwrap().iter().filter(|said| said.contains("no answer")).count();
        assert!(mode != "blank" || lines == 0);
        assert_eq!(programs.by_name.len(), 1);
    }
}

#[tokio::test]
async fn what_two_policies_both_ask_goes_on_running() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let programs = start("yes", "20", &log);
    let same = programs.under(&policy("yes", "20", &log)).unwrap();
    assert!(Arc::ptr_eq(&programs.by_name["judge"], &same.by_name["judge"]));
    let other = programs.under(&policy("no", "20", &log)).unwrap();
    assert!(certainty(&ask(&other, "t").await) < 0.5 && certainty(&ask(&programs, "t").await) > 0.5);
    let none = programs.under(
        &Policy::load("p", b"framegate: 1\ntools: { t: }\n", &mut |_| Err(String::new())).unwrap().policy,
    );
    assert!(ask(&none.unwrap(), "t").await.unwrap_err().0.contains("there is no program `judge`"));
}

#[tokio::test]
async fn a_command_that_cannot_be_started_is_told_before_anything_is_asked() {
    let load = |text: &str| {
        let text = format!("framegate: 1\n{text}");
        Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy
    };
    let gone = load("authorizer: { command: [./gone] }\ntools: { t: { authorize: true } }\n");
    let launch = || Launch::new(Path::new("/nowhere"), Stderr::to(std::io::sink()), Arc::new(|_| {}));
    let said = Programs::start(launch(), &gone).unwrap_err().to_string();
    assert!(
        said.contains("`authorizer` of the policy cannot be started") && said.contains("/nowhere/./gone"),
        "{said}"
    );
    assert!(check(&gone, Path::new("/nowhere")).is_err());
    let nobody = load("authorizer: { task: x }\ntools: { t: { authorize: true } }\n");
    assert!(Programs::start(launch(), &nobody).unwrap_err().to_string().contains("has no `command`"));
    let unused = load("authorizer: { command: [./gone] }\ntools: { t: }\n");
    assert!(Programs::start(launch(), &unused).is_ok(), "nothing has it asked");
    let half = load("authorizer: { task: x }\ntools: { t: }\n");
    assert!(check(&half, Path::new("/")).unwrap_err().to_string().contains("has no `command`"));
}
