//! A process says that it lives by a lock that it holds: whatever ends it, the kernel takes the lock away.
//!
//! A file for each process, named by its number, beside the state. Whoever can lock another's file knows that it is
//! gone. Its number is never given again, so nobody takes the reservations of a dead process for those of a new one.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::store_path::with_suffix;

/// A lease that this process holds.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) number: u64,
    path: PathBuf,
    /// Locked while it is open. It is closed by `exec`, so that no server that we start goes on holding it.
    _file: File,
}

impl Lease {
    /// Takes the lease of this number. To be called before anybody can see the number.
    ///
    /// # Errors
    /// When the file cannot be made or locked.
    pub(super) fn take(state: &Path, number: u64) -> std::io::Result<Lease> {
        let path = path_of(state, number);
        // One that is there was left by a process that died before its number was written.
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.try_lock().map_err(std::io::Error::from)?;
        Ok(Lease { number, path, _file: file })
    }

    /// Gives it back.
    pub(super) fn give_back(self) {
        // One that stays is removed by whoever looks next.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the process with this lease is gone. One whose file cannot be looked at may live.
pub(super) fn is_gone(state: &Path, number: u64) -> bool {
    match OpenOptions::new().write(true).open(path_of(state, number)) {
        Ok(file) => !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(why) => why.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes what a process that is gone has left.
pub(super) fn remove(state: &Path, number: u64) {
    let _ = std::fs::remove_file(path_of(state, number));
}

fn path_of(state: &Path, number: u64) -> PathBuf {
    with_suffix(state, &format!("-lease-{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_held_until_it_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("r.db-state");
        assert!(is_gone(&state, 7), "nobody ever had it");
        let lease = Lease::take(&state, 7).unwrap();
        assert!(!is_gone(&state, 7));
        assert!(Lease::take(&state, 7).is_err(), "one number, one process");
        assert!(is_gone(&state, 8));
        drop(lease);
        assert!(is_gone(&state, 7), "as if it had been killed");
        Lease::take(&state, 7).unwrap().give_back();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
