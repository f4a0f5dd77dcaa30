//! What the binary says and how it leaves.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;

fn framegate() -> Command {
    Command::new(env!("CARGO_BIN_EXE_framegate"))
}

/// Says one line and leaves.
fn session(command: &mut Command, line: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_server_whose_time_is_up_is_said_to_be_ended_by_framegate_and_why() {
    let run = ["run", "--drain", "0.2", "--grace", "0.2", "--", "sleep", "60"];
    let output = session(framegate().args(run), CALL);
    let (said, answer) =
        (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
    for text in [&said, &answer] {
        assert!(text.contains("was ended by Framegate: the client has left, an answer was due"), "{text}");
        assert!(text.contains("200ms (--drain)"), "{text}");
    }
    assert!(said.contains("slow lost (the server is gone)"), "{said}");
}

#[test]
fn where_no_server_was_started_none_is_said_to_be_gone() {
    for run in
        [&["run", "--policy", "/no/such/policy.yaml", "--", "cat"][..], &["run", "--", "/no/such/program"]]
    {
        let output = session(framegate().args(run), CALL);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("slow refused (no server was started)"), "{said}");
        assert!(!said.contains("is gone"), "{said}");
    }
}

#[test]
fn a_call_that_is_left_unanswered_at_a_clean_end_has_a_line() {
    let output = session(framegate().args(["run", "--", "sh", "-c", "cat >/dev/null"]), CALL);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b""[..]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(" framegate: slow unanswered 0 bytes "), "{said}");
}

#[test]
fn a_parent_that_ignores_its_children_does_not_cost_the_exit_code() {
    let run = r#"trap "" CHLD; exec "$0" run -- sh -c "exit 3""#;
    let output = Command::new("sh").args(["-c", run, env!("CARGO_BIN_EXE_framegate")]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn try_fails_when_a_tool_that_it_was_told_to_call_fails() {
    for (path, code) in [("note.txt", 0), ("../secret", 1)] {
        let write = ["--call", "write_file", r#"{"path":"note.txt","text":"x"}"#];
        let read = format!(r#"{{"path":"{path}"}}"#);
        let output =
            framegate().arg("try").args(write).args(["--call", "read_file", &read]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(framegate().arg("try").output().unwrap().status.code(), Some(0), "the tour");
}
