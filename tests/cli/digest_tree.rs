//! The BLAKE3 of all data, which follows from the digests of the blocks.
use crate::support::{ScratchDir, cmp, engines, haul, in_one_line, name, noise, scratch};
use haul::core::{BlockDigest, BlockHash};
use haul::ledger::manifest::{Entry, Head, Manifest, Writer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const BLOCK: usize = 64 << 10;

struct Files {
    dir: ScratchDir,
    bytes: Vec<u8>,
}

impl Files {
    fn with(bytes: Vec<u8>) -> Self {
        let files = Files { dir: scratch(), bytes };
        fs::write(files.path("source"), &files.bytes).expect("the file can be written");
        files
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    /// The report of a copy of `source` with these words, or of standard input.
    #[track_caller]
    fn copy(&self, words: &[&str], from_stdin: bool) -> Value {
        let source = if from_stdin { "-".to_owned() } else { name(&self.path("source")).to_owned() };
        let ways = ["copy", "--json", "--progress", "none", "--manifest-block", "64K"];
        let mut command = haul();
        command
            .env("XDG_STATE_HOME", self.path("state"))
            .args(ways)
            .args(words)
            .args([&source, name(&self.path("dest"))]);
        if from_stdin {
            command.write_stdin(self.bytes.clone());
        }
        let output = command.output().expect("haul runs");
        assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("the report is JSON")
    }

    fn digest(&self) -> String {
        blake3::hash(&self.bytes).to_hex().to_string()
    }
}

fn whole(manifest: &Path) -> Value {
    let text = fs::read_to_string(manifest).expect("it exists");
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("it is JSON");
    last["whole"].clone()
}

/// Noise, in which these blocks are zeros.
fn with_zeros(len: usize, zeros: std::ops::Range<usize>) -> Vec<u8> {
    let mut bytes = noise(len, 810);
    bytes[(zeros.start * BLOCK).min(len)..(zeros.end * BLOCK).min(len)].fill(0);
    bytes
}

#[test]
fn blocks_give_the_digest_of_all_data() {
    let contents = [
        vec![],
        noise(1, 811),
        noise(BLOCK, 812),
        vec![0; BLOCK],
        noise(BLOCK + 1, 813),
        vec![0; 5 * BLOCK + 77],
        with_zeros(11 * BLOCK, 0..3),
        with_zeros(16 * BLOCK + 1023, 9..17),
        with_zeros(21 * BLOCK + 1025, 4..9),
    ];
    for bytes in contents {
        let files = Files::with(bytes);
        for (engine, from_stdin) in engines().into_iter().map(|engine| (engine, false)).chain([("sync", true)]) {
            let manifest = files.path("manifest");
            let options = ["--engine", engine, "--hash", "md5,blake3", "--block-size", "4K"];
            let report = files.copy(&[&options[..], &["--manifest", name(&manifest)]].concat(), from_stdin);
            let what = format!("{} bytes, {engine}, {from_stdin}: {report:#}", files.bytes.len());
            let digests = [&report["digests"][0]["hash"], &report["digests"][1]["hash"], &report["digests"][1]["hex"]];
            assert_eq!(digests, ["md5", "blake3", &files.digest()], "{what}");
            assert_eq!(whole(&manifest), files.digest(), "{what}");
            haul().args(["verify", "--manifest", name(&manifest), name(&files.path("dest"))]).assert().success();
            fs::remove_file(&manifest).expect("it exists");
            let report = files.copy(&["--engine", engine, "--hash", "blake3", "--verify"], from_stdin);
            assert_eq!(
                (&report["digests"][0]["hex"], report["digests"].as_array().map(Vec::len)),
                (&files.digest().into(), Some(1)),
                "{what}"
            );
        }
    }
}

/// Changes this byte of the source and of what is expected.
fn change(files: &mut Files, at: usize) {
    files.bytes[at] ^= 1;
    fs::write(files.path("source"), &files.bytes).expect("the file can be written");
}

#[test]
fn an_updated_manifest_has_the_digest_of_all_data() {
    for len in [12 * BLOCK + 5, BLOCK - 9] {
        let mut files = Files::with(with_zeros(len, 5..8));
        let manifest = files.path("manifest");
        files.copy(&["--manifest", name(&manifest)], false);
        change(&mut files, 77);
        let report = files.copy(&[&format!("--delta={}", name(&manifest))], false);
        assert!(report["bytes"]["written_bytes"].as_u64() <= Some(BLOCK as u64), "{report:#}");
        cmp(files.path("source"), files.path("dest"));
        // Of a copy of one block only the first run knows it.
        let expected = if len > BLOCK { Value::from(files.digest()) } else { Value::Null };
        assert_eq!(whole(&manifest), expected, "{len}");
        haul().args(["verify", "--manifest", name(&manifest), name(&files.path("dest"))]).assert().success();
    }
}

/// Rewrites the manifest as versions did that digested each block alone.
fn of_separate_blocks(files: &Files, manifest: &Path) {
    let new = Manifest::open(manifest).expect("a manifest");
    let head = Head { algorithm: BlockHash::Blake3, ..new.head.clone() };
    let mut writer = Writer::create(Vec::new(), &head).expect("the head is valid");
    for &(extent, digest) in new.pieces() {
        let bytes = &files.bytes[extent.offset as usize..extent.end() as usize];
        let entry = digest.map(|_| Entry::Block { extent, digest: BlockDigest::blake3(bytes) });
        writer.add(entry.unwrap_or(Entry::Zeros(extent))).expect("the line is valid");
    }
    let old = writer.close(new.closing.whole).expect("it is complete");
    fs::write(manifest, old).expect("the file can be written");
}

#[test]
fn a_manifest_of_separate_digests_remains_valid() {
    let mut files = Files::with(with_zeros(12 * BLOCK + 5, 5..8));
    let [old, new] = ["old", "new"].map(|file| files.path(file));
    files.copy(&["--manifest", name(&old)], false);
    fs::copy(&old, &new).expect("the file can be written");
    of_separate_blocks(&files, &old);
    haul().args(["verify", "--manifest", name(&old), name(&files.path("dest"))]).assert().success();
    haul().args(["manifest", "diff", name(&old), name(&new)]).assert().success();
    change(&mut files, 9 * BLOCK);
    let report = files.copy(&[&format!("--delta={}", name(&old))], false);
    assert_eq!(report["bytes"]["written_bytes"], BLOCK, "{report:#}");
    haul().args(["verify", "--manifest", name(&old), name(&files.path("dest"))]).assert().success();
    haul().args(["verify", "--manifest", name(&new), name(&files.path("dest"))]).assert().code(1);
    let updated = Manifest::open(&old).expect("a manifest");
    assert_eq!((updated.head.algorithm, updated.closing.whole), (BlockHash::Blake3, None));
}
