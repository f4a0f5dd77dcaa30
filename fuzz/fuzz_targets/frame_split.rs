//! Any cutting gives the same bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_fuzz::frame_split(bytes));
