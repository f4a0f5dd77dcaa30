//! The world of a played session: what the session says of it, and else the real one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use framegate_guard::program::{Answer, Asked};
use framegate_guard::world::{Instant, Unknown, World};

use super::event::Stated;

/// Links followed for one path, as Linux does.
const LINKS_MAX: usize = 40;
/// The key under which a session says where the server was started.
const CWD: &str = ".";

/// A world that a session may make up, so that a case is decided alike everywhere.
#[derive(Clone)]
pub(crate) struct Staged {
    outside: Arc<dyn World>,
    paths: Option<BTreeMap<String, String>>,
    now: Option<Instant>,
    programs: BTreeMap<String, Vec<Stated>>,
    /// The outside runs programs.
    runs_programs: bool,
    /// How often each was asked about this call.
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl std::fmt::Debug for Staged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Staged").field("paths", &self.paths).field("now", &self.now).finish_non_exhaustive()
    }
}

impl Staged {
    /// As the outside is.
    pub(crate) fn new(outside: Arc<dyn World>) -> Self {
        Self {
            outside,
            paths: None,
            now: None,
            programs: BTreeMap::new(),
            runs_programs: false,
            asked: Arc::default(),
        }
    }

    /// What the session does not say of a program, the program is asked.
    pub(crate) fn run_programs(&mut self) {
        self.runs_programs = true;
    }

    /// Programs say this from now on: for each call the first of it, then the next, and the last again and again.
    pub(crate) fn add_programs(&mut self, programs: BTreeMap<String, Vec<Stated>>) {
        self.programs.extend(programs);
    }

    /// Another call begins.
    pub(crate) fn next_call(&self) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Paths are made up from now on, these among them: a path asked for just so leads where it says, and
    /// within another path it is a link. `.` is where the server was started.
    pub(crate) fn add_paths(&mut self, paths: BTreeMap<String, String>) {
        self.paths.get_or_insert_default().extend(paths);
    }

    /// It is this time from now on.
    pub(crate) fn set_now(&mut self, now: Instant) {
        self.now = Some(now);
    }
}

impl World for Staged {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        match &self.paths {
            None => self.outside.real_path(path),
            Some(paths) => match paths.get(path) {
                Some(real) => Ok(real.clone()),
                None => walk(path, paths),
            },
        }
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.now.map_or_else(|| self.outside.now(), Ok)
    }

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        let Some(says) = self.programs.get(asked.program) else {
            return self.outside.ask_program(asked).map_err(|why| self.unsaid(asked.program, why));
        };
        let mut counts = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(asked.program.to_owned()).or_default();
        let said = says.get(*count).or(says.last());
        *count += 1;
        said.cloned().unwrap_or_else(|| self.outside.ask_program(asked))
    }
}

impl Staged {
    /// Nobody runs programs unless that is wanted, so the session says what they say.
    fn unsaid(&self, program: &str, why: Unknown) -> Unknown {
        match self.runs_programs {
            true => why,
            false => Unknown(format!(
                r#"the session does not say what `{program}` says: say so by {{"programs":{{"{program}":true}}}}, or give --run-programs to `explain`"#
            )),
        }
    }
}

/// Follows made-up links, component by component; whatever is no link is there.
fn walk(path: &str, links: &BTreeMap<String, String>) -> Result<String, Unknown> {
    let mut left: VecDeque<String> = parts(path).collect();
    if !path.starts_with('/') {
        let Some(cwd) = links.get(CWD) else {
            let hint = r#"say so by {"paths":{".":"/work"}}"#;
            return Err(Unknown(format!("the session does not say where the server was started: {hint}")));
        };
        push_front(&mut left, cwd);
    }
    let mut real = String::new();
    let mut followed = 0;
    while let Some(part) = left.pop_front() {
        if part == ".." {
            real.truncate(real.rfind('/').unwrap_or(0));
            continue;
        }
        let next = format!("{real}/{part}");
        match links.get(&next).filter(|target| **target != next) {
            None => real = next,
            Some(target) => {
                followed += 1;
                if followed > LINKS_MAX {
                    return Err(Unknown(format!("`{path}` leads through more than {LINKS_MAX} links")));
                }
                real.clear();
                push_front(&mut left, target);
            }
        }
    }
    Ok(if real.is_empty() { "/".to_owned() } else { real })
}

fn push_front(left: &mut VecDeque<String>, path: &str) {
    let all: Vec<String> = parts(path).collect();
    all.into_iter().rev().for_each(|part| left.push_front(part));
}

fn parts(path: &str) -> impl Iterator<Item = String> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_guard::json::Document;
    use framegate_guard::program::About;
    use framegate_guard::world::NoWorld;

    fn staged(paths: &[(&str, &str)]) -> Staged {
        let mut staged = Staged::new(Arc::new(NoWorld));
        staged.add_paths(paths.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect());
        staged
    }

    #[test]
    fn made_up_links_are_followed_where_they_stand() {
        let world =
            staged(&[(".", "/work"), ("/work/link", "/etc"), ("/l", "/work/link/x"), ("odd ..//", "/odd")]);
        let real = |path: &str| world.real_path(path).unwrap();
        assert_eq!(real("a/../b"), "/work/b");
        assert_eq!(real("/work/link/passwd"), "/etc/passwd");
        assert_eq!(real("link/../x"), "/x", "`..` after a link is the target's parent");
        assert_eq!(real("/l/y"), "/etc/x/y");
        assert_eq!(real("/../.."), "/");
        assert_eq!(real("/a//./b/"), "/a/b");
        assert_eq!(real("odd ..//"), "/odd", "a whole path as asked");
    }

    #[test]
    fn what_is_not_said_is_unknown() {
        let world = staged(&[("/a", "/b"), ("/b", "/a"), ("/self", "/self")]);
        assert!(world.real_path("x").unwrap_err().0.contains("where the server was started"));
        assert!(world.real_path("/a/x").unwrap_err().0.contains("more than 40 links"));
        assert_eq!(world.real_path("/a").unwrap(), "/b", "an answer that is given is the answer");
        assert_eq!(world.real_path("/self/x").unwrap(), "/self/x");
        assert!(world.now().is_err());
        let outside = Staged::new(Arc::new(NoWorld));
        assert!(outside.real_path("/x").unwrap_err().0.contains("no file system"));
    }

    #[test]
    fn forty_links_are_followed_and_one_more_is_not() {
        let chain = |count: usize| {
            let mut staged = Staged::new(Arc::new(NoWorld));
            staged.add_paths((0..count).map(|n| (format!("/{n}"), format!("/{}", n + 1))).collect());
            staged.real_path("/0/x")
        };
        assert_eq!(chain(LINKS_MAX - 1).unwrap(), "/39/x");
        assert_eq!(chain(LINKS_MAX).unwrap(), "/40/x");
        assert!(chain(LINKS_MAX + 1).is_err());
    }

    #[test]
    fn what_a_program_says_that_nobody_runs_is_told_how_to_say() {
        let none = Document::empty_object();
        let question = Asked::new("judge", "pay", none.root(), About::Call);
        let mut world = staged(&[]);
        let said = world.ask_program(&question).unwrap_err().0;
        assert!(said.contains(r#"{"programs":{"judge":true}}"#) && said.contains("--run-programs"), "{said}");
        world.run_programs();
        let said = world.ask_program(&question).unwrap_err().0;
        assert!(!said.contains("--run-programs"), "{said}");
    }
}
