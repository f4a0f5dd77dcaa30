//! An expression is compiled or refused, and ends within its budget.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::cel::fuzz(bytes));
