//! Asking people: what a question says, who is asked, and what counts as a yes.
//!
//! ```text
//! Decision (ask) ─ Question::of ─┬ a client with a handshake ─ Asker ─► elicitation/create, the call is held
//!                                ├ a client of 2026-07-28 ────────────► an `input_required` result; its retry is
//!                                │                                      recognised by a sealed state
//!                                ├ a terminal ────────────── Asker ─► the desk ([`crate::Desk`]), the call is held
//!                                └ another harness ───────── Asker ─► its own window
//! Reply::Yes ─► the call is decided anew, with the approval as an input
//! ```
//!
//! Only an explicit yes approves ([`reply`]). What is shown is what is sent, made visible ([`visible`]); questions
//! are counted ([`limit`]), for whoever is asked all day says yes to everything.

mod against;
mod carried;
mod form;
mod limit;
mod question;
mod reply;
mod rounds;
mod seal;
mod state_key;
pub(crate) mod visible;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::against::Against;
pub(crate) use self::carried::Carried;
pub(crate) use self::form::{AskedForm, FormAnswer};
pub use self::form::{Filled, Filling, FormQuestion};
pub(crate) use self::limit::{Limit, Limits};
pub use self::question::Question;
pub(crate) use self::question::{LOCAL, Shown, is_shown_whole};
pub(crate) use self::reply::APPROVE;
pub use self::reply::Reply;
pub(crate) use self::rounds::{Going, Kept, Mark, Rounds, Waiting};
pub(crate) use self::seal::{Claim, Seal};
pub use self::state_key::StateKey;
use crate::desk::Desk;

/// How long a person may take, where nothing else is said. SDK clients give a request up after 60 s, and that of
/// TypeScript is not reset by progress.
pub const ASK_TIMEOUT: Duration = Duration::from_secs(50);

/// How long a question is good that the client carries, where nothing else is said.
pub const STATE_TIMEOUT: Duration = Duration::from_secs(600);

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The reply.
    pub reply: Reply,
    /// Who replied, where that is known better than by [`Asker::who`]; for the record.
    pub by: Option<String>,
    /// What they said to it; may be empty. Beside a no the model reads it too.
    pub note: String,
}

impl From<Reply> for Answered {
    fn from(reply: Reply) -> Answered {
        Answered { reply, by: None, note: String::new() }
    }
}

/// An answer to come.
pub type Asking = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// Asks a person about one call.
///
/// The call waits, alone, while everything else flows. The future is dropped when the reply is not wanted any more
/// (the call was cancelled, the client left, time is up): the question is to be withdrawn then.
pub trait Asker: Send + Sync {
    /// Asks.
    fn ask(&self, question: Question) -> Asking;

    /// Asks for the arguments that a call lacks. Whoever has no forms leaves this out: such calls are refused then.
    fn fill(&self, form: FormQuestion) -> Filling {
        let _ = form;
        Box::pin(std::future::ready(Filled::Unsupported))
    }

    /// Who replies, as the record names them.
    fn who(&self) -> &str {
        "the user"
    }
}

/// One way to a person.
#[derive(Clone)]
pub enum Carrier {
    /// The user of the client, where it can ask (MCP elicitation in form mode).
    Client,
    /// Whoever this harness's own way leads to.
    Library(Arc<dyn Asker>),
    /// The approver at a terminal, where the policy says `approve: terminal`.
    Terminal(Arc<Desk>),
}

impl std::fmt::Debug for Carrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client => "Client",
            Self::Library(_) => "Library",
            Self::Terminal(_) => "Terminal",
        })
    }
}

/// Who is asked, and for how long.
#[derive(Clone, Debug)]
pub struct AskSettings {
    /// Who: the first that can be reached. Nobody where there is none: what asks is refused.
    pub order: Vec<Carrier>,
    /// A question that is not answered in this time refuses its call.
    pub timeout: Duration,
    /// The same for one at a terminal.
    pub terminal_timeout: Duration,
    /// A question that the client carries itself (2026-07-28), which keeps nothing waiting, is good for this long.
    pub state_timeout: Duration,
    /// What such a question is sealed with, where another process may get its answer.
    pub state_key: Option<StateKey>,
}

impl Default for AskSettings {
    fn default() -> Self {
        Self {
            order: vec![Carrier::Client],
            timeout: ASK_TIMEOUT,
            terminal_timeout: ASK_TIMEOUT,
            state_timeout: STATE_TIMEOUT,
            state_key: None,
        }
    }
}
