//! Test data, and comparing it by cmp(1).
use std::fs;
use std::path::Path;
use std::process::Command;

/// `len` bytes in which no shifted or repeated block can go undetected; the same for the same `seed`.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    // These functions avoid loops over bytes, which are slow in an unoptimized build.
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Repeats `bytes` up to a length of `len`.
pub fn repeated(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut repeated = bytes.repeat(len.div_ceil(bytes.len().max(1)));
    repeated.truncate(len);
    repeated
}

/// The offset of the first byte in which they differ, or at which one of them ends.
pub fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    if one == other {
        return None;
    }
    let block = one.chunks(4096).zip(other.chunks(4096)).take_while(|(one, other)| one == other).count() * 4096;
    let [one, other] = [one, other].map(|bytes| &bytes[block.min(bytes.len())..]);
    Some(block + one.iter().zip(other).take_while(|(one, other)| one == other).count())
}

/// Writes a file of `len` bytes of noise.
pub fn write_noise(path: &Path, len: usize, seed: u64) -> Vec<u8> {
    let bytes = noise(len, seed);
    fs::write(path, &bytes).expect("the test directory is writable");
    bytes
}

/// Writes a file of `len` bytes with the value `byte`.
pub fn filled(path: &Path, len: usize, byte: u8) {
    fs::write(path, vec![byte; len]).expect("the test directory is writable");
}

/// Asserts that both have the same bytes and length, by cmp(1).
#[track_caller]
pub fn cmp(left: impl AsRef<Path>, right: impl AsRef<Path>) {
    judge(Command::new("cmp").arg(left.as_ref()).arg(right.as_ref()));
}

/// Asserts that `len` bytes at `left_at` of one equal those at `right_at` of the other, by cmp(1).
#[track_caller]
pub fn cmp_ranges(left: impl AsRef<Path>, left_at: u64, right: impl AsRef<Path>, right_at: u64, len: u64) {
    if len == 0 {
        return;
    }
    let start = format!("--ignore-initial={left_at}:{right_at}");
    judge(Command::new("cmp").args(["-n", &len.to_string(), &start]).arg(left.as_ref()).arg(right.as_ref()));
}

#[track_caller]
fn judge(command: &mut Command) {
    let output = command.output().expect("cmp is installed; scripts/install-test-deps does that");
    let messages = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // If the shorter one ends within -n, cmp succeeds, but prints EOF.
    assert!(output.status.success(), "{command:?}: {messages}");
}
