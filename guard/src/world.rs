//! The only way to ask the outside.
//!
//! A decision must be repeatable: whatever it learned from the file system or the clock is part of its record.
//! So checks ask a [`World`], a [`Recorded`] world notes each question with its answer, and a replay answers
//! from these notes. What was not noted is *unknown* there, never today's disk.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::program::{Answer, Asked, AskedKey, Open, QUESTION_BYTES_MAX, QUESTIONS_MAX};

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

    /// What a long-lived program says to a question.
    ///
    /// # Errors
    /// [`Unknown`] where there is no such program, or it gives no answer.
    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        Err(Unknown(format!("no program `{}` was given to ask", asked.program)))
    }
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
    /// What programs said.
    pub programs: ProgramAnswers,
}

/// What programs said, by the question.
pub type ProgramAnswers = BTreeMap<AskedKey, Result<Answer, Unknown>>;

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

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        let key = asked.key();
        let known = |answers: &Answers| (answers.programs.get(&key).cloned(), answers.programs.len());
        let (noted, count) = known(&self.answers.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(answer) = noted {
            return answer;
        }
        if count >= QUESTIONS_MAX {
            return Err(Unknown(format!("more than {QUESTIONS_MAX} questions to programs in one decision")));
        }
        // It may take its time, and the world may be asked something else meanwhile.
        let answer = match asked.len() {
            0..=QUESTION_BYTES_MAX => self.inner.ask_program(asked),
            _ => Err(Unknown(format!("the question has more than {QUESTION_BYTES_MAX} bytes"))),
        };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.programs.entry(key).or_insert(answer).clone()
    }
}

/// A world for a decision that is made in passes: it answers for programs what is known by now, and notes what they are
/// still to be asked. A decision must not wait inside the ledger's step, so the step is tried, the programs are asked
/// between the tries, and only a try that leaves nothing open counts.
pub struct Gathering<'a> {
    inner: &'a dyn World,
    known: &'a ProgramAnswers,
    open: Mutex<Vec<Open>>,
}

impl std::fmt::Debug for Gathering<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gathering").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl<'a> Gathering<'a> {
    /// With what is known by now.
    #[must_use]
    pub fn new(inner: &'a dyn World, known: &'a ProgramAnswers) -> Gathering<'a> {
        Gathering { inner, known, open: Mutex::default() }
    }

    /// What is still to be asked, in the order in which the decision wanted it.
    #[must_use]
    pub fn into_open(self) -> Vec<Open> {
        self.open.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World for Gathering<'_> {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        self.inner.real_path(path)
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.inner.now()
    }

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        let key = asked.key();
        if let Some(answer) = self.known.get(&key) {
            return answer.clone();
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.iter().any(|other| other.key == key) {
            open.push(asked.open());
        }
        Err(Unknown(format!("`{}` was not asked", asked.program)))
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

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        let none = || Err(Unknown(format!("the record does not say what `{}` answered", asked.program)));
        self.programs.get(&asked.key()).cloned().unwrap_or_else(none)
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

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        self.noted.ask_program(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_answers_what_was_asked_and_what_follows_from_that() {
        let paths = [("link/a", Ok("/work/in/a".to_owned())), ("/x", Err(Unknown("a loop".into())))];
        let paths = paths.into_iter().map(|(path, real)| (path.to_owned(), real)).collect();
        let answers = Answers { paths, ..Answers::default() };
        for (path, real) in [("link/a", "/work/in/a"), ("/work/in/a", "/work/in/a"), ("/work", "/work")] {
            assert_eq!(answers.real_path(path), Ok(real.to_owned()), "{path}");
        }
        for path in ["/wor", "/work/in/ab", "/work/", "/", "", "link", "/work/in/a/b", "/x"] {
            assert!(answers.real_path(path).is_err(), "{path}");
        }
    }

    /// Says yes to everything, and counts how often it was asked.
    #[derive(Default)]
    struct Yes(std::sync::atomic::AtomicUsize);

    impl World for Yes {
        fn real_path(&self, _: &str) -> Result<String, Unknown> {
            NoWorld.real_path("")
        }

        fn now(&self) -> Result<Instant, Unknown> {
            NoWorld.now()
        }

        fn ask_program(&self, _: &Asked<'_>) -> Result<Answer, Unknown> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(Answer { said: crate::program::Said::Allow(true), reason: String::new() })
        }
    }

    fn about<T>(said: &str, then: impl FnOnce(&Asked<'_>) -> T) -> T {
        let none = crate::json::Document::empty_object();
        let about = crate::program::About::UserRequest { task: None, said };
        then(&Asked::new("p", "t", none.root(), about))
    }

    fn key(said: &str) -> AskedKey {
        about(said, |asked| asked.key())
    }

    #[test]
    fn a_program_is_asked_each_question_once_and_a_record_answers_in_its_place() {
        let yes = Yes::default();
        let recorded = Recorded::new(&yes);
        for said in ["a", "b", "a", "a"] {
            assert!(about(said, |asked| recorded.ask_program(asked)).is_ok());
        }
        let answers = recorded.into_answers();
        assert_eq!((yes.0.into_inner(), answers.programs.len()), (2, 2));
        assert!(about("b", |asked| answers.ask_program(asked)).is_ok());
        assert!(about("c", |asked| answers.ask_program(asked)).unwrap_err().0.contains("does not say"));
        assert!(about("a", |asked| NoWorld.ask_program(asked)).is_err());
    }

    #[test]
    fn as_many_questions_as_the_limit_are_asked_and_each_as_long_as_its_own() {
        let yes = Yes::default();
        let recorded = Recorded::new(&yes);
        let ask = |said: &str| about(said, |asked| recorded.ask_program(asked).is_ok());
        assert!((0..QUESTIONS_MAX - 1).all(|n| ask(&n.to_string())));
        assert_eq!([ask("last"), ask("over"), ask("last")], [true, false, true]);
        let recorded = Recorded::new(&yes);
        let rest = about("", |asked| asked.len());
        let ask =
            |bytes: usize| about(&"x".repeat(bytes - rest), |asked| recorded.ask_program(asked).is_ok());
        let at = QUESTION_BYTES_MAX;
        assert_eq!([ask(at - 1), ask(at), ask(at + 1)], [true, true, false]);
    }

    #[test]
    fn what_is_not_known_yet_is_gathered_once() {
        let known = [(key("a"), Err(Unknown("it is gone".into())))].into();
        let gathering = Gathering::new(&NoWorld, &known);
        for said in ["a", "b", "b", "c"] {
            assert!(about(said, |asked| gathering.ask_program(asked)).is_err());
        }
        let open = gathering.into_open();
        let keys: Vec<AskedKey> = open.iter().map(|open| open.key.clone()).collect();
        assert_eq!(keys, [key("b"), key("c")]);
        assert_eq!(open[0].line(3), about("b", |asked| asked.line(3)));
    }

    #[test]
    fn what_is_stated_beyond_a_record_contradicts_nothing_in_it() {
        let stated = Answers {
            paths: [("/x", "/stated"), ("/y", "/stated")]
                .map(|(a, b)| (a.to_owned(), Ok(b.to_owned())))
                .into(),
            now: Some(Ok(Instant(7))),
            ..Answers::default()
        };
        let noted = Answers {
            paths: [("/x".to_owned(), Err(Unknown("a loop".into())))].into(),
            ..Answers::default()
        };
        let world = Beyond { noted: &noted, stated: &stated };
        assert!(world.real_path("/x").is_err() && world.now().is_err());
        assert_eq!(world.real_path("/y"), Ok("/stated".to_owned()));
        assert!(world.real_path("/z").is_err());
    }
}
