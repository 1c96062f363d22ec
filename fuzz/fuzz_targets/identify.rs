//! Parses arbitrary bytes as the identify data of an NVMe drive.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::identify(bytes));
