//! Everything the end to end tests share: a fake MCP server, a client that plays a case against
//! a wrapper, and the checks on what came out.
//!
//! The two halves never parse a frame. Both work on bytes and find an id as raw text, so a wrapper
//! that respells a number or drops a blank is seen, and a frame no JSON reader accepts can be sent.
//!
//! - [`server`] is the program behind the binary `fake-server`; it writes down every byte it reads
//!   and every byte it sends in a record directory.
//! - [`case`] reads one reproduction case, [`player`] plays its client side, [`checks`] compares.
//! - [`adapter`] turns a case's neutral `guard` object into a policy; [`guarded`] is a session under one;
//!   [`policy_case`] reads the cases of `framegate test`.
//! - [`stored`] reads a store as the binary wrote it.
//! - [`transcript`] holds recorded sessions and the awkward ways to cut them; the replaying server
//!   and the replaying client share it, so both sides agree on whose turn it is.
//! - [`process`] looks at `/proc`: who is left, who is a zombie, how much memory was used.
//!
//! Linux only, as the binary's process tests are.

pub mod adapter;
pub mod asked;
pub mod case;
pub mod checks;
pub mod cutter;
pub mod guarded;
pub mod mutate;
pub mod payload;
pub mod player;
pub mod policy_case;
pub mod process;
pub mod scan;
pub mod server;
pub mod stored;
pub mod transcript;
pub mod wrapper;

pub use guarded::Guarded;
pub use player::{Outcome, play};
pub use stored::{Stored, decided_again, verified_by_python};
pub use wrapper::Wrapper;

/// The wrapper under test and the fake server, as the calling test target knows them.
///
/// A macro, because cargo sets `CARGO_BIN_EXE_*` while it compiles a test target and never for the
/// library.
#[macro_export]
macro_rules! wrapper {
    () => {
        $crate::Wrapper::find(
            option_env!("CARGO_BIN_EXE_framegate-under-test"),
            env!("CARGO_BIN_EXE_fake-server"),
        )
    };
}

/// A file below this package's `data/`.
pub fn data(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}
