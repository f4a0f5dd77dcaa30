//! The committed corpus of the fuzz target `strict_reader`, run as an ordinary test.

#[path = "../../fuzz/src/corpus.rs"]
#[expect(unreachable_pub, reason = "included from beside the crate")]
mod corpus;

#[path = "../../fuzz/src/strict.rs"]
#[expect(unreachable_pub, reason = "a crate of its own where it is at home")]
mod targets;

#[test]
fn what_is_accepted_of_the_corpus_every_reader_reads_alike() {
    corpus::run("strict_reader", 100, targets::strict_reader);
}
