//! A schema is compiled or refused; what coercion makes of arguments fits it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| framegate_guard::schema::fuzz(bytes));
