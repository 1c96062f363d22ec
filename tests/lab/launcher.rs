//! The lab's launcher: a guest that hangs is ended, and its console shown; one that dies is told apart from a command
//! that failed.
use crate::support::{lab_is_there, launcher};
use std::process::{Command, Output};

/// Runs the launcher on a command of bash, and whether a process of its is left: found by a name given to qemu.
fn launched(name: &str, command: &str, timeout_s: u32) -> (Output, bool) {
    let words = [("VMLAB_TIMEOUT", timeout_s.to_string()), ("VMLAB_QEMU", format!("-name {name}"))];
    let output = launcher().args(["bash", "-c", command]).envs(words).output().expect("bash is there");
    // Not pgrep -f of the name alone: that would find itself.
    let listed = Command::new("ps").args(["-eo", "args"]).output().expect("ps is there");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    (output, listed.lines().any(|line| line.starts_with("qemu") && line.contains(name)))
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
