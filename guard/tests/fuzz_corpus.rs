//! The committed corpus of the fuzz targets `flow` and `store`, run as an ordinary test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

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
fn conversations_of_the_corpus_are_followed_as_claimed() {
    run("flow", framegate_guard::flow::fuzz);
}

#[test]
fn records_of_the_corpus_have_one_reading_and_show_every_change() {
    run("store", framegate_guard::store::fuzz);
}
