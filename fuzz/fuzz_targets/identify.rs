//! Any bytes as what an NVMe drive says of itself.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::identify(bytes));
