//! The seal on what a client of 2026-07-28 carries from our question to its retry.
//!
//! `requestState` comes back from whoever retries, so whatever it says is worth what its seal is worth: an
//! HMAC-SHA-256 over what was asked, with a key of this process, or of several that share one. A tag of the key stands
//! before it and in the key of our question, so that two Framegates one behind the other do not take each other's for
//! their own.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use framegate_guard::ledger::SessionKey;
use framegate_guard::proposal::CallKey;

/// Ours begin so.
const PREFIX: &str = "framegate1.";
/// The key of our question in `inputRequests` begins so.
const REQUEST_KEY: &str = "dev.framegate/approve.";
const TAG_BYTES: usize = 32;

/// What a sealed state says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Which question; never twice.
    pub(crate) nonce: [u8; 16],
    /// Until when it is good, in ms since 1970.
    pub(crate) until_ms: u64,
    /// Tool and arguments as the client sent them.
    pub(crate) call: [u8; 32],
    /// [`framegate_guard::Decision::approval_key`]: the reasons that were shown.
    pub(crate) reasons: [u8; 32],
    /// What another process needs to know; empty where the answer is for this one.
    pub(crate) carried: Vec<u8>,
}

impl Claim {
    /// A claim about a call and what was shown of it.
    pub(crate) fn new(nonce: [u8; 16], until_ms: u64, call: &CallKey, approval_key: &str) -> Claim {
        let (call, reasons) = (*call.as_bytes(), digest(approval_key));
        Claim { nonce, until_ms, call, reasons, carried: Vec::new() }
    }

    /// Whether it is about this call.
    pub(crate) fn is_of(&self, call: &CallKey) -> bool {
        self.call == *call.as_bytes()
    }

    /// Whether it is about what was shown.
    pub(crate) fn is_about(&self, approval_key: &str) -> bool {
        self.reasons == digest(approval_key)
    }

    fn bytes(&self) -> Vec<u8> {
        [&self.nonce[..], &self.until_ms.to_be_bytes(), &self.call, &self.reasons, &self.carried].concat()
    }

    fn read(bytes: &[u8]) -> Option<Claim> {
        let (nonce, rest) = bytes.split_first_chunk()?;
        let (until_ms, rest) = rest.split_first_chunk()?;
        let (call, rest) = rest.split_first_chunk()?;
        let (reasons, carried) = rest.split_first_chunk()?;
        let (until_ms, carried) = (u64::from_be_bytes(*until_ms), carried.to_vec());
        Some(Claim { nonce: *nonce, until_ms, call: *call, reasons: *reasons, carried })
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// Seals for one session.
pub(crate) struct Seal {
    mac: Hmac<Sha256>,
    prefix: String,
    key: String,
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Seal {
    /// A seal with this secret.
    pub(crate) fn new(secret: &[u8; 32], session: &SessionKey) -> Seal {
        let named = |what: &str| {
            let mut hash = Sha256::new();
            for part in [what, &session.principal, &session.name] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
            hash.update(secret);
            <[u8; 32]>::from(hash.finalize())
        };
        let tag: String = named("tag").iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        // A key of 32 bytes is as long as any; `new_from_slice` takes every length.
        let mac = Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::from(block(&named("key"))));
        Seal { mac, prefix: format!("{PREFIX}{tag}."), key: format!("{REQUEST_KEY}{tag}") }
    }

    /// The key of our question.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Whether a state claims to be of this process.
    pub(crate) fn is_ours(&self, state: &str) -> bool {
        state.starts_with(&self.prefix)
    }

    /// The state that says this.
    pub(crate) fn seal(&self, claim: &Claim) -> String {
        let mut bytes = claim.bytes();
        let tag = self.mac.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag);
        format!("{}{}", self.prefix, URL_SAFE_NO_PAD.encode(bytes))
    }

    /// What a state says; nothing when the seal is not ours, or was tampered with.
    pub(crate) fn open(&self, state: &str) -> Option<Claim> {
        let bytes = URL_SAFE_NO_PAD.decode(state.strip_prefix(&self.prefix)?).ok()?;
        let (said, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_BYTES)?)?;
        self.mac.clone().chain_update(said).verify_slice(tag).ok()?;
        Claim::read(said)
    }
}

/// HMAC's own padding of a short key (RFC 2104, section 2).
fn block(key: &[u8; 32]) -> [u8; 64] {
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::json::Document;

    fn seal(secret: u8, name: &str) -> Seal {
        Seal::new(&[secret; 32], &SessionKey { principal: "p".into(), name: name.into() })
    }

    fn claim() -> Claim {
        let call = CallKey::of("pay", Document::empty_object().root());
        Claim::new([7; 16], 9, &call, "reasons")
    }

    #[test]
    fn a_sealed_state_comes_back_as_it_was() {
        let state = seal(1, "s").seal(&claim());
        let read = seal(1, "s").open(&state).unwrap();
        assert_eq!(read, claim());
        let more = Claim { carried: b"{}".to_vec(), ..claim() };
        assert_eq!(seal(1, "s").open(&seal(1, "s").seal(&more)).unwrap(), more);
        let call = CallKey::of("pay", Document::empty_object().root());
        assert!(read.is_of(&call) && read.is_about("reasons") && !read.is_about("others"));
        assert!(!read.is_of(&CallKey::of("p", Document::empty_object().root())));
    }

    #[test]
    fn no_byte_of_it_can_be_another() {
        let (seal, mut opened) = (seal(1, "s"), 0);
        let state = seal.seal(&claim());
        for at in 0..state.len() {
            for byte in (b' '..=b'~').filter(|byte| *byte != state.as_bytes()[at]) {
                let mut other = state.clone().into_bytes();
                other[at] = byte;
                opened += usize::from(seal.open(std::str::from_utf8(&other).unwrap()).is_some());
            }
            opened += usize::from(seal.open(state.get(..at).unwrap()).is_some());
        }
        opened += usize::from(seal.open(&format!("{state}A")).is_some());
        opened += usize::from(seal.open(&format!("{state}=")).is_some());
        assert_eq!(opened, 0);
    }

    #[test]
    fn another_process_or_session_has_another_seal_and_another_key() {
        let state = seal(1, "s").seal(&claim());
        for other in [seal(2, "s"), seal(1, "t")] {
            assert!(other.open(&state).is_none() && !other.is_ours(&state));
            assert_ne!(other.key(), seal(1, "s").key());
        }
        let mut forged = state.clone();
        forged.replace_range(..seal(2, "s").prefix.len(), &seal(2, "s").prefix);
        assert!(seal(2, "s").open(&forged).is_none() && seal(2, "s").is_ours(&forged));
    }
}
