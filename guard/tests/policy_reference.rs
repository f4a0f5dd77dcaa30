//! POLICY.md holds the table of functions as the code has it.

use std::fmt::Write as _;

const OPEN: &str = "<!-- functions -->\n";
const CLOSE: &str = "<!-- /functions -->";

#[test]
fn the_reference_lists_every_function() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/POLICY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(OPEN).unwrap();
    let (found, after) = rest.split_once(CLOSE).unwrap();
    let mut table = String::from("| function | | example, true |\n|---|---|---|\n");
    for function in framegate_guard::cel::functions() {
        let cell = |text: &str| text.replace('|', "\\|");
        let (signature, doc, example) =
            (cell(function.signature), cell(function.doc), cell(function.example));
        writeln!(table, "| `{signature}` | {doc} | `{example}` |").unwrap();
    }
    if std::env::var_os("FRAMEGATE_BLESS").is_some() {
        std::fs::write(path, [before, OPEN, &table, CLOSE, after].concat()).unwrap();
        return;
    }
    assert_eq!(found, table, "run this test once with FRAMEGATE_BLESS=1 and look at what changed");
}
