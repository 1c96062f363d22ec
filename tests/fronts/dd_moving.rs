//! dd while it runs, and where it fails late: signals, progress, full disks, calls that fail.
use crate::dd;
use crate::dd::{GNU, shell, without_times};
use crate::support::{FailingDisk, LoopDevice, Mount, Terminal, has, haul_path, memory_dir, noise, wait_for_handler};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// `program` as dd, with standard error and input in our hands.
fn start(program: &Path, words: &[&str]) -> (Child, ChildStderr) {
    let mut command = Command::new(program);
    command.arg0("dd").args(words).env("LC_ALL", "C").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let said = child.stderr.take().expect("it is piped");
    (child, said)
}

/// Reads until `enough` likes what was said.
#[track_caller]
fn read_until(said: &mut ChildStderr, enough: impl Fn(&str) -> bool) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !enough(&text) {
        assert_eq!(said.read(&mut byte).expect("it can be read"), 1, "it ended after {text:?}");
        text.push(byte[0].into());
    }
    text
}

/// Records in and out, and bytes, of what was told at a signal.
fn counts(text: &str) -> [u64; 3] {
    let number = |line: &str| line.split(['+', ' ']).next().and_then(|word| word.parse().ok()).expect("a number");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0].ends_with("records in") && lines[1].ends_with("records out"), "{text:?}");
    [number(lines[0]), number(lines[1]), number(lines[2])]
}

#[test]
fn a_signal_while_blocks_move_tells_records_and_the_bytes_told_are_there() {
    let dir = memory_dir();
    let [backing, out, gate] = ["backing", "out", "gate"].map(|name| dir.path().join(name));
    let bytes = noise(24 << 20, 5);
    fs::write(&backing, &bytes).expect("scratch takes files");
    fs::write(&gate, "").expect("scratch takes files");
    // From there on nothing comes before the gate is gone: it cannot have ended before it is interrupted.
    let Some(disk) = FailingDisk::stalling(dir.path(), &backing, 12 << 20, &gate) else { return };
    let (source, dest) = (format!("if={}", disk.path().display()), format!("of={}", out.display()));
    let explained = Command::new(haul_path()).arg("dd").args(["--explain", &source, &dest]).output().expect("it runs");
    assert!(explained.stdout.starts_with(b"blocks: "), "{explained:?}");
    let (mut child, mut said) = start(&haul_path(), &[&source, &dest]);
    wait_for_handler(child.id(), 10);
    let pid = Pid::from_child(&child);
    let told = loop {
        kill_process(pid, Signal::USR1).expect("it is our child");
        let told = counts(&read_until(&mut said, |text| text.matches('\n').count() == 3));
        if told[2] > 0 {
            break told;
        }
    };
    assert!(told[0] * 512 == told[2] && told[1] * 512 == told[2], "{told:?}");
    kill_process(pid, Signal::INT).expect("it is our child");
    fs::remove_file(&gate).expect("it is there");
    let last = counts(&read_until(&mut said, |text| text.matches('\n').count() == 3));
    assert_eq!(child.wait().expect("it is our child").signal(), Some(2));
    assert!(last[2] >= told[2] && last[0] * 512 == last[2], "{told:?}, then {last:?}");
    assert!(last[2] < bytes.len() as u64, "it was not interrupted");
    let left = fs::read(&out).expect("it was made");
    let claimed = last[2] as usize;
    assert!(
        left.len() >= claimed && left[..claimed] == bytes[..claimed],
        "{claimed} bytes were told and are not there"
    );
}

#[test]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    dd::same_in_both(&["trap '' INT; cat in | { dd of=out bs=1000 iflag=fullblock & kill -INT $!; wait $!; }"]);
}

/// Records of three bytes, the second of which comes when progress was told of the first.
#[test]
fn progress_is_one_line_told_anew_and_ended_before_the_counts() {
    let (mut child, mut said) = start(&haul_path(), &["status=progress", "bs=3", "of=/dev/null"]);
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"abc").expect("it listens");
    let first = read_until(&mut said, |text| text.ends_with('B') || text.ends_with("B/s"));
    assert!(first.starts_with("\r3 bytes copied, "), "{first:?}");
    stdin.write_all(b"def").expect("it listens");
    let more = read_until(&mut said, |text| text.contains("\r6 bytes copied, ") && text.ends_with("B/s"));
    assert!(!more.contains('\n'), "{more:?}");
    drop(stdin);
    let mut end = String::new();
    said.read_to_string(&mut end).expect("it is text");
    assert!(child.wait().expect("it is our child").success());
    let (_, end) = end.split_once('\n').expect("the line of progress is ended");
    assert_eq!(without_times(end), "2+0 records in\n2+0 records out\n6 bytes copied\n");
}

/// As GNU's own test dd/stats has it: nothing comes for longer than a second, then two records at once.
#[test]
fn progress_that_was_due_is_told_behind_the_first_record_that_comes_and_not_before() {
    let (mut child, mut said) = start(&haul_path(), &["status=progress", "bs=1", "of=/dev/null"]);
    let mut stdin = child.stdin.take().expect("it is piped");
    // Longer than the second after which progress is due; that more passes on a busy machine changes nothing.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    stdin.write_all(b"1\n").expect("it listens");
    drop(stdin);
    let mut all = String::new();
    said.read_to_string(&mut all).expect("it is text");
    assert!(child.wait().expect("it is our child").success());
    assert!(all.starts_with("\r1 byte copied, "), "{all:?}");
    assert!(!all.contains("0 bytes"), "{all:?}");
    assert!(all.contains("\n2+0 records in\n2+0 records out\n2 bytes copied, "), "{all:?}");
}

#[test]
fn whole_records_are_counted_while_a_pipe_is_slow_to_fill_the_next() {
    let (mut child, mut said) = start(&haul_path(), &["bs=3", "iflag=fullblock", "of=/dev/null"]);
    wait_for_handler(child.id(), 10);
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(b"abcdefgh").expect("it listens");
    let pid = Pid::from_child(&child);
    let told = loop {
        kill_process(pid, Signal::USR1).expect("it is our child");
        let told = counts(&read_until(&mut said, |text| text.matches('\n').count() == 3));
        if told[2] > 0 {
            break told;
        }
    };
    assert_eq!(told, [2, 2, 6]);
    stdin.write_all(b"ij").expect("it listens");
    drop(stdin);
    let mut end = String::new();
    said.read_to_string(&mut end).expect("it is text");
    assert!(child.wait().expect("it is our child").success());
    assert_eq!(without_times(&end), "3+1 records in\n3+1 records out\n10 bytes copied\n");
}

/// GNU's own test dd/no-allocate: no buffer where there is nothing to copy, but one where records are read over.
#[test]
fn a_buffer_is_made_only_to_copy_or_to_read_over() {
    let one_side = |words: &str| format!("ulimit -v 71680; dd {words}");
    for words in ["bs=300M count=0", "ibs=300M count=0", "obs=300M count=0"] {
        dd::same_in_both(&[&one_side(&format!("{words} if=/dev/null of=/dev/null"))]);
    }
    let fed = "mkfifo tape; (exec timeout 2 head -c 512 /dev/zero >tape) 2>/dev/null & ";
    let both = [
        "ibs=300M skip=1 count=0 if=tape",
        "obs=300M seek=1 count=0 of=tape",
        "bs=300M skip=1 count=0 if=tape",
        "bs=300M seek=1 count=0 of=tape",
    ];
    for words in both {
        dd::same_in_both(&[&format!("{fed}ulimit -v 71680; dd {words}; code=$?; wait; exit $code")]);
    }
}

#[test]
fn on_a_terminal_progress_is_told_while_the_source_says_nothing() {
    let mut command = Command::new(haul_path());
    command.arg0("dd").args(["status=progress", "bs=3", "of=/dev/null"]).env("LC_ALL", "C");
    let mut session = Terminal::start(command);
    session.answer("ab");
    session.wait_for_match("\r3 bytes copied, ");
    session.wait_for_match("\r3 bytes copied, ");
    session.control('d');
    let (shown, status) = session.end();
    assert!(shown.lines().contains("\n1+0 records in\n1+0 records out\n3 bytes copied, "), "{}", shown.text);
    assert_eq!(status, 0);
}

/// What dd did with `line`, in which `full/` is a file system of 64 KiB: status, sentences and what is on it.
fn on_a_small_disk(program: &Path, line: &str) -> Option<(Option<i32>, String, Vec<u8>)> {
    let dir = memory_dir();
    let at = dir.path().join("full");
    fs::create_dir(&at).expect("scratch takes directories");
    let _mount = Mount::tmpfs(&at, 64 << 10)?;
    fs::write(dir.path().join("in"), noise(300_000, 6)).expect("scratch takes files");
    let output = shell(program, line, dir.path());
    let left = fs::read(at.join("out")).unwrap_or_default();
    Some((output.status.code(), without_times(&String::from_utf8_lossy(&output.stderr)), left))
}

#[test]
fn on_a_disk_that_becomes_full_what_fits_is_there_and_counted() {
    let lines = [
        ("dd if=in of=full/out bs=10000", "error writing", "7+0 records in\n6+0"),
        ("dd if=in of=full/out", "writing to", "129+0 records in\n128+0"),
        ("dd if=in of=full/out ibs=700 obs=10000", "writing to", "100+0 records in\n6+1"),
        ("cat in | dd of=full/out bs=4k iflag=fullblock", "error writing", "17+0 records in\n16+0"),
        ("dd if=in of=full/out conv=swab bs=200k", "writing to", "1+0 records in\n0+1"),
        ("dd if=/dev/zero of=full/out bs=16M count=2", "error writing", "1+0 records in\n0+0"),
    ];
    for (line, sentence, told) in lines {
        let Some((status, said, left)) = on_a_small_disk(&haul_path(), line) else { return };
        let told = format!("{told} records out\n65536 bytes (66 kB, 64 KiB) copied\n");
        assert_eq!(said, format!("dd: {sentence} 'full/out': No space left on device\n{told}"), "{line}");
        assert_eq!((status, left.len()), (Some(1), 64 << 10), "{line}");
        if dd::reference().is_none() {
            continue;
        }
        let theirs = on_a_small_disk(Path::new(GNU), line).expect("it could be mounted a moment ago");
        // Of a record that was written in part only reblocking counts one.
        assert_eq!((theirs.0, theirs.1), (status, said), "{line}");
        assert!(theirs.2 == left, "{line}: the bytes differ");
    }
}

/// What dd did with `line`, in which `full/` is a file system of ext4 and 8 MiB: the first two lines and what is on it.
fn on_ext4(program: &Path, line: &str) -> Option<(Option<i32>, Vec<String>, Vec<u8>)> {
    let dir = memory_dir();
    let (at, image) = (dir.path().join("full"), dir.path().join("image"));
    fs::create_dir(&at).expect("scratch takes directories");
    fs::write(&image, vec![0; 8 << 20]).expect("scratch takes files");
    let made = Command::new("mkfs.ext4").args(["-q", "-O", "^has_journal"]).arg(&image).status();
    assert!(made.expect("it is there").success());
    let disk = LoopDevice::over(&image)?;
    let _mount = Mount::device(&at, disk.path())?;
    fs::write(dir.path().join("in"), noise(12_000_000, 6)).expect("scratch takes files");
    let output = shell(program, line, dir.path());
    let said = String::from_utf8_lossy(&output.stderr).lines().take(2).map(str::to_owned).collect();
    Some((output.status.code(), said, fs::read(at.join("out")).expect("it was made")))
}

#[test]
fn as_much_fits_at_the_end_of_a_file_system_as_gnu_dd_gets_there() {
    if dd::reference().is_none() || !has("mkfs.ext4") {
        return;
    }
    for line in ["dd if=in of=full/out bs=4k", "dd if=in of=full/out bs=7000", "dd if=in of=full/out ibs=64k obs=5000"]
    {
        let Some(ours) = on_ext4(&haul_path(), line) else { return };
        let theirs = on_ext4(Path::new(GNU), line).expect("it could be mounted a moment ago");
        assert_eq!((theirs.0, &theirs.1, theirs.2.len()), (ours.0, &ours.1, ours.2.len()), "{line}");
        assert!(theirs.2 == ours.2, "{line}: the bytes differ");
    }
}

/// No file may be longer than 1 KiB. That goes for what an instrumented binary writes at its end as well, and says so.
const SMALL_FILES: &str = "export LLVM_PROFILE_FILE=/dev/null; trap '' XFSZ; ulimit -f 1; ";

/// GNU dd 9.1 says that the end cannot be set, and copies all the same with status 0.
#[test]
fn an_end_that_cannot_be_set_is_told_and_ends_it() {
    for line in ["dd if=in of=out seek=10000 count=0", "dd if=in of=out seek=10000 count=0 status=none"] {
        let line = format!("{SMALL_FILES}{line}");
        let mut programs = vec![haul_path()];
        programs.extend(dd::reference());
        for program in programs {
            let dir = memory_dir();
            fs::write(dir.path().join("in"), noise(1000, 1)).expect("scratch takes files");
            let output = shell(&program, &line, dir.path());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let sentence = "dd: failed to truncate to 5120000 bytes in output file 'out': File too large\n";
            if program == Path::new(GNU) {
                assert!(said.starts_with(sentence), "{said}");
            } else {
                assert_eq!((said.as_str(), output.status.code()), (sentence, Some(1)));
            }
        }
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_told_where_it_is_met() {
    let lines = ["dd if=/dev/zero of=out bs=64 count=100 conv=sparse", "dd if=in of=out bs=256 seek=3"];
    let lines = lines.map(|line| format!("{SMALL_FILES}{line}"));
    dd::same_in_both(&lines.each_ref().map(String::as_str));
}

#[test]
fn a_call_that_fails_at_the_end_is_told_as_gnu_dd_tells_it() {
    if !has("strace") || dd::reference().is_none() {
        return;
    }
    // Of the calls that concern that file only.
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
            fs::write(dir.path().join("in"), noise(1000, 1)).expect("scratch takes files");
            let line = format!("PROGRAM={}; {line}", program.display());
            let output = shell(program, &line, dir.path());
            let left = fs::read(dir.path().join("out")).expect("it was made");
            (output.status.code(), without_times(&String::from_utf8_lossy(&output.stderr)), left)
        });
        // strace names the whole path.
        let said = |text: &str| text.lines().filter(|line| !line.starts_with("strace:")).collect::<Vec<_>>().join("\n");
        assert_eq!((theirs.0, said(&theirs.1)), (ours.0, said(&ours.1)), "{line}");
        assert!(theirs.2 == ours.2, "{line}: the bytes differ");
    }
}

/// GNU dd 9.1 takes every answer to that for a success; later ones do not.
#[test]
fn a_page_cache_that_cannot_be_given_back_is_told_where_nothing_else_was_asked() {
    if !has("strace") {
        return;
    }
    for (file, words) in [("in", "if=in iflag=nocache"), ("out", "of=out oflag=nocache conv=notrunc")] {
        let dir = memory_dir();
        ["in", "out"].iter().for_each(|name| fs::write(dir.path().join(name), "x").expect("scratch takes files"));
        let strace = format!("strace -f -qqq -o /dev/null -P {file} -e trace=fadvise64 -e inject=fadvise64:error=EIO");
        let line = format!("{strace} {} dd {words} count=0 </dev/null", haul_path().display());
        let output = shell(&haul_path(), &line, dir.path());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!("failed to discard cache for: '{file}': Input/output error\n")), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
}

#[test]
fn all_of_a_source_that_is_not_to_be_cached_is_given_back() {
    if !has("strace") {
        return;
    }
    // nocache_eof
    let dir = memory_dir();
    let len = (3 << 20) + 777;
    fs::write(dir.path().join("in"), noise(len, 7)).expect("scratch takes files");
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
fn where_memory_is_short_a_buffer_of_30_mb_is_all_that_it_needs() {
    let dir = memory_dir();
    // Debug builds and those that count coverage are larger than what is installed.
    let line = "ulimit -v 102400; dd if=/dev/zero of=out bs=30M count=1; dd if=/dev/zero bs=30M count=0 of=out";
    let output = shell(&haul_path(), line, dir.path());
    let said = without_times(&String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.starts_with("1+0 records in\n1+0 records out\n31457280 bytes"), "{said}");
    dd::same_in_both(&["ulimit -v 51200; dd if=/dev/zero of=out bs=300M count=1"]);
}
