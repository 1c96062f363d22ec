//! Programs that each system has, to make files for haul and to compare with it.
use super::abilities::has;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checksum of `file` by a program of coreutils, such as sha256sum.
pub fn checksum(program: &str, file: &Path) -> String {
    let output = Command::new(program).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned()
}

/// `file` compressed with gzip, under its name with `.gz` behind it.
pub fn gzip(file: &Path) -> PathBuf {
    compressed("gzip", "gz", file)
}

/// `file` compressed by each of the programs that is installed, under its name with the ending of the format.
pub fn compressed_forms(file: &Path) -> Vec<PathBuf> {
    let formats = [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst"), ("bzip2", "bz2"), ("lz4", "lz4")];
    let installed = formats.iter().filter(|(program, _)| has(program));
    installed.map(|(program, ending)| compressed(program, ending, file)).collect()
}

fn compressed(program: &str, ending: &str, file: &Path) -> PathBuf {
    let packed = PathBuf::from(format!("{}.{ending}", file.display()));
    // xz takes most of the time: three times as much by default.
    let level = if program == "xz" { "-0" } else { "-1" };
    let output = Command::new(program).arg(level).arg("-c").arg(file).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(&packed, output.stdout).unwrap();
    packed
}
