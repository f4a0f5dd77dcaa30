//! What the strict reader accepts, every reader reads alike.
#![no_main]

#[path = "../src/strict.rs"]
mod strict;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| strict::strict_reader(bytes));
