//! Compressed files as the programs of their formats see them, and their journals.
use crate::support::has;
use haul::core::ExtentSet;
use haul::ledger::journal::read;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

/// The end of a name, and the program that decompresses it to standard output.
const FORMATS: [(&str, &str); 3] = [("zst", "zstd"), ("gz", "gzip"), ("xz", "xz")];

pub(crate) fn formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    FORMATS.into_iter().filter(|(_, program)| has(program))
}

/// Whether a file is complete for the reference program, and the content that it finds.
pub(crate) fn unpacked(program: &str, packed: &Path) -> (bool, Vec<u8>) {
    let Ok(file) = File::open(packed) else { return (false, Vec::new()) };
    let done = Command::new(program).arg("-dcq").stdin(file).output().unwrap();
    // gzip warns with status 2.
    (done.status.success(), done.stdout)
}

/// The bytes that the journal claims, if there is one.
pub(crate) fn claimed(journal: &Path) -> Option<u64> {
    let journal = read(BufReader::new(File::open(journal).ok()?)).expect("a kill does not damage a journal");
    let durable: ExtentSet = journal.state.durable;
    assert!(durable.iter().all(|extent| extent.offset == 0), "frames are written in order: {durable:?}");
    Some(durable.total_bytes())
}
