//! Programs that each system has, to make files for haul and to compare with it.
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
    let packed = PathBuf::from(format!("{}.gz", file.display()));
    let output = Command::new("gzip").arg("-c").arg(file).output().unwrap();
    fs::write(&packed, output.stdout).unwrap();
    packed
}
