//! What the fuzzer checks of any bytes holds of those in its corpora, on a machine that has no fuzzer too.
#[path = "../fuzz/src/lib.rs"]
mod claims;

use std::fs;
use std::path::Path;

fn each_of(corpus: &str, claim: fn(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(corpus);
    let files: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 4, "{} has its files", dir.display());
    for file in files {
        let bytes = fs::read(&file).unwrap();
        // With one byte changed here and there as well.
        for at in (0..=bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
            claim(&changed);
        }
        claim(&bytes);
    }
}

#[test]
fn the_claims_hold_of_every_manifest_of_the_corpus() {
    each_of("manifest", claims::manifest);
}

#[test]
fn the_claims_hold_of_every_journal_of_the_corpus() {
    each_of("journal", claims::journal);
}

#[test]
fn the_claims_hold_of_every_mapfile_of_the_corpus() {
    each_of("mapfile", claims::mapfile);
}

#[test]
fn the_claims_hold_of_all_sense_data_of_the_corpus() {
    each_of("sense", claims::sense);
}

#[test]
fn the_claims_hold_of_whatever_scsi_disks_of_the_corpus_say() {
    each_of("scsi_pages", claims::scsi_pages);
}

#[test]
fn the_claims_hold_of_whatever_nvme_drives_of_the_corpus_say() {
    each_of("identify", claims::identify);
}
