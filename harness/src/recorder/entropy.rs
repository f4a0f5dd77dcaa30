//! Random bytes for salts: a system call for many of them, since each record needs a few.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};

use super::ledger::now;

/// Bytes fetched at a time.
const POOL_BYTES: usize = 1024;

thread_local! {
    /// Bytes that nobody has had, from the end.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Fills `bytes`; no byte is given out twice.
pub(crate) fn entropy(bytes: &mut [u8]) {
    POOL.with_borrow_mut(|pool| {
        for byte in bytes {
            if pool.is_empty() {
                pool.resize(POOL_BYTES, 0);
                fetch(pool);
            }
            *byte = pool.pop().unwrap_or_default();
        }
    });
}

/// Without any the salts would be guessable, and what they keep secret would not be kept.
fn fetch(bytes: &mut [u8]) {
    if getrandom::fill(bytes).is_ok() {
        return;
    }
    // No system call for it and no /dev/urandom: the time and the address space are better than zeros.
    for part in bytes.chunks_mut(8) {
        let random = RandomState::new().hash_one(now().0).to_le_bytes();
        part.iter_mut().zip(random).for_each(|(to, from)| *to = from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_salt_comes_twice() {
        let salts: std::collections::BTreeSet<[u8; 16]> = (0..3 * POOL_BYTES / 16)
            .map(|_| {
                let mut salt = [0; 16];
                entropy(&mut salt);
                salt
            })
            .collect();
        assert_eq!(salts.len(), 3 * POOL_BYTES / 16);
    }
}
