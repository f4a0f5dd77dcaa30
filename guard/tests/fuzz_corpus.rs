//! The committed corpus of the fuzz targets `flow` and `store`, run as an ordinary test.

#[path = "../../fuzz/src/corpus.rs"]
#[expect(unreachable_pub, reason = "included from beside the crate")]
mod corpus;

#[test]
fn conversations_of_the_corpus_are_followed_as_claimed() {
    corpus::run("flow", 20, framegate_guard::flow::fuzz);
}

#[test]
fn records_of_the_corpus_have_one_reading_and_show_every_change() {
    corpus::run("store", 20, framegate_guard::store::fuzz);
}
