//! The committed corpora of the fuzz targets `ground` and `url`, run as ordinary tests.

use std::path::Path;

fn run(target: &str, at_least: usize, fuzz: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // The assertion has told what is wrong; here follows with what.
        assert!(std::panic::catch_unwind(|| fuzz(&bytes)).is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count >= at_least, "{count} files in {}", folder.display());
}

#[test]
fn what_is_found_in_the_corpus_names_the_value() {
    run("ground", 80, framegate_guard::ground::fuzz);
}

#[test]
fn addresses_of_the_corpus_are_one_place() {
    run("url", 40, framegate_guard::link::fuzz);
}
