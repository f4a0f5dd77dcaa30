//! A record in foreign hands has one reading, shows every change, and is replayed alike from one row and from all.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::store::fuzz(bytes));
