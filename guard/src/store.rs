//! The record: what was decided and what became of it, on a chain that proves itself.
//!
//! A store is a list of *records*, numbered from 1 without gaps. A record has a *body*: one JSON object in exactly
//! one spelling, kept and hashed as text. Its hash is `SHA-256(hash of the record before ‖ body)`; the first one
//! follows 32 zero bytes. So whoever knows one hash knows that nothing before it was changed, cut or slipped in.
//!
//! What may have to be deleted some day (arguments, results, policies) is not in the body. The body *commits* to
//! it, under `x`, by `SHA-256(salt ‖ length of the field's name, 8 bytes, big-endian ‖ name ‖ bytes)`; salt and
//! bytes lie beside the chain as *contents*. Content that is gone leaves the chain whole, and without the salt
//! nobody can guess what it was.
//!
//! * [`chain`]: the two hashes; no I/O.
//! * [`entry`]: a record as it is put together.
//! * [`event`], [`keep`]: what happens in a session, and what of it is kept.
//! * [`entries`], [`content`], [`writer`] (feature `sqlite`): the records made of it, in order, each text and each
//!   setting once.
//! * [`read`]: a record as it is read back.
//! * [`retrace`]: records as decisions with their inputs, to be made again.
//! * [`spelling`]: the one spelling of a body.
//! * [`lines`]: records as JSON lines.
//! * [`verify`]: whether all of it is whole, from any [`source`]; [`fidelity`]: what became of
//!   each frame; [`sign`]: signed checkpoints.
//! * [`sqlite`], [`reader`], [`checkpoint`], [`retain`] (feature `sqlite`): the store as a file that several processes share, written and read.

#[cfg(feature = "sqlite")]
mod append;
pub mod chain;
#[cfg(feature = "sqlite")]
pub mod checkpoint;
#[cfg(feature = "sqlite")]
pub mod content;
#[cfg(feature = "sqlite")]
pub mod entries;
pub mod entry;
pub mod error;
pub mod event;
pub mod fidelity;
mod fuzz;
pub mod keep;
pub mod lines;
pub mod read;
#[cfg(feature = "sqlite")]
pub mod reader;
#[cfg(feature = "sqlite")]
pub mod retain;
pub mod retrace;
#[cfg(feature = "sqlite")]
mod scan;
#[cfg(feature = "sqlite")]
mod schema;
pub mod sign;
pub mod source;
pub mod spelling;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod verify;
#[cfg(feature = "sqlite")]
mod wal;
#[cfg(feature = "sqlite")]
pub mod writer;

pub use error::StoreError;
#[doc(hidden)]
pub use fuzz::fuzz;

/// The format's version: the file's `user_version`, and `format` in the first record.
pub const FORMAT: u32 = 1;
