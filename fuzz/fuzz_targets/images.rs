//! Any bytes as a compressed file.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::images(bytes));
