//! The key of seals that several processes share (`--state-key`).

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::desk::Desk;
use crate::secret_file::SecretFile;

/// A shorter one could be guessed.
const KEY_BYTES_MIN: usize = 32;
const KEY_BYTES_MAX: usize = 4096;
const FILE: SecretFile =
    SecretFile { what: "the state key", bytes_max: KEY_BYTES_MAX as u64, may_be_shown: false };

/// A key, and the desk that the processes share: a state is good once, whichever of them gets it.
#[derive(Clone)]
pub struct StateKey {
    pub(crate) secret: [u8; 32],
    pub(crate) desk: Arc<Desk>,
}

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateKey").finish_non_exhaustive()
    }
}

impl StateKey {
    /// Reads the key: all bytes of the file, at least 32, which nobody else may read.
    ///
    /// # Errors
    /// What to tell a person.
    pub fn read(path: &Path, desk: Arc<Desk>) -> Result<StateKey, String> {
        let name = path.display();
        let bytes = FILE.read(path).map_err(String::from)?;
        if !(KEY_BYTES_MIN..=KEY_BYTES_MAX).contains(&bytes.len()) {
            let there = if bytes.len() > KEY_BYTES_MAX { "more".to_owned() } else { bytes.len().to_string() };
            return Err(format!(
                "the state key `{name}` must have {KEY_BYTES_MIN} to {KEY_BYTES_MAX} bytes, and it has {there}; make one with `head -c 32 /dev/urandom > {name}; chmod 600 {name}`"
            ));
        }
        Ok(StateKey { secret: Sha256::digest(&bytes).into(), desk })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::calls::{CallLog, Level, LogFormat};
    use crate::child::ServerName;
    use crate::stderr::Stderr;

    #[test]
    fn a_key_has_a_length_and_is_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let log = CallLog::new(Stderr::start(), ServerName::given("s"), Level::Off, LogFormat::Text);
        let desk = Desk::beside(&folder.path().join("r.db"), Some(&path), Arc::new(log));
        let read = || StateKey::read(&path, Arc::clone(&desk)).map(|key| key.secret);
        assert!(read().unwrap_err().contains("cannot be read"));
        let write = |bytes: &[u8], mode: u32| {
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for (length, fine) in [(31, false), (32, true), (33, true), (4095, true), (4096, true), (4097, false)]
        {
            write(&vec![7; length], 0o600);
            assert_eq!(read().is_ok(), fine, "{length}: {:?}", read());
        }
        write(&[7; 32], 0o640);
        assert!(read().unwrap_err().contains("chmod 600"));
        write(&[7; 32], 0o400);
        let first = read().unwrap();
        write(&[8; 32], 0o600);
        assert_ne!(read().unwrap(), first);
        let why = StateKey::read(folder.path(), desk).unwrap_err();
        assert!(why.contains("not a file"), "{why}");
    }
}
