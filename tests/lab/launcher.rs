//! The lab's launcher: a guest that hangs is ended, and its console shown; one that dies is told apart from a command
//! that failed. And proofs that share a guest: each has a result of its own.
use crate::guests::{Guest, Told, slot_for_a_short_one};
use crate::support::{lab_is_there, launcher, scratch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::thread;

/// The launcher with a command of bash, whose process has this name.
fn named(name: &str, command: &str, timeout_s: u32) -> Command {
    let mut vmlab = launcher();
    vmlab.args(["bash", "-c", command]);
    vmlab.envs([("VMLAB_TIMEOUT", timeout_s.to_string()), ("VMLAB_QEMU", format!("-name {name}"))]);
    vmlab
}

/// Runs the launcher on a command of bash, and whether a process of its is left: found by a name given to qemu.
fn launched(name: &str, command: &str, timeout_s: u32) -> (Output, bool) {
    let _slot = slot_for_a_short_one();
    let output = named(name, command, timeout_s).output().expect("setpriv is there");
    (output, is_running(name))
}

/// Whether a qemu of this name runs.
fn is_running(name: &str) -> bool {
    // Not pgrep -f of the name alone: that would find itself.
    let listed = Command::new("ps").args(["-eo", "args"]).output().expect("ps is there");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().any(|line| line.starts_with("qemu") && line.contains(name))
}

#[test]
fn a_guest_that_hangs_is_ended_and_its_console_is_shown() {
    if !lab_is_there(&["ps"]) {
        return;
    }
    let name = format!("hanging-{}", std::process::id());
    // A busy machine may not get to the command in so short a time: then with more.
    for timeout_s in [15, 60, 240] {
        let command = "echo begun; echo seen on the console > /dev/console; sleep 3600";
        let (output, left) = launched(&name, command, timeout_s);
        let (said, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(124), "{said}{words}");
        assert!(words.contains(&format!("vmlab: no end after {timeout_s} s")), "{words}");
        assert!(!left, "a qemu is left");
        if said.contains("begun") {
            assert!(words.contains("seen on the console"), "the console is not shown:\n{words}");
            return;
        }
    }
    panic!("no command was begun in any of these times");
}

#[test]
fn a_guest_that_dies_is_told_apart_from_a_command_that_fails() {
    if !lab_is_there(&["ps"]) {
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
    if !lab_is_there(&["ps"]) {
        return;
    }
    let _slot = slot_for_a_short_one();
    let (dir, name) = (scratch(), format!("orphaned-{}", std::process::id()));
    let mut vmlab = named(&name, "echo begun; sleep 3600", 7200);
    vmlab.env("TMPDIR", dir.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = move || {
        let mut running = vmlab.spawn().expect("setpriv is there");
        let mut begun = String::new();
        let said = BufReader::new(running.stdout.as_mut().expect("it is piped")).read_line(&mut begun);
        (said.map(|_| begun), running)
    };
    // To the launcher, the end of the thread that started it is the end of all tests.
    let (begun, mut running) = thread::spawn(start).join().expect("it does not panic");
    assert_eq!(begun.expect("it can be read"), "begun\n");
    let status = running.wait().expect("it was started");
    assert!(status.code() == Some(130) && !is_running(&name), "{status}");
    let left: Vec<_> = dir.path().read_dir().expect("it is there").flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Proofs of one guest, in this order: each says first whether the guest is in order.
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

/// What was told of each of them, if no more than `silence_s` of silence is a hung proof.
fn misbehaved(silence_s: u64) -> BTreeMap<&'static str, Told> {
    let guest = Guest { name: "misbehaving", words: &[], drives: &[], proofs: &[], silence_s, is_quiet: false };
    let mut all = BTreeMap::new();
    let _slot = slot_for_a_short_one();
    guest.run(&MISBEHAVING, |proof, told| {
        assert!(all.insert(proof, told).is_none(), "{proof} was reported twice");
    });
    all
}

#[test]
fn each_proof_of_a_guest_has_a_result_of_its_own_whatever_the_others_do() {
    if !lab_is_there(&["openssl", "dmsetup", "mkfs.ext4", "blkdiscard", "blockdev", "cmp", "pgrep"]) {
        return;
    }
    const HUNG: &str = "no output for so long";
    // A busy machine may keep a proof from saying anything in so short a time: then with more.
    let quiet = |(proof, told): (&&str, &Told)| !proof.contains("hangs") && told.wrong.contains(HUNG);
    let all =
        [10, 60, 240].into_iter().map(misbehaved).find(|all| !all.iter().any(quiet)).expect("one of these is enough");
    for proof in MISBEHAVING {
        let Told { said, wrong, .. } = &all[proof];
        let in_order = said.starts_with("ok the guest is in order\n");
        assert!(in_order || proof.contains("too late"), "{proof}: {said}{wrong}");
        let (said_also, went_wrong) = match proof.split(' ').nth(1).expect("there is a word for it") {
            "fails" => ("FAIL two is three: [ 2 = 3 ]\n\nstderr: words of the program\n", ""),
            "hangs" => ("", HUNG),
            "ends" => ("", "it ended with status 137"),
            "dies" => ("", "its guest ended first"),
            _ if proof.contains("too late") => ("", "its guest ended first"),
            _ => ("", ""),
        };
        assert!(said.contains(said_also) && wrong.contains(went_wrong), "{proof}: {said}{wrong}");
        assert_eq!(wrong.is_empty(), went_wrong.is_empty(), "{proof}: {said}{wrong}");
    }
    assert!(all["misbehave.sh dies"].wrong.contains("Kernel panic"), "the console is not shown");
}
