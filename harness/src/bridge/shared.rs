//! What all parts of the bridge share.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use framegate_guard::json::Document;
use framegate_guard::ledger::{Declared, Ledger, Receipt, SessionKey};
use framegate_guard::policy::Policy;
use framegate_guard::session::{Session, Window};
use framegate_guard::store::StoreError;
use framegate_guard::world::World;
use framegate_guard::{Facts, Guard};
use framegate_pump::{Handle, Injector, Ticket};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::asking::AskState;
use super::beside::Told;
use super::hearing::Backlog;
use super::questions::Questions;
use crate::approve::{AskSettings, FormAnswer};
use crate::calls::{CallLog, Level};
use crate::context::{ContextFile, ContextSettings};
use crate::foreign;
use crate::noise::DivertNoise;
use crate::program::Programs;
use crate::stderr::Stderr;
use crate::wire;

/// Tools that a policy is bound to before the next frame is read.
const TOOLS_ON_THREAD_MAX: usize = 64;
/// How often it is bound elsewhere, where the listing is another one each time.
const OFF_THREAD_MAX: u32 = 8;

/// How long the end of a session waits for what is still being judged.
const SETTLED_WAIT: Duration = Duration::from_secs(2);

/// A guard in front of one server, as the pump's interceptor. Cheap to share; see the module's picture.
pub struct Bridge {
    pub(super) inner: Arc<Inner>,
}

/// What a bridge is made of.
pub struct BridgeSettings {
    /// Decides.
    pub guard: Guard,
    /// Records: a verdict is released only after its step is committed.
    pub ledger: Arc<dyn Ledger>,
    /// Whose session this is.
    pub key: SessionKey,
    /// The files and the clock that rules may ask.
    pub world: Arc<dyn World>,
    /// Says what was decided.
    pub log: Arc<CallLog>,
    /// Where lines of the server's stdout that are no JSON go instead of to the client.
    pub noise: Option<Stderr>,
    /// The guard only stands in for a policy: calls are recorded, and nothing stands against any.
    pub without_policy: bool,
    /// Results of calls say where the call is recorded.
    pub annotates: bool,
    /// Who is asked about calls that a person decides on.
    pub ask: AskSettings,
    /// Where the user's words come from, and how much is kept of what is said.
    pub context: ContextSettings,
    /// The programs that the policy asks, started.
    pub programs: Programs,
}

impl std::fmt::Debug for BridgeSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BridgeSettings").field("key", &self.key).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge").field("key", &self.inner.key).finish_non_exhaustive()
    }
}

pub(super) struct Inner {
    /// Replaced whole: by a listing, and by a new policy file.
    guard: RwLock<Arc<Guard>>,
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) key: SessionKey,
    /// Whose questions these are: a yes to one server's call is none to another's of the same session.
    pub(super) asks_as: SessionKey,
    pub(super) world: Arc<dyn World>,
    pub(super) log: Arc<CallLog>,
    pub(super) noise: Option<DivertNoise>,
    pub(super) without_policy: bool,
    pub(super) annotates: bool,
    pub(super) asking: AskState,
    /// Shared with decisions that are being made: they see it as it was when they began.
    pub(super) session: Mutex<Arc<Session>>,
    /// Where the user's words are written.
    pub(super) context: Option<Mutex<ContextFile>>,
    /// Outputs that are made ready to be searched.
    pub(super) backlog: Arc<Backlog>,
    pub(super) injector: OnceLock<Injector>,
    pub(super) opening: Mutex<super::opening::Opening>,
    /// Grows with each listing that came in or failed.
    pub(super) listed: watch::Sender<super::opening::Failure>,
    /// Calls that were sent and have not ended.
    pub(super) open: Mutex<HashMap<Ticket, Sent>>,
    /// Decisions that are being made off the pump's thread.
    pub(super) deciding: AtomicUsize,
    /// What the client was shown that is not what the guard's own listing has, or came before that; `None`
    /// where it cannot be read for certain. It counts until the client is shown the right one.
    shown: Mutex<BTreeMap<String, Option<Document>>>,
    /// What the server said beside the results of calls.
    pub(super) told: Told,
    /// What goes on off the pump's thread and ends in the ledger or the record.
    pub(super) writing: TaskTracker,
    /// What it asked inside answers, and nobody has answered yet.
    pub(super) questions: Questions,
    /// Calls whose answer was a task's handle, by the task's id.
    tasks: Mutex<HashMap<String, Sent>>,
    /// Replaced whole, with the policy that asks them.
    pub(super) programs: RwLock<Programs>,
}

/// A call that was sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// Its step in the ledger.
    pub(super) sequence: u64,
    /// The tool.
    pub(super) tool: String,
    /// When it was decided.
    pub(super) since: Instant,
    /// It has gone out.
    pub(super) is_out: bool,
    /// Where it is recorded, and what was decided.
    pub(super) receipt: Option<Receipt>,
    /// What a person gave that its client does not send.
    pub(super) fill: Option<Arc<FormAnswer>>,
}

impl Sent {
    /// The state depends on what its answer says.
    pub(super) fn waits_for_its_answer(&self) -> bool {
        let transition = self.receipt.as_ref().and_then(|receipt| receipt.decision.transition.as_ref());
        transition.is_some_and(|transition| transition.reads_answer())
    }
}

impl Bridge {
    /// A bridge that still needs the pump's handle: [`Bridge::start`].
    ///
    /// # Errors
    /// The system gives no random bytes: a client could forge its user's yes.
    pub fn new(settings: BridgeSettings) -> Result<Arc<Bridge>, StoreError> {
        let BridgeSettings { guard, ledger, key, world, log, .. } = settings;
        let BridgeSettings { noise, without_policy, annotates, ask, context, programs, .. } = settings;
        let ContextSettings { file, messages, chars } = context;
        let window = guard.policy().window();
        let window = Window {
            max_messages: messages.unwrap_or(window.max_messages),
            max_chars: chars.unwrap_or(window.max_chars),
        };
        let asks_as = asks_as(&key, guard.server());
        let inner = Inner {
            session: Mutex::new(Arc::new(Session::new(window))),
            context: file.map(Mutex::new),
            backlog: Arc::default(),
            guard: RwLock::new(Arc::new(guard)),
            ledger,
            asking: AskState::new(ask, &asks_as)?,
            key,
            asks_as,
            world,
            log,
            noise: noise.map(DivertNoise),
            without_policy,
            annotates,
            injector: OnceLock::new(),
            opening: Mutex::default(),
            listed: watch::Sender::default(),
            open: Mutex::default(),
            deciding: AtomicUsize::new(0),
            shown: Mutex::default(),
            told: Told::default(),
            writing: TaskTracker::new(),
            questions: Questions::default(),
            tasks: Mutex::default(),
            programs: RwLock::new(programs),
        };
        Ok(Arc::new(Bridge { inner: Arc::new(inner) }))
    }

    /// Takes the handle by which the server is asked for its tools.
    pub fn start(&self, handle: &Handle) {
        let _ = self.inner.injector.set(handle.injector());
        // What a session said before is read before a frame waits for it.
        if let Err(why) = self.inner.hear_others(&self.guard()) {
            self.say(Level::Warn, &why.to_string());
        }
    }

    /// Waits until what goes on off the pump's thread has been handed to the ledger and the record, once the pump has
    /// ended: a call that was cancelled in the last moment has its step too. At most two seconds.
    pub async fn settled(&self) {
        self.inner.writing.close();
        if tokio::time::timeout(SETTLED_WAIT, self.inner.writing.wait()).await.is_err() {
            let seconds = SETTLED_WAIT.as_secs();
            let count = self.inner.writing.len();
            let text = format!(
                "the record may lack the end of {count} calls: they were still judged after {seconds} s"
            );
            self.say(Level::Error, &text);
        }
    }

    /// The guard in force.
    #[must_use]
    pub fn guard(&self) -> Arc<Guard> {
        self.inner.guard()
    }

    /// Puts another policy in force, from the next frame on. What is decided stays decided. A legacy client is
    /// told that its tool list may be old; in the modern era only who subscribed could be.
    ///
    /// Binding it to thousands of tools takes a while, and is not done where this is polled.
    ///
    /// # Errors
    /// What shows to be wrong with it beside the server's tools; the one before stays.
    pub async fn replace_policy(&self, policy: Policy, facts: Facts) -> Result<(), String> {
        self.inner.programs().check(&policy).map_err(|why| why.to_string())?;
        let mut attempts = 0..OFF_THREAD_MAX;
        let before = self.guard();
        if let Some(problem) = policy.unmatched(before.server()) {
            return Err(problem.to_string());
        }
        let state = foreign::state_kept(before.policy(), &policy);
        let (guard, warnings) = loop {
            let before = self.guard();
            // Whoever changes it all the time must not keep the policy out for ever.
            let is_here = before.tools().count() <= TOOLS_ON_THREAD_MAX || attempts.next().is_none();
            let (guard, warnings) = if is_here {
                before.under(policy.clone(), facts.clone())
            } else {
                let (of, policy, facts) = (Arc::clone(&before), policy.clone(), facts.clone());
                let binding = tokio::task::spawn_blocking(move || of.under(policy, facts));
                binding.await.map_err(|why| format!("it cannot be put in force: {why}"))?
            };
            if !guard.faults().is_empty() {
                return Err(guard.faults().join("\n"));
            }
            self.declare(guard.policy()).await?;
            // Last: what is refused after all must not have had a program of its own run.
            let programs = self.inner.programs().under(&policy).map_err(|why| why.to_string())?;
            // Both at once: a call that the new policy decides must not ask a program of the one before.
            let mut asked = self.inner.programs.write().unwrap_or_else(PoisonError::into_inner);
            // What it was bound to may have been another listing.
            if self.inner.replace_guard(&before, guard) {
                *asked = programs;
                drop(asked);
                break (self.guard(), warnings);
            }
        };
        warnings.iter().for_each(|warning| self.say_lines(Level::Warn, warning));
        self.announce(&guard, "was read anew and is in force");
        state.iter().for_each(|text| self.say(Level::Warn, text));
        if let Some(why) = self.inner.session_for(&guard).unheard().filter(|_| guard.reads_conversation()) {
            let text = format!("{why}; calls that depend on it ask until the session ends");
            self.say(Level::Warn, &text);
        }
        let is_legacy = self.inner.opening().is_legacy();
        if let Some(injector) = self.inner.injector.get().filter(|_| is_legacy) {
            // A session that has ended needs no telling.
            let _ = injector.notify_client("notifications/tools/list_changed", None);
        }
        Ok(())
    }

    /// Says which variables a policy declares, to whoever shares them. Other processes may have to be waited for.
    async fn declare(&self, policy: &Policy) -> Result<(), String> {
        let declared: Vec<Declared> = policy.declared().collect();
        let ledger = Arc::clone(&self.inner.ledger);
        if declared.is_empty() && !ledger.is_shared() {
            return ledger.declare(policy.name(), &declared);
        }
        let policy = policy.clone();
        let declaring = tokio::task::spawn_blocking(move || ledger.declare(policy.name(), &declared)).await;
        declaring.map_err(|why| format!("it cannot be put in force: {why}"))?
    }

    /// Says which policy decides, and whether anything follows from it.
    pub(crate) fn announce(&self, guard: &Guard, how: &str) {
        let policy = guard.policy();
        let hash: String = policy.digest().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        self.say(Level::Info, &format!("policy `{}`, SHA-256 {hash}…, {how}", policy.name()));
        if guard.is_monitoring() {
            self.say(Level::Warn, "monitor mode: the policy decides and nothing follows from it");
        }
    }

    pub(super) fn limits(&self) -> wire::Limits {
        self.inner.limits()
    }

    pub(super) fn is_visible(&self, tool: &str) -> bool {
        let guard = self.guard();
        guard.is_monitoring() || guard.offers(tool)
    }

    pub(super) fn say(&self, level: Level, text: &str) {
        self.inner.log.say(level, text);
    }

    pub(super) fn say_lines(&self, level: Level, text: &str) {
        self.inner.log.say_lines(level, text);
    }
}

fn asks_as(key: &SessionKey, server: &str) -> SessionKey {
    let name = if key.name == server { key.name.clone() } else { format!("{}/{server}", key.name) };
    SessionKey { principal: key.principal.clone(), name }
}

impl Inner {
    pub(super) fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.guard.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn programs(&self) -> Programs {
        self.programs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_guard(&self, guard: Guard) {
        *self.guard.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(guard);
    }

    /// Puts `guard` in the place of `before`, if that is still there.
    pub(super) fn replace_guard(&self, before: &Arc<Guard>, guard: Guard) -> bool {
        let mut current = self.guard.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = Arc::ptr_eq(&current, before);
        if is_same {
            *current = Arc::new(guard);
        }
        is_same
    }

    pub(super) fn limits(&self) -> wire::Limits {
        wire::Limits::of(self.guard().policy())
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Arc<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self) -> MutexGuard<'_, HashMap<Ticket, Sent>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tasks(&self) -> MutexGuard<'_, HashMap<String, Sent>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shown(&self) -> MutexGuard<'_, BTreeMap<String, Option<Document>>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn opening(&self) -> MutexGuard<'_, super::opening::Opening> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
