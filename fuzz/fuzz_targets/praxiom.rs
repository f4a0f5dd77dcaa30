//! A policy of praxiom is read or refused with messages; what is read decides, the same twice.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::praxiom::fuzz(bytes));
