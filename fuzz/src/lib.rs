//! What the fuzz targets run: bytes, raw and inside a valid envelope, into functions that assert.
//!
//! `pump/tests/fuzz_corpus.rs` includes this file and runs the committed corpus through it, so
//! it may name nothing but the pump.

/// The first byte says how many bytes after it are the sizes of the pieces; the rest is the stream.
pub fn frame_split(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let sizes = (usize::from(*count) % 8 + 1).min(rest.len());
    let (sizes, stream) = rest.split_at(sizes);
    framegate_pump::codec::assert_cuts_whole(stream, sizes);
}

/// A frame's body, and the same bytes as the parameters of a call and the result of an answer.
pub fn peek(bytes: &[u8]) {
    framegate_pump::envelope::assert_peek_agrees(bytes);
    for (open, close) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"#, "}"),
        (r#"{"result":"#, r#","jsonrpc":"2.0","id":1}"#),
    ] {
        framegate_pump::envelope::assert_peek_agrees(&between(open, bytes, close));
    }
}

/// A script of frames, verdicts, cancels, swaps and ends.
pub fn route(bytes: &[u8]) {
    framegate_pump::router::assert_routes(bytes);
}

/// A frame's body, and the same bytes as the tools of a listing.
pub fn splice(bytes: &[u8]) {
    framegate_pump::assert_splice_is_exact(bytes);
    let listing = between(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":["#, bytes, "]}}");
    framegate_pump::assert_splice_is_exact(&listing);
}

fn between(open: &str, bytes: &[u8], close: &str) -> Vec<u8> {
    [open.as_bytes(), bytes, close.as_bytes()].concat()
}
