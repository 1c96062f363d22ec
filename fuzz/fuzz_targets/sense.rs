//! Parses arbitrary bytes as sense data.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::sense(bytes));
