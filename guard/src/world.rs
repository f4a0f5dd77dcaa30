//! The only way to ask the outside.
//!
//! A decision must be repeatable: whatever it learned from the file system or the clock is part of its record.
//! So checks ask a [`World`], a [`Recorded`] world notes each question with its answer, and a replay answers
//! from these notes. What was not noted is *unknown* there, never today's disk.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// An instant: microseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// Why the world did not answer; a check that meets it cannot be evaluated and asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unknown(pub String);

/// What a check may ask.
pub trait World: Send + Sync {
    /// The absolute path that a process started in the server's working directory would reach by `path`:
    /// `.` and `..` taken out, symbolic links followed as far as the path exists, the rest appended as written.
    ///
    /// # Errors
    /// [`Unknown`] when it cannot be told (no permission, a loop of links).
    fn real_path(&self, path: &str) -> Result<String, Unknown>;

    /// The time of this decision: the same at every call while one decision is made.
    ///
    /// # Errors
    /// [`Unknown`] where no clock was given.
    fn now(&self) -> Result<Instant, Unknown>;
}

/// Knows nothing: for callers without files or clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorld;

impl World for NoWorld {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        Err(Unknown(format!("no file system was given to resolve `{path}`")))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        Err(Unknown("no clock was given".into()))
    }
}

/// What was asked and answered during one decision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers {
    /// Resolved paths by the path asked for.
    pub paths: BTreeMap<String, Result<String, Unknown>>,
    /// The time, when it was asked.
    pub now: Option<Result<Instant, Unknown>>,
}

/// A world that asks another one each question once and notes the answer.
pub struct Recorded<'a> {
    inner: &'a dyn World,
    answers: Mutex<Answers>,
}

impl std::fmt::Debug for Recorded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorded").field("answers", &self.answers).finish_non_exhaustive()
    }
}

impl<'a> Recorded<'a> {
    /// Nothing noted yet.
    #[must_use]
    pub fn new(inner: &'a dyn World) -> Recorded<'a> {
        Recorded { inner, answers: Mutex::default() }
    }

    /// All that was noted.
    #[must_use]
    pub fn into_answers(self) -> Answers {
        self.answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World for Recorded<'_> {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.paths.entry(path.to_owned()).or_insert_with(|| self.inner.real_path(path)).clone()
    }

    fn now(&self) -> Result<Instant, Unknown> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.now.get_or_insert_with(|| self.inner.now()).clone()
    }
}

impl Answers {
    /// What was noted of a path, or follows from what was.
    fn noted(&self, path: &str) -> Option<Result<String, Unknown>> {
        if let Some(answer) = self.paths.get(path) {
            return Some(answer.clone());
        }
        // Where something really lies in a folder, no part of the way there is a link: the folder leads to itself.
        let is_on_the_way = |real: &String| {
            real.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if path.starts_with('/') && path.len() > 1 && self.paths.values().flatten().any(is_on_the_way) {
            return Some(Ok(path.to_owned()));
        }
        None
    }
}

/// Answers only what was noted, and what follows from it.
impl World for Answers {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        let none = || Err(Unknown(format!("the record does not say where `{path}` led")));
        self.noted(path).unwrap_or_else(none)
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.now.clone().unwrap_or_else(|| Err(Unknown("the record holds no time".into())))
    }
}

/// What was noted, and for paths of which nothing was, what somebody states of them. The time is that of the notes: no
/// other one is that of the decision.
pub(crate) struct Beyond<'a> {
    pub(crate) noted: &'a Answers,
    pub(crate) stated: &'a dyn World,
}

impl World for Beyond<'_> {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        self.noted.noted(path).unwrap_or_else(|| self.stated.real_path(path))
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.noted.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_answers_what_was_asked_and_what_follows_from_that() {
        let paths = [("link/a", Ok("/work/in/a".to_owned())), ("/x", Err(Unknown("a loop".into())))];
        let paths = paths.into_iter().map(|(path, real)| (path.to_owned(), real)).collect();
        let answers = Answers { paths, now: None };
        for (path, real) in [("link/a", "/work/in/a"), ("/work/in/a", "/work/in/a"), ("/work", "/work")] {
            assert_eq!(answers.real_path(path), Ok(real.to_owned()), "{path}");
        }
        for path in ["/wor", "/work/in/ab", "/work/", "/", "", "link", "/work/in/a/b", "/x"] {
            assert!(answers.real_path(path).is_err(), "{path}");
        }
    }

    #[test]
    fn what_is_stated_beyond_a_record_contradicts_nothing_in_it() {
        let stated = Answers {
            paths: [("/x", "/stated"), ("/y", "/stated")]
                .map(|(a, b)| (a.to_owned(), Ok(b.to_owned())))
                .into(),
            now: Some(Ok(Instant(7))),
        };
        let noted = Answers { paths: [("/x".to_owned(), Err(Unknown("a loop".into())))].into(), now: None };
        let world = Beyond { noted: &noted, stated: &stated };
        assert!(world.real_path("/x").is_err() && world.now().is_err());
        assert_eq!(world.real_path("/y"), Ok("/stated".to_owned()));
        assert!(world.real_path("/z").is_err());
    }
}
