//! The approver: whose passphrase an approval from a terminal needs.
//!
//! The passphrase, made slow by Argon2id and a salt, *is* the secret key. Nothing is kept but salt, cost and the public
//! half, so the file proves a passphrase and gives none away but to whoever guesses it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use ed25519_dalek::{SigningKey, VerifyingKey};
use framegate_guard::store::chain::Hash;
use serde::{Deserialize, Serialize};

use crate::secret_file::{SecretFile, Unread};

/// What each guess costs, where this build makes the key: 64 MiB, three times over.
const COST: Cost = Cost { memory_kib: 64 * 1024, passes: 3 };
/// What a file may ask of whoever checks a passphrase.
const MEMORY_KIB_MAX: u32 = 1024 * 1024;
const PASSES_MAX: u32 = 64;
/// The file is small.
const FILE: SecretFile = SecretFile { what: "the approver's file", bytes_max: 4096, may_be_shown: true };
/// A shorter passphrase is guessed from the file, however slow each guess.
pub(crate) const PASSPHRASE_CHARS_MIN: usize = 10;

#[derive(Debug, Clone, Copy)]
struct Cost {
    memory_kib: u32,
    passes: u32,
}

/// What the file says.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    framegate_approver: u32,
    kdf: String,
    memory_kib: u32,
    passes: u32,
    salt: String,
    public: String,
}

/// Who approves: the public half, and how a passphrase becomes the other.
#[derive(Debug, Clone)]
pub(crate) struct Approver {
    public: VerifyingKey,
    salt: Hash,
    cost: Cost,
}

/// `framegate/approver.json` in the user's configuration folder: `$XDG_CONFIG_HOME`, else `~/.config`.
pub(crate) fn default_path() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(configuration.join("framegate/approver.json"))
}

/// The file that was named, or the usual one.
///
/// # Errors
/// When nothing says where it is.
pub(crate) fn path(named: Option<&Path>) -> Result<PathBuf, String> {
    let none = "there is no home to look for an approver in; name the file (--approver FILE)";
    named.map(Path::to_owned).or_else(default_path).ok_or_else(|| none.to_owned())
}

impl Approver {
    /// Makes the file, which must not be there.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn make(path: &Path, passphrase: &str) -> Result<Approver, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("`{}` cannot be made: {why}", path.display());
        let mut salt = Hash::default();
        getrandom::fill(&mut salt.0)
            .map_err(|why| format!("the system has no randomness for a key: {why}"))?;
        let key = derive(passphrase, &salt, COST)?;
        let approver = Approver { public: key.verifying_key(), salt, cost: COST };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|why| cannot(&why))?;
        }
        let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(file) => file,
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {
                return Err(format!(
                    "there is an approver already, in `{}`; to begin with another passphrase remove that file: whatever was approved with the old one counts no longer for sessions that start after that",
                    path.display()
                ));
            }
            Err(why) => return Err(cannot(&why)),
        };
        let text = serde_json::to_string_pretty(&approver.written()).map_err(|why| cannot(&why))?;
        writeln!(file, "{text}").and_then(|()| file.sync_all()).map_err(|why| cannot(&why))?;
        Ok(approver)
    }

    /// Reads the file; nothing where there is none.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn read(path: &Path) -> Result<Option<Approver>, String> {
        let name = path.display();
        let bytes = match FILE.read(path) {
            Ok(bytes) => bytes,
            Err(Unread::Missing(_)) => return Ok(None),
            Err(why) => return Err(why.into()),
        };
        let written: Option<Written> = serde_json::from_slice(&bytes).ok();
        let approver = written.and_then(Approver::of);
        approver.map(Some).ok_or_else(|| {
            format!("`{name}` is no approver's file of this version; `framegate approver init` makes one")
        })
    }

    fn of(written: Written) -> Option<Approver> {
        let Written { framegate_approver: 1, kdf, memory_kib, passes, salt, public } = written else {
            return None;
        };
        let cost = Cost { memory_kib, passes };
        let fits = kdf == "argon2id" && memory_kib <= MEMORY_KIB_MAX && (1..=PASSES_MAX).contains(&passes);
        let public = VerifyingKey::from_bytes(&public.parse::<Hash>().ok()?.0).ok()?;
        fits.then_some(Approver { public, salt: salt.parse().ok()?, cost })
    }

    fn written(&self) -> Written {
        Written {
            framegate_approver: 1,
            kdf: "argon2id".to_owned(),
            memory_kib: self.cost.memory_kib,
            passes: self.cost.passes,
            salt: self.salt.to_string(),
            public: Hash(self.public.to_bytes()).to_string(),
        }
    }

    /// The public half.
    pub(crate) fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// The secret half; nothing where this is not the passphrase.
    ///
    /// # Errors
    /// What to tell a person.
    pub(crate) fn key(&self, passphrase: &str) -> Result<Option<SigningKey>, String> {
        let key = derive(passphrase, &self.salt, self.cost)?;
        Ok((key.verifying_key() == self.public).then_some(key))
    }
}

fn derive(passphrase: &str, salt: &Hash, cost: Cost) -> Result<SigningKey, String> {
    let failed = |why: argon2::Error| format!("the passphrase cannot be made into a key: {why}");
    let params = Params::new(cost.memory_kib, cost.passes, 1, Some(32)).map_err(failed)?;
    let mut seed = [0; 32];
    let slow = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    slow.hash_password_into(passphrase.as_bytes(), &salt.0, &mut seed).map_err(failed)?;
    Ok(SigningKey::from_bytes(&seed))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_passphrase_is_the_key_and_its_file_is_for_one_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("framegate/approver.json");
        assert!(Approver::read(&path).unwrap().is_none());
        let made = Approver::make(&path, "correct horse").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("correct"), "{text}");
        let read = Approver::read(&path).unwrap().unwrap();
        let key = read.key("correct horse").unwrap().unwrap();
        assert_eq!((key.verifying_key(), read.public()), (made.public, &made.public));
        assert!(read.key("correct horse ").unwrap().is_none());
        assert!(Approver::make(&path, "another one").unwrap_err().contains("already"));
        for mode in [0o640, 0o602, 0o644] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(Approver::read(&path).unwrap_err().contains("chmod 600"), "{mode:o}");
        }
        let costs = |kib: u32| text.replace("65536", &kib.to_string());
        for (text, fine) in [
            (text.clone(), true),
            (costs(MEMORY_KIB_MAX), true),
            (costs(MEMORY_KIB_MAX + 1), false),
            (text.replace("\"passes\": 3", "\"passes\": 64"), true),
            (text.replace("\"passes\": 3", "\"passes\": 65"), false),
            (text.replace("\"passes\": 3", "\"passes\": 0"), false),
            (text.replace("argon2id", "none"), false),
            ("{}".to_owned(), false),
        ] {
            std::fs::remove_file(&path).unwrap();
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert_eq!(Approver::read(&path).is_ok(), fine, "{text}");
        }
    }
}
