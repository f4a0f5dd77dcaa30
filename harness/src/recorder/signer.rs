//! Signatures over the record: whoever may write the file can write the chain anew, but not sign it.

use ed25519_dalek::SigningKey;
use framegate_guard::store::StoreError;
use framegate_guard::store::sqlite::Transaction;

use super::ledger::now;

/// Records from one signature to the next; the end of a session is always signed.
pub(super) const SIGN_EVERY: u64 = 1000;

/// Signs now and then.
#[derive(Debug)]
pub(super) struct Signer {
    key: SigningKey,
    /// The last record that was signed, once that is committed; 0 before.
    signed: u64,
    /// The same of the transaction that is under way.
    signing: u64,
}

impl Signer {
    pub(super) fn new(key: SigningKey) -> Signer {
        Signer { key, signed: 0, signing: 0 }
    }

    /// Signs what stands in the record by now, where it is time.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) fn sign(&mut self, to: &mut Transaction<'_>, is_end: bool) -> Result<(), StoreError> {
        let last = to.head().sequence;
        // Records of earlier sessions count: the first signature of this one covers them too.
        if is_end || last.saturating_sub(self.signed) >= SIGN_EVERY {
            self.signing = to.checkpoint(&self.key, now())?;
        }
        Ok(())
    }

    /// The transaction was committed.
    pub(super) fn committed(&mut self) {
        self.signed = self.signing;
    }
}
