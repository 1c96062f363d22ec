//! `haul verify`: equal, different with offsets, and not comparable.
use crate::support::{LoopDevice, engines, haul, in_one_line, memory_dir, name, noise, scratch, write_noise};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

/// The report of `haul verify --json` with these options, and the status.
fn verify(words: &[&str]) -> (Value, i32) {
    let output = haul().args(["verify", "--json", "--progress", "none"]).args(words).output().expect("haul runs");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", in_one_line(&output.stdout), in_one_line(&output.stderr)));
    (report, output.status.code().expect("no signal ended it"))
}

#[test]
fn equal_files_are_equal_and_each_changed_byte_is_found() {
    let dir = scratch();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let bytes = write_noise(&one, 5 * MIB + 123, 51);
    for engine in engines() {
        fs::write(&other, &bytes).expect("the file can be written");
        let (report, status) = verify(&["--engine", engine, name(&one), name(&other)]);
        assert_eq!((status, &report["differences"]["equal"]), (0, &true.into()), "{engine}: {report}");
        assert_eq!(report["bytes"]["compared_bytes"], bytes.len(), "{engine}");
        for at in [0, 511, 3 * MIB + 77, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            fs::write(&other, &changed).expect("the file can be written");
            let (report, status) = verify(&["--engine", engine, name(&one), name(&other)]);
            let found = &report["differences"];
            assert_eq!(status, 1, "{engine}: {report}");
            assert_eq!((&found["first_offset_bytes"], &found["differing_bytes"]), (&at.into(), &1.into()), "{engine}");
            let (start, end) = (at / 512 * 512, (at / 512 * 512 + 512).min(bytes.len()));
            assert_eq!(found["runs"][0]["offset_bytes"], start, "{engine}");
            assert_eq!(found["runs"][0]["len_bytes"], end - start, "{engine}");
            assert_eq!(found["runs"].as_array().map(Vec::len), Some(1), "{engine}");
        }
    }
}

#[test]
fn files_of_different_lengths_differ_unless_a_range_is_given() {
    let dir = scratch();
    let (long, short) = (dir.path().join("long"), dir.path().join("short"));
    let bytes = write_noise(&long, 2 * MIB + 5, 52);
    fs::write(&short, &bytes[..MIB]).expect("the file can be written");
    let lacks = MIB + 5;
    for (source, dest, side) in [(&long, &short, "dest"), (&short, &long, "source")] {
        let (report, status) = verify(&[name(source), name(dest)]);
        assert_eq!(status, 1, "{report}");
        assert_eq!(report["differences"]["shorter"]["side"], side);
        assert_eq!(report["differences"]["shorter"]["lacks_bytes"], lacks);
        assert_eq!(report["differences"]["differing_bytes"], 0);
    }
    let (report, status) = verify(&["--count", &MIB.to_string(), name(&short), name(&long)]);
    assert_eq!(status, 0, "{report}");
}

#[test]
fn an_image_verifies_on_a_larger_disk() {
    let dir = memory_dir();
    let (image, disk) = (dir.path().join("image"), dir.path().join("disk"));
    let bytes = write_noise(&image, 3 * MIB + 300, 53);
    let mut on_disk = noise(8 * MIB, 54);
    on_disk[..bytes.len()].copy_from_slice(&bytes);
    for engine in engines() {
        fs::write(&disk, &on_disk).expect("the file can be written");
        let Some(dest) = LoopDevice::over(&disk) else { return };
        let dest_name = name(dest.path());
        let (report, status) = verify(&["--engine", engine, name(&image), dest_name]);
        assert_eq!(status, 0, "{engine}: {report}");
        assert_eq!(report["dest"]["cache"], "direct", "{report}");
        // Conversely, the disk is the source, and the image lacks its rest.
        let (report, status) = verify(&["--engine", engine, dest_name, name(&image)]);
        assert_eq!((status, &report["differences"]["shorter"]["side"]), (1, &"dest".into()), "{engine}: {report}");
    }
}

#[test]
fn a_stream_is_compared_with_a_file_including_its_length() {
    let dir = scratch();
    let file = dir.path().join("file");
    let bytes = write_noise(&file, 2 * MIB + 9, 55);
    for (stream, status, side) in [
        (bytes.clone(), 0, None),
        (bytes[..MIB].to_vec(), 1, Some("source")),
        ([&bytes[..], b"more"].concat(), 1, Some("dest")),
    ] {
        let arguments = ["verify", "--json", "--progress", "none", "-", name(&file)];
        let output = haul().args(arguments).write_stdin(stream).output().expect("haul runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        assert_eq!(output.status.code(), Some(status), "{report}");
        assert_eq!(report["differences"]["shorter"]["side"].as_str(), side);
    }
}

#[test]
fn verify_writes_nothing_and_accepts_a_read_only_dest() {
    let dir = memory_dir();
    let (image, disk) = (dir.path().join("image"), dir.path().join("disk"));
    let bytes = write_noise(&image, 2 * MIB, 56);
    fs::write(&disk, &bytes).expect("the file can be written");
    let Some(dest) = LoopDevice::read_only(&disk) else { return };
    let (report, status) = verify(&[name(&image), name(dest.path())]);
    assert_eq!(status, 0, "{report}");
    let (report, status) = verify(&["/dev/zero", name(dest.path())]);
    assert_eq!((status, &report["bytes"]["compared_bytes"]), (1, &(2 * MIB).into()), "{report}");
}

#[test]
fn the_verdict_precedes_the_differences() {
    let dir = scratch();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let mut bytes = write_noise(&one, MIB, 57);
    fs::write(&other, &bytes).expect("the file can be written");
    let messages = |expected: i32| {
        let output = haul().args(["verify", name(&one), name(&other)]).output().expect("haul runs");
        assert_eq!(output.status.code(), Some(expected));
        in_one_line(&output.stderr)
    };
    assert!(messages(0).starts_with("haul: equal: 1.05 MB compared, "), "{}", messages(0));
    bytes[700_000] ^= 1;
    fs::write(&other, &bytes).expect("the file can be written");
    let text = messages(1);
    assert!(text.starts_with("haul: different: 1.05 MB compared, "), "{text}");
    assert!(text.contains("byte 700000") && text.contains("699904+512"), "{text}");
}

#[test]
fn sides_that_cannot_be_compared_are_refused_with_the_reason() {
    let dir = scratch();
    let one = dir.path().join("one");
    write_noise(&one, 1000, 58);
    for (words, status, why) in [
        (vec![name(&one), "-"], 2, "compares with a file or a device"),
        (vec![name(&one), "/nowhere/at/all"], 1, "cannot open destination /nowhere/at/all"),
        (vec!["--seek", "2000", name(&one), name(&one)], 2, "--seek 2000 is beyond the end"),
        (vec!["--count", "2000", name(&one), name(&one)], 2, "1000 bytes too many"),
    ] {
        let output = haul().arg("verify").args(&words).output().expect("haul runs");
        let messages = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {messages}");
        assert!(messages.contains(why), "{words:?}: {messages}");
    }
}

#[test]
fn an_endless_stream_is_compared_to_the_end_of_the_dest() {
    let dir = scratch();
    let file = dir.path().join("file");
    fs::write(&file, "y\n".repeat(MIB)).expect("the file can be written");
    let mut endless = Command::new("yes").stdout(Stdio::piped()).spawn().expect("coreutils are installed");
    let stream = endless.stdout.take().expect("it is piped");
    // In one statement: the command keeps its end of the pipe open, so that yes would not receive SIGPIPE.
    let output = Command::new(env!("CARGO_BIN_EXE_haul"))
        .args(["verify", "--json", "-", name(&file)])
        .stdin(stream)
        .stderr(Stdio::null())
        .output()
        .expect("haul runs");
    endless.wait().expect("it is a child of this process");
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(report["differences"]["shorter"]["side"], "dest");
    assert_eq!(report["bytes"]["compared_bytes"], 2 * MIB);
}
