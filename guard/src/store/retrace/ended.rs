//! The end of a call made again: what it made of the state, from what the record says that it met and was answered.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::contents::Contents;
use super::{Maybe, Missing, Retracer, Source};
use crate::json::{Document, Limits};
use crate::ledger::{Ended, Said, Settled, StateNote, Transition};
use crate::messages;
use crate::praxiom::Dialect;
use crate::state::{Noted, Settlement, short};
use crate::store::error::StoreError;
use crate::store::read::Record;
use crate::trace::Difference;

impl<S: Source> Retracer<'_, S> {
    /// What the end of a call made of the state, made again: how it differs. `call`: what its decision, made again, does to
    /// the state, and the state that it met. `state`: the record that says what came of it, the end itself or a later one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn end(
        &mut self,
        (transition, met): (&Transition, Option<&Noted>),
        end: &Record,
        state: &Record,
    ) -> Result<Maybe<Vec<Difference>>, StoreError> {
        let is_redacted = self.session(end)?.is_some_and(|session| session.is_redacted);
        let told = match Contents::of(self.source, state, is_redacted)?.content(state, "state") {
            Ok(Some(told)) => told,
            Ok(None) => return Ok(Err(Missing::NoEnd)),
            Err(why) => return Ok(Err(why)),
        };
        let answers = Contents::of(self.source, end, is_redacted)?;
        Ok(again((transition, met), end, &answers, &told))
    }
}

/// How an end of that name may have been settled, and whether there was an answer.
fn settled(how: &str) -> (&'static [Settled], bool) {
    match how {
        "done" => (&[Settled::Done], true),
        "error" | "tool error" => (&[Settled::Failed], true),
        // That it asks is sometimes found only after it was settled.
        "asks for input" => (&[Settled::Failed, Settled::Done], true),
        "too long" => (&[Settled::Done], false),
        _ => (&[Settled::Lost], false),
    }
}

fn again(
    (transition, met): (&Transition, Option<&Noted>),
    end: &Record,
    answers: &Contents,
    told: &Bytes,
) -> Maybe<Vec<Difference>> {
    let unreadable = || Missing::Unreadable("state".into());
    let name = end.text("how").unwrap_or_default();
    let (hows, has_answer) = settled(name);
    let said = |how| Recorded::of(end, answers, how);
    match transition {
        Transition::Native(effects) => {
            let told = Settlement::read(told).ok_or_else(unreadable)?;
            if !hows.contains(&told.how) {
                return Ok(vec![Difference::new("end", told.how.name(), name)]);
            }
            if told.is_cut() {
                return Err(Missing::NeverKept("state".into()));
            }
            let said = said(told.how);
            let ended = Ended { how: told.how, answer: has_answer.then_some(&said as &dyn Said) };
            let now = told.again(effects, met, &ended);
            said.or_lacks(|| native(&told, &now))
        }
        Transition::Praxiom(transition) => {
            let text = str::from_utf8(told).map_err(|_| unreadable())?;
            let mut differs = Vec::new();
            for how in hows {
                let said = said(*how);
                let ended = Ended { how: *how, answer: has_answer.then_some(&said as &dyn Said) };
                let now = transition.settled_again(text, &ended).map_err(|_| unreadable())?;
                let now = now.map(|StateNote(now)| now).unwrap_or_default();
                said.or_lacks(|| ())?;
                if now == text {
                    return Ok(Vec::new());
                }
                differs.push(Difference::new("state after the answer", text, now));
            }
            differs.truncate(1);
            Ok(differs)
        }
    }
}

fn native(then: &Settlement, now: &Settlement) -> Vec<Difference> {
    let mut found = Vec::new();
    let sides = [("state", &then.after, &now.after), ("taken back of state", &then.undone, &now.undone)];
    for (what, then, now) in sides {
        let mut names: Vec<&Arc<str>> = then.iter().chain(now).map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        for name in names {
            let of = |values: &[(Arc<str>, crate::state::Belief)]| {
                let found = values.iter().find(|(other, _)| other == name);
                found.map(|(_, belief)| short(belief).to_string()).unwrap_or_default()
            };
            let (then, now) = (of(then), of(now));
            if then != now {
                found.push(Difference::new(&format!("{what} `{name}` after the answer"), then, now));
            }
        }
    }
    found
}

/// An answer as it is recorded. What is asked of it that is not there is told, and what came of that is not used.
struct Recorded<'r> {
    is_error: bool,
    /// It is a JSON-RPC error, or the `result`.
    content: Maybe<Option<Bytes>>,
    text: Maybe<Option<Bytes>>,
    how: &'r str,
    lacks: OnceLock<Missing>,
}

impl<'r> Recorded<'r> {
    fn of(end: &'r Record, answers: &Contents, how: Settled) -> Recorded<'r> {
        Recorded {
            is_error: how == Settled::Failed,
            content: answers.content(end, "result"),
            text: answers.content(end, "text"),
            how: end.text("how").unwrap_or_default(),
            lacks: OnceLock::new(),
        }
    }

    fn or_lacks<T>(&self, made: impl FnOnce() -> T) -> Maybe<T> {
        match self.lacks.get() {
            Some(why) => Err(why.clone()),
            None => Ok(made()),
        }
    }

    /// The member of the answer; nothing where it could not be read as one.
    fn member(&self) -> Option<&str> {
        let lacks = |why: Missing| drop(self.lacks.set(why));
        match &self.content {
            Ok(Some(bytes)) => {
                let text = str::from_utf8(bytes);
                text.map_err(|_| lacks(Missing::Unreadable("result".into()))).ok()
            }
            Ok(None) => {
                if !matches!(self.text, Ok(Some(_))) {
                    lacks(Missing::NeverKept("result".into()));
                }
                None
            }
            Err(why) => {
                lacks(why.clone());
                None
            }
        }
    }

    /// The `result`; nothing for a JSON-RPC error, which is no task.
    fn whole(&self) -> Option<&str> {
        let member = self.member()?;
        let is_task = || {
            let read: Option<serde_json::Value> = serde_json::from_str(member).ok();
            read.is_some_and(|read| read.get("taskId").is_some())
        };
        (self.how != "error" || is_task()).then_some(member)
    }
}

impl Said for Recorded<'_> {
    fn is_error(&self) -> bool {
        self.is_error || self.whole().is_some_and(messages::says_error)
    }

    fn text(&self) -> Arc<str> {
        if let Some(result) = self.whole() {
            return messages::heard_text(result).into();
        }
        match (self.member(), &self.text) {
            (Some(error), _) => messages::heard_error(error).into(),
            (None, Ok(Some(text))) => String::from_utf8_lossy(text).into(),
            (None, _) => "".into(),
        }
    }

    fn result(&self) -> Option<Arc<Document>> {
        let text = messages::tool_result(self.whole()?);
        Document::read(Bytes::copy_from_slice(text.as_bytes()), &Limits::again()).ok().map(Arc::new)
    }

    fn structured(&self) -> Option<Arc<Document>> {
        let text = messages::structured(self.whole()?)?;
        Document::read(Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).ok().map(Arc::new)
    }
}

impl Transition {
    /// Whether the record of an end of that name says what it made of the state, whatever that was.
    #[must_use]
    pub fn tells_end(&self, how: &str) -> bool {
        match self {
            Transition::Native(effects) => !effects.after.is_empty(),
            Transition::Praxiom(transition) => {
                let is_nothing = how == "error" && transition.policy().dialect == Dialect::Original;
                transition.reads_answer() && !is_nothing
            }
        }
    }
}
