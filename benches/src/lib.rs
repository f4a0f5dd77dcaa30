//! What the comparison programs share.
//!
//! [`column::Column`] names a way to reach the trivial server, [`session::Session`] is one
//! running instance of it, the modules under [`measure`] time sessions against each other, and
//! [`stats`] and [`table`] turn the times into what is printed. Nothing here knows how any of
//! the measured proxies works; all of them are command lines.

pub mod column;
pub mod eval;
pub mod json;
pub mod lines;
pub mod measure;
pub mod options;
pub mod session;
pub mod stats;
pub mod table;
pub mod watchdog;
