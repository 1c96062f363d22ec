//! Any bytes as what a SCSI disk says of itself.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| haul_fuzz::scsi_pages(bytes));
