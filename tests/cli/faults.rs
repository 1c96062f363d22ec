//! Disks with bad sectors, full disks, sources that change: the reported error, and the claimed bytes.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Mount, Running, cmp_ranges, copied_bytes, engines, haul, memory_dir,
};
use crate::support::{depth_of, noise, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::Stdio;

const MIB: usize = 1 << 20;
/// A bad sector of 4096 bytes, within a block of 64 KiB that begins at 2 MiB.
const BAD: std::ops::Range<u64> = 2 * MIB as u64 + 8192..2 * MIB as u64 + 12_288;
const SIZE: usize = 4 * MIB;

/// Runs a copy that must fail with status 1; checks the reported offset, and that the claimed bytes are in the
/// file `arrived`; `from` has the content of the source.
#[track_caller]
fn fails_at_the_bad_place(options: &[&str], source: &Path, dest: &Path, side: &str, from: &Path, arrived: &Path) {
    let all = [&["copy", "--yes", "--json", "--block-size", "64K"], options].concat();
    let assert = haul().args(&all).args([source, dest]).assert().code(1);
    let messages = stderr(&assert);
    let printed = &assert.get_output().stdout;
    let report: Value =
        serde_json::from_slice(printed).unwrap_or_else(|error| panic!("{error}: no report\n{messages}"));
    assert_eq!(report["status"], "failed", "{report:#}");
    assert_eq!(report["error"]["side"], side, "{report:#}");
    let offset = report["error"]["offset_bytes"].as_u64().expect("an offset is reported");
    let first_bad_block = 2 * MIB as u64;
    assert!((first_bad_block..BAD.end).contains(&offset), "{options:?}: {offset} is not the bad place\n{report:#}");
    assert!(!messages.contains("panicked"), "{messages}");
    let claimed = report["claimed"]["len_bytes"].as_u64().expect("the claimed bytes are reported");
    assert!(claimed <= BAD.start, "{options:?}: {claimed} bytes are claimed, byte {} is bad", BAD.start);
    cmp_ranges(from, 0, arrived, 0, claimed);
}

#[test]
fn a_read_error_of_a_file_is_reported_with_its_offset() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 101);
    for engine in engines() {
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, BAD) else { return };
        let _ = fs::remove_file(&dest);
        fails_at_the_bad_place(&["--engine", engine], &disk.path(), &dest, "source", &backing, &dest);
    }
}

#[test]
fn a_read_error_of_a_disk_is_reported_with_its_offset() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 102);
    for engine in engines() {
        for direct in ["auto", "never"] {
            let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, BAD) else { return };
            let Some(source) = LoopDevice::over(&disk.path()) else { return };
            let _ = fs::remove_file(&dest);
            let options = ["--engine", engine, "--direct", direct];
            // With buffered reads the kernel may read pages ahead together with the bad one, so the offset is
            // only that of a page.
            fails_at_the_bad_place(&options, source.path(), &dest, "source", &backing, &dest);
        }
    }
}

#[test]
fn a_write_error_of_a_disk_is_reported_with_its_offset() {
    let dir = memory_dir();
    let (backing, source) = (dir.path().join("backing"), dir.path().join("source"));
    write_noise(&source, SIZE, 103);
    for engine in engines() {
        fs::write(&backing, noise(SIZE, 104)).expect("the file can be written");
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, BAD) else { return };
        let Some(dest) = LoopDevice::over(&disk.path()) else { return };
        let options = ["--engine", engine, "--no-journal"];
        fails_at_the_bad_place(&options, &source, dest.path(), "dest", &source, &backing);
    }
}

#[test]
fn a_write_error_at_the_flush_fails_the_copy() {
    let dir = memory_dir();
    let (backing, source) = (dir.path().join("backing"), dir.path().join("source"));
    write_noise(&source, SIZE, 105);
    for engine in engines() {
        fs::write(&backing, noise(SIZE, 106)).expect("the file can be written");
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, BAD) else { return };
        let Some(dest) = LoopDevice::over(&disk.path()) else { return };
        // Buffered: every write succeeds, and writing back the page cache fails.
        let options = ["copy", "--yes", "--engine", engine, "--direct", "never"];
        haul().args(options).arg(&source).arg(&dest).assert().code(1);
    }
}

#[test]
fn a_stream_that_does_not_fit_is_reported_with_the_offset_of_its_end() {
    let dir = scratch();
    let at = dir.path().join("small");
    fs::create_dir(&at).expect("the test directory is writable");
    for engine in engines() {
        let Some(_mount) = Mount::tmpfs(&at, 2 * MIB as u64) else { return };
        let dest = at.join("dest");
        let mut command = haul();
        command.args(["copy", "--engine", engine, "--json", "-"]).arg(&dest).write_stdin(noise(SIZE, 107));
        let assert = command.assert().code(1);
        let messages = stderr(&assert);
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
        assert_eq!(report["error"]["kind"], "no_space", "{engine}: {report:#}\n{messages}");
        let offset = report["error"]["offset_bytes"].as_u64().expect("an offset is reported");
        assert!(offset <= 2 * MIB as u64, "{engine}: {offset} is beyond the room there was");
        assert!(messages.contains("dest"), "the path is not named in:\n{messages}");
    }
}

#[test]
fn a_file_that_does_not_fit_is_refused_or_fails_with_the_reason() {
    let dir = scratch();
    let (at, source) = (dir.path().join("small"), dir.path().join("source"));
    fs::create_dir(&at).expect("the test directory is writable");
    write_noise(&source, SIZE, 108);
    let Some(_mount) = Mount::tmpfs(&at, 2 * MIB as u64) else { return };
    let assert = haul().arg("copy").args([&source, &at.join("dest")]).assert().failure();
    let messages = stderr(&assert);
    assert!(matches!(assert.get_output().status.code(), Some(1 | 3)), "{messages}");
    let words = ["space", "room", "free", "small", "full"];
    assert!(words.iter().any(|word| messages.contains(word)), "no reason in:\n{messages}");
}

#[test]
fn a_full_device_is_reported() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 100_000, 109);
    for engine in engines() {
        let messages =
            stderr(&haul().args(["copy", "--engine", engine]).arg(&source).arg("/dev/full").assert().code(1));
        assert!(messages.contains("/dev/full"), "{messages}");
        assert!(!messages.contains("panicked"), "{messages}");
    }
}

/// Starts a slow copy of 12 MiB and waits until bytes are copied.
fn start_slowly(engine: &str, source: &Path, dest: &Path) -> Running {
    let [source, dest] = [source, dest].map(|path| path.to_str().expect("paths of test directories are UTF-8"));
    let slow = ["copy", "--engine", engine, "--limit", "6M", "--block-size", "64K", "--depth", depth_of(engine, "4")];
    let arguments = [&slow[..], &["--progress", "json", source, dest]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy
}

#[test]
fn a_source_that_shrinks_fails_the_copy_at_its_new_end() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let new_end = 11 * MIB as u64 + 100;
    for engine in engines() {
        write_noise(&source, 12 * MIB, 110);
        let _ = fs::remove_file(&dest);
        let mut copy = start_slowly(engine, &source, &dest);
        OpenOptions::new()
            .write(true)
            .open(&source)
            .and_then(|file| file.set_len(new_end))
            .expect("this test created it");
        let (status, _) = copy.end();
        assert_eq!(status.code(), Some(1), "{engine}: {status}\n{}", copy.messages);
        assert!(
            copy.messages.contains(&new_end.to_string()),
            "{engine}: byte {new_end} is not named in:\n{}",
            copy.messages
        );
        assert!(!copy.messages.contains("panicked"), "{}", copy.messages);
    }
}

#[test]
fn a_source_that_grows_is_copied_to_its_first_length_with_a_warning() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        write_noise(&source, 12 * MIB, 111);
        let _ = fs::remove_file(&dest);
        let mut copy = start_slowly(engine, &source, &dest);
        OpenOptions::new()
            .write(true)
            .open(&source)
            .and_then(|file| file.set_len(13 << 20))
            .expect("this test created it");
        let (status, _) = copy.end();
        assert!(status.code().is_some_and(|code| code <= 1), "{engine}: {status}\n{}", copy.messages);
        assert!(
            copy.messages.contains("grew") || copy.messages.contains("grown"),
            "{engine}: no message:\n{}",
            copy.messages
        );
        assert_eq!(fs::metadata(&dest).expect("it was created").len(), 12 << 20, "{engine}");
        cmp_ranges(&source, 0, &dest, 0, 12 << 20);
    }
}

#[test]
fn a_failed_writeback_claims_no_bytes_and_names_no_offset() {
    let dir = memory_dir();
    let (backing, source) = (dir.path().join("backing"), dir.path().join("source"));
    // Longer than the window of dirty pages: writing back the first bytes fails while later ones are copied.
    write_noise(&source, 40 * MIB, 112);
    for engine in engines() {
        for flush in [&[][..], &["--no-flush"]] {
            let made = fs::File::create(&backing).and_then(|file| file.set_len(40 * MIB as u64));
            made.expect("the file can be written");
            let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, 8192..12_288) else { return };
            let Some(dest) = LoopDevice::over(&disk.path()) else { return };
            let options = ["copy", "--yes", "--json", "--engine", engine, "--direct", "never"];
            let assert = haul().args(options).args(flush).args([source.as_path(), dest.path()]).assert().code(1);
            let messages = stderr(&assert);
            let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
            let claimed = report["claimed"]["len_bytes"].as_u64().expect("the claimed bytes are reported");
            assert!(
                claimed <= 8192,
                "{engine} {flush:?}: {claimed} bytes are claimed, byte 8192 is bad\n{report:#}\n{messages}"
            );
            assert_eq!(report["durable"], false, "{engine} {flush:?}: {report:#}");
            // The write that reported the error was to another offset, so the error may have none.
            let error = &report["error"];
            assert_eq!((&error["offset_bytes"], &error["sector"]), (&Value::Null, &Value::Null), "{engine}: {error:#}");
            assert_eq!(error["errno"], 5, "{engine}: {error:#}");
            assert!(!messages.contains("at byte") && !messages.contains("sector"), "{engine}: {messages}");
            assert!(messages.contains("the kernel does not report which bytes"), "{engine}: {messages}");
        }
    }
}

#[test]
fn a_failed_copy_of_a_range_does_not_truncate_the_file() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 113);
    for engine in engines() {
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, 0..4096) else { return };
        // Shorter than the end of the range, so that the copy would extend it.
        fs::write(&dest, noise(MIB, 114)).expect("the file can be written");
        let options = ["copy", "--engine", engine, "--block-size", "64K", "--seek", "4096"];
        haul().args(options).args([&disk.path(), &dest]).assert().code(1);
        assert!(fs::metadata(&dest).expect("it exists").len() >= MIB as u64, "{engine}: it was interrupted");
        assert_eq!(fs::read(&dest).expect("it exists")[..4096], noise(MIB, 114)[..4096], "{engine}");
    }
}
