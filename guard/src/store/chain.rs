//! The two hashes of the record.

use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Random bytes that keep a commitment from being guessed; never used twice.
pub type Salt = [u8; 16];

/// The hash of the record with this body after the one with the hash `before`; before the first: zeros.
#[must_use]
pub fn link(before: &Hash, body: &str) -> Hash {
    Hash(Sha256::new().chain_update(before.0).chain_update(body).finalize().into())
}

/// What a body says of a content instead of the content.
#[must_use]
pub fn commit(salt: &Salt, field: &str, bytes: &[u8]) -> Hash {
    let length = u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes();
    let hash = Sha256::new().chain_update(salt).chain_update(length).chain_update(field);
    Hash(hash.chain_update(bytes).finalize().into())
}
