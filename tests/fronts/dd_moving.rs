//! dd while it runs, and late failures: signals, progress, full disks, failing calls.
use crate::dd;
use crate::dd::{GNU, shell, without_times};
use crate::support::{
    FailingDisk, LoopDevice, Mount, Terminal, has, haul_command, haul_path, memory_dir, noise, wait_for_handler,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// Starts `program` as dd, with pipes for standard error and input.
fn start(program: &Path, words: &[&str]) -> (Child, ChildStderr) {
    let mut command = Command::new(program);
    command.arg0("dd").args(words).env("LC_ALL", "C").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let messages = child.stderr.take().expect("it is piped");
    (child, messages)
}

/// Reads until `enough` accepts the messages.
#[track_caller]
fn read_until(messages: &mut ChildStderr, enough: impl Fn(&str) -> bool) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !enough(&text) {
        assert_eq!(messages.read(&mut byte).expect("it can be read"), 1, "it ended after {text:?}");
        text.push(byte[0].into());
    }
    text
}

/// Records in and out, and bytes, of the lines printed at a signal.
fn counts(text: &str) -> [u64; 3] {
    let number = |line: &str| line.split(['+', ' ']).next().and_then(|word| word.parse().ok()).expect("a number");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0].ends_with("records in") && lines[1].ends_with("records out"), "{text:?}");
    [number(lines[0]), number(lines[1]), number(lines[2])]
}

#[test]
fn a_signal_during_a_block_copy_prints_records_that_are_written() {
    let dir = memory_dir();
    let [backing, out, gate] = ["backing", "out", "gate"].map(|name| dir.path().join(name));
    let bytes = noise(24 << 20, 5);
    fs::write(&backing, &bytes).expect("the file can be written");
    fs::write(&gate, "").expect("the file can be written");
    // Reads from there block while the gate exists: it cannot end before it is interrupted.
    let Some(disk) = FailingDisk::stalling(dir.path(), &backing, 12 << 20, &gate) else { return };
    let (source, dest) = (format!("if={}", disk.path().display()), format!("of={}", out.display()));
    let explained = Command::new(haul_path()).arg("dd").args(["--explain", &source, &dest]).output().expect("it runs");
    assert!(explained.stdout.starts_with(b"blocks: "), "{explained:?}");
    let (mut child, mut messages) = start(&haul_path(), &[&source, &dest]);
    wait_for_handler(child.id(), 10);
    let pid = Pid::from_child(&child);
    let reported = loop {
        kill_process(pid, Signal::USR1).expect("it is a child of this process");
        let reported = counts(&read_until(&mut messages, |text| text.matches('\n').count() == 3));
        if reported[2] > 0 {
            break reported;
        }
    };
    assert!(reported[0] * 512 == reported[2] && reported[1] * 512 == reported[2], "{reported:?}");
    kill_process(pid, Signal::INT).expect("it is a child of this process");
    fs::remove_file(&gate).expect("it exists");
    let last = counts(&read_until(&mut messages, |text| text.matches('\n').count() == 3));
    assert_eq!(child.wait().expect("it is a child of this process").signal(), Some(2));
    assert!(last[2] >= reported[2] && last[0] * 512 == last[2], "{reported:?}, then {last:?}");
    assert!(last[2] < bytes.len() as u64, "it was not interrupted");
    let left = fs::read(&out).expect("it was created");
    let claimed = last[2] as usize;
    assert!(
        left.len() >= claimed && left[..claimed] == bytes[..claimed],
        "{claimed} bytes were reported and are not there"
    );
}

#[test]
fn an_ignored_signal_stays_ignored() {
    dd::same_in_both(&["trap '' INT; cat in | { dd of=out bs=1000 iflag=fullblock & kill -INT $!; wait $!; }"]);
}

/// Records of three bytes, the second of which is sent after the progress of the first was printed.
#[test]
fn progress_is_one_rewritten_line_that_ends_before_the_counts() {
    let (mut child, mut messages) = start(&haul_path(), &["status=progress", "bs=3", "of=/dev/null"]);
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"abc").expect("it listens");
    let first = read_until(&mut messages, |text| text.ends_with('B') || text.ends_with("B/s"));
    assert!(first.starts_with("\r3 bytes copied, "), "{first:?}");
    stdin.write_all(b"def").expect("it listens");
    let more = read_until(&mut messages, |text| text.contains("\r6 bytes copied, ") && text.ends_with("B/s"));
    assert!(!more.contains('\n'), "{more:?}");
    drop(stdin);
    let mut end = String::new();
    messages.read_to_string(&mut end).expect("it is UTF-8");
    assert!(child.wait().expect("it is a child of this process").success());
    let (_, end) = end.split_once('\n').expect("the progress line ends");
    assert_eq!(without_times(end), "2+0 records in\n2+0 records out\n6 bytes copied\n");
}

/// As in GNU's test dd/stats: no data for longer than a second, then two records at once.
#[test]
fn overdue_progress_is_printed_after_the_next_record() {
    let (mut child, mut messages) = start(&haul_path(), &["status=progress", "bs=1", "of=/dev/null"]);
    let mut stdin = child.stdin.take().expect("it is piped");
    // Longer than the second after which progress is due; a longer sleep on a busy machine has no effect.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    stdin.write_all(b"1\n").expect("it listens");
    drop(stdin);
    let mut all = String::new();
    messages.read_to_string(&mut all).expect("it is UTF-8");
    assert!(child.wait().expect("it is a child of this process").success());
    assert!(all.starts_with("\r1 byte copied, "), "{all:?}");
    assert!(!all.contains("0 bytes"), "{all:?}");
    assert!(all.contains("\n2+0 records in\n2+0 records out\n2 bytes copied, "), "{all:?}");
}

#[test]
fn full_records_are_counted_while_a_slow_pipe_fills_the_next() {
    let (mut child, mut messages) = start(&haul_path(), &["bs=3", "iflag=fullblock", "of=/dev/null"]);
    wait_for_handler(child.id(), 10);
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"abcdefgh").expect("it listens");
    let pid = Pid::from_child(&child);
    let reported = loop {
        kill_process(pid, Signal::USR1).expect("it is a child of this process");
        let reported = counts(&read_until(&mut messages, |text| text.matches('\n').count() == 3));
        if reported[2] > 0 {
            break reported;
        }
    };
    assert_eq!(reported, [2, 2, 6]);
    stdin.write_all(b"ij").expect("it listens");
    drop(stdin);
    let mut end = String::new();
    messages.read_to_string(&mut end).expect("it is UTF-8");
    assert!(child.wait().expect("it is a child of this process").success());
    assert_eq!(without_times(&end), "3+1 records in\n3+1 records out\n10 bytes copied\n");
}

/// GNU's test dd/no-allocate: no buffer without data to copy, but one for skipping by reading.
#[test]
fn a_buffer_is_allocated_only_to_copy_or_to_skip() {
    let one_side = |words: &str| format!("ulimit -v 71680; dd {words}");
    for words in ["bs=300M count=0", "ibs=300M count=0", "obs=300M count=0"] {
        dd::same_in_both(&[&one_side(&format!("{words} if=/dev/null of=/dev/null"))]);
    }
    // The shell holds the pipe open and has written a record, so that no dd blocks, even one that gets its buffer.
    let tape = "mkfifo tape; exec 3<>tape; printf %512s '' >&3; ";
    let both = [
        "ibs=300M skip=1 count=0 if=tape",
        "obs=300M seek=1 count=0 of=tape",
        "bs=300M skip=1 count=0 if=tape",
        "bs=300M seek=1 count=0 of=tape",
    ];
    for words in both {
        dd::same_in_both(&[&format!("{tape}ulimit -v 71680; dd {words}")]);
    }
}

#[test]
fn progress_is_printed_on_a_terminal_while_the_source_is_silent() {
    let mut command = haul_command(&["dd", "status=progress", "bs=3", "of=/dev/null"]);
    command.env("LC_ALL", "C");
    let mut session = Terminal::start(command);
    session.answer("ab");
    session.wait_for_match("\r3 bytes copied, ");
    session.wait_for_match("\r3 bytes copied, ");
    session.control('d');
    let (shown, status) = session.end();
    assert!(shown.lines().contains("\n1+0 records in\n1+0 records out\n3 bytes copied, "), "{}", shown.text);
    assert_eq!(status, 0);
}

/// The result of `line`, in which `full/` is a file system of 64 KiB: status, messages and its contents.
fn on_a_small_disk(program: &Path, line: &str) -> Option<(Option<i32>, String, Vec<u8>)> {
    let dir = memory_dir();
    let at = dir.path().join("full");
    fs::create_dir(&at).expect("the test directory is writable");
    let _mount = Mount::tmpfs(&at, 64 << 10)?;
    fs::write(dir.path().join("in"), noise(300_000, 6)).expect("the file can be written");
    let output = shell(program, line, dir.path());
    let left = fs::read(at.join("out")).unwrap_or_default();
    Some((output.status.code(), without_times(&String::from_utf8_lossy(&output.stderr)), left))
}

#[test]
fn bytes_that_fit_on_a_full_disk_are_written_and_counted() {
    let lines = [
        ("dd if=in of=full/out bs=10000", "error writing", "7+0 records in\n6+0"),
        ("dd if=in of=full/out", "writing to", "129+0 records in\n128+0"),
        ("dd if=in of=full/out ibs=700 obs=10000", "writing to", "100+0 records in\n6+1"),
        ("cat in | dd of=full/out bs=4k iflag=fullblock", "error writing", "17+0 records in\n16+0"),
        ("dd if=in of=full/out conv=swab bs=200k", "writing to", "1+0 records in\n0+1"),
        ("dd if=/dev/zero of=full/out bs=16M count=2", "error writing", "1+0 records in\n0+0"),
    ];
    for (line, sentence, reported) in lines {
        let Some((status, messages, left)) = on_a_small_disk(&haul_path(), line) else { return };
        let reported = format!("{reported} records out\n65536 bytes (66 kB, 64 KiB) copied\n");
        assert_eq!(messages, format!("dd: {sentence} 'full/out': No space left on device\n{reported}"), "{line}");
        assert_eq!((status, left.len()), (Some(1), 64 << 10), "{line}");
        if dd::reference().is_none() {
            continue;
        }
        let theirs = on_a_small_disk(Path::new(GNU), line).expect("it was mounted before");
        // A partially written record counts only with reblocking.
        assert_eq!((theirs.0, theirs.1), (status, messages), "{line}");
        assert!(theirs.2 == left, "{line}: the bytes differ");
    }
}

/// The result of `line`, in which `full/` is an ext4 file system of 8 MiB: the first two lines and its contents.
fn on_ext4(program: &Path, line: &str) -> Option<(Option<i32>, Vec<String>, Vec<u8>)> {
    let dir = memory_dir();
    let (at, image) = (dir.path().join("full"), dir.path().join("image"));
    fs::create_dir(&at).expect("the test directory is writable");
    fs::write(&image, vec![0; 8 << 20]).expect("the file can be written");
    let made = Command::new("mkfs.ext4").args(["-q", "-O", "^has_journal"]).arg(&image).status();
    assert!(made.expect("it exists").success());
    let disk = LoopDevice::over(&image)?;
    let _mount = Mount::device(&at, disk.path())?;
    fs::write(dir.path().join("in"), noise(12_000_000, 6)).expect("the file can be written");
    let output = shell(program, line, dir.path());
    let messages = String::from_utf8_lossy(&output.stderr).lines().take(2).map(str::to_owned).collect();
    Some((output.status.code(), messages, fs::read(at.join("out")).expect("it was created")))
}

#[test]
fn a_file_at_the_end_of_a_file_system_is_as_long_as_with_gnu_dd() {
    if dd::reference().is_none() || !has("mkfs.ext4") {
        return;
    }
    for line in ["dd if=in of=full/out bs=4k", "dd if=in of=full/out bs=7000", "dd if=in of=full/out ibs=64k obs=5000"]
    {
        let Some(ours) = on_ext4(&haul_path(), line) else { return };
        let theirs = on_ext4(Path::new(GNU), line).expect("it was mounted before");
        assert_eq!((theirs.0, &theirs.1, theirs.2.len()), (ours.0, &ours.1, ours.2.len()), "{line}");
        assert!(theirs.2 == ours.2, "{line}: the bytes differ");
    }
}

/// Limits files to 1 KiB. An instrumented binary exceeds that at its end as well, and prints an error.
const SMALL_FILES: &str = "export LLVM_PROFILE_FILE=/dev/null; trap '' XFSZ; ulimit -f 1; ";

/// GNU dd 9.1 reports that the end cannot be set, and copies anyway with status 0.
#[test]
fn an_output_length_that_cannot_be_set_is_an_error() {
    for line in ["dd if=in of=out seek=10000 count=0", "dd if=in of=out seek=10000 count=0 status=none"] {
        let line = format!("{SMALL_FILES}{line}");
        let mut programs = vec![haul_path()];
        programs.extend(dd::reference());
        for program in programs {
            let dir = memory_dir();
            fs::write(dir.path().join("in"), noise(1000, 1)).expect("the file can be written");
            let output = shell(&program, &line, dir.path());
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            let sentence = "dd: failed to truncate to 5120000 bytes in output file 'out': File too large\n";
            if program == Path::new(GNU) {
                assert!(messages.starts_with(sentence), "{messages}");
            } else {
                assert_eq!((messages.as_str(), output.status.code()), (sentence, Some(1)));
            }
        }
    }
}

#[test]
fn a_file_size_limit_is_reported_at_its_offset() {
    let lines = ["dd if=/dev/zero of=out bs=64 count=100 conv=sparse", "dd if=in of=out bs=256 seek=3"];
    let lines = lines.map(|line| format!("{SMALL_FILES}{line}"));
    dd::same_in_both(&lines.each_ref().map(String::as_str));
}

#[test]
fn a_call_that_fails_at_the_end_is_reported_as_by_gnu_dd() {
    if !has("strace") || dd::reference().is_none() {
        return;
    }
    // Only calls for that file.
    let failing = |file: &str, call: &str, error: &str, dd: &str| {
        let strace = format!("strace -f -qqq -o /dev/null -P {file} -e trace={call} -e inject={call}:error={error}");
        format!("touch out; {strace} bash -c 'exec -a dd \"$0\" \"$@\"' \"$PROGRAM\" {dd}")
    };
    let lines = [
        failing("out", "ftruncate", "EIO", "if=in of=out bs=100 seek=2 conv=notrunc count=1"),
        failing("out", "ftruncate", "EPERM", "if=/dev/zero of=out bs=100 count=3 conv=sparse,notrunc"),
        failing("in", "fadvise64", "EIO", "if=in of=out iflag=nocache"),
        failing("out", "fdatasync", "EIO", "if=in of=out conv=fdatasync"),
        failing("out", "fsync", "EIO", "if=in of=out conv=fsync"),
        failing("out", "fsync", "EINVAL", "if=in of=out conv=fsync"),
        failing("out", "fdatasync", "EINVAL", "if=in of=out conv=fdatasync"),
        failing("out", "fdatasync,fsync", "ENOSYS", "if=in of=out conv=fdatasync"),
        failing("out", "write", "EIO", "if=in of=out bs=300 count=2"),
        failing("in", "read", "EIO", "if=in of=out bs=300 count=2"),
        failing("in", "read", "EINTR:when=1", "if=in of=out bs=300 count=2"),
        failing("in", "lseek", "EIO", "if=in of=out bs=300 count=1"),
        failing("in", "close", "EIO", "if=in of=out"),
        failing("out", "close", "EIO", "if=in of=out"),
        failing("out", "close", "EIO", "if=in of=out conv=fsync status=none"),
    ];
    for line in lines {
        let [theirs, ours] = [Path::new(GNU), &haul_path()].map(|program| {
            let dir = memory_dir();
            fs::write(dir.path().join("in"), noise(1000, 1)).expect("the file can be written");
            let line = format!("PROGRAM={}; {line}", program.display());
            let output = shell(program, &line, dir.path());
            let left = fs::read(dir.path().join("out")).expect("it was created");
            (output.status.code(), without_times(&String::from_utf8_lossy(&output.stderr)), left)
        });
        // strace prints the complete path.
        let messages =
            |text: &str| text.lines().filter(|line| !line.starts_with("strace:")).collect::<Vec<_>>().join("\n");
        assert_eq!((theirs.0, messages(&theirs.1)), (ours.0, messages(&ours.1)), "{line}");
        assert!(theirs.2 == ours.2, "{line}: the bytes differ");
    }
}

/// GNU dd 9.1 treats every result of that as success; later versions do not.
#[test]
fn nocache_without_a_copy_reports_a_cache_that_cannot_be_evicted() {
    if !has("strace") {
        return;
    }
    for (file, words) in [("in", "if=in iflag=nocache"), ("out", "of=out oflag=nocache conv=notrunc")] {
        let dir = memory_dir();
        ["in", "out"].iter().for_each(|name| fs::write(dir.path().join(name), "x").expect("the file can be written"));
        let strace = format!("strace -f -qqq -o /dev/null -P {file} -e trace=fadvise64 -e inject=fadvise64:error=EIO");
        let line = format!("{strace} {} dd {words} count=0 </dev/null", haul_path().display());
        let output = shell(&haul_path(), &line, dir.path());
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(
            messages.contains(&format!("failed to discard cache for: '{file}': Input/output error\n")),
            "{messages}"
        );
        assert_eq!(output.status.code(), Some(1), "{messages}");
    }
}

#[test]
fn iflag_nocache_evicts_all_of_the_source() {
    if !has("strace") {
        return;
    }
    // nocache_eof
    let dir = memory_dir();
    let len = (3 << 20) + 777;
    fs::write(dir.path().join("in"), noise(len, 7)).expect("the file can be written");
    for words in ["bs=64k", "bs=1000", "bs=4M", "bs=64k count=1000"] {
        let line =
            format!("strace -f -qqq -e trace=fadvise64 -o trace $PROGRAM if=in of=/dev/null iflag=nocache {words}");
        let line = format!("PROGRAM='{} dd'; {line}", haul_path().display());
        let output = shell(&haul_path(), &line, dir.path());
        assert!(output.status.success(), "{output:?}");
        let trace = fs::read_to_string(dir.path().join("trace")).expect("it was written");
        let mut given_back = 0;
        for call in trace.lines().filter(|line| line.contains("POSIX_FADV_DONTNEED")) {
            let arguments: Vec<&str> = call.split(", ").collect();
            let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
            assert!(number(1) <= given_back, "{words}: not given back from {given_back} on:\n{trace}");
            given_back = if number(2) == 0 { u64::MAX } else { given_back.max(number(1) + number(2)) };
        }
        assert!(given_back >= len as u64, "{words}: only {given_back} bytes were given back:\n{trace}");
    }
}

#[test]
fn a_buffer_of_30_mb_works_in_little_memory() {
    let dir = memory_dir();
    // Debug and coverage builds are larger than release builds.
    let line = "ulimit -v 102400; dd if=/dev/zero of=out bs=30M count=1; dd if=/dev/zero bs=30M count=0 of=out";
    let output = shell(&haul_path(), line, dir.path());
    let messages = without_times(&String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && messages.starts_with("1+0 records in\n1+0 records out\n31457280 bytes"),
        "{messages}"
    );
    dd::same_in_both(&["ulimit -v 102400; dd if=/dev/zero of=out bs=300M count=1"]);
}
