//! The desk: where a question lies for whoever answers it from a terminal.
//!
//! ```text
//! run ─ Desk ─► thread ─┬ question (its whole body) ─► FILE-asks ◄─ framegate pending
//!                       │                                 ▲
//!                       └ looks for an answer, while ─────┤◄─ framegate deny ID
//!                         any question is open            └◄─ framegate approve ID: a terminal, a passphrase
//! ```
//!
//! An agent with a shell can write the file too. So what lies there approves nothing: an approval counts by its
//! signature ([`approver`]), made with a key that is nowhere but in the approver's passphrase, over the very body
//! that this process asked about ([`signed`]). The public half is read when `run` starts. Whoever can write the file
//! can still take a question or a no away; then the call is refused when its time is over.
//!
//! The file stands beside the record and is none: nothing in it is older than an hour, and each question goes when
//! it is answered. What came of it is in the record.

pub(crate) mod approver;
mod asker;
pub(crate) mod body;
pub(crate) mod file;
pub(crate) mod row;
mod run;
pub(crate) mod signed;
mod tables;
mod thread;

pub(crate) use self::asker::TerminalAsker;
pub(crate) use self::file::now_ms;
pub use self::run::Desk;
pub(crate) use self::run::Wanted;
