//! What the fuzz target `strict_reader` runs.
//!
//! `harness/tests/fuzz_corpus.rs` includes this file and runs the committed corpus through it.

/// Bytes as a JSON text, as a frame of the client's, and inside the parameters and arguments of a call.
pub fn strict_reader(bytes: &[u8]) {
    framegate_guard::json::fuzz(bytes);
    framegate::wire::assert_reads_strictly(bytes);
    for (open, close) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"#, "}"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":"#, "}}"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"},"#, "}"),
        (r#"{"jsonrpc":"2.0","result":"#, r#","id":"q1"}"#),
    ] {
        framegate::wire::assert_reads_strictly(&[open.as_bytes(), bytes, close.as_bytes()].concat());
    }
}
