//! Where paths lead of which a record says nothing, for a policy that asks about them: as somebody states it, or on
//! today's disk. Neither is what was so then, and a report says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use framegate_guard::world::{Instant, Unknown, World};

use crate::bridge::Disk;

/// The key under which somebody says where the server was started.
const CWD: &str = ".";
/// Longest path looked at; `PATH_MAX` of Linux.
const PATH_BYTES_MAX: usize = 4096;

/// What is stated, and what was answered by it.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    /// As it was typed.
    typed: Vec<(String, String)>,
    /// Where absolute paths lead; what is there leads to itself.
    paths: BTreeMap<String, String>,
    cwd: Option<String>,
    disk: Option<Disk>,
    /// Each path is looked up once: a report rests on one answer.
    answered: Mutex<BTreeMap<String, Answer>>,
}

type Answer = (From, Result<String, Unknown>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Disk,
    Nobody,
    Statement,
}

impl Stated {
    /// `PATH=REAL` or `PATH`, as typed: what lies at and under PATH lies at and under REAL, and no other link is on
    /// the way. PATH alone leads to itself.
    ///
    /// # Errors
    /// Why one is none.
    pub(crate) fn of(paths: &[String], asks_disk: bool) -> Result<Stated, String> {
        let typed: Vec<(String, String)> =
            paths.iter().map(|typed| stated(typed)).collect::<Result<_, _>>()?;
        let mut paths: BTreeMap<String, String> =
            typed.iter().map(|(_, real)| (real.clone(), real.clone())).collect();
        paths.extend(typed.iter().filter(|(path, _)| path != CWD).cloned());
        let cwd = typed.iter().find(|(path, _)| path == CWD).map(|(_, real)| real.clone());
        // Of a relative path nobody knows from where it went: the disk is not asked for those.
        let disk = asks_disk.then(|| Disk::new(Path::new("/")));
        Ok(Stated { typed, paths, cwd, disk, answered: Mutex::default() })
    }

    /// What a report that rests on this says of it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let told = |(path, real): &(String, String)| format!("`{path}` is `{real}`");
        let (by_statement, by_disk) = (self.count(From::Statement), self.count(From::Disk));
        let mut notes = Vec::new();
        if !self.typed.is_empty() {
            let all: Vec<String> = self.typed.iter().map(told).collect();
            let all = all.join(", ");
            notes.push(format!(
                "{by_statement} of the paths that the record does not have lead where --path says: {all}"
            ));
        }
        if self.disk.is_some() {
            notes.push(format!(
                "{by_disk} of the paths that the record does not have were looked up on this machine's disk, today (--disk): then they may have led elsewhere"
            ));
        }
        notes
    }

    fn count(&self, from: From) -> usize {
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.values().filter(|(by, _)| *by == from).count()
    }

    fn answer(&self, path: &str) -> Answer {
        let unknown = |why: String| (From::Nobody, Err(Unknown(why)));
        let asked = match (path.starts_with('/'), &self.cwd) {
            (true, _) => path.to_owned(),
            (false, Some(cwd)) => format!("{cwd}/{path}"),
            (false, None) => {
                let why = "the record does not say where the server was started; state it: --path .=/work";
                return unknown(why.into());
            }
        };
        if asked.len() > PATH_BYTES_MAX {
            return unknown(format!("a path of {} bytes is longer than any that can exist", asked.len()));
        }
        match (resolve(&asked, &self.paths), &self.disk) {
            (Some(real), _) => (From::Statement, Ok(real)),
            (None, Some(disk)) => (From::Disk, disk.real_path(&asked)),
            (None, None) => unknown(format!("the record does not say where `{path}` led")),
        }
    }
}

impl World for Stated {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, real) = answered.entry(path.to_owned()).or_insert_with(|| self.answer(path));
        real.clone()
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Err(Unknown("nobody states a time".into()))
    }
}

fn stated(typed: &str) -> Result<(String, String), String> {
    let (path, real) = match typed.split_once("=/") {
        Some((path, real)) => (path, format!("/{real}")),
        None => (typed, typed.to_owned()),
    };
    let is_plain = |path: &str| path.starts_with('/') && parts(path).all(|part| part != "..");
    if !(path == CWD || is_plain(path)) || !is_plain(&real) {
        return Err(format!(
            "--path: `{typed}` states no path; write absolute paths without `..`: /srv/data, /srv/link=/etc, or .=/work for where the server was started"
        ));
    }
    let path = if path == CWD { path.to_owned() } else { joined(parts(path)) };
    Ok((path, joined(parts(&real))))
}

/// Where an absolute path leads; nothing where that does not follow from what is stated.
fn resolve(path: &str, stated: &BTreeMap<String, String>) -> Option<String> {
    let is_known = |path: &str| stated.keys().any(|known| is_within(path, known));
    // Where the way has got to, and whether that is a place, or a name that may be a link's.
    let (mut at, mut is_place) = (String::new(), true);
    for part in parts(path) {
        if part == ".." {
            if !is_place {
                return None;
            }
            at.truncate(parent(&at).len());
            continue;
        }
        is_place = is_place && is_known(&at);
        at.extend(["/", part]);
        if let Some(real) = stated.get(&at) {
            at.clone_from(real);
            is_place = true;
        }
    }
    is_place.then(|| if at.is_empty() { "/".to_owned() } else { at })
}

fn is_within(path: &str, folder: &str) -> bool {
    folder == "/" || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let path: String = parts.flat_map(|part| ["/", part]).collect();
    if path.is_empty() { "/".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(paths: &[&str]) -> Stated {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        Stated::of(&paths, false).unwrap()
    }

    #[test]
    fn what_lies_under_a_stated_path_is_known_and_nothing_else() {
        let world = stated(&["/srv/", "/srv/link=/etc/x", ".=/work", "/run=/var/run"]);
        let real = |path: &str| world.real_path(path).ok();
        for (path, leads) in [
            ("/srv", Some("/srv")),
            ("/srv//a/./b/../c", Some("/srv/a/c")),
            ("/srv/link/passwd", Some("/etc/x/passwd")),
            ("/srv/link/../y", None),
            ("/srv/link/../x/y", Some("/etc/x/y")),
            ("/srv/a/../link/p", Some("/etc/x/p")),
            ("/srv/../srv/a", Some("/srv/a")),
            ("/srv/../etc/passwd", None),
            ("/srv/../../srv/a", Some("/srv/a")),
            ("/other/../srv/a", None),
            ("/other/a/..", None),
            ("/srvx", None),
            ("/run/lock", Some("/var/run/lock")),
            ("/var/run/lock", Some("/var/run/lock")),
            ("/var", None),
            ("notes/a", Some("/work/notes/a")),
            ("../srv/a", Some("/srv/a")),
            ("../home", None),
            ("", Some("/work")),
        ] {
            assert_eq!(real(path), leads.map(str::to_owned), "{path}");
        }
        assert_eq!(stated(&["/=/"]).real_path("/../a/../b").unwrap(), "/b");
        assert_eq!(stated(&["/=/"]).real_path("/a/..").unwrap(), "/");
        assert!(stated(&["/srv"]).real_path("a").unwrap_err().0.contains("--path .="));
    }

    #[test]
    fn a_path_at_the_limit_is_looked_at_and_a_longer_one_is_not() {
        let world = stated(&["/"]);
        let path = |bytes: usize| format!("/{}", "x".repeat(bytes - 1));
        assert!(world.real_path(&path(PATH_BYTES_MAX - 1)).is_ok());
        assert!(world.real_path(&path(PATH_BYTES_MAX)).is_ok());
        assert!(world.real_path(&path(PATH_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn what_states_no_path_is_refused() {
        for typed in ["", "srv", "/srv/../x", "/srv=/a/..", ".", "x=/a", "/a=b"] {
            let is_taken = Stated::of(&[typed.to_owned()], false).is_ok();
            assert_eq!(is_taken, typed == "/a=b", "{typed}");
        }
    }

    #[test]
    fn a_report_tells_what_it_rests_on() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let world = Stated::of(&["/srv".to_owned()], true).unwrap();
        let asked = root.join("link/passwd").display().to_string();
        assert_eq!(world.real_path(&asked).unwrap(), "/etc/passwd");
        assert_eq!(world.real_path(&asked).unwrap(), "/etc/passwd");
        assert!(world.real_path("/srv/a").is_ok() && world.real_path("relative").is_err());
        let notes = world.notes();
        assert!(notes[0].starts_with("1 of the paths") && notes[0].contains("`/srv` is `/srv`"), "{notes:?}");
        assert!(notes[1].starts_with("1 of the paths") && notes[1].contains("today"), "{notes:?}");
    }
}
