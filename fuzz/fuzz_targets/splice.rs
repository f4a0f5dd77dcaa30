//! An edited listing equals the input but for the tools.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_fuzz::splice(bytes));
