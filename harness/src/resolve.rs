//! Finding the server's command before anything is started, so that the message can say where
//! it was looked for.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why a command cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nothing of that name.
    #[error(
        "command `{command}` was not found; searched {searched}. Give its full path, or set PATH in the client's configuration (`--env` sets it for the server only)"
    )]
    NotFound {
        /// As typed.
        command: String,
        /// Where.
        searched: String,
    },
    /// It is there, but not a program.
    #[error("command `{path}` cannot be run: {why}")]
    NotRunnable {
        /// Which file.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The program that `command` names, as an absolute path where it has a slash in it.
pub(crate) fn resolve(
    command: &OsStr,
    path: Option<&OsStr>,
    cwd: Option<&Path>,
) -> Result<PathBuf, ResolveError> {
    let shown = || command.to_string_lossy().into_owned();
    if command.as_encoded_bytes().contains(&b'/') {
        // Relative to the folder that Framegate was started in, not to --cwd.
        let file = std::path::absolute(command).unwrap_or_else(|_| PathBuf::from(command));
        return match runnable(&file) {
            Some(Ok(())) => Ok(file),
            Some(Err(why)) => Err(ResolveError::NotRunnable { path: file.display().to_string(), why }),
            None => {
                Err(ResolveError::NotFound { command: shown(), searched: format!("`{}`", file.display()) })
            }
        };
    }
    let searched = path.unwrap_or_default();
    let mut not_runnable = None;
    for folder in std::env::split_paths(searched) {
        let folder = match cwd {
            Some(cwd) if folder.is_relative() => cwd.join(folder),
            _ => folder,
        };
        let file = folder.join(command);
        match runnable(&file) {
            Some(Ok(())) => return Ok(file),
            Some(Err(why)) => {
                not_runnable
                    .get_or_insert(ResolveError::NotRunnable { path: file.display().to_string(), why });
            }
            None => {}
        }
    }
    Err(not_runnable.unwrap_or_else(|| ResolveError::NotFound {
        command: shown(),
        searched: match path {
            Some(path) => format!("PATH `{}`", path.display()),
            None => "no PATH, for none is set".to_owned(),
        },
    }))
}

fn runnable(file: &Path) -> Option<Result<(), &'static str>> {
    let meta = std::fs::metadata(file).ok()?;
    Some(if meta.is_dir() {
        Err("it is a folder")
    } else if meta.permissions().mode() & 0o111 == 0 {
        Err("it is not executable (chmod +x it, or name its interpreter first)")
    } else {
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_command_names_the_path_searched() {
        let error = resolve(OsStr::new("no-such-7f"), Some(OsStr::new("/nowhere:/bin")), None).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`no-such-7f`") && text.contains("/nowhere:/bin"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_program_says_why() {
        let text = resolve(OsStr::new("/etc/passwd"), None, None).unwrap_err().to_string();
        assert!(text.contains("not executable"), "{text}");
        let text = resolve(OsStr::new("/etc"), None, None).unwrap_err().to_string();
        assert!(text.contains("folder"), "{text}");
        assert!(resolve(OsStr::new("sh"), Some(OsStr::new("/nowhere:/bin")), None).is_ok());
    }
}
