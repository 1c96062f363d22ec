//! Damaged compressed files: the error names the place, in the file and in its content.
use crate::support::{has, haul, name, noise, scratch, skip, stderr};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

/// Bytes that are overwritten: more than a block of zstd, so that the header of one is among them.
const DAMAGE_BYTES: usize = 192 << 10;

/// How far from the damage the reported byte may be: what a decoder reads at a time.
const NEAR_BYTES: usize = MIB;

/// Programs with the arguments that compress `"$1"` to `"$2"`. The content has half its size in each of them.
const FORMATS: [&str; 10] = [
    "xz -T1 -0 -c \"$1\" >\"$2\"",
    "xz -T2 --block-size=6MiB -0 -c \"$1\" >\"$2\"",
    // One frame that states its size, one that does not, one that states its size and has no checksum, several.
    "zstd -q -c \"$1\" >\"$2\"",
    "zstd -q -c <\"$1\" >\"$2\"",
    "zstd -q --no-check -c \"$1\" >\"$2\"",
    "head -c 9M \"$1\" >\"$2.1\"; tail -c +9437185 \"$1\" >\"$2.2\"; zstd -q -c \"$2.1\" \"$2.2\" >\"$2\"",
    "gzip -1 -c \"$1\" >\"$2\"",
    "bzip2 -1 -c \"$1\" >\"$2\"",
    "lz4 -q -B5 -c \"$1\" >\"$2\"",
    "zip -q1j \"$2.zip\" \"$1\" && mv \"$2.zip\" \"$2\"",
];

/// The number that ends where `after` begins in `text`.
fn number_before(text: &str, after: &str) -> Option<usize> {
    let before = &text[..text.find(after)?];
    before[before.rfind(|digit: char| !digit.is_ascii_digit())? + 1..].parse().ok()
}

/// Content of 16 different bytes without repetitions, so that half its size is left, evenly.
fn image(path: &Path, len: usize) {
    let digits: Vec<u8> =
        noise(len / 2, 5).into_iter().flat_map(|byte| [byte >> 4, byte & 15].map(|digit| b'a' + digit)).collect();
    fs::write(path, digits).unwrap();
}

/// What is wrong with the place in `messages`, of damage at byte `at` of a file with content of `ratio` times its size.
fn misplaced(at: usize, ratio: f64, messages: &str) -> Option<String> {
    let stored = number_before(messages, " of the compressed file, byte ");
    let made = number_before(messages, " of its content");
    let (Some(stored), Some(made)) = (stored, made) else { return Some(format!("no place is named: {messages}")) };
    let is_near = |place: usize, found: usize, scale: usize| {
        let near = scale * NEAR_BYTES;
        (place.saturating_sub(near)..=place + scale * DAMAGE_BYTES + near).contains(&found)
    };
    let content = (at as f64 * ratio) as usize;
    let is_right = is_near(at, stored, 1) && is_near(content, made, 2);
    (!is_right).then(|| format!("byte {at} is named {stored}, byte {content} of the content {made}"))
}

#[test]
fn damage_is_named_where_it_is() {
    let dir = scratch();
    let (source, packed, out) = (dir.path().join("image"), dir.path().join("packed"), dir.path().join("out"));
    let len = 15 * MIB;
    image(&source, len);
    let mut wrong = Vec::new();
    for line in FORMATS {
        let tool = if line.contains("zstd") { "zstd" } else { line.split(' ').next().expect("a program") };
        if !has(tool) {
            skip(&format!("{tool} is not installed"));
            continue;
        }
        let status = Command::new("sh").args(["-ec", line, "sh", name(&source), name(&packed)]).status().unwrap();
        assert!(status.success(), "{line}");
        let bytes = fs::read(&packed).unwrap();
        let ratio = len as f64 / bytes.len() as f64;
        for eighth in [1, 3, 6] {
            let at = bytes.len() / 8 * eighth;
            let mut damaged = bytes.clone();
            damaged[at..at + DAMAGE_BYTES].fill(0xff);
            fs::write(&packed, &damaged).unwrap();
            let assert = haul().args(["copy", "--decompress", name(&packed), name(&out)]).assert().code(1);
            wrong.extend(misplaced(at, ratio, &stderr(&assert)).map(|what| format!("{line}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
