//! A name for something that went wrong inside Framegate.
//!
//! The client gets the name, the log gets the name and the error: its text may quote what a client must not see.

use std::hash::{BuildHasher, Hasher, RandomState};

/// 12 hex digits.
pub(crate) fn incident() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:012x}", random & 0xffff_ffff_ffff)
}
