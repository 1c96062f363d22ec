//! The launcher of the lab: it ends a guest that hangs and prints its console, and distinguishes a guest that died
//! from a command that failed. Scripts that share a guest have separate results.
use crate::guests::{Guest, ProofReport, slot_for_a_short_one};
use crate::support::{lab_is_available, launcher, scratch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::thread;

/// The launcher with a bash command, whose process has this name.
fn named(name: &str, command: &str, timeout_s: u32) -> Command {
    let mut vmlab = launcher();
    vmlab.args(["bash", "-c", command]);
    vmlab.envs([("VMLAB_TIMEOUT", timeout_s.to_string()), ("VMLAB_QEMU", format!("-name {name}"))]);
    vmlab
}

/// Runs the launcher with a bash command; returns whether a process of it remains, found by a name passed to qemu.
fn launched(name: &str, command: &str, timeout_s: u32) -> (Output, bool) {
    let _slot = slot_for_a_short_one();
    let output = named(name, command, timeout_s).output().expect("setpriv is installed");
    (output, is_running(name))
}

/// Whether a qemu of this name is running.
fn is_running(name: &str) -> bool {
    // Not pgrep -f with the name: it would find itself.
    let listed = Command::new("ps").args(["-eo", "args"]).output().expect("ps is installed");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().any(|line| line.starts_with("qemu") && line.contains(name))
}

#[test]
fn a_hanging_guest_is_ended_and_its_console_is_shown() {
    if !lab_is_available(&["ps"]) {
        return;
    }
    let name = format!("hanging-{}", std::process::id());
    // A busy machine may not start the command in such a short time; then it gets more.
    for timeout_s in [15, 60, 240] {
        let command = "echo begun; echo seen on the console > /dev/console; sleep 3600";
        let (output, left) = launched(&name, command, timeout_s);
        let (messages, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(124), "{messages}{words}");
        assert!(words.contains(&format!("vmlab: no end after {timeout_s} s")), "{words}");
        assert!(!left, "a qemu is left");
        if messages.contains("begun") {
            assert!(words.contains("seen on the console"), "the console is not shown:\n{words}");
            return;
        }
    }
    panic!("no command was begun in any of these times");
}

#[test]
fn a_crashed_guest_and_a_failed_command_have_different_results() {
    if !lab_is_available(&["ps"]) {
        return;
    }
    let name = format!("dying-{}", std::process::id());
    let (output, left) = launched(&name, "echo c > /proc/sysrq-trigger; sleep 3600", 300);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && !left, "{words}");
    assert!(words.contains("vmlab: the guest died") && words.contains("Kernel panic"), "{words}");
    let (output, left) = launched(&name, "exit 7", 300);
    assert!(output.status.code() == Some(7) && !left, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_guest_whose_tests_are_killed_ends_and_leaves_no_files() {
    if !lab_is_available(&["ps"]) {
        return;
    }
    let _slot = slot_for_a_short_one();
    let (dir, name) = (scratch(), format!("orphaned-{}", std::process::id()));
    let mut vmlab = named(&name, "echo begun; sleep 3600", 7200);
    vmlab.env("TMPDIR", dir.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = move || {
        let mut running = vmlab.spawn().expect("setpriv is installed");
        let mut begun = String::new();
        let messages = BufReader::new(running.stdout.as_mut().expect("it is piped")).read_line(&mut begun);
        (messages.map(|_| begun), running)
    };
    // The launcher ends with the thread that started it.
    let (begun, mut running) = thread::spawn(start).join().expect("it does not panic");
    assert_eq!(begun.expect("it can be read"), "begun\n");
    let status = running.wait().expect("it was started");
    assert!(status.code() == Some(130) && !is_running(&name), "{status}");
    let left: Vec<_> = dir.path().read_dir().expect("it exists").flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Scripts of one guest, in this order: each first checks the guest.
const MISBEHAVING: [&str; 8] = [
    "misbehave.sh fine",
    "misbehave.sh fails",
    "misbehave.sh litters",
    "misbehave.sh hangs",
    "misbehave.sh ends",
    "misbehave.sh fine again",
    "misbehave.sh dies",
    "misbehave.sh fine too late",
];

/// The result of each of them, with a limit of `silence_s` without output.
fn misbehaved(silence_s: u64) -> BTreeMap<&'static str, ProofReport> {
    let guest = Guest { name: "misbehaving", words: &[], drives: &[], proofs: &[], silence_s, is_quiet: false };
    let mut all = BTreeMap::new();
    let _slot = slot_for_a_short_one();
    guest.run(&MISBEHAVING, |proof, reported| {
        assert!(all.insert(proof, reported).is_none(), "{proof} was reported twice");
    });
    all
}

#[test]
fn each_proof_of_a_guest_has_its_own_result() {
    if !lab_is_available(&["openssl", "dmsetup", "mkfs.ext4", "blkdiscard", "blockdev", "cmp", "pgrep"]) {
        return;
    }
    const HUNG: &str = "no output for so long";
    // On a busy machine a script may print nothing in such a short time; then it gets more.
    let quiet = |(proof, reported): (&&str, &ProofReport)| !proof.contains("hangs") && reported.wrong.contains(HUNG);
    let all =
        [10, 60, 240].into_iter().map(misbehaved).find(|all| !all.iter().any(quiet)).expect("one of these is enough");
    for proof in MISBEHAVING {
        let ProofReport { messages, wrong, .. } = &all[proof];
        let in_order = messages.starts_with("ok the guest is in order\n");
        assert!(in_order || proof.contains("too late"), "{proof}: {messages}{wrong}");
        let (expected_text, went_wrong) = match proof.split(' ').nth(1).expect("there is a word for it") {
            "fails" => ("FAIL two is three: [ 2 = 3 ]\n\nstderr: words of the program\n", ""),
            "hangs" => ("", HUNG),
            "ends" => ("", "it ended with status 137"),
            "dies" => ("", "its guest ended first"),
            _ if proof.contains("too late") => ("", "its guest ended first"),
            _ => ("", ""),
        };
        assert!(messages.contains(expected_text) && wrong.contains(went_wrong), "{proof}: {messages}{wrong}");
        assert_eq!(wrong.is_empty(), went_wrong.is_empty(), "{proof}: {messages}{wrong}");
    }
    assert!(all["misbehave.sh dies"].wrong.contains("Kernel panic"), "the console is not shown");
}
