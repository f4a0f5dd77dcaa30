//! A value is found where the text names it by itself, in the original's bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::ground::fuzz(bytes));
