//! Whatever a text is read as, each character of the reading stands for the place that it came from.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::detect::fuzz_folding(bytes));
