//! Shapes of MCP messages that are built here, of both eras.

use serde_json::{Value, json};

/// The newest revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";
/// The stateless revision.
pub(crate) const MODERN: &str = "2026-07-28";
/// `params._meta` key of a modern request.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The envelope that each modern request carries in `params._meta` (2026-07-28, section 3.2).
pub(crate) fn modern_meta() -> Value {
    json!({
        VERSION_KEY: MODERN,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Who we say we are when we play a client.
pub(crate) fn client_info() -> Value {
    json!({ "name": "framegate-try", "version": env!("CARGO_PKG_VERSION") })
}

/// `initialize`'s params.
pub(crate) fn initialize_params() -> Value {
    json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client_info() })
}

/// A tool result of one text.
pub(crate) fn text_result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error, "resultType": "complete" })
}
