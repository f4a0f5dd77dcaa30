//! Keys that sign checkpoints: a file with 32 random bytes as 64 hexadecimal digits, for its user alone.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use ed25519_dalek::SigningKey;
use framegate_guard::store::chain::{Hash, hex};

use crate::secret_file::SecretFile;

const FILE: SecretFile = SecretFile { what: "the key file", bytes_max: 100, may_be_shown: false };

/// Makes the file if it is not there, and gives the key in it.
///
/// # Errors
/// What to tell a person.
pub(crate) fn make(path: &Path) -> Result<SigningKey, String> {
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == ErrorKind::AlreadyExists => return read(path),
        Err(why) => return Err(format!("the key file `{}` cannot be made: {why}", path.display())),
    };
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|why| format!("the system has no randomness for a key: {why}"))?;
    let text = hex(&seed);
    writeln!(file, "{text}")
        .and_then(|()| file.sync_all())
        .map_err(|why| format!("the key file `{}` cannot be written: {why}", path.display()))?;
    Ok(SigningKey::from_bytes(&seed))
}

/// The key in this file.
///
/// # Errors
/// What to tell a person.
pub(crate) fn read(path: &Path) -> Result<SigningKey, String> {
    let name = path.display();
    let bytes = FILE.read(path).map_err(String::from)?;
    let text = String::from_utf8_lossy(&bytes);
    let seed = text.trim_end().parse::<Hash>();
    let seed = seed.map_err(|_| {
        format!("`{name}` is no key file: it holds 64 hexadecimal digits, as `framegate verify --new-key` makes it")
    })?;
    Ok(SigningKey::from_bytes(&seed.0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = make(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(make(&path).unwrap(), key, "made once");
        assert_eq!(read(&path).unwrap(), key);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read(&path).unwrap_err().contains("chmod 600"));
        let other = folder.path().join("other");
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&other)
            .unwrap()
            .write_all(b"abc")
            .unwrap();
        assert!(read(&other).unwrap_err().contains("no key file"));
        assert!(read(&folder.path().join("none")).unwrap_err().contains("cannot be read"));
    }
}
