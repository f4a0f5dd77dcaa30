//! A configuration of mcp-elicitation-proxy, with every key of its table, through `framegate import` and
//! `framegate run`: the client's entry that is printed is started as it stands.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};
use std::{fs, str};

use framegate_tests::guarded::{call, text, tools};
use framegate_tests::{Guarded, Wrapper};
use serde_json::{Value, json};

const CONFIG: &str = "\
upstream:
  command: weather-server
  args: [--unit, C]
  env: { WEATHER_KEY: k1 }
proxy: { name: My weather }
elicitation: { enabled: true, fallback_on_unsupported: structured_error }
policies:
  schema_required: { enabled: true }
  sensitive_required:
    enabled: true
    sensitive_name_markers: [passphrase, hush]
    sensitive_schema_markers: [geheim]
tools:
  forecast:
    required: [city, day]
    elicit:
      message: Where, and when?
      fields:
        city: { type: string, description: A town. }
        day: { type: integer }
    ambiguous_if: { query_min_length: 3 }
    confirm_if: { always: true }
";
const FORECAST: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"day":{"type":"integer"},"unit":{"enum":["C","F"]}},"required":["unit"]}"#;
const OPEN: &str = r#"{"type":"object","properties":{"hushWord":{"type":"string"},"code":{"type":"string","description":"geheim!"},"n":{"type":"integer"}},"required":["hushWord","code","n"]}"#;

fn framegate(arguments: &[&str], folder: &Path) -> Output {
    let program =
        std::env::var("FRAMEGATE_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_framegate-under-test").into());
    Command::new(program).args(arguments).current_dir(folder).output().unwrap()
}

fn said(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

fn lacks(answer: &Value) -> Value {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    serde_json::from_str(text(answer)).unwrap()
}

/// A session under the policy that an import wrote.
fn session(policy: &str) -> Guarded {
    let wrapper: Wrapper = framegate_tests::wrapper!();
    let script = json!([tools(&[("forecast", FORECAST), ("open", OPEN)])]);
    let mut guarded = framegate_tests::guarded::Start {
        wrapper: &wrapper,
        policy: Some(policy),
        options: &["--store", "none"],
        script,
        files: &[],
    }
    .now();
    guarded.open_asking("2025-11-25", "{}");
    guarded
}

#[test]
fn a_policy_for_stdout_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("proxy.yaml"), CONFIG).unwrap();
    let to = |options: &[&str]| {
        let arguments = [&["import", "elicitation-proxy", "proxy.yaml"], options].concat();
        let out = framegate(&arguments, folder.path());
        assert!(out.status.success(), "{}", said(&out.stderr));
        said(&out.stdout).to_owned()
    };
    assert_eq!(to(&["-o", "-"]), to(&[]));
    assert!(!folder.path().join("-").exists());
}

#[test]
fn a_configuration_with_every_key_works_through_its_import() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.yaml"), CONFIG).unwrap();
    let done = framegate(&["import", "elicitation-proxy", "old.yaml", "-o", "new.yaml"], folder.path());
    let (out, errors) = (said(&done.stdout), said(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{errors}");
    let entry: Value = serde_json::from_str(out.split_once('\n').unwrap().1).unwrap();
    let policy = folder.path().canonicalize().unwrap().join("new.yaml");
    let given = Path::new(entry["args"][2].as_str().unwrap());
    assert!(given.is_absolute() && given.canonicalize().unwrap() == policy, "{entry}");
    assert_eq!(entry["command"], "framegate");
    assert_eq!(
        entry["args"],
        json!(["run", "--policy", entry["args"][2], "--", "weather-server", "--unit", "C"])
    );
    assert_eq!(entry["env"], json!({"WEATHER_KEY": "k1"}));
    for left in ["`proxy.name`", "`tools.forecast.ambiguous_if`", "`tools.forecast.confirm_if`"] {
        assert!(errors.contains(left), "{left}: {errors}");
    }
    let mut guarded = session(&fs::read_to_string(&policy).unwrap());
    // What the schema requires, then what the configuration does; blank counts as missing.
    guarded.send(&call("1", "forecast", r#"{"city":" ","other":[1]}"#));
    let question = guarded.question(0);
    assert_eq!(question["params"]["message"], "Where, and when?");
    let form = &question["params"]["requestedSchema"];
    assert_eq!(form["required"], json!(["unit", "city", "day"]));
    assert_eq!(form["properties"]["city"]["description"], "A town.");
    guarded.reply(&question, r#"{"action":"accept","content":{"unit":"C","city":"Pau","day":2}}"#);
    assert_eq!(text(&guarded.wait("1")), "ran forecast");
    assert!(guarded.server_got().contains(&call(
        "1",
        "forecast",
        r#"{"city":"Pau","other":[1],"unit":"C","day":2}"#
    )));
    // Wrong types go through, as they did.
    let odd = call("2", "forecast", r#"{"unit":7,"city":8,"day":"x"}"#);
    assert_eq!(text(&guarded.ask(&odd, "2")), "ran forecast");
    // Its own words for credentials, in names and in texts; nothing else is told.
    let said = lacks(&guarded.call("3", "open", "{}"));
    assert_eq!(
        (&said["reason"], &said["missing_or_ambiguous"]),
        (&json!("sensitive_required_field"), &json!(["hushWord", "code"]))
    );
    guarded.send(&call("4", "open", r#"{"hushWord":"x","code":"y"}"#));
    guarded.reply(&guarded.question(1), r#"{"action":"cancel"}"#);
    assert_eq!(lacks(&guarded.wait("4"))["reason"], "elicitation_cancelled");
    guarded.end();
}

#[test]
fn switches_that_were_off_are_off() {
    let of = |from: &str, to: &str| {
        let folder = tempfile::tempdir().unwrap();
        assert!(CONFIG.contains(from));
        fs::write(folder.path().join("old.yaml"), CONFIG.replace(from, to)).unwrap();
        let done = framegate(&["import", "elicitation-proxy", "old.yaml"], folder.path());
        assert_eq!(done.status.code(), Some(0), "{}", said(&done.stderr));
        assert!(said(&done.stderr).contains("\"command\": \"framegate\""), "the entry is beside the policy");
        session(said(&done.stdout))
    };
    let mut off = of("elicitation: { enabled: true", "elicitation: { enabled: false");
    assert_eq!(lacks(&off.call("1", "forecast", "{}"))["reason"], "elicitation_disabled");
    assert_eq!(lacks(&off.call("2", "open", "{}"))["reason"], "sensitive_required_field");
    off.end();
    let mut open = of("sensitive_required:\n    enabled: true", "sensitive_required:\n    enabled: false");
    open.send(&call("1", "open", "{}"));
    assert_eq!(open.question(0)["params"]["requestedSchema"]["required"], json!(["hushWord", "code", "n"]));
    open.end();
}

#[test]
fn no_file_is_overwritten_and_a_wrong_configuration_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", CONFIG);
    write("there.yaml", "mine");
    let there = framegate(&["import", "elicitation-proxy", "old.yaml", "-o", "there.yaml"], folder.path());
    assert_eq!(there.status.code(), Some(74));
    assert!(said(&there.stderr).contains("`there.yaml` is there already and is not overwritten"));
    assert_eq!(fs::read_to_string(folder.path().join("there.yaml")).unwrap(), "mine");
    write("bad.yaml", "upstream: { command: x, args: [1] }\n");
    let bad = framegate(&["import", "elicitation-proxy", "bad.yaml", "-o", "new.yaml"], folder.path());
    assert_eq!(bad.status.code(), Some(78));
    assert!(said(&bad.stderr).contains("bad.yaml:1:"), "{}", said(&bad.stderr));
    assert!(!folder.path().join("new.yaml").exists());
    let none = framegate(&["import", "elicitation-proxy", "none.yaml"], folder.path());
    assert_eq!(none.status.code(), Some(74));
    write("url.yaml", "upstream: { url: 'https://example.com/mcp' }\n");
    let url = framegate(&["import", "elicitation-proxy", "url.yaml"], folder.path());
    assert_eq!(url.status.code(), Some(0));
    assert!(
        said(&url.stderr).contains("`upstream.url`")
            && said(&url.stderr).contains("no entry for the client yet")
    );
}
