//! Where and how the record is kept.

use std::path::PathBuf;

use bytes::Bytes;
use ed25519_dalek::SigningKey;
use framegate_guard::store::keep::{Keep, Redact};
use framegate_guard::store::retain::Limits;

use crate::args::{StoreArgs, StoreContent, StoreFailure, TypedDurability};
use crate::{redact, sign_key, store_path};

/// What happens to a call whose record cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// It goes through, and is counted.
    Allow,
    /// It is refused.
    #[default]
    Refuse,
}

/// When a verdict is released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durability {
    /// When its record waits in memory: *record, then act* is waived.
    Bounded,
    /// When its record survives a power cut.
    Full,
    /// When its record survives the death of this process.
    #[default]
    Normal,
}

impl Durability {
    /// Its name, as it is typed and recorded.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bounded => "bounded",
            Self::Full => "full",
            Self::Normal => "normal",
        }
    }
}

/// Where and how the record is kept.
#[derive(Clone, Debug)]
pub(crate) struct StoreSettings {
    pub(crate) file: PathBuf,
    pub(crate) keep: Keep,
    pub(crate) on_failure: OnFailure,
    pub(crate) durability: Durability,
    /// What is deleted from it.
    pub(crate) limits: Limits,
    /// Signs it.
    pub(crate) key: Option<SigningKey>,
}

impl StoreSettings {
    /// What was typed, as it is meant; nothing when no record is kept.
    ///
    /// # Errors
    /// When nothing says where the record is to be kept, or the key to sign it cannot be read.
    pub(crate) fn of(args: &StoreArgs, has_policy: bool, monitors: bool) -> Result<Option<Self>, String> {
        let file = match &args.store {
            Some(file) if file.as_os_str() == "none" => return Ok(None),
            Some(file) => file.clone(),
            None if has_policy => default_file()?,
            None => return Ok(None),
        };
        let keep = match args.store_content {
            StoreContent::Full => Keep::Full,
            StoreContent::None => Keep::None,
            StoreContent::Redacted => Keep::Redacted(&Credentials),
        };
        let on_failure = match args.store_failure {
            Some(StoreFailure::Allow) => OnFailure::Allow,
            Some(StoreFailure::Refuse) => OnFailure::Refuse,
            // Nothing is refused there, unless it was asked for.
            None if monitors => OnFailure::Allow,
            None => OnFailure::Refuse,
        };
        let durability = match args.durability {
            TypedDurability::Bounded => Durability::Bounded,
            TypedDurability::Full => Durability::Full,
            TypedDurability::Normal => Durability::Normal,
        };
        let bytes = args.store_size.map(|mib| mib.saturating_mul(1024 * 1024));
        let limits = Limits { age: args.store_age, bytes };
        let key = args.sign_key.as_deref().map(sign_key::read).transpose()?;
        Ok(Some(Self { file, keep, on_failure, durability, limits, key }))
    }
}

/// What logs do not show, a redacted record does not keep.
struct Credentials;

impl Redact for Credentials {
    fn redact(&self, bytes: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
        match redact::json(Bytes::copy_from_slice(bytes)) {
            Ok(found) if found.secrets.is_empty() => None,
            Ok(found) => Some((found.bytes.to_vec(), found.secrets)),
            Err(_) => redact::bytes(bytes).map(|redacted| (redacted, Vec::new())),
        }
    }

    fn without(&self, text: &str, secrets: &[String]) -> String {
        redact::without(text, secrets)
    }
}

/// The store of whoever gives none.
///
/// # Errors
/// When nothing says where that is.
pub(crate) fn default_file() -> Result<PathBuf, String> {
    let none = "there is no place for the record of decisions: neither XDG_STATE_HOME nor HOME is set; give --store FILE, or --store none to keep no record";
    store_path::default_path().ok_or_else(|| none.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(store: Option<&str>, store_failure: Option<StoreFailure>) -> StoreArgs {
        StoreArgs {
            store: store.map(PathBuf::from),
            store_content: StoreContent::Full,
            store_failure,
            durability: TypedDurability::Normal,
            store_age: None,
            store_size: None,
            sign_key: None,
            annotate: false,
        }
    }

    #[test]
    fn a_record_is_kept_where_there_is_a_policy_or_it_is_asked_for() {
        let file = |store, has_policy| {
            let settings = StoreSettings::of(&args(store, None), has_policy, false).unwrap();
            settings.map(|settings| settings.file)
        };
        assert_eq!(file(None, false), None);
        assert_eq!(file(Some("none"), true), None);
        assert_eq!(file(Some("r.db"), false), Some("r.db".into()));
        assert!(file(None, true).is_none_or(|file| file.ends_with("framegate/record.db")));
    }

    #[test]
    fn monitor_mode_refuses_nothing_unless_told_to() {
        let then = |given, monitors| {
            StoreSettings::of(&args(Some("r.db"), given), true, monitors).unwrap().unwrap().on_failure
        };
        assert_eq!((then(None, false), then(None, true)), (OnFailure::Refuse, OnFailure::Allow));
        assert_eq!(then(Some(StoreFailure::Refuse), true), OnFailure::Refuse);
        assert_eq!(then(Some(StoreFailure::Allow), false), OnFailure::Allow);
    }

    #[test]
    fn what_is_redacted_is_not_repeated_about_it() {
        let arguments = br#"{"password":"hunter2","x":1}"#;
        let (kept, secrets) = Credentials.redact(arguments).unwrap();
        assert!(!String::from_utf8(kept).unwrap().contains("hunter2"));
        let about = Credentials.without(r#"[{"reason":"`password`: got `hunter2`"}]"#, &secrets);
        assert!(!about.contains("hunter2"), "{about}");
        assert!(Credentials.redact(br#"{"x":1}"#).is_none());
    }
}
