//! What `framegate run` and `framegate try` promise beyond the bytes: exit codes, messages, records.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn framegate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate-under-test"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Writes `input`, closes stdin, and collects the rest.
fn feed(mut command: Command, input: &str) -> Output {
    let mut child = command.spawn().unwrap();
    // A server that is gone already does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ends_within(child: &mut Child, limit: Duration) -> Option<i32> {
    let since = Instant::now();
    while since.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code().unwrap_or(-1));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    None
}

#[test]
fn a_file_that_is_no_program_is_named_and_exits_126() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("not-a-program");
    fs::write(&file, "x").unwrap();
    let output = feed(framegate(&["run", "--", file.to_str().unwrap()]), "");
    assert_eq!(output.status.code(), Some(126));
    let said = text(&output.stderr);
    assert!(said.contains(file.to_str().unwrap()) && said.contains("not executable"), "{said}");
}

#[test]
fn a_script_whose_interpreter_is_missing_is_named_and_exits_127() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let output = feed(framegate(&["run", "--", file.to_str().unwrap()]), "");
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("interpreter"), "{}", text(&output.stderr));
}

#[test]
fn a_server_that_dies_at_once_is_explained_to_the_client() {
    let script = "echo 'cannot open database: /x/y' >&2; exit 3";
    let output = feed(framegate(&["run", "--name", "db", "--", "sh", "-c", script]), &format!("{PING}\n"));
    assert_eq!(output.status.code(), Some(3), "the server's own code");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["id"], 1);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`db` exited with code 3") && message.contains("cannot open database"),
        "{message}"
    );
    assert_eq!(answer["error"]["data"]["exitCode"], 3);
}

#[test]
fn the_first_request_is_answered_though_the_server_died_before_it_came() {
    let mut child = framegate(&["run", "--", "sh", "-c", "exit 4"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(150));
    writeln!(child.stdin.as_mut().unwrap(), "{PING}").unwrap();
    // stdin stays open: the client still waits.
    let stdin = child.stdin.take();
    assert_eq!(ends_within(&mut child, Duration::from_secs(3)), Some(4));
    drop(stdin);
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert!(answer.contains("exited with code 4"), "{answer}");
}

#[test]
fn last_words_without_a_line_feed_are_heard_though_a_grandchild_holds_the_pipe() {
    let script = "printf 'fatal: no newline' >&2; (sleep 3) & read x; exit 3";
    let output = feed(framegate(&["run", "--", "sh", "-c", script]), &format!("{PING}\n"));
    assert!(text(&output.stderr).contains("fatal: no newline"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("fatal: no newline"), "{}", text(&output.stdout));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let output = feed(framegate(&["run", "--cwd", "/no/such/folder", "--", "cat"]), "");
    assert_eq!(output.status.code(), Some(126));
    assert!(text(&output.stderr).contains("`/no/such/folder`"), "{}", text(&output.stderr));
}

/// A client of both eras probes with `server/discover`, and shows the answer to `initialize`.
#[test]
fn a_second_request_is_told_too_why_the_server_died() {
    let mut child =
        framegate(&["run", "--", "sh", "-c", "echo 'config missing' >&2; exit 3"]).spawn().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for method in ["server/discover", "initialize"] {
        writeln!(child.stdin.as_mut().unwrap(), r#"{{"jsonrpc":"2.0","id":"{method}","method":"{method}"}}"#)
            .unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains(method) && answer.contains("config missing"), "{answer}");
    }
    let stdin = child.stdin.take();
    assert_eq!(ends_within(&mut child, Duration::from_secs(2)), Some(3), "while stdin is open");
    drop(stdin);
}

#[test]
fn a_client_that_does_not_read_delays_the_end_no_further_than_two_seconds() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let mut child = framegate(&["run", "--", "yes", note]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let code = ends_within(&mut child, Duration::from_millis(2500));
    assert_eq!(code, Some(128 + 15));
}

#[test]
fn a_record_gives_back_the_frames_of_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.jsonl");
    let sent = format!("{PING}\n{{ \"id\" : 2.0, \"method\":\"ping\"}}\r\n\n\u{e9}\nlast");
    let output = feed(framegate(&["run", "--record", file.to_str().unwrap(), "--", "cat"]), &sent);
    assert_eq!(text(&output.stdout), sent);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (mut to_server, mut to_client) = (String::new(), String::new());
    for line in fs::read_to_string(&file).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let side = if entry["dir"] == "c2s" { &mut to_server } else { &mut to_client };
        side.push_str(entry["raw"].as_str().unwrap());
        side.push_str(entry.get("eol").map_or("\n", |eol| eol.as_str().unwrap()));
    }
    assert_eq!((to_server, to_client), (sent.clone(), sent));
}

#[test]
fn a_record_that_cannot_be_written_stops_before_the_server_is_started() {
    let output = feed(framegate(&["run", "--record", "/no/such/folder/x", "--", "touch", "/no/such"]), "");
    assert_eq!(output.status.code(), Some(74));
    assert!(text(&output.stderr).contains("`/no/such/folder/x`"));
}

#[test]
fn noise_is_kept_from_the_client_when_asked_for() {
    let script = "echo banner; echo '[INFO] x'; echo '{'; echo '{\"jsonrpc\":\"2.0\",\"method\":\"n\"}'";
    let run = |noise| {
        let output = feed(framegate(&["run", "--noise", noise, "--", "sh", "-c", script]), "");
        (text(&output.stdout), text(&output.stderr))
    };
    let frame = "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n";
    let (stdout, stderr) = run("stderr");
    assert_eq!(stdout, frame);
    assert!(stderr.contains("\n[INFO] x\n") && stderr.contains("3 lines"), "{stderr}");
    let (stdout, stderr) = run("pass");
    assert_eq!(stdout, format!("banner\n[INFO] x\n{{\n{frame}"));
    assert!(stderr.contains("`banner`") && stderr.contains("3 lines"), "{stderr}");
}

#[test]
fn each_call_is_one_line_on_stderr_and_quiet_is_quiet() {
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"search","arguments":{"text":"x"}}}"#;
    let run = |options: &[&str]| {
        let args = [&["run"], options, &["--", own, "demo-server"]].concat();
        text(&feed(framegate(&args), &format!("{PING}\n{call}\n")).stderr)
    };
    let said = run(&[]);
    let mut lines = said.lines();
    assert!(lines.next().unwrap().contains("no policy"), "said once: {said}");
    let line = lines.next().unwrap();
    assert!(line.contains(" framegate: search ok ") && line.ends_with(r#" ms {"text":"x"}"#), "{said}");
    assert_eq!(lines.next(), None);
    let json: Value = serde_json::from_str(run(&["--log-format", "json"]).lines().last().unwrap()).unwrap();
    assert_eq!((&json["tool"], &json["outcome"]), (&"search".into(), &"ok".into()));
    assert_eq!(json["arguments"], r#"{"text":"x"}"#);
    assert_eq!(run(&["--quiet"]), "");
    assert_eq!(run(&["--log", "debug"]).lines().count(), 3, "the ping too");
}

#[test]
fn a_misspelt_variable_is_warned_about_and_stops_nothing() {
    let own = env!("CARGO_BIN_EXE_framegate-under-test");
    let mut run = framegate(&["run", "--", own, "demo-server"]);
    run.env("FRAMEGATE_POLCIY", "x.yaml");
    let output = feed(run, &format!("{PING}\n"));
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(
        said.contains(
            "warning: the variable `FRAMEGATE_POLCIY` sets nothing: did you mean `FRAMEGATE_POLICY`?"
        ),
        "{said}"
    );
}

#[test]
fn our_own_settings_are_not_handed_to_the_server() {
    let mut command = framegate(&["run", "--env", "GIVEN=1", "--", "sh", "-c", "env"]);
    let output = feed(
        {
            command.env("FRAMEGATE_QUIET", "true").env("KEPT", "2");
            command
        },
        "",
    );
    let seen = text(&output.stdout);
    assert!(seen.contains("GIVEN=1\n") && seen.contains("KEPT=2\n"), "{seen}");
    assert!(!seen.contains("FRAMEGATE_"), "{seen}");
}

#[test]
fn a_session_can_be_tried_in_either_era_without_any_other_program() {
    for (era, what) in [("auto", "2026-07-28"), ("modern", "2026-07-28"), ("legacy", "protocol 2025-11-25")] {
        let output = feed(framegate(&["try", "--era", era]), "");
        let page = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{page}");
        assert!(page.contains(what) && page.contains("tools/list: 3 tools"), "{page}");
        assert!(page.contains("note.txt:2: Each call was seen."), "{page}");
        assert!(page.contains("framegate: read_file tool error"), "what was observed: {page}");
    }
}

#[test]
fn files_and_null_devices_are_good_enough_as_standard_streams() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::write(&input, format!("{PING}\n").repeat(10_000)).unwrap();
    let mut command = framegate(&["run", "--quiet", "--", "cat"]);
    command.stdin(fs::File::open(&input).unwrap()).stdout(fs::File::create(&output).unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert_eq!(fs::read(&input).unwrap(), fs::read(&output).unwrap());
    let mut command = framegate(&["run", "--quiet", "--", "cat"]);
    assert_eq!(command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().code(), Some(0));
}

/// A file takes bytes before it writes them; leaving at once lost the answer in most runs.
#[test]
fn the_last_frame_reaches_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let (input, output) = (folder.path().join("in"), folder.path().join(format!("out{round}")));
        fs::write(&input, format!("{PING}\n")).unwrap();
        let mut command = framegate(&["run", "--quiet", "--", "sh", "-c", "read x; exit 3"]);
        command.stdin(fs::File::open(&input).unwrap()).stdout(fs::File::create(&output).unwrap());
        assert_eq!(command.stderr(Stdio::null()).status().unwrap().code(), Some(3));
        let answer = fs::read_to_string(&output).unwrap();
        assert!(answer.contains("exited with code 3") && answer.ends_with('\n'), "round {round}: {answer:?}");
    }
}

#[test]
fn a_slow_reader_gets_all_that_a_server_wrote_before_it_left() {
    let script = "i=0; while [ $i -lt 1250 ]; do printf '%01000d\\n' $i; i=$((i+1)); done";
    let mut child = framegate(&["run", "--quiet", "--", "sh", "-c", script]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().count();
    assert_eq!(lines, 1250);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_group_member_that_ignores_sigterm_does_not_outlive_framegate_killed_outright() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("still-here");
    let script = format!("(trap '' TERM; while :; do touch {}; sleep 0.05; done) & wait", mark.display());
    let mut child = framegate(&["run", "--", "sh", "-c", &script]).spawn().unwrap();
    while !mark.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    let _ = fs::remove_file(&mark);
    std::thread::sleep(Duration::from_millis(300));
    assert!(!mark.exists(), "something still touches the file");
}

#[test]
fn two_sessions_can_share_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.jsonl");
    let args = ["run", "--quiet", "--record", file.to_str().unwrap(), "--", "cat"];
    for _ in 0..2 {
        assert!(feed(framegate(&args), &format!("{PING}\n")).status.success());
    }
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 4);
}

#[test]
fn a_pipe_that_is_shared_is_blocking_again_afterwards() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = framegate(&["run", "--", "echo", "{}"]);
    command.stdout(writer.try_clone().unwrap()).stdin(Stdio::null());
    assert!(command.status().unwrap().success());
    let flags = fs::read_to_string(format!("/proc/self/fdinfo/{}", std::os::fd::AsRawFd::as_raw_fd(&writer)))
        .unwrap();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:\t")).unwrap();
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
    assert_eq!(flags & 0o4000, 0, "O_NONBLOCK was left on the pipe");
    drop((command, writer));
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    assert_eq!(line, "{}\n");
}
