//! The committed fuzz corpus, run as an ordinary test through the functions behind the targets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "a crate of its own where it is at home")]
mod targets;

/// Runs each file of a target's corpus; names the one that fails.
fn run(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // The assertion has told what is wrong; here follows with what.
        let outcome = std::panic::catch_unwind(|| check(&bytes));
        assert!(outcome.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 20, "{count} files in {}", folder.display());
}

#[test]
fn any_cutting_of_the_corpus_gives_the_same_bytes() {
    run("frame_split", targets::frame_split);
}

#[test]
fn the_peek_agrees_with_a_slow_parse_on_the_corpus() {
    run("peek", targets::peek);
}

#[test]
fn the_router_loses_nothing_on_the_corpus() {
    run("route", targets::route);
}

#[test]
fn listings_of_the_corpus_are_edited_exactly() {
    run("splice", targets::splice);
}
