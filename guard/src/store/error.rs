//! What can be wrong with a store, in words on which a person can act.

/// Why a store cannot be opened, read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Tables that are not as we make them, or things beside them.
    #[error(
        "the store's file is not as this program makes it, so nothing is written to it: {0}; keep the file, start a new one, and ask `framegate verify` what else is wrong"
    )]
    Altered(String),
    /// Bytes that no store of ours holds at this place.
    #[error(
        "the store is damaged: {0}; keep the file, start a new one, and ask `framegate verify` where it broke"
    )]
    Corrupt(String),
    /// The system gave no random bytes.
    #[error(
        "the system gives no random bytes ({0}), and without them what is to stay secret could be guessed; let this process use getrandom(2) or read /dev/urandom"
    )]
    Entropy(String),
    /// No place is left on the disk, or for this user.
    #[error("the disk with the store is full; make room, or set limits on what the store keeps")]
    Full,
    /// A record whose body would not be in the one spelling; a mistake of the program that wrote it.
    #[error("a record was not written, since its body is not in the spelling that can be verified: {0}")]
    Spelling(String),
    /// Another process held the file for longer than we wait.
    #[error(
        "another process has held the store for more than {wait_s} s; end it, or give each its own store"
    )]
    Locked {
        /// How long it was waited for.
        wait_s: u64,
    },
    /// A later version of this program wrote it.
    #[error(
        "the store has format {0}, which is newer than this program's; it is read but never written: update framegate, or name another file"
    )]
    Newer(u32),
    /// Some other file.
    #[error("this is not a store of framegate ({0}); name another file")]
    NotAStore(String),
    /// It cannot be opened.
    #[error("the store cannot be opened: {0}")]
    Open(String),
    /// The operating system failed.
    #[error("the store cannot be read or written: {0}")]
    Os(String),
    /// No right to write here.
    #[error(
        "the store cannot be written: {0}; give this user the right to write the file and its folder, or name another file"
    )]
    ReadOnly(String),
}

impl StoreError {
    /// What is wrong, without the advice to ask `verify`: for `verify` itself.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            StoreError::Altered(what) | StoreError::Corrupt(what) => what.clone(),
            other => other.to_string(),
        }
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        /// The disk was full while the shared index of the WAL grew; SQLite does not call that `FULL`.
        const IOERR_SHMSIZE: i32 = 4874;
        let text = error.to_string();
        let rusqlite::Error::SqliteFailure(failure, _) = &error else {
            // A column of another type, text that is not UTF-8, a number below zero: nothing we wrote.
            return StoreError::Corrupt(text);
        };
        match failure.code {
            ErrorCode::DiskFull => StoreError::Full,
            ErrorCode::SystemIoFailure if failure.extended_code == IOERR_SHMSIZE => StoreError::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                StoreError::Locked { wait_s: super::sqlite::BUSY_WAIT.as_secs() }
            }
            ErrorCode::NotADatabase => StoreError::NotAStore(text),
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly(text),
            ErrorCode::CannotOpen => StoreError::Open(text),
            // A table that is gone comes as a plain error, a row that is there twice as a constraint.
            ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::Unknown => {
                StoreError::Corrupt(text)
            }
            _ => StoreError::Os(text),
        }
    }
}
