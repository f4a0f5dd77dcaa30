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
            _ if !Self::is_kept(args, has_policy) => return Ok(None),
            Some(file) => file.clone(),
            None => default_file()?,
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

    /// Whether a record is kept.
    pub(crate) fn is_kept(args: &StoreArgs, has_policy: bool) -> bool {
        args.store.as_ref().map_or(has_policy, |file| file.as_os_str() != "none")
    }

    /// Options of a record that is not kept have no effect. Whoever typed `--sign-key` believes that there is a signed
    /// record; a variable may be meant for other servers of the same client.
    ///
    /// # Errors
    /// What to say of those that were typed; what to warn of otherwise.
    pub(crate) fn without_effect(args: &StoreArgs, has_policy: bool) -> Result<Option<String>, String> {
        if Self::is_kept(args, has_policy) {
            return Ok(None);
        }
        let about = |given: &[String]| {
            let (is, sets) = if given.len() == 1 { ("is", "sets") } else { ("are", "set") };
            (given.join(", "), is, sets)
        };
        let why = if args.store.is_some() { "--store none" } else { "no policy and no --store" };
        if !args.given.typed.is_empty() {
            let (names, is, _) = about(&args.given.typed);
            return Err(format!(
                "{names} {is} about the record of decisions, and none is kept ({why}): add --store FILE"
            ));
        }
        let (names, _, sets) = about(&args.given.variables);
        Ok((!names.is_empty()).then(|| format!("{names} {sets} nothing: no record is kept ({why})")))
    }
}

/// What logs do not show, a redacted record does not keep.
pub(super) struct Credentials;

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
fn default_file() -> Result<PathBuf, String> {
    let none = "there is no place for the record of decisions: neither XDG_STATE_HOME nor HOME is set; give --store FILE, or --store none to keep no record";
    store_path::default_path().ok_or_else(|| none.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::GivenStore;

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
            given: GivenStore::default(),
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
    fn options_of_a_record_that_is_not_kept_are_an_error_and_variables_a_warning() {
        let said = |store, has_policy, typed: &[&str], variables: &[&str]| {
            let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let given = GivenStore { typed: strings(typed), variables: strings(variables) };
            StoreSettings::without_effect(&StoreArgs { given, ..args(store, None) }, has_policy)
        };
        let (typed, variable) = (["--sign-key"], ["FRAMEGATE_DURABILITY"]);
        assert_eq!(said(None, true, &typed, &variable), Ok(None));
        assert_eq!(said(Some("r.db"), false, &typed, &variable), Ok(None));
        assert_eq!(said(Some("none"), true, &[], &[]), Ok(None));
        let why = said(None, false, &typed, &variable).unwrap_err();
        assert!(why.starts_with("--sign-key is about the record") && why.contains("no policy"), "{why}");
        assert!(said(Some("none"), true, &typed, &[]).unwrap_err().contains("--store none"));
        let warning = said(None, false, &[], &variable).unwrap().unwrap();
        assert!(warning.starts_with("FRAMEGATE_DURABILITY sets nothing"), "{warning}");
    }

    #[test]
    fn what_was_typed_is_told_from_what_was_not() {
        let given = |words: &[&str]| {
            let words = ["framegate", "run"].iter().chain(words).chain(&["--", "x"]).map(Into::into);
            let crate::args::Command::Run(run) = crate::args::Cli::typed(words).unwrap().command else {
                panic!()
            };
            run.store.given.typed
        };
        assert_eq!(given(&["--store", "r.db"]), Vec::<String>::new());
        let all = ["--store-content", "full", "--store-failure", "allow", "--durability", "normal"];
        let more = ["--store-age", "1d", "--store-size", "1", "--sign-key", "k", "--annotate"];
        let words = [&all[..], &more[..]].concat();
        let expected: Vec<&str> = words.iter().copied().filter(|word| word.starts_with("--")).collect();
        assert_eq!(given(&words), expected);
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
