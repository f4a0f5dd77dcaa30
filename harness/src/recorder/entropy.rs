//! Random bytes for salts, keys and nonces: a system call for many of them, since each record needs a few.
//!
//! Where the system has none there are none: with guessable salts what the chain commits to could be guessed, and a
//! guessable key would let a client approve its own calls. So whoever asks is told, and calls are refused.

use std::cell::RefCell;

use framegate_guard::store::StoreError;

/// Bytes fetched at a time.
const POOL_BYTES: usize = 1024;

thread_local! {
    /// Bytes that nobody has had, from the end.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Fills `bytes`; no byte is given out twice.
///
/// # Errors
/// [`StoreError::Entropy`]: what is in `bytes` then is not random.
pub(crate) fn entropy(bytes: &mut [u8]) -> Result<(), StoreError> {
    let fetch = |pool: &mut [u8]| getrandom::fill(pool).map_err(|why| StoreError::Entropy(why.to_string()));
    POOL.with_borrow_mut(|pool| fill(bytes, pool, fetch))
}

fn fill(
    bytes: &mut [u8],
    pool: &mut Vec<u8>,
    fetch: impl Fn(&mut [u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for byte in bytes {
        if pool.is_empty() {
            let mut fresh = vec![0; POOL_BYTES];
            fetch(&mut fresh)?;
            *pool = fresh;
        }
        *byte = pool.pop().unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_salt_comes_twice() {
        let salts: std::collections::BTreeSet<[u8; 16]> = (0..3 * POOL_BYTES / 16)
            .map(|_| {
                let mut salt = [0; 16];
                entropy(&mut salt).unwrap();
                salt
            })
            .collect();
        assert_eq!(salts.len(), 3 * POOL_BYTES / 16);
    }

    #[test]
    fn a_system_without_random_bytes_gives_none_and_leaves_no_zeros_behind() {
        let none = |_: &mut [u8]| Err(StoreError::Entropy("no such call".into()));
        let mut pool = vec![7; 3];
        let mut salt = [0; 2];
        fill(&mut salt, &mut pool, none).unwrap();
        for _ in 0..2 {
            let why = fill(&mut salt, &mut pool, none).unwrap_err();
            assert!(why.to_string().contains("no random bytes (no such call)"), "{why}");
            assert!(pool.is_empty());
        }
    }
}
