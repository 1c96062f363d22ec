//! Bytes to copy, and their comparison by cmp(1).
use std::fs;
use std::path::Path;
use std::process::Command;

/// `len` bytes without a pattern that a shifted or repeated block could fit into; the same for the same `seed`.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        bytes.extend_from_slice(&state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// A file of `len` bytes of noise.
pub fn write_noise(path: &Path, len: usize, seed: u64) -> Vec<u8> {
    let bytes = noise(len, seed);
    fs::write(path, &bytes).expect("the scratch directory takes files");
    bytes
}

/// A file of `len` bytes that all are `byte`.
pub fn filled(path: &Path, len: usize, byte: u8) {
    fs::write(path, vec![byte; len]).expect("the scratch directory takes files");
}

/// Both hold the same bytes and as many, says cmp(1).
#[track_caller]
pub fn cmp(left: impl AsRef<Path>, right: impl AsRef<Path>) {
    judge(Command::new("cmp").arg(left.as_ref()).arg(right.as_ref()));
}

/// `len` bytes at `left_at` of one are those at `right_at` of the other, says cmp(1).
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
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // cmp stops without complaint where the shorter one ends at the limit of -n, but says EOF before it.
    assert!(output.status.success(), "{command:?}: {said}");
}
