//! Signals during sg_dd, sgp_dd and sgm_dd: the output, how it ends, and whether it can be continued.
use crate::sg::FRONTS;
use crate::support;
use crate::support::{FailingDisk, Fails, Running, cmp, cmp_ranges, memory_dir, noise, run_in_shell};
use rustix::process::Signal;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const SIGINT: i32 = 2;
const SIGQUIT: i32 = 3;
const SIGUSR1: i32 = 10;
const SIGPIPE: i32 = 13;

/// A file that is read slowly, because a program runs for each request; it has no bad sectors.
fn slow_file(dir: &Path, len: usize) -> Option<FailingDisk> {
    fs::write(dir.join("medium"), noise(len, 3)).expect("the file can be written");
    let behind = len as u64 + 1;
    FailingDisk::over(dir, &dir.join("medium"), Fails::Reads, behind..behind + 1)
}

/// The printed command that continues the copy.
#[track_caller]
fn continue_command(messages: &str) -> String {
    let mut lines = messages.lines().skip_while(|line| *line != "To continue:");
    lines.nth(1).unwrap_or_else(|| panic!("no command in:\n{messages}")).trim().to_owned()
}

/// Waits until `file` is not empty.
fn wait_for_bytes(file: &Path, running: &mut Running) {
    while fs::metadata(file).map_or(0, |stat| stat.len()) == 0 {
        let ended = running.child().try_wait().expect("it is a child of this process");
        assert!(ended.is_none(), "it was over before a signal could come");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn an_interrupted_copy_dies_by_the_signal_and_its_printed_command_continues_it() {
    let dir = memory_dir();
    let Some(source) = slow_file(dir.path(), 20 << 20) else { return };
    let haul = support::haul_path();
    // By blocks, by records; with offsets; appending; with names that a shell would split.
    let table = [
        ("sg_dd", "", 0, 0, SIGINT),
        ("sgp_dd", "bpt=64 thr=2", 0, 0, SIGINT),
        ("sgm_dd", "skip=1000 seek=300", 1000, 300, SIGQUIT),
        ("sg_dd", "iflag=nocache skip=500 count=30000", 500, 0, SIGINT),
        ("sg_dd", "oflag=append,excl bpt=50", 0, 0, SIGINT),
    ];
    for (front, words, skip, seek, signal) in table {
        let dest = dir.path().join("the dest & it's $more");
        let _ = fs::remove_file(&dest);
        let (from, to) = (format!("if={}", source.path().display()), format!("of={}", dest.display()));
        let mut arguments = vec![front, &from, &to, "bs=512", "time=1"];
        arguments.extend(words.split_whitespace());
        let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
        wait_for_bytes(&dest, &mut copy);
        copy.signal(if signal == SIGINT { Signal::INT } else { Signal::QUIT });
        copy.end_by(signal);
        let messages = &copy.messages;
        assert!(
            messages.contains("Interrupted by signal,\n") && messages.contains("  remaining block count="),
            "{messages}"
        );
        assert!(messages.contains(" MB/sec") && messages.contains(" records out\n"), "{messages}");
        let command = continue_command(messages);
        let called = format!("{} {front} ", haul.display());
        assert!(command.starts_with(&called) && command.contains(" count="), "{command}");
        run_in_shell(&command);
        let blocks = if words.contains("count=30000") { 30_000 } else { (20 << 11) - skip };
        let medium = dir.path().join("medium");
        cmp_ranges(&medium, skip * 512, &dest, seek * 512, blocks * 512);
        assert_eq!(fs::metadata(&dest).expect("it exists").len(), (seek + blocks) * 512, "{front} {words}");
    }
}

#[test]
fn a_signal_prints_the_remaining_blocks() {
    for front in FRONTS {
        let dir = memory_dir();
        let dest = format!("of={}", dir.path().join("out").display());
        let arguments = [front, "bs=1000", "count=40", "bpt=1", &dest, "time=1"];
        let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
        copy.wait_for_handler(SIGUSR1);
        let bytes = noise(40_000, 5);
        let mut pipe = copy.child().stdin.take().expect("it is piped");
        pipe.write_all(&bytes[..10_500]).expect("it is read");
        for delta in [false, true] {
            // Repeated until everything that was sent is counted.
            loop {
                copy.signal(Signal::USR1);
                copy.read_until(|line| line == "Progress report, continuing ...\n");
                let before = copy.messages.len();
                let last = if front == "sgm_dd" { "time to transfer" } else { "records out" };
                copy.read_until(|line| line.contains(last));
                let reported = copy.messages[before..].to_owned();
                if !reported.contains("10+0 records out") {
                    continue;
                }
                let margin = if front == "sgm_dd" { "" } else { "  " };
                assert!(
                    reported.contains(&format!("{margin}10+0 records in\n{margin}10+0 records out\n")),
                    "{reported}"
                );
                assert!(reported.contains("  remaining block count=30\n"), "{reported}");
                // sgm_dd prints this last, and the test may not have read it.
                let left = reported.contains("25% complete, estimated time remaining: 0:0");
                assert!(left || front == "sgm_dd", "{reported}");
                assert!(reported.contains("so far") && reported.contains(" MB/sec"), "{reported}");
                if !delta || reported.contains("(delta ") || reported.contains("0.00 MB/sec") {
                    break;
                }
            }
        }
        pipe.write_all(&bytes[10_500..]).expect("it is read");
        drop(pipe);
        let (status, _) = copy.end();
        assert!(status.success() && copy.messages.contains("40+0 records in\n40+0 records out\n"), "{}", copy.messages);
        assert!(fs::read(dir.path().join("out")).expect("it was created") == bytes, "{front}");
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let dir = memory_dir();
    let script = format!("trap '' INT USR1; exec '{}' sg_dd of=out count=4 bpt=1", support::haul_path().display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(dir.path()).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a shell is installed");
    let pid = rustix::process::Pid::from_child(&child);
    let mut pipe = child.stdin.take().expect("it is piped");
    let mut messages = child.stderr.take().expect("it is piped");
    pipe.write_all(&noise(1024, 1)).expect("it is read");
    // It writes only after its handlers are installed.
    while fs::metadata(dir.path().join("out")).map_or(0, |stat| stat.len()) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    for signal in [Signal::INT, Signal::USR1] {
        rustix::process::kill_process(pid, signal).expect("it is a child of this process");
    }
    // Gives an unwanted handler time to run; without one no time is needed.
    std::thread::sleep(std::time::Duration::from_millis(100));
    pipe.write_all(&noise(1024, 2)).expect("its output can still be read");
    drop(pipe);
    let mut text = String::new();
    messages.read_to_string(&mut text).expect("it is UTF-8");
    assert!(child.wait().expect("it is a child of this process").success(), "{text}");
    assert!(text.ends_with("4+0 records in\n4+0 records out\n") && !text.contains("report"), "{text}");
}

#[test]
fn a_closed_pipe_ends_the_front_by_sigpipe() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(4 << 20, 1)).expect("the file can be written");
    let source = format!("if={}", dir.path().join("in").display());
    let mut copy = Running::start(&["sg_dd", &source, "bs=512"], Stdio::null(), Stdio::piped());
    drop(copy.child().stdout.take());
    copy.end_by(SIGPIPE);
    assert!(copy.messages.contains("Interrupted by signal,\n"), "{}", copy.messages);
    assert!(
        copy.messages.contains("It cannot be continued: another program cannot continue a stream"),
        "{}",
        copy.messages
    );
}

#[test]
fn copies_with_of2_or_of_a_stream_report_that_they_cannot_be_continued() {
    let dir = memory_dir();
    let (out, second) = (dir.path().join("out"), dir.path().join("second"));
    let (of, of2) = (format!("of={}", out.display()), format!("of2={}", second.display()));
    let arguments = ["sg_dd", &of, &of2, "bs=1000", "bpt=1", "count=30"];
    let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
    copy.wait_for_handler(SIGINT);
    copy.child().stdin.as_mut().expect("it is piped").write_all(&noise(5_000, 1)).expect("it is read");
    wait_for_bytes(&out, &mut copy);
    copy.signal(Signal::INT);
    // Its input stays open: the end of the input would end the copy successfully.
    let input = copy.child().stdin.take();
    copy.end_by(SIGINT);
    drop(input);
    assert!(copy.messages.contains("It cannot be continued: data already read from a stream"), "{}", copy.messages);
    let Some(source) = slow_file(dir.path(), 20 << 20) else { return };
    fs::remove_file(&out).expect("it was created");
    let from = format!("if={}", source.path().display());
    let mut copy = Running::start(&["sg_dd", &from, &of, &of2, "bs=512"], Stdio::null(), Stdio::null());
    wait_for_bytes(&out, &mut copy);
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    assert!(copy.messages.contains("OFILE2 cannot be continued"), "{}", copy.messages);
    let command = continue_command(&copy.messages);
    assert!(!command.contains("of2"), "{command}");
    run_in_shell(&command);
    cmp(dir.path().join("medium"), &out);
}
