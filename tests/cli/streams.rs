//! Pipes, FIFOs and endless devices.
use crate::support;
use crate::support::{
    LoopDevice, Running, cmp, cmp_ranges, engines, filled, haul, haul_path, in_one_line, memory_dir, scratch,
};
use crate::support::{name, write_noise};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

const MIB: usize = 1 << 20;

/// Sizes of the pieces written into a pipe: none is a block, a page or a sector.
const PIECES: &[usize] = &[1, 3, 4095, 17, 70_001, 512, 1, 65_537, 2, 131_071];

/// Writes `bytes` in odd pieces, and yields after each, so that the reader finds the pipe empty or partly
/// filled.
fn dribble(bytes: &[u8], into: &mut impl Write) {
    let mut rest = bytes;
    for &piece in PIECES.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (now, later) = rest.split_at(piece.min(rest.len()));
        into.write_all(now).expect("the copy reads to the end");
        into.flush().expect("a pipe");
        thread::yield_now();
        rest = later;
    }
}

fn make_fifo(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status().expect("coreutils are installed");
    assert!(status.success());
}

#[test]
fn a_slow_pipe_is_copied_completely() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for size in [0, 1, 4096, 5 * MIB + 333] {
            let bytes = write_noise(&source, size, 11);
            let _ = fs::remove_file(&dest);
            let arguments = ["copy", "--engine", engine, "--progress", "none", "-", name(&dest)];
            let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
            let mut stdin = copy.child().stdin.take().expect("it is piped");
            dribble(&bytes, &mut stdin);
            drop(stdin);
            let (status, _) = copy.end();
            assert!(status.success(), "{engine}, {size} bytes: {status}\n{}", copy.messages);
            cmp(&source, &dest);
        }
    }
}

#[test]
fn count_limits_a_pipe_and_seek_places_it() {
    let dir = scratch();
    let (source, dest, expected) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("expected"));
    let bytes = write_noise(&source, 3 * MIB, 12);
    filled(&dest, 2 * MIB, 0x55);
    let mut model = vec![0x55; 2 * MIB];
    model[777..777 + MIB + 1].copy_from_slice(&bytes[..MIB + 1]);
    fs::write(&expected, model).expect("the file can be written");
    let mut command = haul();
    command.args(["copy", "--seek", "777", "--count", &(MIB + 1).to_string(), "-"]).arg(&dest);
    command.write_stdin(bytes).assert().success();
    cmp(&expected, &dest);
}

#[test]
fn a_pipe_that_ends_before_the_count_is_an_error() {
    let dir = scratch();
    let dest = dir.path().join("dest");
    let mut command = haul();
    let assert = command.args(["copy", "--count", "1000", "-"]).arg(&dest).write_stdin(vec![7; 999]).assert();
    let messages = support::stderr(&assert.failure().code(1));
    assert!(messages.contains("999"), "the offset of the early end is missing in:\n{messages}");
}

#[test]
fn standard_output_has_only_the_copied_bytes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for size in [0, 1, 4096, 3 * MIB + 99] {
            write_noise(&source, size, 13);
            let assert = haul().args(["copy", "--engine", engine]).arg(&source).arg("-").assert().success();
            fs::write(&dest, &assert.get_output().stdout).expect("the file can be written");
            cmp(&source, &dest);
        }
    }
}

#[test]
fn standard_output_can_be_a_file() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB + 5, 14);
    let file = File::create(&dest).expect("the file can be written");
    let mut copy = Running::start(&["copy", name(&source), "-"], Stdio::null(), Stdio::from(file));
    let (status, _) = copy.end();
    assert!(status.success(), "{}", copy.messages);
    cmp(&source, &dest);
}

#[test]
fn standard_input_from_a_file_begins_at_its_current_offset() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB + 5, 15);
    let mut file = File::open(&source).expect("it exists");
    file.read_exact(&mut [0; 1000]).expect("it is longer");
    let mut copy = Running::start(&["copy", "-", name(&dest)], Stdio::from(file), Stdio::null());
    let (status, _) = copy.end();
    assert!(status.success(), "{}", copy.messages);
    cmp_ranges(&source, 1000, &dest, 0, (2 * MIB + 5 - 1000) as u64);
    assert_eq!(fs::metadata(&dest).expect("it was created").len(), (2 * MIB + 5 - 1000) as u64);
}

#[test]
fn fifos_work_on_both_sides() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let (into, out) = (dir.path().join("into"), dir.path().join("out"));
    let bytes = write_noise(&source, MIB + 4_099, 16);
    make_fifo(&into);
    make_fifo(&out);
    let writer = thread::spawn({
        let into = into.clone();
        move || dribble(&bytes, &mut OpenOptions::new().write(true).open(into).expect("the copy opens it too"))
    });
    let reader = thread::spawn({
        let out = out.clone();
        move || fs::read(out).expect("the copy writes to it")
    });
    haul().args(["copy", "--progress", "none"]).args([&into, &out]).assert().success();
    // If the copy never opened them, both threads still wait for it; their opens are made to fail now.
    while !(writer.is_finished() && reader.is_finished()) {
        let open = |options: &mut OpenOptions, path| drop(options.custom_flags(libc::O_NONBLOCK).open(path));
        open(OpenOptions::new().read(true), &into);
        open(OpenOptions::new().write(true), &out);
        thread::sleep(std::time::Duration::from_millis(10));
    }
    writer.join().expect("all was read");
    fs::write(&dest, reader.join().expect("all was written")).expect("the file can be written");
    cmp(&source, &dest);
}

#[test]
fn a_pipe_overwrites_only_the_start_of_a_device() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    let bytes = write_noise(&source, 2 * MIB + 1_001, 17);
    for engine in engines() {
        filled(&disk, 4 * MIB, 0xAA);
        let Some(device) = LoopDevice::over(&disk) else { return };
        let mut command = haul();
        command.args(["copy", "--yes", "--engine", engine, "-"]).arg(&device).write_stdin(bytes.clone());
        command.assert().success();
        let mut model = vec![0xAA; 4 * MIB];
        model[..bytes.len()].copy_from_slice(&bytes);
        let expected = dir.path().join("expected");
        fs::write(&expected, model).expect("the file can be written");
        cmp(&expected, &device);
    }
}

#[test]
fn dev_zero_with_a_count_gives_that_many_zeros() {
    let dir = scratch();
    let (dest, expected) = (dir.path().join("dest"), dir.path().join("expected"));
    filled(&dest, MIB, 0xFF);
    filled(&expected, 300_001, 0);
    haul().args(["copy", "--count", "300001", "--seek", "0", "/dev/zero"]).arg(&dest).assert().success();
    // With a range, bytes after it do not change.
    cmp_ranges(&expected, 0, &dest, 0, 300_001);
    assert_eq!(fs::read(&dest).expect("it exists")[300_001..], vec![0xFF; MIB - 300_001]);
}

#[test]
fn dev_zero_without_a_count_into_a_file_is_a_usage_error() {
    let dir = scratch();
    let dest = dir.path().join("dest");
    let messages = support::stderr(&haul().args(["copy", "/dev/zero"]).arg(&dest).assert().code(2));
    assert!(messages.contains("--count"), "no advice in:\n{messages}");
    assert!(!dest.exists(), "the dest was made");
}

#[test]
fn dev_zero_fills_a_device_to_its_last_byte() {
    let dir = memory_dir();
    let (disk, expected) = (dir.path().join("disk"), dir.path().join("expected"));
    filled(&disk, MIB + 512, 0xAA);
    filled(&expected, MIB + 512, 0);
    let Some(device) = LoopDevice::over(&disk) else { return };
    haul().args(["copy", "--yes", "/dev/zero"]).arg(&device).assert().success();
    cmp(&expected, &device);
}

#[test]
fn dev_null_is_an_empty_source_and_discards_as_dest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB + 1, 18);
    haul().arg("copy").arg(&source).arg("/dev/null").assert().success();
    haul().args(["copy", "/dev/null"]).arg(&dest).assert().success();
    assert_eq!(fs::metadata(&dest).expect("it was created").len(), 0);
}

#[test]
fn a_reader_that_closes_the_pipe_is_an_error_not_a_signal_or_panic() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 4 * MIB, 19);
    for engine in engines() {
        let arguments = ["copy", "--engine", engine, "--progress", "none", name(&source), "-"];
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
        let mut stdout = copy.child().stdout.take().expect("it is piped");
        stdout.read_exact(&mut [0; 1000]).expect("it writes more");
        drop(stdout);
        let (status, _) = copy.end();
        assert_eq!(status.code(), Some(1), "{engine}: {status}\n{}", copy.messages);
        assert!(copy.messages.to_lowercase().contains("pipe"), "{engine}: {}", copy.messages);
        assert!(!copy.messages.contains("panicked"), "{engine}: {}", copy.messages);
    }
}

#[test]
fn a_closed_standard_descriptor_is_refused_as_source_and_dest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 1000, 77);
    for (script, side) in [(r#""$0" copy "$1" - >&-"#, "output"), (r#""$0" copy - "$2" <&-"#, "input")] {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(haul_path()).args([&source, &dest]);
        let output = shell.output().expect("a shell is installed");
        let messages = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.contains(&format!("standard {side}")), "{messages}");
        assert!(!dest.exists(), "it was created anyway");
    }
}

#[test]
fn a_file_as_standard_output_is_reported_as_a_file_and_flushed() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 70_001, 3);
    for (append, offset) in [(true, 11), (false, 5)] {
        fs::write(&dest, b"hello world").expect("there is enough space");
        let mut file = OpenOptions::new().write(true).append(append).open(&dest).expect("it exists");
        if !append {
            file.seek(SeekFrom::Start(5)).expect("files have offsets");
        }
        let copy =
            Command::new(haul_path()).args(["copy", "-v", name(&source), "-"]).stdout(file).output().expect("it runs");
        let messages = in_one_line(&copy.stderr);
        assert!(copy.status.success(), "{messages}");
        assert!(messages.contains(&format!("destination - → {}, file, as a stream", name(&dest))), "{messages}");
        assert!(!messages.contains("pipe"), "{messages}");
        assert!(messages.contains(", durable") || messages.contains(", in memory"), "{messages}");
        let after = fs::read(&dest).expect("it exists");
        assert_eq!(after[..offset], b"hello world"[..offset]);
        assert!(after[offset..] == bytes, "append: {append}");
    }
    let file = OpenOptions::new().append(true).open(&dest).expect("it exists");
    let copy = Command::new(haul_path()).args(["copy", "--seek", "5", name(&source), "-"]).stdout(file).output();
    let messages = in_one_line(copy.expect("it runs").stderr);
    assert!(
        messages.contains("--seek: destination - is a file, as a stream, and a stream has no offsets"),
        "{messages}"
    );
}
