//! A policy file is read or refused with messages, and never more.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::policy::fuzz(bytes));
