//! Asking a person for the required arguments that a call lacks: which ones, in what form, and what their answer
//! makes of the call.
//!
//! [`crate::Guard::form`] and [`crate::Guard::complete`] do this for a tool of a guard's. Everything here is text in, text
//! out. Who carries the question to the person, how long it may stay open and
//! what is recorded are the caller's.
//!
//! ```text
//!   arguments ─ missing() ─► lacks ─ only_missing() ─► no? ──► refused as arguments that do not fit
//!                                           │ yes
//!                              Secrets::sensitive() ─► any? ──► Outcome::Sensitive
//!                                           │ none
//!                                           ▼
//!                                    Form::build() ─ no form can ask ──► Outcome::Unaskable
//!                                           │ a question: question(), Form::text()
//!                                           ▼
//!        accepted content ─ Form::merge() ─ Rejected: once again with its reason ──► Outcome::StillMissing
//!                                           │
//!                                           ▼  Merged: edits of the arguments as they were sent
//! ```
//!
//! ```
//! use framegate_guard::form::{Form, Merging, Revision, missing};
//! use framegate_guard::json::{Document, Limits};
//! use framegate_guard::policy::Ask;
//! use framegate_guard::schema::Schema;
//! let read = |text: &'static str| Document::read(text.into(), &Limits::default());
//! let schema = Schema::compile(
//!     read(r#"{"properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city","days"]}"#)?.root(),
//! )?;
//! let (call, ask) = (read(r#"{"city":"Turin"}"#)?, Ask::default());
//! let names: Vec<String> =
//!     missing(Some(&schema), &ask, Some(call.root())).into_iter().map(|lack| lack.name).collect();
//! let form = Form::build(&schema, &names, &ask, Revision::V2025_11_25).map_err(|_| "no form")?;
//! assert_eq!(
//!     form.text(),
//!     r#"{"type":"object","properties":{"days":{"type":"integer","minimum":1}},"required":["days"]}"#
//! );
//! let merging = Merging { schema: &schema, ask: &ask, only_asked: false };
//! let merged = form.merge(&merging, Some(call.root()), read(r#"{"days":3}"#)?.root()).map_err(|_| "rejected")?;
//! assert_eq!(&merged.arguments.source()[..], br#"{"city":"Turin","days":3}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod missing;
mod outcome;
mod property;
mod schema;
mod secret;
mod typed;
mod why;
mod words;

pub use answer::{Merged, Merging, Rejected, Splice};
pub use missing::{Lack, Lacking, missing, only_missing};
pub use outcome::{Outcome, question};
pub use schema::{FIELDS_MAX, FORM_BYTES_MAX, Form, Revision};
pub use secret::{MARKER_CHARS_MAX, Secrets};
pub use typed::typed;
pub use why::{CHOICES_MAX, Unaskable, Why};

#[cfg(test)]
mod tests;
