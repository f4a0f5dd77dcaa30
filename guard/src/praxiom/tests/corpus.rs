//! The fuzz target's corpus as an ordinary test, and what small damage makes of it.

use std::path::Path;

#[test]
fn the_corpus_and_damaged_copies_of_it_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/praxiom");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        super::super::fuzz(&bytes);
        files += 1;
        // Some places: the byte left out, another byte, a part twice. The fuzz target does the rest.
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 8) {
            let mut damaged = bytes.clone();
            damaged.remove(at);
            super::super::fuzz(&damaged);
            let mut damaged = bytes.clone();
            damaged[at] = b"(')]-\\#: {\xff"[at % 11];
            super::super::fuzz(&damaged);
            let mut doubled = bytes[..at].to_vec();
            doubled.extend_from_slice(&bytes[at / 2..]);
            super::super::fuzz(&doubled);
        }
    }
    assert!(files >= 30, "{files} files");
}
