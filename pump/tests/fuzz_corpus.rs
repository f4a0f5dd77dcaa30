//! The committed fuzz corpus, run as an ordinary test through the functions behind the targets.

#[path = "../../fuzz/src/corpus.rs"]
#[expect(unreachable_pub, reason = "included from beside the crate")]
mod corpus;

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "a crate of its own where it is at home")]
mod targets;

#[test]
fn any_cutting_of_the_corpus_gives_the_same_bytes() {
    corpus::run("frame_split", 20, targets::frame_split);
}

#[test]
fn the_peek_agrees_with_a_slow_parse_on_the_corpus() {
    corpus::run("peek", 20, targets::peek);
}

#[test]
fn the_router_loses_nothing_on_the_corpus() {
    corpus::run("route", 20, targets::route);
}

#[test]
fn listings_of_the_corpus_are_edited_exactly() {
    corpus::run("splice", 20, targets::splice);
}
