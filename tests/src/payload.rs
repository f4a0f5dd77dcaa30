//! The ways a case spells bytes.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::scan;

/// The bytes of a case item, or `None` when the item is not about bytes at all.
///
/// A string is a frame: it gets its line feed. `raw` and `raw_b64` are exact. `gen` is a long frame
/// spelled short.
pub fn bytes(item: &Value) -> Result<Option<Vec<u8>>, String> {
    if let Some(frame) = item.as_str() {
        return Ok(Some([frame.as_bytes(), b"\n"].concat()));
    }
    if let Some(raw) = item.get("raw").and_then(Value::as_str) {
        return Ok(Some(raw.as_bytes().to_vec()));
    }
    if let Some(raw) = item.get("raw_b64").and_then(Value::as_str) {
        let decoded = STANDARD.decode(raw).map_err(|error| format!("raw_b64: {error}"))?;
        return Ok(Some(decoded));
    }
    item.get("gen").map(generated).transpose()
}

/// The bytes of an item a server emits: `$ID` is the raw id of the request it answers.
pub fn answer(item: &Value, id: &[u8]) -> Result<Vec<u8>, String> {
    // In `gen` only the prefix may hold `$ID`; filling first and searching 64 MiB after is slow.
    if let Some(spec) = item.get("gen") {
        let mut spec = spec.clone();
        let prefix = spec["prefix"].as_str().unwrap_or_default().replace("$ID", &String::from_utf8_lossy(id));
        spec["prefix"] = Value::String(prefix);
        return generated(&spec);
    }
    let bytes = bytes(item)?.ok_or_else(|| format!("no bytes in `{item}`"))?;
    Ok(scan::replace(&bytes, b"$ID", id))
}

fn generated(spec: &Value) -> Result<Vec<u8>, String> {
    let text = |key: &str, other| spec.get(key).and_then(Value::as_str).unwrap_or(other);
    let count = spec["count"].as_u64().ok_or("`gen` without `count`")?;
    let count = usize::try_from(count).map_err(|error| error.to_string())?;
    let mut bytes = text("prefix", "").as_bytes().to_vec();
    bytes.extend(text("fill", "").as_bytes().repeat(count));
    bytes.extend_from_slice(text("suffix", "").as_bytes());
    bytes.extend_from_slice(text("eol", "\n").as_bytes());
    Ok(bytes)
}
