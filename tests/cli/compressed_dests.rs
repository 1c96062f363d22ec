//! Compressed destinations, read by the reference programs.
use crate::compressed_files::{claimed, formats, unpacked};
use crate::support::{
    Mount, Running, ScratchDir, cmp, has, haul, haul_path, in_one_line, name, noise, repeated, scratch, stderr,
    wait_until, write_noise,
};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const SIGINT: i32 = 2;

/// The content of a complete file.
#[track_caller]
fn content(program: &str, packed: &Path) -> Vec<u8> {
    let (is_complete, content) = unpacked(program, packed);
    assert!(is_complete, "{program}: it is incomplete");
    content
}

/// A file with a hole of more than one frame, noise and text.
fn image(path: &Path, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let file = File::create(path).unwrap();
    file.set_len(len as u64).unwrap();
    let edge = (MIB + 333).min(len);
    let (head, tail) = (noise(edge, 5), b"some text ".repeat(100));
    file.write_all_at(&head, 0).unwrap();
    bytes[..edge].copy_from_slice(&head);
    let at = len.saturating_sub(tail.len());
    let tail = &tail[..tail.len().min(len)];
    file.write_all_at(tail, at as u64).unwrap();
    bytes[at..].copy_from_slice(tail);
    bytes
}

fn copy(arguments: &[&str]) -> assert_cmd::assert::Assert {
    haul().arg("copy").args(arguments).assert()
}

#[test]
fn a_file_is_compressed_by_its_name_verified_and_read_by_the_program_of_its_format() {
    let dir = scratch();
    let source = dir.path().join("image");
    let bytes = image(&source, 18 * MIB + 777);
    for (end, program) in formats() {
        let packed = dir.path().join(format!("disk.img.{end}"));
        let messages = stderr(&copy(&["--verify", "-v", name(&source), name(&packed)]).success());
        assert!(messages.contains("compressing destination") && messages.contains("because of its name"), "{messages}");
        assert!(messages.contains("verified"), "{messages}");
        assert!(content(program, &packed) == bytes, "{end}");
        assert!(fs::metadata(&packed).unwrap().len() < 2 * MIB as u64, "{end}");
        // haul reads it back, to a file and from a pipe.
        let out = dir.path().join("out");
        copy(&["--decompress", name(&packed), name(&out)]).success();
        cmp(&source, &out);
        // What haul made is replaced.
        copy(&["--no-journal", name(&source), name(&packed)]).success();
        assert!(content(program, &packed) == bytes, "{end}");
    }
}

#[test]
fn xz_files_have_blocks_with_an_index_and_zstd_files_a_table_of_frames() {
    let dir = scratch();
    let source = dir.path().join("image");
    fs::write(&source, repeated(&noise(50_000, 8), 17 * MIB)).unwrap();
    if has("xz") {
        let packed = dir.path().join("disk.xz");
        copy(&["--compress", "xz:0", name(&source), name(&packed)]).success();
        let listed = Command::new("xz").args(["--robot", "--list"]).arg(&packed).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.lines().any(|line| line.starts_with("file\t1\t2\t")), "one stream of two blocks: {listed}");
    }
    let packed = dir.path().join("disk.zst");
    copy(&["--compress", "zstd:1", name(&source), name(&packed)]).success();
    let bytes = fs::read(&packed).unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let end = bytes.len();
    assert_eq!((number(end - 4), bytes[end - 5], number(end - 9)), (0x8f92_eab1, 0, 3));
    let table = end - 9 - 3 * 8;
    assert_eq!((number(table - 8), number(table - 4)), (0x184d_2a5e, 3 * 8 + 9));
    let frames: Vec<[usize; 2]> = (0..3).map(|at| [number(table + at * 8), number(table + at * 8 + 4)]).collect();
    assert_eq!(frames.iter().map(|[stored, _]| stored).sum::<usize>(), table - 8);
    assert_eq!(frames.iter().map(|[_, content]| *content).collect::<Vec<_>>(), [8 * MIB, 8 * MIB, MIB]);
    // A part can be decompressed alone.
    let part = dir.path().join("part.zst");
    fs::write(&part, &bytes[frames[0][0]..frames[0][0] + frames[1][0]]).unwrap();
    if has("zstd") {
        assert!(content("zstd", &part) == fs::read(&source).unwrap()[8 * MIB..16 * MIB]);
    }
}

#[test]
fn every_engine_and_length_and_a_pipe_give_the_same_content() {
    let dir = scratch();
    let source = dir.path().join("image");
    for len in [0, 1, 8 * MIB, 8 * MIB + 1] {
        let bytes = image(&source, len);
        for ((end, program), level) in formats().zip(["zstd:1", "gzip:1", "xz:0"]) {
            let packed = dir.path().join(format!("disk.{end}"));
            for engine in ["io_uring", "threads", "sync"] {
                copy(&["--compress", level, "--engine", engine, name(&source), name(&packed)]).success();
                assert!(content(program, &packed) == bytes, "{end} {engine} {len}");
            }
            fs::remove_file(&packed).unwrap();
            haul()
                .args(["copy", "--compress", level, "-", name(&packed)])
                .pipe_stdin(&source)
                .unwrap()
                .assert()
                .success();
            assert!(content(program, &packed) == bytes, "{end} of a pipe, {len}");
        }
    }
    // To standard output, and a part of the source.
    let bytes = fs::read(&source).unwrap();
    for (format, program) in [("zstd", "zstd"), ("gzip:1", "gzip"), ("xz:0", "xz")].into_iter().filter(|it| has(it.1)) {
        let done = copy(&["--compress", format, "--skip", "100", "--count", "5M", name(&source), "-"]).success();
        let packed = dir.path().join("stream");
        fs::write(&packed, &done.get_output().stdout).unwrap();
        assert!(content(program, &packed) == bytes[100..100 + 5 * MIB], "{format}");
    }
}

#[test]
fn compressed_data_is_not_compressed_again_because_of_a_name() {
    let dir = scratch();
    let (source, packed, again) = (dir.path().join("image"), dir.path().join("a.zst"), dir.path().join("b.zst"));
    let bytes = image(&source, 3 * MIB);
    copy(&[name(&source), name(&packed)]).success();
    let messages = stderr(&copy(&[name(&packed), name(&again)]).success());
    assert!(!messages.contains("compressing"), "{messages}");
    cmp(&packed, &again);
    // Of a stream that shows when it is read; the file keeps its content.
    let stream = haul().args(["copy", "-", name(&again)]).pipe_stdin(&packed).unwrap().assert().code(1);
    let messages = stderr(&stream);
    assert!(messages.contains("already compressed (zstd)") && messages.contains("--as-is"), "{messages}");
    cmp(&packed, &again);
    haul().args(["copy", "--as-is", "-", name(&again)]).pipe_stdin(&packed).unwrap().assert().success();
    cmp(&packed, &again);
    // The content of one format becomes another.
    if has("xz") {
        let other = dir.path().join("c.xz");
        copy(&["--decompress", name(&packed), name(&other)]).success();
        assert!(content("xz", &other) == bytes);
    }
    // Compressed twice, as requested.
    copy(&["--compress", "zstd", name(&packed), name(&again)]).success();
    if has("zstd") {
        assert!(content("zstd", &again) == fs::read(&packed).unwrap());
    }
    copy(&["--as-is", name(&source), name(&again)]).success();
    cmp(&source, &again);
}

#[test]
fn changing_a_part_of_a_compressed_destination_is_refused_before_the_first_write() {
    let dir = scratch();
    let (source, packed, other) = (dir.path().join("image"), dir.path().join("a.zst"), dir.path().join("b.zst"));
    image(&source, 3 * MIB);
    copy(&[name(&source), name(&packed)]).success();
    fs::write(&other, "no zstd").unwrap();
    let (before, untouched) = (fs::read(&packed).unwrap(), fs::read(&other).unwrap());
    let table: [(&[&str], &Path, i32, &str); 8] = [
        (&["--seek", "1M"], &packed, 2, "--seek: destination"),
        (&["--skip", "1M"], &packed, 2, "--skip or --count: destination"),
        (&["--delta"], &packed, 2, "--delta: destination"),
        (&["--resume"], &packed, 3, "nothing to resume"),
        (&["--compress", "zstd:23"], &packed, 2, "the levels of zstd are 1 to 22"),
        (&["--compress", "bzip2"], &packed, 2, "the formats are zstd, xz and gzip"),
        (&["--compress", "zstd"], Path::new("/dev/null"), 2, "not a file or stream"),
        (&[], &other, 3, "is not in the format that its name states (zstd)"),
    ];
    for (options, dest, status, words) in table {
        let messages = stderr(&copy(&[options, &[name(&source), name(dest)]].concat()).code(status));
        assert!(messages.contains(words), "{options:?}: {messages}");
    }
    assert!(fs::read(&packed).unwrap() == before && fs::read(&other).unwrap() == untouched);
    copy(&["--compress", "zstd", name(&source), name(&other)]).success();
    cmp(&packed, &other);
}

/// A copy to a compressed file that was interrupted after its first frame.
struct Interrupted {
    _dir: ScratchDir,
    source: PathBuf,
    packed: PathBuf,
    bytes: Vec<u8>,
    journal: PathBuf,
    messages: String,
}

impl Interrupted {
    fn new(compress: &str, end: &str, len: usize) -> Interrupted {
        let dir = scratch();
        let (source, packed) = (dir.path().join("image"), dir.path().join(format!("disk.{end}")));
        // Noise takes the encoders of gzip and xz seconds.
        let bytes = if end == "zst" { noise(len, 21) } else { repeated(&noise(5000, 21), len) };
        fs::write(&source, &bytes).unwrap();
        // An old file of haul's, longer than what will be complete of the new one.
        copy(&["--no-journal", "--compress", compress, name(&source), name(&packed)]).success();
        // Eight seconds, of which six remain after the first frame.
        let rate = (len / 8).to_string();
        let slow = ["copy", "--block-size", "64K", "--limit", &rate, "--checkpoint", "0.05", "--progress", "none"];
        let arguments = [&slow[..], &["--compress", compress], &[name(&source), name(&packed)]].concat();
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
        let journal = dir.path().join(format!(".disk.{end}.haul-journal"));
        wait_until(|| claimed(&journal).is_some_and(|durable| durable > 0));
        copy.signal(Signal::INT);
        copy.end_by(SIGINT);
        let messages = copy.messages.clone();
        Interrupted { _dir: dir, source, packed, bytes, journal, messages }
    }

    fn resume(&self, options: &[&str]) -> assert_cmd::assert::Assert {
        copy(&[&["--resume"], options, &[name(&self.source), name(&self.packed)]].concat())
    }
}

#[test]
fn an_interrupted_copy_is_incomplete_for_every_program_and_continues_at_a_frame() {
    for (end, program) in formats() {
        let (compress, len) = if end == "xz" { ("xz:0", 64 * MIB) } else { (end, 40 * MIB) };
        let interrupted = Interrupted::new(compress, end, len);
        let (packed, bytes) = (&interrupted.packed, &interrupted.bytes);
        assert!(interrupted.journal.exists(), "{}", interrupted.messages);
        assert!(!unpacked(program, packed).0, "{end}: it must not look complete");
        copy(&["--decompress", name(packed), "/dev/null"]).code(1);
        // Digests of all three would take most of the time.
        let more: &[&str] = if end == "zst" { &["--verify", "--hash", "sha256"] } else { &[] };
        let report = interrupted.resume(&[&["--json", "--compress", compress], more].concat()).success();
        let report: Value = serde_json::from_slice(&report.get_output().stdout).unwrap();
        assert!(report["journal"]["already_bytes"].as_u64().is_some_and(|already| already > 0), "{report:#}");
        assert!(content(program, packed) == *bytes, "{end}");
        assert!(!interrupted.journal.exists());
    }
}

#[test]
fn a_resumed_copy_is_refused_where_its_frames_are_missing_or_the_source_is_another() {
    let interrupted = Interrupted::new("zst", "zst", 40 * MIB);
    let (packed, source) = (&interrupted.packed, &interrupted.source);
    let refuses = |words: &str, options: &[&str]| {
        let before = fs::read(packed).unwrap();
        let messages = stderr(&interrupted.resume(options).code(3));
        assert!(messages.contains("cannot resume") && messages.contains(words), "{messages}");
        assert!(fs::read(packed).unwrap() == before);
    };
    refuses("was compressed as zstd, not xz", &["--compress", "xz"]);
    refuses("destination was a compressed file and is a file", &["--as-is"]);
    let kept = (fs::read(packed).unwrap(), fs::read(source).unwrap());
    let stamp = fs::metadata(packed).unwrap().modified().unwrap();
    let put_back = || {
        fs::write(packed, &kept.0).unwrap();
        fs::write(source, &kept.1).unwrap();
        File::options().write(true).open(packed).unwrap().set_modified(stamp).unwrap();
    };
    write_noise(source, 40 * MIB, 22);
    refuses("does not match", &[]);
    put_back();
    // Damaged, with the time and length that the journal has.
    let mut damaged = kept.0.clone();
    damaged[100..MIB].fill(0x55);
    fs::write(packed, damaged).unwrap();
    File::options().write(true).open(packed).unwrap().set_modified(stamp).unwrap();
    refuses("does not match", &[]);
    put_back();
    let messages = stderr(&copy(&[name(source), name(packed)]).code(3));
    assert!(messages.contains("--restart"), "an unfinished copy is not overwritten: {messages}");
    copy(&["--restart", name(source), name(packed)]).success();
    if has("zstd") {
        assert!(content("zstd", packed) == interrupted.bytes);
    }
}

#[test]
fn a_full_file_system_ends_the_copy_and_the_file_does_not_look_complete() {
    let dir = scratch();
    let (source, at) = (dir.path().join("image"), dir.path().join("small"));
    fs::create_dir(&at).unwrap();
    let Some(_mount) = Mount::tmpfs(&at, 2 * MIB as u64) else { return };
    for ((end, program), len) in formats().zip([20 * MIB, 9 * MIB, 3 * MIB]) {
        write_noise(&source, len, 3);
        let packed = at.join(format!("disk.{end}"));
        let messages = stderr(&copy(&["--no-journal", name(&source), name(&packed)]).code(1));
        assert!(messages.contains("is full"), "{messages}");
        assert!(!unpacked(program, &packed).0, "{end}");
        fs::remove_file(&packed).unwrap();
    }
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut stream = Command::new(haul_path());
    let ended = stream.args(["copy", "--compress", "zstd", name(&source), "-"]).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", in_one_line(&ended.stderr));
}

#[test]
fn several_destinations_are_compressed_each_by_its_name() {
    let dir = scratch();
    let path = |name: &str| dir.path().join(name);
    let (source, plain, zst, gz) = (path("image"), path("plain"), path("a.zst"), path("b.gz"));
    let bytes = image(&source, 10 * MIB + 5);
    let arguments =
        ["--verify", name(&source), name(&plain), "--also", name(&zst), "--also", name(&gz), "--hash", "sha256"];
    let done = copy(&arguments).success();
    assert!(in_one_line(&done.get_output().stderr).contains("verified"));
    cmp(&source, &plain);
    for (packed, program) in [(&zst, "zstd"), (&gz, "gzip")] {
        if has(program) {
            assert!(content(program, packed) == bytes, "{program}");
        }
    }
}

#[test]
fn a_dry_run_and_the_json_report_state_how_a_destination_is_compressed() {
    let dir = scratch();
    let (source, packed) = (dir.path().join("image"), dir.path().join("a.zst"));
    image(&source, MIB);
    let plan = copy(&["--dry-run", "--compress", "zstd:7", name(&source), name(&packed)]).success();
    let plan = in_one_line(&plan.get_output().stdout);
    assert!(plan.contains("zstd, level 7") && plan.contains("--compress"), "{plan}");
    assert!(!packed.exists());
    let plan = copy(&["--dry-run", "--json", name(&source), name(&packed)]).success();
    let plan: Value = serde_json::from_slice(&plan.get_output().stdout).unwrap();
    let dest = &plan["dest"];
    assert_eq!(dest["kind"], "compressed_file", "{plan:#}");
    assert_eq!((&dest["compressed"]["format"], &dest["compressed"]["level"]), (&"zstd".into(), &3.into()));
    let report = copy(&["--json", name(&source), name(&packed)]).success();
    let report: Value = serde_json::from_slice(&report.get_output().stdout).unwrap();
    assert_eq!(report["dest"]["kind"], "compressed_file", "{report:#}");
}
