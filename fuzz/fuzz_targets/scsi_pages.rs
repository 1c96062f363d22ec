//! Parses arbitrary bytes as the inquiry and mode pages of a SCSI disk.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::scsi_pages(bytes));
