use super::*;
use crate::policy::{Arguments, Invisible, Missing, Policy, ToolOptions, check, problem::Source};

const UPSTREAM: &str = "upstream: { command: weather }\n";

fn imported(text: &str) -> Imported {
    elicitation_proxy("old.yaml", text.as_bytes(), "framegate.yaml")
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// What the policy of an import means.
fn policy(imported: &Imported) -> Policy {
    let source = Source::new("framegate.yaml", &imported.policy);
    check::load(&source, &mut |_| Err("no files".into())).unwrap_or_else(|errors| panic!("{errors}")).policy
}

fn options(text: &str, tool: &str) -> ToolOptions {
    ToolOptions::clone(&policy(&imported(text)).tool("weather", tool).unwrap())
}

fn left(text: &str) -> Vec<String> {
    imported(text).left.iter().map(ToString::to_string).collect()
}

fn errors(text: &str) -> Vec<String> {
    let errors = elicitation_proxy("old.yaml", text.as_bytes(), "p").unwrap_err();
    errors.problems().iter().map(|p| format!("{}:{} {}", p.line(), p.column(), p.message())).collect()
}

const EVERY_KEY: &str = "\
upstream:
  command: npx
  args: [-y, weather-server, '--unit=\u{b0}C']
  env: { API_KEY: k1, PATH: /opt/bin }
proxy: { name: My weather }
elicitation: { enabled: yes, fallback_on_unsupported: structured_error }
policies:
  schema_required: { enabled: true }
  sensitive_required:
    enabled: true
    sensitive_name_markers: [password, hush_hush]
    sensitive_schema_markers: [geheim]
tools:
  forecast:
    required: [city, day, city]
    ambiguous_if: { query_min_length: 3, generic_terms: [it] }
    confirm_if: { always: true }
    elicit:
      message: \"Where, and when?\"
      fields:
        city: { type: string, description: A town. }
        day: { type: integer }
        odd: { type: array, description: Odd. }
  plain: {}
";

#[test]
fn every_key_of_a_configuration_is_carried_or_named() {
    let imported = imported(EVERY_KEY);
    assert_eq!(
        imported.policy,
        r#"# From old.yaml, a configuration of mcp-elicitation-proxy.
framegate: 1
# It let every tool and any argument through; remove these three lines to have them judged.
default: allow
arguments: unchecked
invisible: allow
defaults:
  missing: ask
  ask: { empty: missing }
secrets:
  names: ["password", "hush_hush"]
  texts: ["geheim"]
tools:
  "forecast":
    ask:
      message: "Where, and when?"
      required: ["city", "day"]
      fields:
        "city": { type: string, description: "A town." }
        "day": { type: integer }
        "odd": { description: "Odd." }
"#
    );
    assert_eq!(
        imported.client.as_deref(),
        Some(
            r#"{
  "command": "framegate",
  "args": ["run", "--policy", "framegate.yaml", "--env", "PATH=/opt/bin", "--", "npx", "-y", "weather-server", "--unit=°C"],
  "env": {
    "API_KEY": "k1"
  }
}
"#
        )
    );
    let words = "carried over; compared as words now, where any part of a word was enough";
    assert_eq!(
        left(EVERY_KEY),
        [
            "line 5: `proxy.name`: the client sees the server's own name; `framegate run --name` is for logs and the policy".to_owned(),
            format!("line 11: `policies.sensitive_required.sensitive_name_markers`: {words}"),
            format!("line 12: `policies.sensitive_required.sensitive_schema_markers`: {words}"),
            "line 16: `tools.forecast.ambiguous_if`: it was read and had no effect; a rule can do that".to_owned(),
            "line 17: `tools.forecast.confirm_if`: it was read and had no effect; a rule can do that".to_owned(),
            "line 23: `tools.forecast.elicit.fields.odd.type`: not `string`, `integer`, `number` or `boolean`: it had no effect".to_owned(),
        ]
    );
}

#[test]
fn the_policy_means_what_the_configuration_meant() {
    let policy = policy(&imported(EVERY_KEY));
    let forecast = policy.tool("weather", "forecast").unwrap();
    assert_eq!((forecast.missing(), forecast.arguments), (Missing::Ask, Arguments::Unchecked));
    assert_eq!(forecast.invisible.otherwise, Invisible::Allow);
    assert!(forecast.ask.empty_is_missing && forecast.ask.required == ["city", "day"]);
    assert_eq!(forecast.ask.fields["day"].document().root().raw(), r#"{"type":"integer"}"#);
    let any = policy.tool("weather", "anything").unwrap();
    assert!(any.ask.empty_is_missing && any.ask.message.is_none());
    let secrets = policy.secrets();
    assert!(secrets.is_name("hushHush") && !secrets.is_name("token") && secrets.is_text("ganz geheim"));
}

#[test]
fn switches_become_what_happens_to_a_call() {
    for (switches, missing, asks_secrets) in [
        ("", Missing::Ask, false),
        ("elicitation: { enabled: false }", Missing::Refuse, false),
        ("elicitation: { enabled: off }", Missing::Refuse, false),
        (
            "policies: { schema_required: { enabled: false }, sensitive_required: { enabled: no } }",
            Missing::Pass,
            true,
        ),
        ("policies: { sensitive_required: { enabled: 'false' } }", Missing::Ask, true),
        ("elicitation: { enabled: 0 }\npolicies: { schema_required: { enabled: 0 } }", Missing::Pass, false),
    ] {
        let text = format!("{UPSTREAM}{switches}\n");
        assert_eq!(options(&text, "t").missing(), missing, "{switches}");
        assert_eq!(policy(&imported(&text)).secrets().ask(), asks_secrets, "{switches}");
    }
    let lost = left(&format!("{UPSTREAM}policies:\n  schema_required: {{ enabled: false }}\n"));
    assert_eq!(
        lost,
        [
            "line 3: `policies.schema_required.enabled`: calls that lack a credential were refused although others \
          passed; now all of them pass"
        ]
    );
}

#[test]
fn a_server_behind_a_url_has_no_entry_yet() {
    let imported = imported("upstream:\n  url: https://weather.example/mcp\n");
    assert_eq!(imported.client, None);
    assert_eq!(
        imported.left[0].to_string(),
        "line 2: `upstream.url`: framegate cannot reach a server by URL yet (`https://weather.example/mcp`): \
         no client entry is written"
    );
}

#[test]
fn keys_that_had_no_effect_are_named() {
    let text = format!(
        "{UPSTREAM}polices: {{ x: 1 }}\nelicitation: {{ timeout: 3 }}\ntools:\n  t: {{ requird: [a], elicit: {{ title: x, fields: {{ a: {{ enum: [x] }} }} }} }}\n"
    );
    let unknown = |line: usize, key: &str, hint: &str| {
        format!("line {line}: `{key}`: unknown to that proxy too: it had no effect{hint}")
    };
    assert_eq!(
        left(&text),
        [
            unknown(2, "polices", "; did you mean `policies`?"),
            unknown(3, "elicitation.timeout", ""),
            unknown(5, "tools.t.requird", "; did you mean `required`?"),
            unknown(5, "tools.t.elicit.title", ""),
            unknown(5, "tools.t.elicit.fields.a.enum", ""),
        ]
    );
}

#[test]
fn what_that_proxy_refused_is_refused() {
    for (text, expected) in [
        ("tools: {}\n", "1:1 `upstream` is missing"),
        ("upstream: {}\n", "1:1 `upstream` needs exactly one of `url` and `command`, not blank"),
        (
            "upstream: { url: u, command: c }\n",
            "1:1 `upstream` needs exactly one of `url` and `command`, not blank",
        ),
        (
            "upstream: { command: ' ' }\n",
            "1:1 `upstream` needs exactly one of `url` and `command`, not blank",
        ),
        (
            "upstream: { url: u, args: [a] }\n",
            "1:1 `upstream.args` and `upstream.env` need `upstream.command`",
        ),
        ("upstream: { command: c, args: [1] }\n", "1:32 expected text, found a number"),
        ("upstream: { command: c, args: [no] }\n", "1:32 expected text, `no` was a boolean to that proxy"),
        ("upstream: { command: c, env: { A: true } }\n", "1:35 expected text, found a boolean"),
        (
            "upstream: { command: c }\nelicitation: { fallback_on_unsupported: ignore }\n",
            "2:41 `fallback_on_unsupported` can only be `structured_error`",
        ),
        (
            "upstream: { command: c }\nelicitation: { enabled: maybe }\n",
            "2:25 expected `true` or `false`, found text",
        ),
        (
            "upstream: { command: c }\ntools: { t: { required: a } }\n",
            "2:25 expected a list of texts, found text",
        ),
        ("upstream: [\n", "1:11 this is not YAML"),
    ] {
        assert!(errors(text)[0].starts_with(expected), "{text}: {:?}", errors(text));
    }
    assert_eq!(errors("a")[0], "1:1 expected a mapping, found text");
    assert!(elicitation_proxy("old", b"\xff", "p").is_err());
}

#[test]
fn odd_names_and_texts_stay_what_they_are() {
    let text = format!(
        "{UPSTREAM}tools:\n  'a \"b\\': {{ required: ['x: y', '#', \"\\u2028\\x7f\"], elicit: {{ message: \"say \\\"hi\\\"\\n now\" }} }}\n  'get_*': {{ required: [a] }}\n  a/b: {{ required: [a] }}\n"
    );
    let options = options(&text, "a \"b\\");
    assert_eq!(options.ask.required, ["x: y", "#", "\u{2028}\u{7f}"]);
    assert_eq!(options.ask.message.as_deref(), Some("say \"hi\"\n now"));
    let pattern = "a policy reads `*`, `?` and `/` in a tool's name as a pattern or a server's name";
    assert_eq!(
        left(&text),
        [format!("line 4: `tools.get_*`: {pattern}"), format!("line 5: `tools.a/b`: {pattern}")]
    );
}

#[test]
fn more_than_a_form_can_ask_for_is_cut_and_named() {
    let text = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("f{n}")).collect();
        format!("{UPSTREAM}tools: {{ t: {{ required: [{}] }} }}\n", names.join(","))
    };
    let max = crate::form::FIELDS_MAX;
    assert!(left(&text(max - 1)).is_empty() && left(&text(max)).is_empty());
    assert_eq!(
        left(&text(max + 1)),
        ["line 2: `tools.t.required`: a form asks for at most 32 arguments: those behind them are left out"]
    );
    assert_eq!(options(&text(max + 1), "t").ask.required.len(), max);
}

#[test]
fn tools_that_a_policy_cannot_name_are_named() {
    let long = "n".repeat(crate::policy::PATTERN_BYTES_MAX);
    assert!(left(&format!("{UPSTREAM}tools: {{ {long}: {{ required: [a] }} }}\n")).is_empty());
    let said = left(&format!("{UPSTREAM}tools: {{ {long}n: {{}}, '': {{}} }}\n"));
    assert!(said.len() == 2 && said[0].contains("a policy cannot name this tool"), "{said:?}");
    let many = |count: usize| {
        let tools: String = (0..count).map(|n| format!("  t{n}: {{ required: [a] }}\n")).collect();
        format!("{UPSTREAM}tools:\n{tools}")
    };
    let max = crate::policy::ENTRIES_MAX;
    assert!(left(&many(max - 1)).is_empty() && left(&many(max)).is_empty());
    let said = left(&many(max + 1));
    assert_eq!(said, ["line 1003: `tools.t1000`: a policy has at most 1000 entries under `tools`"]);
}

#[test]
fn empty_lists_of_markers_meant_the_built_in_ones() {
    for markers in ["[]", "null", "~"] {
        let text = format!(
            "{UPSTREAM}policies: {{ sensitive_required: {{ sensitive_name_markers: {markers} }} }}\n"
        );
        assert!(policy(&imported(&text)).secrets().is_name("password"), "{markers}");
    }
    let text =
        format!("{UPSTREAM}policies: {{ sensitive_required: {{ sensitive_name_markers: ['--', ok] }} }}\n");
    assert!(left(&text)[0].contains("`--` is no word"), "{:?}", left(&text));
}

#[test]
fn variables_that_are_framegates_own_are_given_to_the_server_alone() {
    let imported = imported("upstream: { command: c, env: { FRAMEGATE_MODE: monitor, A: '${HOME}' } }\n");
    let client = imported.client.unwrap();
    assert!(client.contains(r#""--env", "FRAMEGATE_MODE=monitor", "--", "c"]"#), "{client}");
    assert!(client.contains(r#""A": "${HOME}""#) && imported.left[0].why.contains("expand"), "{client}");
}

#[test]
fn any_text_comes_through_the_yaml_as_it_was() {
    use proptest::prelude::*;
    let text = || prop_oneof![".{0,12}", "[ -~\\u{80}-\\u{a0}\\u{feff}\\u{2028}\\u{fffe}\\u{1f600}]{1,6}"];
    proptest!(|(tool in text(), name in text(), words in text())| {
        let quoted = |text: &str| {
            let escaped: String = text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
            format!("\"{escaped}\"")
        };
        prop_assume!(!tool.is_empty() && !tool.contains(['*', '?', '/']) && !words.trim().is_empty());
        prop_assume!(tool.len() <= crate::policy::PATTERN_BYTES_MAX);
        let text = format!(
            "{UPSTREAM}tools: {{ {}: {{ required: [{}], elicit: {{ message: {} }} }} }}\n",
            quoted(&tool), quoted(&name), quoted(&words)
        );
        let options = options(&text, &tool);
        prop_assert_eq!(options.ask.required, [name]);
        prop_assert_eq!(options.ask.message.as_deref(), Some(words.trim()));
    });
}
