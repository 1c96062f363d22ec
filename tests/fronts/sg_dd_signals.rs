//! Signals in the middle of sg_dd, sgp_dd and sgm_dd: what is told, how it ends, and whether it can be continued.
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

/// A file that is read slowly, because a program is run for each request; none of it is bad.
fn slow_file(dir: &Path, len: usize) -> Option<FailingDisk> {
    fs::write(dir.join("medium"), noise(len, 3)).expect("scratch takes files");
    let behind = len as u64 + 1;
    FailingDisk::over(dir, &dir.join("medium"), Fails::Reads, behind..behind + 1)
}

/// The command that it printed to continue.
#[track_caller]
fn continue_command(said: &str) -> String {
    let mut lines = said.lines().skip_while(|line| *line != "To continue:");
    lines.nth(1).unwrap_or_else(|| panic!("no command in:\n{said}")).trim().to_owned()
}

/// Waits until something has arrived in `file`.
fn wait_for_bytes(file: &Path, running: &mut Running) {
    while fs::metadata(file).map_or(0, |stat| stat.len()) == 0 {
        let ended = running.child().try_wait().expect("it is our child");
        assert!(ended.is_none(), "it was over before a signal could come");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn an_interrupted_copy_dies_by_the_signal_and_the_command_that_it_prints_continues_it() {
    let dir = memory_dir();
    let Some(source) = slow_file(dir.path(), 20 << 20) else { return };
    let haul = support::haul_path();
    // By blocks, by records; from a place to another; appending; from names that a shell would take apart.
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
        let said = &copy.said;
        assert!(said.contains("Interrupted by signal,\n") && said.contains("  remaining block count="), "{said}");
        assert!(said.contains(" MB/sec") && said.contains(" records out\n"), "{said}");
        let command = continue_command(said);
        let called = format!("{} {front} ", haul.display());
        assert!(command.starts_with(&called) && command.contains(" count="), "{command}");
        run_in_shell(&command);
        let blocks = if words.contains("count=30000") { 30_000 } else { (20 << 11) - skip };
        let medium = dir.path().join("medium");
        cmp_ranges(&medium, skip * 512, &dest, seek * 512, blocks * 512);
        assert_eq!(fs::metadata(&dest).expect("it is there").len(), (seek + blocks) * 512, "{front} {words}");
    }
}

#[test]
fn a_report_changes_nothing_and_tells_what_remains() {
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
            // Asked until all that was sent has arrived.
            loop {
                copy.signal(Signal::USR1);
                copy.read_until(|line| line == "Progress report, continuing ...\n");
                let before = copy.said.len();
                let last = if front == "sgm_dd" { "time to transfer" } else { "records out" };
                copy.read_until(|line| line.contains(last));
                let told = copy.said[before..].to_owned();
                if !told.contains("10+0 records out") {
                    continue;
                }
                let margin = if front == "sgm_dd" { "" } else { "  " };
                assert!(told.contains(&format!("{margin}10+0 records in\n{margin}10+0 records out\n")), "{told}");
                assert!(told.contains("  remaining block count=30\n"), "{told}");
                // sgm_dd tells this behind all the rest, where it was not waited for.
                let left = told.contains("25% complete, estimated time remaining: 0:0");
                assert!(left || front == "sgm_dd", "{told}");
                assert!(told.contains("so far") && told.contains(" MB/sec"), "{told}");
                if !delta || told.contains("(delta ") || told.contains("0.00 MB/sec") {
                    break;
                }
            }
        }
        pipe.write_all(&bytes[10_500..]).expect("it is read");
        drop(pipe);
        let (status, _) = copy.end();
        assert!(status.success() && copy.said.contains("40+0 records in\n40+0 records out\n"), "{}", copy.said);
        assert!(fs::read(dir.path().join("out")).expect("it was made") == bytes, "{front}");
    }
}

#[test]
fn signals_that_were_ignored_stay_ignored() {
    let dir = memory_dir();
    let script = format!("trap '' INT USR1; exec '{}' sg_dd of=out count=4 bpt=1", support::haul_path().display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(dir.path()).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("there is a shell");
    let pid = rustix::process::Pid::from_child(&child);
    let mut pipe = child.stdin.take().expect("it is piped");
    let mut said = child.stderr.take().expect("it is piped");
    pipe.write_all(&noise(1024, 1)).expect("it is read");
    // From when it writes it has its handlers.
    while fs::metadata(dir.path().join("out")).map_or(0, |stat| stat.len()) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    for signal in [Signal::INT, Signal::USR1] {
        rustix::process::kill_process(pid, signal).expect("it is our child");
    }
    // Time for a handler that should not be there; one that is not needs none.
    std::thread::sleep(std::time::Duration::from_millis(100));
    pipe.write_all(&noise(1024, 2)).expect("it is still there to read");
    drop(pipe);
    let mut text = String::new();
    said.read_to_string(&mut text).expect("it is text");
    assert!(child.wait().expect("it is our child").success(), "{text}");
    assert!(text.ends_with("4+0 records in\n4+0 records out\n") && !text.contains("report"), "{text}");
}

#[test]
fn when_nobody_reads_any_more_it_dies_by_that_signal() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(4 << 20, 1)).expect("scratch takes files");
    let source = format!("if={}", dir.path().join("in").display());
    let mut copy = Running::start(&["sg_dd", &source, "bs=512"], Stdio::null(), Stdio::piped());
    drop(copy.child().stdout.take());
    copy.end_by(SIGPIPE);
    assert!(copy.said.contains("Interrupted by signal,\n"), "{}", copy.said);
    assert!(copy.said.contains("It cannot be continued: another program cannot continue a stream"), "{}", copy.said);
}

#[test]
fn a_copy_of_a_second_file_and_of_a_stream_says_what_cannot_be_continued() {
    let dir = memory_dir();
    let (out, second) = (dir.path().join("out"), dir.path().join("second"));
    let (of, of2) = (format!("of={}", out.display()), format!("of2={}", second.display()));
    let arguments = ["sg_dd", &of, &of2, "bs=1000", "bpt=1", "count=30"];
    let mut copy = Running::start(&arguments, Stdio::piped(), Stdio::null());
    copy.wait_for_handler(SIGINT);
    copy.child().stdin.as_mut().expect("it is piped").write_all(&noise(5_000, 1)).expect("it is read");
    wait_for_bytes(&out, &mut copy);
    copy.signal(Signal::INT);
    // Its input stays open: the end of that would be an end of the copy, too, and a good one.
    let input = copy.child().stdin.take();
    copy.end_by(SIGINT);
    drop(input);
    assert!(copy.said.contains("It cannot be continued: data already read from a stream"), "{}", copy.said);
    let Some(source) = slow_file(dir.path(), 20 << 20) else { return };
    fs::remove_file(&out).expect("it was made");
    let from = format!("if={}", source.path().display());
    let mut copy = Running::start(&["sg_dd", &from, &of, &of2, "bs=512"], Stdio::null(), Stdio::null());
    wait_for_bytes(&out, &mut copy);
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    assert!(copy.said.contains("OFILE2 cannot be continued"), "{}", copy.said);
    let command = continue_command(&copy.said);
    assert!(!command.contains("of2"), "{command}");
    run_in_shell(&command);
    cmp(dir.path().join("medium"), &out);
}
