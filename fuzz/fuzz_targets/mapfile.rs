//! Parses arbitrary bytes as a mapfile.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::mapfile(bytes));
