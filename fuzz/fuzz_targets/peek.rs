//! The peek agrees with a slow full parse, or says that the frame is odd.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_fuzz::peek(bytes));
