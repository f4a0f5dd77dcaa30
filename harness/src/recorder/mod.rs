//! The recorder: the store's thread, behind the ledger.
//!
//! ```text
//! pump's thread                                   recorder's thread
//! ─────────────                                   ─────────────────
//! Ledger::step: decides, reserves (in memory)
//!     └─ call ──────────────► Queue ─────────────► BEGIN IMMEDIATE
//!        (held)                 ▲                  every call, end, frame that waits, up to a number
//! Ledger::note: ends, frames ──┘                  COMMIT
//!        verdict ◄─────────── Slot ◄───────────── committed, or why not
//! ```
//!
//! * A verdict is released when its record is committed: *record, then act*. Nothing is serialised, hashed or
//!   written on the pump's thread, and it waits for no disk and no other process.
//! * When a transaction fails, the calls that wait are refused with the reason and their reservations undone (or,
//!   if it was so chosen, let through and counted: a `gap`). What is no call is kept and written later.
//! * Ends and frames linger a moment, so that they share the next call's transaction.
//! * What waits is bounded in bytes and in number ([`queue`]).

mod checkpoints;
mod entropy;
mod flow;
mod ledger;
mod queue;
mod remembers;
mod settings;
mod shared;
mod signer;
mod thread;

pub(crate) use entropy::entropy;
pub(crate) use flow::{Fidelity, peer};
pub(crate) use ledger::{Sharing, StoreLedger};
pub(crate) use settings::StoreSettings;
pub(crate) use shared::SessionName;
