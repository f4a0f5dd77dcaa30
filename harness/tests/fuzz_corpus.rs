//! The committed corpus of the fuzz target `strict_reader`, run as an ordinary test.

use std::path::Path;

#[path = "../../fuzz/src/strict.rs"]
#[expect(unreachable_pub, reason = "a crate of its own where it is at home")]
mod targets;

#[test]
fn what_is_accepted_of_the_corpus_every_reader_reads_alike() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/strict_reader");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // The assertion has told what is wrong; here follows with what.
        let outcome = std::panic::catch_unwind(|| targets::strict_reader(&bytes));
        assert!(outcome.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 100, "{count} files in {}", folder.display());
}
