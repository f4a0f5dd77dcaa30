//! A call whose decision wants to know what a program says: the step is tried, the program is asked, the step is tried
//! again.
//!
//! ```text
//! step ─┬ nothing is open, or something denies ─► it counts: recorded, carried out
//!       └ something is to be asked ─► not a step yet: Machine hold ─┬ answers ─► step again, with what is known now
//!                                                                    └ cancelled ─► a step that sends nothing
//! ```
//!
//! The ledger is held by no question: other calls are decided meanwhile. They are released in the order they came, as
//! behind every Machine hold; what is no call overtakes.

use std::sync::Arc;

use framegate_guard::authorize::PERTURB_MAX;
use framegate_guard::decision::Decision;
use framegate_guard::policy::Policy;
use framegate_guard::program::Open;
use framegate_guard::world::{ProgramAnswers, Unknown};
use framegate_pump::{Hold, HoldKind, Verdict};

use super::calls::{Judging, Waiting};
use super::shared::Inner;
use super::turn::Turn;

/// How often one decision is tried before what is still open stays unknown: what was said may change each time.
const PASSES_MAX: usize = PERTURB_MAX + 4;

/// What programs said to a call so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    answers: Arc<ProgramAnswers>,
    /// The digest of the policy whose programs said it: another one may mean another program by the same name.
    policy: [u8; 32],
    passes: usize,
}

impl Known {
    /// What a person was shown with the question: decided anew, the call is judged by the same answers.
    pub(super) fn of(decision: &Decision) -> Known {
        Known { answers: Arc::new(decision.answers.programs.clone()), policy: decision.policy, passes: 0 }
    }

    /// What counts under this policy: nothing that was asked under another one.
    pub(super) fn under(&self, policy: &Policy) -> Known {
        let policy = policy.digest();
        if policy == self.policy { self.clone() } else { Known { answers: Arc::default(), policy, ..*self } }
    }

    pub(super) fn answers(&self) -> &ProgramAnswers {
        &self.answers
    }

    /// Whether what is open is asked now.
    pub(super) fn may_ask(&self) -> bool {
        self.passes < PASSES_MAX
    }

    fn with(&self, answers: ProgramAnswers) -> Known {
        let mut all = ProgramAnswers::clone(&self.answers);
        all.extend(answers);
        Known { answers: Arc::new(all), policy: self.policy, passes: self.passes + 1 }
    }

    /// Nothing more is asked.
    fn without(&self, open: &[Open]) -> Known {
        let why = || Err(Unknown("the call was cancelled before it answered".into()));
        let open = open.iter().map(|open| (open.key.clone(), why()));
        Known { passes: PASSES_MAX, ..self.with(open.collect()) }
    }
}

impl Inner {
    /// Asks, then judges again.
    pub(super) fn ask_programs(self: &Arc<Self>, of: Judging, open: Vec<Open>) -> Verdict {
        let inner = Arc::clone(self);
        let withdrawn = Withdrawn { inner: Arc::clone(self), of: Some((of.clone(), open.clone())) };
        Hold::verdict(HoldKind::Machine, async move {
            let answers = inner.programs().ask_all(open).await;
            withdrawn.over();
            let Judging { request, read, guard, basis } = of;
            let known = basis.programs.under(guard.policy()).with(answers);
            let basis = super::asking::Basis { programs: known, ..Arc::unwrap_or_clone(basis) };
            inner.judge(&request, &read, &Arc::new(basis))
        })
    }
}

/// Says, when it goes early, that nobody waits for the call any more: that is a step too.
struct Withdrawn {
    inner: Arc<Inner>,
    of: Option<(Judging, Vec<Open>)>,
}

impl Withdrawn {
    /// The answers have come.
    fn over(mut self) {
        self.of = None;
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let Some((mut of, open)) = self.of.take() else { return };
        let mut basis = Arc::unwrap_or_clone(of.basis);
        basis.programs = basis.programs.under(of.guard.policy()).without(&open);
        of.basis = Arc::new(basis);
        let inner = Arc::clone(&self.inner);
        let record = move || drop(inner.decide(of, Turn::left(), Waiting::Some));
        // Not where this is dropped: the pump waits for no ledger. Without its runtime nobody is left to wait.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(self.inner.writing.spawn_blocking_on(record, &runtime)),
            Err(_) => record(),
        }
    }
}

#[cfg(test)]
mod tests {
    use framegate_guard::json::Document;
    use framegate_guard::program::{About, Answer, Asked, Said};

    use super::*;

    #[test]
    fn what_a_program_of_one_policy_said_is_nothing_that_one_of_another_did() {
        let load = |command: &str| {
            let text = format!(
                "framegate: 1\nprograms: {{ p: {{ command: [{command}] }} }}\ntools: {{ t: }}\nrules: [{{ name: r, tools: [t], program: p }}]\n"
            );
            Policy::load("p", text.as_bytes(), &mut |_| Err(String::new())).unwrap().policy
        };
        let (lax, strict) = (load("lax"), load("strict"));
        let none = Document::empty_object();
        let key = Asked::new("p", "t", none.root(), About::Call).key();
        let yes = Ok(Answer { said: Said::Allow(true), reason: String::new() });
        let known = Known::default().under(&lax).with([(key, yes)].into());
        assert_eq!(known.under(&lax).answers().len(), 1);
        let under = known.under(&strict);
        assert!(under.answers().is_empty() && under.passes == 1, "and it is not tried for ever");
        assert!(under.under(&lax).answers().is_empty());
    }
}
