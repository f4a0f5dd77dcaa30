//! What a trivial call leaves: a small tool, small arguments, a small answer.

use bytes::Bytes;
use framegate_guard::store::StoreError;
use framegate_guard::store::entry::Entry;

/// Fresh enough for a bench: not secret, different each time.
pub(crate) fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    for chunk in bytes.chunks_mut(8) {
        let number = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let random = (number ^ (number >> 29)).to_le_bytes();
        chunk.copy_from_slice(random.get(..chunk.len()).unwrap_or_default());
    }
    Ok(())
}

fn hash(number: u64) -> Bytes {
    let mut bytes = [0; 32];
    // Ours never fails.
    let _ = entropy(&mut bytes);
    bytes[0] ^= number.to_le_bytes()[0];
    Bytes::copy_from_slice(&bytes)
}

/// The decided call.
pub(crate) fn call(number: u64) -> Entry {
    Entry::new("call")
        .number("session", 2)
        .number("context", 4)
        .text("tool", "read_text_file")
        .text("call_id", &number.to_string())
        .text("listed", "tool")
        .number("definition", 5)
        .number("bytes", 142)
        .text("outcome", "allow")
        .text("sent", "verbatim")
        .number("start", 71)
        .number("decided_us", 12)
        .content("arguments", Bytes::from(format!("{{\"path\":\"/work/notes/{number}.md\"}}")))
        .content("frame", hash(number))
}

/// Its answer.
pub(crate) fn end(number: u64, call: u64) -> Entry {
    let result = format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":\"note {number}: buy milk\"}}],\"isError\":false}}"
    );
    Entry::new("end")
        .number("session", 2)
        .number("call", call)
        .text("how", "done")
        .number("latency_us", 850)
        .number("bytes", 120)
        .number("heard", number)
        .shared("result", Bytes::from(result))
        .content("frame", hash(number))
}
