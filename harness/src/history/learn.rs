//! A least-privilege policy from what was allowed: a draft, for a person to read.
//!
//! It names the tools that were called, and for their arguments what was seen of them where that is a limit that
//! makes sense: folders of paths, hosts of URLs, a few fixed words. It is held against the very calls it was learned
//! from before it is given: a rule that does not hold for all of them is taken out, and says so. Nothing of it is
//! known to be *right*: a record has no notion of what a call was for.

mod seen;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use framegate_guard::Outcome;
use framegate_guard::policy::Policy;
use framegate_guard::store::StoreError;

use self::seen::{Places, SeenTool};
use super::again::{Again, Other, Replayer};
use super::call::RecordedCall;
use super::choice::Choice;
use super::file::RecordFile;
use super::stated::Stated;

/// Rounds in which the draft is corrected; each takes out at least one rule, or loosens one tool.
const ROUNDS_MAX: usize = 16;

/// What was allowed, in all.
#[derive(Debug, Default)]
struct Learned {
    /// By server and tool.
    tools: BTreeMap<(String, String), SeenTool>,
    sessions: BTreeSet<u64>,
    calls: u64,
    /// Allowed, and their arguments are not there: never kept, deleted or redacted.
    unseen: u64,
    /// Calls that were refused, or would have been if the policy of then had been enforced, by server and tool.
    refused: BTreeMap<(String, String), u64>,
    places: Places,
    from: Option<i64>,
    to: i64,
    /// Rules that did not hold for all calls.
    dropped: BTreeSet<String>,
    /// How the arguments of a tool have to be read; a tool's own schema is otherwise strict.
    loose: BTreeMap<(String, String), &'static str>,
    /// Each rule is tried alone, since all of them together do not load.
    is_checked: bool,
}

/// The draft as a policy file, or why it is none; nothing when nothing was allowed.
pub(crate) fn draft(
    file: &RecordFile,
    choice: &Choice,
) -> Result<Option<Result<String, String>>, StoreError> {
    let mut learned = Learned::default();
    each(file, choice, None, |call, server, again| match is_allowed(call) {
        true => learned.take(call, server, again),
        false => *learned.refused.entry((server.to_owned(), call.tool().to_owned())).or_default() += 1,
    })?;
    if learned.tools.is_empty() {
        return Ok(None);
    }
    for _ in 0..ROUNDS_MAX {
        let draft = write::policy(&learned);
        let policy = match load(&draft.text) {
            Ok(policy) => policy,
            Err(_) if learned.is_checked => break,
            Err(_) => {
                learned.is_checked = true;
                continue;
            }
        };
        let mut wrong: BTreeSet<((String, String), String)> = BTreeSet::new();
        let other = Other { policy, facts: BTreeMap::<String, Bytes>::new(), stated: Stated::default() };
        each(file, choice, Some(other), |call, server, again| {
            let Some(again) = again.filter(|again| again.now != Outcome::Allow) else { return };
            let tool = (server.to_owned(), call.tool().to_owned());
            // Where a path led is not known where no rule asked: that says nothing against asking from now on.
            let is_unproven = |by: &String| draft.unproven.contains(by) && again.unevaluated.contains(by);
            let by = again.by.iter().filter(|by| !is_unproven(by));
            wrong.extend(by.map(|by| (tool.clone(), by.clone())));
        })?;
        if !wrong.into_iter().fold(false, |any, (tool, by)| learned.correct(tool, by) || any) {
            break;
        }
    }
    // A draft that does not load is worse than none: whoever puts it in force has no policy.
    let text = write::policy(&learned).text;
    Ok(Some(load(&text).map(|_| text)))
}

fn load(text: &str) -> Result<Policy, String> {
    let loaded = Policy::load("draft", text.as_bytes(), &mut |_| Err("a draft names no files".into()));
    loaded.map(|loaded| loaded.policy).map_err(|why| why.to_string())
}

/// All calls; those that were allowed with the decision made again.
fn each(
    file: &RecordFile,
    choice: &Choice,
    other: Option<Other>,
    mut take: impl FnMut(&RecordedCall, &str, Option<Again>),
) -> Result<(), StoreError> {
    // Without another policy only the inputs are wanted: under one that allows all, they come whatever was in force.
    let any = || {
        Some(Other {
            policy: load("framegate: 1\ndefault: allow\n").ok()?,
            facts: BTreeMap::new(),
            stated: Stated::default(),
        })
    };
    let mut replayer = Replayer::new(file, other.or_else(any));
    replayer.calls(file, |replayer, call| {
        let session = replayer.retracer.session(&call.record)?.unwrap_or_default();
        if choice.takes(&call, &session) {
            let again = if is_allowed(&call) { replayer.call(&call.record)?.ok() } else { None };
            take(&call, &session.server, again);
        }
        Ok(())
    })
}

fn is_allowed(call: &RecordedCall) -> bool {
    call.outcome() == "allow" && call.would().is_none()
}

impl Learned {
    fn take(&mut self, call: &RecordedCall, server: &str, again: Option<Again>) {
        let time = call.record.time().0;
        self.calls += 1;
        self.sessions.insert(call.session());
        self.from = Some(self.from.map_or(time, |from| from.min(time)));
        self.to = self.to.max(time);
        let tool = self.tools.entry((server.to_owned(), call.tool().to_owned())).or_default();
        match again {
            Some(again) => {
                tool.take(&again.recorded, call.record.text("sent") == Some("edited"));
                self.places.take(&again.recorded);
            }
            None => {
                tool.calls += 1;
                self.unseen += 1;
            }
        }
    }

    /// Loosens what refused a call that was allowed. False when nothing can be done about it.
    fn correct(&mut self, tool: (String, String), by: String) -> bool {
        if matches!(by.as_str(), "arguments_valid" | "schema_readable") {
            let next = match self.loose.get(&tool) {
                None => "coerce",
                Some(&"coerce") => "unchecked",
                Some(_) => return false,
            };
            self.loose.insert(tool, next);
            return true;
        }
        self.dropped.insert(by)
    }
}
