//! What a policy remembers across calls: variables, what calls do to them, and what may be true while calls are under
//! way.
//!
//! Pure: no clock, no file. The time of a change is that of the decision, and the ledger that holds a [`Kept`] says
//! when a change is made: when a call is sent ([`Kept::sent`]), when its answer is in ([`Kept::settle`]), or when it
//! was not sent after all ([`Kept::undo`]). So a state is the outcome of these events in their order and nothing else.
//!
//! ```text
//!   decide ──► Effects ──sent──► set: at once, from the state before ──settled──► after: from the state then
//!                │                    │                                              │ no answer: the worst
//!                └ not sent: nothing  └ while under way: variables of its `after` are uncertain to all others
//! ```
//!
//! What is known of a variable is a [`Belief`]: a value, either of true and false, or nothing at all. A rule that reads
//! it must hold whatever it turns out to be ([`View`]).

mod after;
mod belief;
mod change;
mod effects;
mod kept;
mod settled;
mod spell;
mod value;
mod variable;
mod view;
mod window;

pub use belief::Belief;
pub use change::{Change, Refused};
pub use effects::{After, Changed, Effects};
pub use kept::Kept;
pub use spell::{Unreadable, decode, encode};
pub use value::Value;
pub use variable::{Combine, Kind, Machine, Scope, Variable};
pub use view::{Noted, Seen, View};
pub use window::{Summary, Window};

pub(crate) use after::{AfterCall, result_type};
pub(crate) use kept::{add, parted};
pub(crate) use settled::Settlement;
pub(crate) use spell::{noted, seen_of, short, shown, time};
pub(crate) use variable::span;
pub(crate) use view::{calls, reads};

/// Variables in one policy, those of limits and budgets counted.
pub const VARIABLES_MAX: usize = 256;
/// Strings in one list or set, whatever a policy says.
pub const ITEMS_MAX: usize = 10_000;
/// Bytes of one string.
pub const TEXT_BYTES_MAX: usize = 4096;
/// What a window counts at once: more is refused, never forgotten.
pub const ENTRIES_MAX: usize = 10_000;
/// Variables that may be true or false at once for one rule: it must hold in all the states that they make.
pub const UNCERTAIN_MAX: usize = 6;
