//! What `framegate import praxiom` writes.

use crate::import::{Imported, praxiom};

fn imported(text: &str, servers: &[&str]) -> Imported {
    let servers: Vec<String> = servers.iter().map(|server| (*server).to_owned()).collect();
    praxiom("old.yaml", text.as_bytes(), &servers).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_construct_has_its_form() {
    let old = r#"
default: deny
patterns: { secrets: ["/.env", "id_rsa"] }
state: { tainted: { type: bool, init: false }, reads: { type: int, init: 0 }, last: { type: str, init: "" } }
invariants: [{ name: few reads, expr: 0 <= reads <= 5 }]
actions:
  - { name: read, match: "fs__read*", args: { path: str, n: int }, requires: "n // 2 < 9",
      effect: { reads: reads + 1, last: path }, on_result: { tainted: "tainted or matches(result, secrets)" } }
  - { name: write, match: ["fs__write*", "fs__[ae]dit"], requires: ["not tainted", "not matches(payload, secrets)"] }
  - { name: reset, match: "fs__read_all", effect: { reads: "0" } }
"#;
    let imported = imported(old, &[]);
    assert_eq!(imported.left, []);
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/src/praxiom/tests/native.golden.yaml");
        std::fs::write(golden, &imported.policy).unwrap();
    }
    assert_eq!(
        imported.policy,
        include_str!("native.golden.yaml"),
        "run once with FRAMEGATE_BLESS=1 and look at it"
    );
}

#[test]
fn what_cannot_be_said_denies_and_is_told() {
    // Each chain names its middle twice.
    let chain = (0..12).fold("b".to_owned(), |inner, _| format!("(true == ({inner}) == true)"));
    let old = format!(
        "state: {{ b: {{ type: bool, init: true }} }}\ninvariants: [{{ name: i, expr: \"b or {chain}\" }}]\nactions:\n  - {{ name: \
         gone, match: web__x, requires: b }}\n  - {{ name: long, match: fs__x, requires: [\"{chain}\", b], effect: {{ b: \"{chain}\" }} }}\n"
    );
    let imported = imported(&old, &["fs"]);
    let left: Vec<String> = imported.left.iter().map(|left| format!("{}: {}", left.line, left.key)).collect();
    assert_eq!(
        left,
        ["2: invariants.i", "4: actions.gone", "5: actions.long.requires", "5: actions.long.set.b"]
    );
    for rule in ["i", "long.1", "long.b"] {
        let text = format!("  - name: {rule}\n    tools: [\"fs/x\"]\n    that: \"false\"\n    because: ");
        assert!(imported.policy.contains(&text), "{rule}\n{}", imported.policy);
    }
    assert!(imported.policy.contains("  - name: long.2\n    tools: [\"fs/x\"]\n    that: \"state.b\"\n"));
    assert!(!imported.policy.contains("invariants:") && !imported.policy.contains("web"));
}

#[test]
fn what_is_no_import_is_an_error() {
    let error = |text: &str| praxiom("old.yaml", text.as_bytes(), &[]).unwrap_err().to_string();
    let wild = error("actions: [{ name: a, match: '*__x', requires: 'true' }]\n");
    assert!(
        wild.contains("they do not say for which servers it is") && wild.contains("--name NAME"),
        "{wild}"
    );
    let odd = error(
        "state: { é: { type: int, init: 0 } }\nactions: [{ name: a, match: fs__x, requires: é > -1 }]\n",
    );
    assert!(odd.contains("the state variable `é` has a name that our expressions cannot use"), "{odd}");
    assert!(error("actions: [{ name: a, match: fs__x, requires: gone }]\n").contains("unknown name 'gone'"));
}

#[test]
fn names_are_apart_and_plain() {
    let old = "actions:\n  - { name: 'once', match: fs__a, requires: 'true' }\n  - { name: 'é 1', match: fs__a, requires: \
               'true' }\n  - { name: '_ 1', match: fs__a, requires: 'true' }\n  - { name: 'yes', match: fs__a, requires: \
               'true' }\n";
    let policy = imported(old, &[]).policy;
    let names: Vec<&str> = policy.lines().filter_map(|line| line.strip_prefix("  - name: ")).collect();
    let unlike: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), unlike.len()), (4, 4), "{names:?}");
    assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))));
    assert!(!names.contains(&"yes"));
}
