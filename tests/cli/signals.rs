//! Signals in the middle of a copy.
use crate::support;
use crate::support::{LoopDevice, Running, cmp, copied_bytes, engines, filled, memory_dir, scratch};
use crate::support::{run_in_shell, write_noise};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const SIGINT: i32 = 2;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// Starts a copy that is slowed down so far that a signal surely comes in its middle, and waits until bytes arrived.
fn start_slowly(engine: &str, options: &[&str], source: &str, dest: &str) -> Running {
    let slow = ["copy", "--engine", engine, "--limit", "3M", "--block-size", "64K", "--progress", "json"];
    let arguments = [&slow[..], options, &[source, dest]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy
}

/// The command with which `said` tells how to continue: on a line of its own, or in the last line of JSON progress.
#[track_caller]
fn continue_command(said: &str) -> String {
    let in_json = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value.get("continue_command")?.as_str()?.to_owned())
    };
    if let Some(command) = said.lines().rev().find_map(in_json) {
        return command;
    }
    let line = said
        .lines()
        .rev()
        .find(|line| line.contains("haul copy") && (line.contains("--resume") || line.contains("--skip")));
    let line = line.unwrap_or_else(|| panic!("no command to continue in:\n{said}"));
    line[line.find("haul copy").expect("it contains that")..].trim().to_owned()
}

#[test]
fn an_interrupted_copy_dies_by_the_signal_and_tells_how_to_continue() {
    let dir = scratch();
    // A name that a shell would take apart, if the command were not quoted.
    let (source, dest) = (dir.path().join("the source's $file"), dir.path().join("the dest & more"));
    for engine in engines() {
        for (signal, number) in [(Signal::INT, SIGINT), (Signal::TERM, SIGTERM)] {
            write_noise(&source, 12 * MIB + 345, 71);
            let _ = fs::remove_file(&dest);
            let mut copy = start_slowly(engine, &[], name(&source), name(&dest));
            copy.signal(signal);
            copy.end_by(number);
            let arrived = fs::metadata(&dest).expect("it was made").len();
            assert!(arrived < 12 * MIB as u64, "{engine}: the signal came too late to show anything");
            // Without the limit, the rest takes no time.
            run_in_shell(&continue_command(&copy.said).replace("--limit 3M", "").replace("--limit 3145728", ""));
            cmp(&source, &dest);
        }
    }
}

#[test]
fn the_report_in_words_has_the_command_too() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 12 * MIB, 79);
    let options = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "none"];
    let arguments = [&options[..], &[name(&source), name(&dest)]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::piped());
    copy.wait_for_handler(SIGINT);
    // Its size says nothing: room may be made before the first write.
    let has_begun = || fs::read(&dest).is_ok_and(|dest| dest.get(..4096) == Some(&bytes[..4096]));
    while !has_begun() {
        assert!(copy.child().try_wait().expect("it is our child").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    copy.signal(Signal::INT);
    let printed = copy.end_by(SIGINT);
    let said = format!("{printed}\n{}", copy.said);
    run_in_shell(&continue_command(&said).replace("--limit 3M", "").replace("--limit 3145728", ""));
    cmp(&source, &dest);
}

#[test]
fn the_json_report_of_an_interrupted_copy_has_the_command_too() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 12 * MIB, 72);
    let mut copy = start_slowly("auto", &["--json"], name(&source), name(&dest));
    copy.signal(Signal::INT);
    let printed = copy.end_by(SIGINT);
    let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
    assert_eq!(report["status"], "interrupted", "{printed}");
    let line = report["continue_command"].as_str().expect("the command is there");
    run_in_shell(&line.replace("--limit 3M", "").replace("--limit 3145728", ""));
    cmp(&source, &dest);
}

#[test]
fn an_interrupted_copy_to_a_disk_continues_to_an_equal_one() {
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
        run_in_shell(&continue_command(&copy.said).replace("--limit 3M", "").replace("--limit 3145728", ""));
        cmp(&source, &dest);
    }
}

#[test]
fn what_an_interrupted_copy_claims_has_arrived() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        write_noise(&source, 12 * MIB, 74);
        let _ = fs::remove_file(&dest);
        let mut copy = start_slowly(engine, &["--json"], name(&source), name(&dest));
        copy.signal(Signal::TERM);
        let printed = copy.end_by(SIGTERM);
        let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
        let claimed = report["claimed"]["len_bytes"].as_u64().expect("what is claimed is there");
        assert!(claimed > 0, "{engine}: progress told of bytes, the report of none");
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
        // The copy reads from a pipe that the test feeds: it cannot be over before the line came.
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
        stdin.write_all(second).expect("the copy reads on");
        drop(stdin);
        let (status, _) = copy.end();
        assert!(status.success(), "{engine}: {status}\n{}", copy.said);
        cmp(&source, &dest);
    }
}

#[test]
fn a_hail_of_usr1_does_not_disturb_a_copy() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4 * MIB + 1, 76);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let options = ["copy", "--engine", engine, "--limit", "8M", "--block-size", "64K", "--progress", "none"];
        let arguments = [&options[..], &[name(&source), name(&dest)]].concat();
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
        copy.wait_for_handler(SIGUSR1);
        // Not more than the pipe of standard error takes in, which nobody empties meanwhile.
        for _ in 0..200 {
            if copy.child().try_wait().expect("it is our child").is_some() {
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
        // The pipe stays open, and silent: only the signal can end the copy.
        copy.end_by(SIGINT);
        drop(stdin);
        let arrived = fs::metadata(&dest).map_or(0, |dest| dest.len());
        support::cmp_ranges(&source, 0, &dest, 0, arrived.min(bytes.len() as u64));
    }
}

#[test]
fn two_interrupts_end_a_copy_that_waits_for_somebody_to_open_a_fifo() {
    let dir = scratch();
    let (source, fifo) = (dir.path().join("source"), dir.path().join("fifo"));
    write_noise(&source, 1000, 78);
    let made = Command::new("mkfifo").arg(&fifo).status().expect("coreutils are there");
    assert!(made.success());
    let mut copy = Running::start(&["copy", name(&source), name(&fifo)], Stdio::null(), Stdio::null());
    copy.signal(Signal::INT);
    copy.signal(Signal::INT);
    // Two at once may count as one to the kernel; whoever waits for the second gets it here.
    while copy.child().try_wait().expect("it is our child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
        if copy.child().try_wait().expect("it is our child").is_none() {
            copy.signal(Signal::INT);
        }
    }
    copy.end_by(SIGINT);
}

#[test]
fn a_copy_that_waits_for_a_reader_who_does_not_read_can_be_interrupted() {
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
        assert!(!copy.said.contains("engine failed"), "{engine}:\n{}", copy.said);
    }
}

#[test]
fn a_copy_with_holes_and_digests_ends_by_the_signal_too() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&dir.path().join("noise"), 4 * MIB, 77);
    // Data and holes in turn: holes need no read, and wait for the data before them to be digested.
    let file = fs::File::create(&source).expect("scratch takes files");
    for at in (0..8 * MIB).step_by(256 << 10) {
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes[at / 2..][..128 << 10], at as u64)
            .expect("there is room");
    }
    file.set_len(8 * MIB as u64).expect("it is ours");
    let manifest = dir.path().join("m");
    for options in [&["--hash", "xxh3"][..], &["--verify"], &["--manifest", name(&manifest)]] {
        for engine in engines() {
            let _ = fs::remove_file(&dest);
            let slow = ["--sparse", "always", "--no-journal", "--json"];
            let mut copy = start_slowly(engine, &[&slow[..], options].concat(), name(&source), name(&dest));
            copy.signal(Signal::INT);
            let printed = copy.end_by(SIGINT);
            let report: Value = serde_json::from_str(&printed).expect("the report is JSON");
            let claimed = report["claimed"]["len_bytes"].as_u64().expect("what is claimed is there");
            support::cmp_ranges(&source, 0, &dest, 0, claimed);
        }
    }
}
