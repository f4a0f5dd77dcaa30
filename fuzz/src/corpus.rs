//! The committed corpus of a target, run as an ordinary test: the tests of `pump`, `guard` and `harness` include this.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

/// Runs each file of a target's corpus, so many at least; names the one that fails.
pub fn run(target: &str, count_min: usize, check: fn(&[u8])) {
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
    assert!(count >= count_min, "{count} files in {}", folder.display());
}
