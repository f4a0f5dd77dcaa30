//! The world of a wrapped server: its working directory, its links, the clock.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use framegate_guard::world::{Instant, Unknown, World};

/// Links followed for one path, as Linux does.
const LINKS_MAX: usize = 40;
/// Longest path looked at; `PATH_MAX` of Linux.
const PATH_BYTES_MAX: usize = 4096;

/// Answers from the disk, relative to the server's working directory.
///
/// A path is resolved when the call is decided; a server that opens it later may meet another link. A policy
/// that must hold against a process that swaps links needs a sandbox beside it.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    /// Absolute.
    cwd: PathBuf,
}

impl Disk {
    /// `cwd`: where the server was started.
    pub(crate) fn new(cwd: &Path) -> Self {
        // Joined to nothing if even that is unknown: a relative path then stays unknown too.
        let here = std::env::current_dir().unwrap_or_default();
        Self { cwd: here.join(cwd) }
    }
}

impl World for Disk {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        if path.len() > PATH_BYTES_MAX {
            return Err(Unknown(format!("a path of {} bytes is longer than any that can exist", path.len())));
        }
        let joined = self.cwd.join(path);
        if !joined.is_absolute() {
            return Err(Unknown("the server's working directory is not known".into()));
        }
        let real = resolve(&joined)?;
        real.into_os_string()
            .into_string()
            .map_err(|_| Unknown(format!("`{path}` leads to a path that is not UTF-8")))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros = since.ok().and_then(|since| i64::try_from(since.as_micros()).ok());
        micros.map(Instant).ok_or_else(|| Unknown("the system clock stands before 1970".into()))
    }
}

/// Follows links as far as the path exists; what does not exist is appended, `..` taken out as it is met.
fn resolve(path: &Path) -> Result<PathBuf, Unknown> {
    let mut left: VecDeque<OsString> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        if next == Path::new("/proc/self") || next == Path::new("/proc/thread-self") {
            return Err(Unknown(format!("`{}` is another place for each process", next.display())));
        }
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(Unknown(format!(
                        "`{}` leads through more than {LINKS_MAX} links",
                        path.display()
                    )));
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    left.push_front(part);
                }
            }
            // Not a link, or not there, or below something that is no folder.
            Err(why)
                if matches!(
                    why.kind(),
                    ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory
                ) =>
            {
                real = next;
            }
            Err(why) => return Err(Unknown(format!("`{}` cannot be looked at: {why}", next.display()))),
        }
    }
    Ok(real)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_dots_are_followed_and_what_is_not_there_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("work/sub")).unwrap();
        std::fs::create_dir_all(root.join("out")).unwrap();
        symlink(root.join("out"), root.join("work/link")).unwrap();
        symlink("../out/none", root.join("work/dangling")).unwrap();
        symlink("loop", root.join("work/loop")).unwrap();
        let disk = Disk::new(&root.join("work"));
        let real = |path: &str| disk.real_path(path).map(|real| real.replace(root.to_str().unwrap(), "R"));
        assert_eq!(real("sub/../new/file").unwrap(), "R/work/new/file");
        assert_eq!(real("link/x").unwrap(), "R/out/x");
        assert_eq!(real("link/../work").unwrap(), "R/work", "`..` after a link is the target's parent");
        assert_eq!(real("dangling").unwrap(), "R/out/none");
        assert_eq!(real("../../../../../../../../../../etc/passwd").unwrap(), "/etc/passwd");
        assert_eq!(real("").unwrap(), "R/work");
        assert!(real("/proc/self/cwd/x").is_err(), "the server's own is another one");
        assert!(real("/dev/fd/0").is_err());
        assert!(real("loop").unwrap_err().0.contains("40 links"));
        assert!(real(&"x/".repeat(3000)).is_err());
    }
}
