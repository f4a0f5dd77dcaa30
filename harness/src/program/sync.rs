//! Programs for a command that has no session: `explain` and `calibrate` ask one question after the other.

use std::sync::{Arc, Mutex, PoisonError};

use framegate_guard::policy::Policy;
use framegate_guard::program::{Answer, Asked, Open};
use framegate_guard::world::{Instant, Unknown, World};
use tokio::runtime::{Builder, Runtime};

use super::{Launch, ProgramError, Programs};

/// A runtime with programs on it, and everything else asked of another world.
pub(crate) struct Asking {
    /// Locked while it is used: a question is asked by one thread at a time. Programs end after their runtime.
    running: Mutex<(Runtime, Programs)>,
    launch: Launch,
    inner: Arc<dyn World>,
}

impl Asking {
    /// Nothing is started yet.
    ///
    /// # Errors
    /// There is no event loop.
    pub(crate) fn new(launch: Launch, inner: Arc<dyn World>) -> Result<Asking, String> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|why| format!("no event loop: {why}"))?;
        Ok(Asking { running: Mutex::new((runtime, Programs::default())), launch, inner })
    }

    /// Starts what a policy asks.
    ///
    /// # Errors
    /// Why one of them cannot be started.
    pub(crate) fn start(&self, policy: &Policy) -> Result<(), String> {
        self.starts(|launch| Programs::start(launch, policy))
    }

    /// Starts the policy's authorizer, whether any tool has it asked or not.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(crate) fn start_authorizer(&self, policy: &Policy) -> Result<(), String> {
        self.starts(|launch| Programs::authorizer(launch, policy))
    }

    fn starts(&self, start: impl FnOnce(Launch) -> Result<Programs, ProgramError>) -> Result<(), String> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (runtime, programs) = &mut *running;
        let _inside = runtime.enter();
        *programs = start(self.launch.clone()).map_err(|why| why.to_string())?;
        Ok(())
    }

    /// Waits for the answer.
    pub(crate) fn ask(&self, question: Open) -> Result<Answer, Unknown> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (runtime, programs) = &*running;
        let mut answers = runtime.block_on(programs.ask_all(vec![question]));
        answers.pop_first().map_or_else(|| Err(Unknown("it was not asked".into())), |(_, answer)| answer)
    }
}

impl World for Asking {
    fn real_path(&self, path: &str) -> Result<String, Unknown> {
        self.inner.real_path(path)
    }

    fn now(&self) -> Result<Instant, Unknown> {
        self.inner.now()
    }

    fn ask_program(&self, asked: &Asked<'_>) -> Result<Answer, Unknown> {
        self.ask(asked.open())
    }
}
