//! Signals during a copy.
use crate::support;
use crate::support::{LoopDevice, Running, cmp, copied_bytes, engines, filled, memory_dir, name, scratch};
use crate::support::{run_in_shell, write_noise};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const SIGINT: i32 = 2;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;

/// Starts a copy that is slow enough to be interrupted, and waits until bytes are copied.
fn start_slowly(engine: &str, options: &[&str], source: &str, dest: &str) -> Running {
    let slow = ["copy", "--engine", engine, "--limit", "3M", "--block-size", "64K", "--progress", "json"];
    let arguments = [&slow[..], options, &[source, dest]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy
}

/// The command in `messages` that continues the copy: on a separate line, or in the last line of JSON progress.
#[track_caller]
fn continue_command(messages: &str) -> String {
    let in_json = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value.get("continue_command")?.as_str()?.to_owned())
    };
    if let Some(command) = messages.lines().rev().find_map(in_json) {
        return command;
    }
    let line = messages
        .lines()
        .rev()
        .find(|line| line.contains("haul copy") && (line.contains("--resume") || line.contains("--skip")));
    let line = line.unwrap_or_else(|| panic!("no command to continue in:\n{messages}"));
    line[line.find("haul copy").expect("it contains that")..].trim().to_owned()
}

#[test]
fn an_interrupted_copy_dies_by_the_signal_and_prints_the_resume_command() {
    let dir = scratch();
    // A name that a shell would split if the command were not quoted.
    let (source, dest) = (dir.path().join("the source's $file"), dir.path().join("the dest & more"));
    for engine in engines() {
        for (signal, number) in [(Signal::INT, SIGINT), (Signal::TERM, SIGTERM)] {
            write_noise(&source, 12 * MIB + 345, 71);
            let _ = fs::remove_file(&dest);
            let mut copy = start_slowly(engine, &[], name(&source), name(&dest));
            copy.signal(signal);
            copy.end_by(number);
            let arrived = fs::metadata(&dest).expect("it was created").len();
            assert!(arrived < 12 * MIB as u64, "{engine}: the signal came too late to show anything");
            // Without the limit, the rest is copied quickly.
            run_in_shell(&continue_command(&copy.messages).replace("--limit 3M", "").replace("--limit 3145728", ""));
            cmp(&source, &dest);
        }
    }
}

#[test]
fn the_text_report_of_an_interrupted_copy_has_the_resume_command() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 12 * MIB, 79);
    let options = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "none"];
    let arguments = [&options[..], &[name(&source), name(&dest)]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
    copy.wait_for_handler(SIGINT);
    // The size of the file proves nothing: space may be preallocated before the first write.
    let has_begun = || fs::read(&dest).is_ok_and(|dest| dest.get(..4096) == Some(&bytes[..4096]));
    while !has_begun() {
        assert!(copy.child().try_wait().expect("it is a child of this process").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    copy.signal(Signal::INT);
    let printed = copy.end_by(SIGINT);
    let messages = format!("{printed}\n{}", copy.messages);
    run_in_shell(&continue_command(&messages).replace("--limit 3M", "").replace("--limit 3145728", ""));
    cmp(&source, &dest);
}

#[test]
fn the_json_report_of_an_interrupted_copy_has_the_resume_command() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 12 * MIB, 72);
    let mut copy = start_slowly("auto", &["--json"], name(&source), name(&dest));
    copy.signal(Signal::INT);
    let printed = copy.end_by(SIGINT);
    let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
    assert_eq!(report["status"], "interrupted", "{printed}");
    let line = report["continue_command"].as_str().expect("the command is installed");
    run_in_shell(&line.replace("--limit 3M", "").replace("--limit 3145728", ""));
    cmp(&source, &dest);
}

#[test]
fn an_interrupted_copy_to_a_disk_is_resumed_and_equal() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let size = 12 * MIB + 512;
    write_noise(&from, size, 73);
    let Some(source) = LoopDevice::over(&from) else { return };
    for engine in engines() {
        filled(&to, size, 0xAA);
        let Some(dest) = LoopDevice::over(&to) else { return };
        let mut copy = start_slowly(engine, &["--yes"], name(source.path()), name(dest.path()));
        copy.signal(Signal::INT);
        copy.end_by(SIGINT);
        run_in_shell(&continue_command(&copy.messages).replace("--limit 3M", "").replace("--limit 3145728", ""));
        cmp(&source, &dest);
    }
}

#[test]
fn bytes_that_an_interrupted_copy_claims_are_in_the_dest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        write_noise(&source, 12 * MIB, 74);
        let _ = fs::remove_file(&dest);
        let mut copy = start_slowly(engine, &["--json"], name(&source), name(&dest));
        copy.signal(Signal::TERM);
        let printed = copy.end_by(SIGTERM);
        let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
        let claimed = report["claimed"]["len_bytes"].as_u64().expect("claimed data exists");
        assert!(claimed > 0, "{engine}: the progress has bytes, the report has none");
        support::cmp_ranges(&source, 0, &dest, 0, claimed);
    }
}

#[test]
fn usr1_prints_a_line_and_the_copy_completes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 3 * MIB, 75);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        // The copy reads from a pipe that the test feeds: it cannot end before the line is printed.
        let arguments = ["copy", "--engine", engine, "--progress", "none", "-", name(&dest)];
        let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
        copy.wait_for_handler(SIGUSR1);
        let mut stdin = copy.child().stdin.take().expect("it is piped");
        let (first, second) = bytes.split_at(MIB + 13);
        stdin.write_all(first).expect("the copy reads");
        for _ in 0..3 {
            copy.signal(Signal::USR1);
            let line = copy.read_until(|line| !line.trim().is_empty());
            assert!(line.contains(|c: char| c.is_ascii_digit()), "no number in the status line: {line}");
        }
        stdin.write_all(second).expect("the copy continues to read");
        drop(stdin);
        let (status, _) = copy.end();
        assert!(status.success(), "{engine}: {status}\n{}", copy.messages);
        cmp(&source, &dest);
    }
}

#[test]
fn many_usr1_signals_do_not_disturb_a_copy() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB + 1, 76);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let options = ["copy", "--engine", engine, "--limit", "8M", "--block-size", "64K", "--progress", "none"];
        let arguments = [&options[..], &[name(&source), name(&dest)]].concat();
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
        copy.wait_for_handler(SIGUSR1);
        // No more than fits in the pipe of standard error, which no process reads meanwhile.
        for _ in 0..200 {
            if copy.child().try_wait().expect("it is a child of this process").is_some() {
                break;
            }
            copy.signal(Signal::USR1);
            std::thread::yield_now();
        }
        let (status, _) = copy.end();
        assert!(status.success(), "{engine}: {status}");
        cmp(&source, &dest);
    }
}

#[test]
fn a_copy_that_waits_for_a_silent_pipe_can_be_interrupted() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, MIB, 77);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let arguments = ["copy", "--engine", engine, "--progress", "none", "-", name(&dest)];
        let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
        copy.wait_for_handler(SIGINT);
        let mut stdin = copy.child().stdin.take().expect("it is piped");
        stdin.write_all(&bytes).expect("the copy reads");
        copy.signal(Signal::INT);
        // The pipe stays open without data: only the signal can end the copy.
        copy.end_by(SIGINT);
        drop(stdin);
        let arrived = fs::metadata(&dest).map_or(0, |dest| dest.len());
        support::cmp_ranges(&source, 0, &dest, 0, arrived.min(bytes.len() as u64));
    }
}

#[test]
fn two_interrupts_end_a_copy_that_waits_for_the_other_end_of_a_fifo() {
    let dir = scratch();
    let (source, fifo) = (dir.path().join("source"), dir.path().join("fifo"));
    write_noise(&source, 1000, 78);
    let made = Command::new("mkfifo").arg(&fifo).status().expect("coreutils are installed");
    assert!(made.success());
    let mut copy = Running::start(&["copy", name(&source), name(&fifo)], Stdio::null(), Stdio::null());
    copy.signal(Signal::INT);
    copy.signal(Signal::INT);
    // Two simultaneous signals may count as one for the kernel; here the second one is sent repeatedly.
    while copy.child().try_wait().expect("it is a child of this process").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        if copy.child().try_wait().expect("it is a child of this process").is_none() {
            copy.signal(Signal::INT);
        }
    }
    copy.end_by(SIGINT);
}

#[test]
fn a_copy_that_waits_for_a_slow_reader_can_be_interrupted() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 16 * MIB, 99);
    for engine in engines() {
        let arguments = ["copy", "--engine", engine, "--progress", "json", name(&source), "-"];
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
        let _reader = copy.child().stdout.take();
        copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
        copy.signal(Signal::INT);
        copy.end_by(SIGINT);
        assert!(!copy.messages.contains("engine failed"), "{engine}:\n{}", copy.messages);
    }
}

#[test]
fn a_copy_with_holes_and_digests_ends_by_the_signal() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&dir.path().join("noise"), 4 * MIB, 77);
    // Data and holes alternate: holes need no read, and wait until the data before them is digested.
    let file = fs::File::create(&source).expect("the file can be written");
    for at in (0..8 * MIB).step_by(256 << 10) {
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes[at / 2..][..128 << 10], at as u64)
            .expect("there is enough space");
    }
    file.set_len(8 * MIB as u64).expect("this test created it");
    let manifest = dir.path().join("m");
    for options in [&["--hash", "xxh3"][..], &["--verify"], &["--manifest", name(&manifest)]] {
        for engine in engines() {
            let _ = fs::remove_file(&dest);
            let slow = ["--sparse", "always", "--no-journal", "--json"];
            let mut copy = start_slowly(engine, &[&slow[..], options].concat(), name(&source), name(&dest));
            copy.signal(Signal::INT);
            let printed = copy.end_by(SIGINT);
            let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
            let claimed = report["claimed"]["len_bytes"].as_u64().expect("claimed data exists");
            support::cmp_ranges(&source, 0, &dest, 0, claimed);
        }
    }
}
