//! Where a text names a value: against what solvi 1.3.0 finds, against a twin that looks everywhere, and what
//! must hold for any text.

#![expect(clippy::unwrap_used, reason = "the data is the project's own")]

mod corpus;
mod oracle;
mod properties;
#[expect(clippy::indexing_slicing, reason = "naive, and only ever a test")]
#[expect(unreachable_pub, reason = "a module of a bench too")]
mod twin;
