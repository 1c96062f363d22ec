//! Checks the properties that the fuzzer tests on the files of its corpora, also on a machine without a fuzzer.
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
        // Also with single bytes changed.
        for at in (0..=bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed.get_mut(at).into_iter().for_each(|byte| *byte ^= 1);
            claim(&changed);
        }
        claim(&bytes);
    }
}

#[test]
fn fuzz_properties_hold_for_every_manifest_of_the_corpus() {
    each_of("manifest", claims::manifest);
}

#[test]
fn fuzz_properties_hold_for_every_journal_of_the_corpus() {
    each_of("journal", claims::journal);
}

#[test]
fn fuzz_properties_hold_for_every_block_map_of_the_corpus() {
    each_of("bmap", claims::bmap);
}

#[test]
fn fuzz_properties_hold_for_every_mapfile_of_the_corpus() {
    each_of("mapfile", claims::mapfile);
}

#[test]
fn fuzz_properties_hold_for_all_sense_data_of_the_corpus() {
    each_of("sense", claims::sense);
}

#[test]
fn fuzz_properties_hold_for_scsi_responses_of_the_corpus() {
    each_of("scsi_pages", claims::scsi_pages);
}

#[test]
fn fuzz_properties_hold_for_nvme_responses_of_the_corpus() {
    each_of("identify", claims::identify);
}

#[test]
fn fuzz_properties_hold_for_nbd_replies_of_the_corpus() {
    each_of("nbd", claims::nbd);
}

#[cfg(feature = "images")]
#[test]
fn fuzz_properties_hold_for_compressed_files_of_the_corpus() {
    each_of("images", claims::images);
}
