//! The two hashes of the record.

use sha2::{Digest as _, Sha256};

use super::error::StoreError;

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Bytes as small hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    // By hand: the formatting machinery takes a tenth of what a record takes in all.
    let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' + half - 10 });
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

/// A text that is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 digits, 0 to 9 and a to f")]
pub struct NotAHash;

impl std::str::FromStr for Hash {
    type Err = NotAHash;

    /// Capitals are no digits here: each hash has one spelling.
    fn from_str(text: &str) -> Result<Hash, NotAHash> {
        let mut bytes = [0; 32];
        unhex(text, &mut bytes).ok_or(NotAHash)?;
        Ok(Hash(bytes))
    }
}

/// Fills `bytes` from exactly as many pairs of lower-case hexadecimal digits.
pub(super) fn unhex(text: &str, bytes: &mut [u8]) -> Option<()> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != bytes.len() {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(())
}

/// The end of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Number of the last record; 0 when there is none.
    pub sequence: u64,
    /// Its hash.
    pub hash: Hash,
}

impl std::fmt::Display for Head {
    /// As `framegate verify --head` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.sequence, self.hash)
    }
}

/// Random bytes that keep a commitment from being guessed; never used twice.
pub type Salt = [u8; 16];

/// Fills a buffer with random bytes, or says why there are none: then nothing is recorded.
pub type Entropy = fn(&mut [u8]) -> Result<(), StoreError>;

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
