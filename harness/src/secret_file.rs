//! Files that hold a key, or what proves one: for their user alone, a file and nothing else, and of a known size.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// What a file holds.
pub(crate) struct SecretFile {
    /// For people: `the key file`.
    pub(crate) what: &'static str,
    /// No more is read of it than one byte beyond this.
    pub(crate) bytes_max: u64,
    /// Whether another user's may be read by more than that one. By nobody may it be written to.
    pub(crate) may_be_shown: bool,
}

/// Why there is no secret.
#[derive(Debug)]
pub(crate) enum Unread {
    /// There is no such file.
    Missing(String),
    /// It is there, and not to be used.
    Unfit(String),
}

impl From<Unread> for String {
    fn from(why: Unread) -> String {
        match why {
            Unread::Missing(text) | Unread::Unfit(text) => text,
        }
    }
}

impl SecretFile {
    /// All that is in it; one byte more than it may hold where there is more.
    ///
    /// A link is followed, as deployments put secrets behind one: what counts is the file that is read.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>, Unread> {
        let (what, name) = (self.what, path.display());
        let cannot = |why: std::io::Error| {
            let text = format!("{what} `{name}` cannot be read: {why}");
            if why.kind() == ErrorKind::NotFound { Unread::Missing(text) } else { Unread::Unfit(text) }
        };
        // Without waiting: a pipe of that name would have us wait for whoever writes into it.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(cannot)?;
        // Of what was opened: the name may be another file's by now.
        let about = file.metadata().map_err(cannot)?;
        if !about.is_file() {
            return Err(Unread::Unfit(format!("{what} `{name}` is not a file")));
        }
        let is_own = about.uid() == rustix::process::geteuid().as_raw();
        let forbidden = if self.may_be_shown && !is_own { 0o022 } else { 0o077 };
        if about.mode() & forbidden != 0 {
            // What others can read proves nothing.
            return Err(Unread::Unfit(format!(
                "{what} `{name}` can be read or written by others; say `chmod 600 {name}`, or make another"
            )));
        }
        let mut bytes = Vec::new();
        file.take(self.bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(cannot)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_is_a_file_of_its_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let kind = SecretFile { what: "the key", bytes_max: 4, may_be_shown: false };
        let why = |path: &Path| String::from(kind.read(path).unwrap_err());
        assert!(matches!(kind.read(&path), Err(Unread::Missing(_))));
        for (length, read) in [(3, 3), (4, 4), (5, 5), (6, 5)] {
            std::fs::write(&path, vec![7; length]).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(kind.read(&path).unwrap().len(), read);
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(kind.read(&link).is_ok());
        for mode in [0o640, 0o604, 0o620, 0o602, 0o610] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(why(&path).contains("chmod 600"), "{mode:o}");
            assert!(why(&link).contains("chmod 600"), "{mode:o}");
        }
        assert!(why(folder.path()).contains("is not a file"));
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(why(&pipe).contains("is not a file"));
    }
}
