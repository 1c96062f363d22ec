//! Parses arbitrary bytes as the messages of an NBD server.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::nbd(bytes));
