//! Parses arbitrary bytes as a block map.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::bmap(bytes));
