//! Compressed sources, made by the reference programs.
use crate::support::{
    LoopDevice, cmp, cmp_ranges, filled, has, haul, in_one_line, name, noise, repeated, scratch, stderr, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: usize = 1 << 20;

/// A format: the end of the name, its program with the arguments that compress `"$1"` to standard output, and those
/// that decompress.
const FORMATS: [(&str, &str, &str); 5] = [
    ("xz", "xz -T2 --block-size=1MiB -0 -c", "xz -dc"),
    ("zst", "zstd -q -c", "zstd -dcq"),
    ("gz", "gzip -c", "gzip -dc"),
    ("bz2", "bzip2 -c", "bzip2 -dc"),
    ("lz4", "lz4 -q -c", "lz4 -dcq"),
];

/// Runs a line of the shell with `file` as `$1` and `out` as `$2`; false where its program is missing.
fn shell(line: &str, file: &Path, out: &Path) -> bool {
    let tool = line.split(' ').next().expect("a line has a program");
    if !has(tool) {
        return false;
    }
    let status = Command::new("sh").args(["-c", line, "sh"]).args([file, out]).status().unwrap();
    assert!(status.success(), "{line}");
    true
}

/// The formats whose program is there, each with `file` compressed.
fn compressed(file: &Path) -> Vec<(&'static str, PathBuf)> {
    let mut made = Vec::new();
    for (end, pack, _) in FORMATS {
        let out = file.with_extension(end);
        if shell(&format!("{pack} \"$1\" >\"$2\""), file, &out) {
            made.push((end, out));
        }
    }
    let out = file.with_extension("zip");
    if shell("zip -qj \"$2\" \"$1\"", file, &out) {
        made.push(("zip", out));
    }
    made
}

/// Noise, zeros and text, no whole number of sectors.
fn image(path: &Path, len: usize) -> Vec<u8> {
    let mut bytes = noise(len / 3, 11);
    bytes.resize(len / 3 * 2, 0);
    bytes.extend(repeated(b"the quick brown fox ", len - bytes.len()));
    fs::write(path, &bytes).unwrap();
    bytes
}

fn copy(arguments: &[&str]) -> assert_cmd::assert::Assert {
    haul().args(["copy", "--yes"]).args(arguments).assert()
}

#[test]
fn each_format_is_decompressed_to_a_device_and_copied_unchanged_to_a_file() {
    let dir = scratch();
    let (source, backing, out) = (dir.path().join("image"), dir.path().join("disk"), dir.path().join("out"));
    let len = 5 * MIB + 777;
    image(&source, len);
    filled(&backing, 8 * MIB, 0xa5);
    let device = LoopDevice::over(&backing);
    for (end, packed) in compressed(&source) {
        let stored = fs::metadata(&packed).unwrap().len();
        if let Some(device) = &device {
            let messages = stderr(&copy(&[name(&packed), name(device.path())]).success());
            assert!(messages.contains("decompressing source") && messages.contains("--as-is copies"), "{messages}");
            cmp_ranges(&source, 0, device, 0, len as u64);
            let messages = stderr(&copy(&["--as-is", name(&packed), name(device.path())]).success());
            assert!(!messages.contains("decompress"), "{messages}");
            cmp_ranges(&packed, 0, device, 0, stored);
        }
        let messages = stderr(&copy(&[name(&packed), name(&out)]).success());
        assert!(!messages.contains("decompress"), "{end}: {messages}");
        cmp(&packed, &out);
        copy(&["--decompress", name(&packed), name(&out)]).success();
        cmp(&source, &out);
        for engine in ["threads", "sync"] {
            copy(&["--decompress", "--engine", engine, name(&packed), name(&out)]).success();
            cmp(&source, &out);
        }
    }
}

#[test]
fn concatenated_files_are_decompressed_as_by_their_programs() {
    let dir = scratch();
    let (one, two, out) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("out"));
    image(&one, MIB + 5);
    write_noise(&two, 300_001, 3);
    let (first, second) = (compressed(&one), compressed(&two));
    let user_data = [&0x184d_2a51u32.to_le_bytes()[..], &5u32.to_le_bytes(), b"hello"].concat();
    for ((end, first), (_, second)) in first.into_iter().zip(second).filter(|((end, _), _)| *end != "zip") {
        let (first, second) = (fs::read(first).unwrap(), fs::read(second).unwrap());
        let between: &[u8] = match end {
            "xz" => &[0; 8],
            "zst" | "lz4" => &user_data,
            _ => &[],
        };
        let behind: &[u8] = match end {
            "xz" => &[0; 4096],
            "gz" => &[0; 700],
            "zst" | "lz4" => &user_data,
            _ => &[],
        };
        let both = dir.path().join(format!("both.{end}"));
        fs::write(&both, [&first, between, &second, behind].concat()).unwrap();
        copy(&["--decompress", name(&both), name(&out)]).success();
        let expected = dir.path().join("expected");
        let (_, _, unpack) = FORMATS.into_iter().find(|(known, ..)| *known == end).unwrap();
        assert!(shell(&format!("{unpack} \"$1\" >\"$2\""), &both, &expected));
        cmp(&expected, &out);
        assert_eq!(fs::metadata(&out).unwrap().len(), (MIB + 5 + 300_001) as u64, "{end}");
        // A stream has the same content.
        haul().args(["copy", "--decompress", "-", name(&out)]).pipe_stdin(&both).unwrap().assert().success();
        cmp(&expected, &out);
    }
}

#[test]
fn bytes_after_the_data_are_an_error_or_a_note_as_in_the_program_of_the_format() {
    let dir = scratch();
    let (source, out) = (dir.path().join("image"), dir.path().join("out"));
    image(&source, 100_000);
    for (end, packed) in compressed(&source).into_iter().filter(|(end, _)| *end != "zip") {
        let bytes = [&fs::read(&packed).unwrap()[..], b"garbage!"].concat();
        fs::write(&packed, &bytes).unwrap();
        let assert = copy(&["--decompress", name(&packed), name(&out)]);
        if matches!(end, "gz" | "bz2") {
            let messages = stderr(&assert.success());
            let place = format!(
                "has bytes after its {} data, from byte {}",
                if end == "gz" { "gzip" } else { "bzip2" },
                bytes.len() - 8
            );
            assert!(messages.contains(&place), "{messages}");
            cmp(&source, &out);
        } else {
            let messages = stderr(&assert.code(1));
            assert!(messages.contains("corrupt (what follows is no"), "{end}: {messages}");
        }
    }
}

/// A number below `most`, drawn from `seed`.
fn drawn(seed: u64, most: usize) -> usize {
    u64::from_le_bytes(noise(8, seed)[..8].try_into().unwrap()) as usize % most
}

#[test]
fn truncated_files_are_never_copied_with_success() {
    let dir = scratch();
    let (source, out) = (dir.path().join("image"), dir.path().join("out"));
    image(&source, MIB);
    for (end, packed) in compressed(&source) {
        let bytes = fs::read(&packed).unwrap();
        for seed in 0..12 {
            let len = if seed < 2 { bytes.len() - 1 - seed as usize * 4 } else { drawn(seed, bytes.len()) };
            fs::write(&packed, &bytes[..len]).unwrap();
            let assert = copy(&["--decompress", name(&packed), name(&out)]);
            let status = assert.get_output().status.code();
            let messages = stderr(&assert.failure());
            assert!(matches!(status, Some(1 | 2)), "{end} of {len} bytes: {messages}");
            if status == Some(1) && end != "zip" {
                let place = format!("at byte {len} of the compressed file");
                let cause = messages.contains(&place) && messages.contains("of its content");
                assert!(cause || messages.contains("headers state"), "{end} of {len} bytes: {messages}");
                assert!(!messages.contains("--skip"), "no continuation of data without a checksum: {messages}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let dir = scratch();
    let (source, out) = (dir.path().join("image"), dir.path().join("out"));
    let content = image(&source, MIB);
    for (end, packed) in compressed(&source) {
        let bytes = fs::read(&packed).unwrap();
        let mut errors = 0;
        for seed in 100..116 {
            let mut flipped = bytes.clone();
            let bit = drawn(seed, bytes.len() * 8);
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&packed, &flipped).unwrap();
            let assert = copy(&["--decompress", name(&packed), name(&out)]);
            if assert.get_output().status.success() {
                assert!(fs::read(&out).unwrap() == content, "{end}: bit {bit} is harmless");
            } else {
                errors += 1;
            }
        }
        assert!(errors > 10, "{end}: {errors} errors");
    }
}

/// The checksum of the content comes after its last byte, and the size is known before.
#[test]
fn a_wrong_checksum_behind_the_last_byte_is_an_error() {
    let dir = scratch();
    let (source, packed, out) = (dir.path().join("image"), dir.path().join("packed"), dir.path().join("out"));
    for len in [70_000, MIB, 3 * MIB] {
        image(&source, len);
        if !shell("lz4 -q -f --content-size \"$1\" \"$2\"", &source, &packed) {
            return;
        }
        copy(&["--decompress", name(&packed), name(&out)]).success();
        let mut bytes = fs::read(&packed).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&packed, bytes).unwrap();
        let messages = stderr(&copy(&["--decompress", name(&packed), name(&out)]).code(1));
        assert!(messages.contains("the checksum of the content is wrong"), "{len}: {messages}");
    }
}

#[test]
fn a_device_that_is_too_small_is_refused_before_the_first_write() {
    let dir = scratch();
    let (source, backing) = (dir.path().join("image"), dir.path().join("disk"));
    image(&source, 3 * MIB);
    filled(&backing, 2 * MIB, 0xa5);
    let Some(device) = LoopDevice::over(&backing) else { return };
    for (end, packed) in compressed(&source) {
        let assert = copy(&[name(&packed), name(device.path())]);
        // lz4 has the size in its header on request only; gzip has it modulo 4 GiB.
        if matches!(end, "xz" | "zst" | "zip") {
            let messages = stderr(&assert.code(3));
            assert!(messages.contains("is too small by 1048576 bytes"), "{messages}");
            assert!(fs::read(&backing).unwrap().iter().all(|byte| *byte == 0xa5), "{end} wrote");
        } else {
            assert!(stderr(&assert.code(1)).contains("is full"), "{end}");
            filled(&backing, 2 * MIB, 0xa5);
        }
    }
    let packed = source.with_extension("lz4");
    if shell("lz4 -q -f --content-size \"$1\" \"$2\"", &source, &packed) {
        assert!(stderr(&copy(&[name(&packed), name(device.path())]).code(3)).contains("too small"));
    }
}

#[test]
fn memory_stays_bounded_for_ten_gib_of_zeros() {
    let dir = scratch();
    let (zeros, packed) = (dir.path().join("zeros"), dir.path().join("bomb.zst"));
    fs::File::create(&zeros).unwrap().set_len(1 << 30).unwrap();
    if !shell("zstd -q -1 -c \"$1\" >\"$2\"", &zeros, &packed) {
        return;
    }
    let frame = fs::read(&packed).unwrap();
    fs::write(&packed, frame.repeat(10)).unwrap();
    let output = haul().args(["copy", "--json", "--decompress", name(&packed), "/dev/null"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["claimed"]["len_bytes"], 10u64 << 30, "{report:#}");
    let peak = report["peak_resident_bytes"].as_u64().unwrap();
    assert!(peak < 160 << 20, "{peak} bytes resident");
}

/// CRC-32 as in xz.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn a_decoder_that_needs_more_than_256_mib_is_refused_with_the_number() {
    let dir = scratch();
    let (source, packed, out) = (dir.path().join("image"), dir.path().join("packed"), dir.path().join("out"));
    image(&source, 100_000);
    if shell("xz -T1 -c \"$1\" >\"$2\"", &source, &packed) {
        // The block header follows the 12 bytes of the stream header; its dictionary becomes one of 1 GiB.
        let mut bytes = fs::read(&packed).unwrap();
        let len = (usize::from(bytes[12]) + 1) * 4;
        let filter = bytes[12..12 + len].windows(2).position(|part| part == [0x21, 1]).unwrap();
        bytes[12 + filter + 2] = 36;
        let check = crc32(&bytes[12..12 + len - 4]);
        bytes[12 + len - 4..12 + len].copy_from_slice(&check.to_le_bytes());
        fs::write(&packed, bytes).unwrap();
        let messages = stderr(&copy(&["--decompress", name(&packed), name(&out)]).code(1));
        assert!(messages.contains("needs 1025 MiB of memory, and haul allows 256 MiB"), "{messages}");
    }
    if shell("zstd -q -1 --long=29 -c <\"$1\" >\"$2\"", &source, &packed) {
        let messages = stderr(&copy(&["--decompress", name(&packed), name(&out)]).code(1));
        assert!(messages.contains("needs 512 MiB of memory, and haul allows 256 MiB"), "{messages}");
    }
}

#[test]
fn a_stream_is_decompressed_to_a_device_if_it_is_compressed() {
    let dir = scratch();
    let (source, backing) = (dir.path().join("image"), dir.path().join("disk"));
    let len = 3 * MIB + 99;
    image(&source, len);
    filled(&backing, 8 * MIB, 0xa5);
    let Some(device) = LoopDevice::over(&backing) else { return };
    let piped = |options: &[&str], from: &Path| {
        let cat = format!("cat \"$1\" | {}", name(&crate::support::haul_path()));
        let mut line = format!("{cat} copy --yes {} - \"$2\"", options.join(" "));
        line += " 2>&1";
        Command::new("sh").args(["-c", &line, "sh"]).arg(from).arg(device.path()).output().unwrap()
    };
    for (end, packed) in compressed(&source) {
        let output = piped(&[], &packed);
        if end == "zip" {
            assert_eq!(output.status.code(), Some(1));
            assert!(in_one_line(&output.stdout).contains("a ZIP archive from a stream"));
            continue;
        }
        let messages = in_one_line(&output.stdout);
        assert!(output.status.success() && messages.contains("decompressed source -"), "{end}: {messages}");
        cmp_ranges(&source, 0, &device, 0, len as u64);
        assert!(piped(&["--as-is"], &packed).status.success());
        cmp_ranges(&packed, 0, &device, 0, fs::metadata(&packed).unwrap().len());
    }
    let output = piped(&["--hash", "sha256"], &source);
    assert!(output.status.success() && !in_one_line(&output.stdout).contains("decompress"));
    cmp_ranges(&source, 0, &device, 0, len as u64);
    let short = dir.path().join("short");
    fs::write(&short, b"abc").unwrap();
    assert!(piped(&[], &short).status.success());
    cmp_ranges(&short, 0, &device, 0, 3);
    cmp_ranges(&source, 3, &device, 3, (len - 3) as u64);
    let output = piped(&["--decompress"], &source);
    assert_eq!(output.status.code(), Some(1));
    assert!(in_one_line(&output.stdout).contains("in none of the formats that haul decompresses"));
}

#[test]
fn digests_verify_also_limit_and_delta_count_the_content() {
    let dir = scratch();
    let (source, out, also) = (dir.path().join("image"), dir.path().join("out"), dir.path().join("also"));
    let manifest = dir.path().join("manifest");
    image(&source, 3 * MIB + 1);
    let digest = haul().args(["copy", "-q", "--hash", "sha256", name(&source), "/dev/null"]).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap();
    let hex = digest.trim().rsplit(' ').next().unwrap();
    for (end, packed) in compressed(&source) {
        let arguments = [&["--decompress", "--verify", "--hash", "sha256", "--limit", "400M"][..]].concat();
        let files = ["--manifest", name(&manifest), name(&packed), name(&out), "--also", name(&also)];
        let assert = copy(&[&arguments[..], &files].concat()).success();
        let printed = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(printed.contains(hex), "{end}: {printed}");
        assert!(stderr(&assert).contains("verified"));
        cmp(&source, &out);
        cmp(&source, &also);
        haul().args(["verify", "-q", "--manifest", name(&manifest), name(&out)]).assert().success();
        fs::remove_file(&manifest).unwrap();
        // One block of the destination is wrong.
        let mut bytes = fs::read(&out).unwrap();
        bytes[MIB] ^= 1;
        fs::write(&out, bytes).unwrap();
        let messages = stderr(&copy(&["--decompress", "--delta", name(&packed), name(&out)]).success());
        assert!(messages.contains("wrote 65.5 kB"), "{end}: {messages}");
        cmp(&source, &out);
        // A copy that stopped continues with the printed offsets.
        filled(&out, MIB, 0);
        copy(&["--decompress", "--count", "1M", name(&packed), name(&out)]).success();
        copy(&["--decompress", "--skip", "1M", "--seek", "1M", name(&packed), name(&out)]).success();
        cmp(&source, &out);
    }
}

/// The slowest parts of both sides in the report of a copy.
#[track_caller]
fn slowest_parts(arguments: &[&str]) -> [serde_json::Value; 2] {
    let output = haul().args(["copy", "--json", "--yes"]).args(arguments).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["status"], "complete", "{report}");
    ["source", "dest"].map(|side| report[side]["slowest_part"].clone())
}

#[test]
fn the_report_says_whether_a_decoder_an_encoder_or_a_network_took_most_of_the_time_of_a_side() {
    let dir = scratch();
    let [plain, out] = ["plain", "out"].map(|file| dir.path().join(file));
    let packed = dir.path().join("packed.xz");
    fs::write(&plain, repeated(b"some text ", 24 * MIB)).unwrap();
    assert_eq!(slowest_parts(&[name(&plain), name(&out)]), [Value::Null, Value::Null]);
    assert_eq!(slowest_parts(&["--compress", "xz:1", name(&plain), name(&packed)]), [Value::Null, "encoder".into()]);
    assert_eq!(slowest_parts(&["--decompress", name(&packed), name(&out)]), ["decoder".into(), Value::Null]);
    let output = haul().args(["copy", "--decompress", "-v", name(&packed), name(&out)]).output().unwrap();
    let messages = in_one_line(&output.stderr);
    assert!(messages.contains("source (decoder)") && !messages.contains("destination ("), "{messages}");
    if has("nbdkit") {
        let server = ["[", "nbdkit", "memory", "24M", "]"];
        assert_eq!(slowest_parts(&[&[name(&plain)], &server[..]].concat()), [Value::Null, "network".into()]);
    }
}
