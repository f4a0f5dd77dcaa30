//! What an output asks for is followed through every spelling that is claimed, and later outputs excuse nothing.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::flow::fuzz(bytes));
