//! Corner cases of dd that random command lines do not reach: closed descriptors, signals, little memory, disks.
use crate::dd;
use crate::dd::{same_in_both, shell, without_times};
use crate::support::{
    FailingDisk, Fails, LoopDevice, cmp, haul_path, is_root, memory_dir, noise, skip, traced_calls, wait_for_handler,
};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn closed_standard_descriptors_stay_closed() {
    same_in_both(&[
        "dd if=in of=out <&-",
        "dd of=out <&-",
        "dd if=in >&-",
        "dd if=in of=out >&-",
        "dd if=in of=out 2>&-",
        "dd if=in of=out status=none 2>&-",
        "dd if=in of=out 2>/dev/full",
        "dd if=in 2>&- >&- <&-",
        "dd of=out count=0 <&-",
        "dd count=0 >&-",
    ]);
}

#[test]
fn input_that_dd_leaves_unread_is_read_by_the_next_dd() {
    same_in_both(&[
        "{ dd bs=100 count=2 of=out; dd bs=100 skip=1 count=1; } <in",
        "{ dd bs=100 count=2 of=/dev/full; dd bs=100 count=1; } <in",
        "cat in | { dd bs=100 count=2 of=out; dd bs=100 iflag=fullblock count=1; }",
        "{ dd if=in bs=100 count=2; dd if=in bs=100 seek=1 conv=notrunc count=1; } >out",
    ]);
}

#[test]
fn names_that_are_hard_to_quote_are_quoted_alike() {
    same_in_both(&[
        "dd 'if=a b'",
        "dd \"if=it's\"",
        "dd $'if=new\\nline'",
        "dd $'if=\\303\\251'",
        "dd $'conv=\\303\\251'",
        "dd \"bs=it's\"",
        "touch 'a b' '~x' a~b; dd 'if=a b' skip=1; dd 'if=~x' skip=1; dd if=a~b skip=1",
    ]);
}

#[test]
fn dd_error_messages_match_gnu_dd() {
    same_in_both(&[
        "dd if=in of=/",
        "dd if=in of=missing/out",
        "dd if=in of=out conv=nocreat",
        "touch out; dd if=in of=out conv=excl",
        "dd if=in of=out skip=9223372036854775807 bs=2",
        "dd of=out seek=9223372036854775807 bs=512 count=0",
        "dd if=in of=/dev/null conv=fsync",
        "dd if=in conv=fdatasync | cat",
        "cat in | dd iflag=nocache count=0",
        "dd if=in oflag=nocache count=0 | cat",
        "dd if=in seek=3 | cat",
        "dd bs=1E </dev/null",
        "dd obs=1E </dev/null",
        "dd iflag=directory </dev/null",
        "dd count=0x1 </dev/null",
        "ln -s in link; dd if=link iflag=nofollow",
    ]);
}

#[test]
fn chains_of_multipliers_and_the_largest_units_are_known() {
    let dir = memory_dir();
    let run = |line: &str| shell(&haul_path(), line, dir.path());
    let output = run("dd if=/dev/zero bs=1x2x3x4 count=1x1x2 status=none | wc -c");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "48");
    for unit in ["R", "Q", "RB", "QiB"] {
        let messages = run(&format!("dd bs=1{unit}")).stderr;
        assert!(String::from_utf8_lossy(&messages).contains("Value too large for defined data type"), "{unit}");
    }
}

#[test]
fn a_closed_pipe_ends_dd_silently() {
    same_in_both(&[
        "dd if=/dev/zero bs=1M count=100 | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}",
        "trap '' PIPE; dd if=/dev/zero bs=4k count=1000 2>&1 >&3 3>&- | tail -n +9; true",
    ]);
}

#[test]
fn dd_without_a_buffer_runs_in_little_memory() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(3 << 20, 3)).expect("the file can be written");
    let run = |limit_kib: u64, line: &str| {
        let output = shell(&haul_path(), &format!("ulimit -v {limit_kib}; {line}"), dir.path());
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The limit includes the mapped binary, which is much larger in a debug build.
    let start_kib = start_kib(&run);
    let (success, messages) = run(start_kib + (16 << 10), "dd if=/dev/zero of=out count=0 bs=30M");
    assert!(success, "{messages}");
    // Wherever the memory suffices for dd's own buffer but not for all buffers or threads of haul, it copies with less.
    let upper = (1..=40).map(|step| {
        let (success, messages) = run(start_kib + 1024 + step * 512, "dd if=in of=out bs=1M conv=ucase");
        assert!(success || messages.contains("memory exhausted") || step < 8, "step {step}: {messages}");
        success
    });
    let results: Vec<bool> = upper.collect();
    assert!(results[16..].iter().all(|success| *success), "{results:?}");
}

/// The smallest limit of virtual memory with which a program starts and prints its version.
fn start_kib(run: &impl Fn(u64, &str) -> (bool, String)) -> u64 {
    let (mut too_small, mut enough) = (0, 1 << 20);
    while enough - too_small > 256 {
        let middle = (too_small + enough) / 2;
        if run(middle, "dd --version").0 { enough = middle } else { too_small = middle }
    }
    enough
}

#[test]
fn messages_begin_with_the_program_name() {
    let messages = Command::new(haul_path()).args(["dd", "bogus=1"]).output().expect("it runs");
    let messages = String::from_utf8_lossy(&messages.stderr).into_owned();
    assert!(messages.starts_with("haul") || messages.contains("haul dd: unrecognized operand"), "{messages}");
    assert!(messages.contains(" dd --help' for more information."), "{messages}");
    let messages = Command::new(haul_path()).arg0("/opt/dd").arg("bogus=1").output().expect("it runs");
    assert!(String::from_utf8_lossy(&messages.stderr).starts_with("/opt/dd: unrecognized operand"));
}

#[test]
fn a_signal_prints_the_record_counts() {
    let (reader, mut writer) = std::io::pipe().expect("descriptors are available");
    let mut command = Command::new(haul_path());
    command.arg0("dd").args(["bs=2", "of=/dev/null"]).env("LC_ALL", "C").stdin(reader).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    drop(command);
    let mut messages = child.stderr.take().expect("it is piped");
    let mut read_lines = |lines: usize| {
        let (mut text, mut byte) = (String::new(), [0]);
        while text.matches('\n').count() < lines && messages.read(&mut byte).expect("it can be read") > 0 {
            text.push(byte[0].into());
        }
        without_times(&text)
    };
    let pid = Pid::from_child(&child);
    writer.write_all(b"abc").expect("it is read");
    // Repeated until it has read: before its handler is installed, the signal would end it.
    wait_for_handler(child.id(), 10);
    loop {
        kill_process(pid, Signal::USR1).expect("it is a child of this process");
        let text = read_lines(3);
        if text.starts_with("1+1 records in\n1+1 records out\n3 bytes copied") {
            break;
        }
        assert!(text.contains("records in"), "{text}");
    }
    kill_process(pid, Signal::INT).expect("it is a child of this process");
    assert_eq!(read_lines(3), "1+1 records in\n1+1 records out\n3 bytes copied\n");
    assert_eq!(child.wait().expect("it is a child of this process").signal(), Some(2));
}

#[test]
fn disks_are_copied_as_blocks_and_counted_as_records() {
    if !is_root() {
        skip("loop devices need root");
        return;
    }
    let dir = memory_dir();
    let len = 24 << 20;
    let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
    fs::write(&a, noise(len, 2)).expect("the file can be written");
    fs::write(&b, vec![0; len]).expect("the file can be written");
    let (Some(source), Some(dest)) = (LoopDevice::over(&a), LoopDevice::over(&b)) else { return };
    let (from, to) = (source.path().display().to_string(), dest.path().display().to_string());
    let explained = shell(&haul_path(), &format!("dd --explain if={from} of={to}"), dir.path());
    assert!(String::from_utf8_lossy(&explained.stdout).starts_with("blocks: "), "{explained:?}");
    let output = shell(&haul_path(), &format!("dd if={from} of={to}"), dir.path());
    let messages = without_times(&String::from_utf8_lossy(&output.stderr));
    assert_eq!(messages, "49152+0 records in\n49152+0 records out\n25165824 bytes (25 MB, 24 MiB) copied\n");
    cmp(source.path(), dest.path());
    if dd::reference().is_none() {
        return;
    }
    for line in [
        format!("dd if={from} of={to} skip=60000"),
        format!("dd if=/dev/null of={to} seek=60000"),
        format!("dd if={from} of={to} seek=49151"),
        format!("dd if={from} of={to} bs=1000 iflag=direct oflag=direct"),
        format!("dd if=/dev/zero of={to} bs=64K"),
        format!("dd if={from} of={to} bs=1M skip=1 seek=2 count=20"),
        format!("dd if={from} of={to} bs=1M skip=1 seek=2 count=20 iflag=direct oflag=direct"),
        format!("head -c 20000100 a >odd; dd if=odd of={to} bs=4K conv=sync iflag=fullblock"),
        format!("head -c 20000100 a >odd; dd if=odd of={to} bs=4K conv=sync"),
        format!("head -c 20000100 a >odd; dd if=odd of={to} bs=4K conv=noerror,sync count=4000"),
        format!("dd if={from} of=copy bs=7M; cmp a copy; dd of={to} bs=3000 <copy"),
    ] {
        let [theirs, ours] = [Path::new(dd::GNU), &haul_path()].map(|program| {
            let output = shell(program, &line, dir.path());
            let left = Command::new("md5sum").arg(&to).output().expect("coreutils are installed").stdout;
            (output.status.code(), without_times(&String::from_utf8_lossy(&output.stderr)), left)
        });
        // GNU dd 9.1 does not count a partially written last record; later versions do.
        let same_counts = line.contains("bs=3000") || theirs.1 == ours.1;
        assert!(same_counts && theirs.0 == ours.0 && theirs.2 == ours.2, "{line}\n{theirs:?}\n{ours:?}");
    }
}

#[test]
fn a_read_error_ends_dd_or_is_skipped_as_in_gnu_dd() {
    if dd::reference().is_none() {
        return;
    }
    let dir = memory_dir();
    let backing = dir.path().join("backing");
    // Large enough for the pump to reach the bad sector before records do.
    fs::write(&backing, noise(10 << 20, 4)).expect("the file can be written");
    let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, (9 << 20) + 8800..(9 << 20) + 9000) else {
        return;
    };
    let disk = disk.path().display().to_string();
    for operands in [
        "bs=4096",
        "bs=3000",
        "bs=64K",
        // The pump copies the data before the bad sector, records continue from there.
        "bs=4096 conv=noerror,sync",
        "bs=64K conv=noerror,sync",
        "bs=3000 conv=noerror,sync",
        "bs=4096 conv=noerror,sync iflag=fullblock",
        "bs=64K conv=noerror,sync count=150",
        "bs=64K conv=noerror",
        "bs=3000 conv=sync",
        "bs=4096 skip=2304 conv=noerror",
        "bs=4096 skip=2304 conv=noerror,sync",
        "bs=3000 skip=3146 conv=noerror",
        "bs=3000 skip=3146 conv=noerror,sync",
        "bs=3000 skip=3146 conv=noerror,sync count=4",
        "skip=18432 conv=noerror,sync",
        "skip=18432 conv=noerror",
        "ibs=1000 obs=3000 skip=9437 conv=noerror,sync,swab",
        "bs=4096 skip=2304 conv=noerror,sync status=none",
        "bs=3000 skip=3146 conv=noerror,sync iflag=fullblock",
    ] {
        let [theirs, ours] = [Path::new(dd::GNU), &haul_path()].map(|program| {
            let output = shell(program, &format!("dd if={disk} of=out {operands}"), dir.path());
            let messages = without_times(&String::from_utf8_lossy(&output.stderr));
            (output.status.code(), messages, fs::read(dir.path().join("out")).expect("it was created"))
        });
        assert_eq!((theirs.0, &theirs.1), (ours.0, &ours.1), "{operands}");
        assert!(theirs.2 == ours.2, "{operands}: the bytes differ");
    }
}

#[test]
fn a_failed_dest_ends_dd_while_the_source_is_silent() {
    let (reader, mut writer) = std::io::pipe().expect("descriptors are available");
    let mut command = Command::new(haul_path());
    command.arg0("dd").arg("of=/dev/full").env("LC_ALL", "C").stdin(reader).stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    drop(command);
    writer.write_all(&[b'x'; 600]).expect("it is read");
    // The pipe stays open: only the failure can end it.
    let output = child.wait_with_output().expect("it is a child of this process");
    let messages = without_times(&String::from_utf8_lossy(&output.stderr));
    assert!(messages.starts_with("dd: writing to '/dev/full': No space left on device\n1+"), "{messages}");
    assert_eq!(output.status.code(), Some(1));
    drop(writer);
}

/// Whether `program` with these operands evicts the page cache up to the end of a file.
fn advises_to_the_end(program: &[&str], operands: &str, dir: &Path) -> Option<bool> {
    let mut strace = Command::new("strace");
    let log = dir.join("trace");
    strace.args(["-f", "-qq", "-e", "trace=fadvise64", "-o"]).arg(&log).args(program).args(operands.split(' '));
    let output = strace.current_dir(dir).output().ok()?;
    assert!(output.status.success(), "{operands}: {}", String::from_utf8_lossy(&output.stderr));
    Some(traced_calls(&log).contains(", 0, POSIX_FADV_DONTNEED) = 0"))
}

#[test]
fn nocache_evicts_to_the_end_of_a_file_only_if_the_copy_reached_it() {
    if !crate::support::has("strace") {
        return;
    }
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(3_000_000, 8)).expect("the file can be written");
    for (operands, to_end) in [
        ("if=in of=/dev/null bs=64k iflag=nocache", true),
        ("if=in of=/dev/null bs=128k count=2 iflag=nocache", false),
        ("if=in of=/dev/null bs=1M skip=1 iflag=nocache", true),
        ("if=in of=/dev/null count=0 iflag=nocache", true),
        ("if=in of=out bs=64k oflag=nocache", true),
        ("if=in of=out bs=64k count=2 oflag=nocache", false),
        ("if=in of=out bs=64k conv=notrunc oflag=nocache", false),
        ("if=in of=out count=0 conv=notrunc oflag=nocache", true),
    ] {
        let haul = haul_path();
        let ours = advises_to_the_end(&[haul.to_str().unwrap(), "dd"], operands, dir.path());
        assert_eq!(ours, Some(to_end), "{operands}");
        if let Some(gnu) = dd::reference() {
            let theirs = advises_to_the_end(&[gnu.to_str().unwrap()], operands, dir.path());
            assert_eq!(theirs, Some(to_end), "GNU dd {operands}");
        }
    }
}

#[test]
fn a_report_that_cannot_be_printed_is_a_failure() {
    for words in ["dd --version >/dev/full", "dd --version >&-", "dd --help >&-"] {
        for program in [Some(haul_path()), dd::reference()].into_iter().flatten() {
            let output = shell(&program, words, memory_dir().path());
            assert_eq!(output.status.code(), Some(1), "{}: {words}", program.display());
            assert!(!output.stderr.is_empty(), "{}: {words}", program.display());
        }
    }
}

#[test]
fn seek_in_a_fifo_reads_up_to_the_offset() {
    same_in_both(&[
        "mkfifo f; { printf abcdefghij >f; } & printf XYZ | dd of=f bs=2 seek=3; wait",
        "mkfifo f; { printf abcdefghij >f; } & printf XYZ | dd of=f obs=10 seek=1; wait",
        "printf XYZ | { dd bs=1 seek=1; } | cat",
    ]);
}

#[test]
fn case_conversion_is_by_single_bytes() {
    let dir = memory_dir();
    let bytes: Vec<u8> = (0..=255).collect();
    fs::write(dir.path().join("in"), &bytes).expect("the file can be written");
    // The French letters e with an accent and y with two dots; the Turkish i, whose capital has a dot, too.
    for (language, set, conversion, from, to) in [
        ("fr_FR", "ISO-8859-1", "ucase", 0xe9, 0xc9),
        ("fr_FR", "ISO-8859-1", "lcase", 0xc9, 0xe9),
        ("tr_TR", "ISO-8859-9", "ucase", b'i', 0xdd),
        ("tr_TR", "ISO-8859-9", "lcase", b'I', 0xfd),
    ] {
        let name = format!("{language}.{set}");
        // It complains about its own files, and ends with 1.
        let made =
            Command::new("localedef").args(["-c", "-i", language, "-f", set]).arg(dir.path().join(&name)).output();
        if made.is_err() || !dir.path().join(&name).exists() {
            skip("there is no localedef, or it has no such language");
            return;
        }
        for program in [Some(haul_path()), dd::reference()].into_iter().flatten() {
            let mut command = Command::new(&program);
            command.arg0("dd").args(["if=in".to_owned(), format!("conv={conversion}")]).current_dir(dir.path());
            let output = command.env("LOCPATH", dir.path()).env("LC_ALL", &name).output().expect("it runs");
            assert_eq!(output.stdout[usize::from(from)], to, "{name} {conversion} {}", program.display());
            assert_eq!(output.stdout.len(), bytes.len());
        }
        // In UTF-8 and C only ASCII characters change.
        let mut command = Command::new(haul_path());
        command.arg0("dd").args(["if=in".to_owned(), format!("conv={conversion}")]).current_dir(dir.path());
        let output = command.env("LC_ALL", "C.UTF-8").output().expect("it runs");
        assert!(output.stdout[128..] == bytes[128..], "{conversion}");
    }
}
