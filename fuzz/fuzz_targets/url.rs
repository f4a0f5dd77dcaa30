//! An address that is read is one place to every reader; what is the same is below itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::link::fuzz(bytes));
