//! Parses arbitrary bytes as a journal.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::journal(bytes));
