//! Where the record is kept when nobody says where.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// `framegate/record.db` in the user's state folder: `$XDG_STATE_HOME`, else `~/.local/state`. `None` where there
/// is no home.
pub(crate) fn default_path() -> Option<PathBuf> {
    in_state(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
}

/// The record that is read where none is named: that of `run` with the same variables.
///
/// # Errors
/// When nothing says where it is, or there is none yet.
pub(crate) fn to_read() -> Result<PathBuf, String> {
    let path = named(std::env::var_os("FRAMEGATE_STORE")).or_else(default_path);
    let path = path.ok_or("there is no home to look for a record in; name the file")?;
    if !path.exists() {
        let usual = in_state(None, std::env::var_os("HOME")).filter(|usual| usual.exists());
        return Err(none_at(&path, usual.as_deref()));
    }
    Ok(path)
}

/// Clients hand few variables to what they start, `XDG_STATE_HOME` mostly not: then `run` writes where this program
/// would not look.
fn none_at(path: &Path, usual: Option<&Path>) -> String {
    let path = path.display();
    match usual {
        None => format!("there is no record yet at `{path}`; name the file"),
        Some(usual) => format!(
            "there is no record yet at `{path}`, but one at `{}`: it is of sessions whose client did not hand on `XDG_STATE_HOME`; name the file that you mean",
            usual.display()
        ),
    }
}

/// Sessions that keep no record have written none: whoever reads looks for one of others.
fn named(variable: Option<OsString>) -> Option<PathBuf> {
    variable.filter(|name| !name.is_empty() && name != "none").map(PathBuf::from)
}

fn in_state(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG specification: a relative path is to be ignored.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = state.and_then(absolute);
    let folder = state.or_else(|| Some(home.and_then(absolute)?.join(".local/state")))?;
    Some(folder.join("framegate/record.db"))
}

/// The file beside this one that is called like it, with `suffix` at the end.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the folder of a record, for its user alone, and whatever lies above it. One that is there stays as it is.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_names_the_record_that_is_read() {
        assert_eq!(named(Some("/x/r.db".into())), Some("/x/r.db".into()));
        assert_eq!((named(Some("none".into())), named(Some("".into())), named(None)), (None, None, None));
    }

    #[test]
    fn a_record_that_a_client_had_written_elsewhere_is_named() {
        let none = none_at(Path::new("/s/r.db"), None);
        assert!(none.ends_with("`/s/r.db`; name the file"), "{none}");
        let other = none_at(Path::new("/s/r.db"), Some(Path::new("/h/r.db")));
        assert!(other.contains("`/h/r.db`") && other.contains("XDG_STATE_HOME"), "{other}");
    }

    #[test]
    fn the_state_folder_is_the_users() {
        let path =
            |state: Option<&str>, home: Option<&str>| in_state(state.map(Into::into), home.map(Into::into));
        let expected = |path: &str| Some(PathBuf::from(path));
        assert_eq!(path(Some("/s"), Some("/h")), expected("/s/framegate/record.db"));
        assert_eq!(path(None, Some("/h")), expected("/h/.local/state/framegate/record.db"));
        assert_eq!(path(Some(""), Some("/h")), expected("/h/.local/state/framegate/record.db"));
        assert_eq!(path(Some("relative"), Some("/h")), expected("/h/.local/state/framegate/record.db"));
        assert_eq!(path(None, None), None);
        assert_eq!(path(None, Some("")), None);
    }
}
