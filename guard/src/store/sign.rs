//! Signed checkpoints: whoever may write the file can write the chain anew, but not sign it.

use super::chain::{Hash, unhex};
use super::spelling::Body;

/// What a `checkpoint` record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// The hash of the record before.
    pub signs: Hash,
    /// The public key.
    pub key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
}

/// What is signed of a record: ed25519 over these bytes.
#[must_use]
pub fn message(seq: u64, hash: &Hash) -> Vec<u8> {
    let mut message = b"framegate checkpoint 1\n".to_vec();
    message.extend(seq.to_be_bytes());
    message.extend(hash.0);
    message
}

/// The record that signs this head.
#[cfg(feature = "sign")]
pub(super) fn entry(key: &ed25519_dalek::SigningKey, head: &super::chain::Head) -> super::entry::Entry {
    use ed25519_dalek::Signer as _;
    let signature = key.sign(&message(head.sequence, &head.hash)).to_bytes();
    super::entry::Entry::new("checkpoint")
        .hash("signs", &head.hash)
        .hash("key", &Hash(key.verifying_key().to_bytes()))
        .text("signature", &super::chain::hex(&signature))
}

impl Signed {
    /// Reads it; `None` when something is missing or misspelled.
    #[must_use]
    pub fn read(body: &Body<'_>) -> Option<Signed> {
        let mut signed = Signed { signs: Hash::default(), key: [0; 32], signature: [0; 64] };
        let text = |key| body.raw(key)?.strip_prefix('"')?.strip_suffix('"');
        unhex(text("signs")?, &mut signed.signs.0)?;
        unhex(text("key")?, &mut signed.key)?;
        unhex(text("signature")?, &mut signed.signature)?;
        Some(signed)
    }

    /// Whether its key signed the record of this number and hash; `None` where no signature can be checked
    /// (built without the feature `sign`).
    #[must_use]
    pub fn is_right(&self, seq: u64) -> Option<bool> {
        #[cfg(feature = "sign")]
        {
            let right = ed25519_dalek::VerifyingKey::from_bytes(&self.key).is_ok_and(|key| {
                let signature = ed25519_dalek::Signature::from_bytes(&self.signature);
                key.verify_strict(&message(seq, &self.signs), &signature).is_ok()
            });
            Some(right)
        }
        #[cfg(not(feature = "sign"))]
        {
            let _ = seq;
            None
        }
    }
}
