//! The router loses, doubles and leaks nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_fuzz::route(bytes));
