//! What is found is a piece of the text, in linear work, and clean text hides none of it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::detect::fuzz(bytes));
