//! Programs that behave like haul except for one defect: the checks detect each of them.
use super::case::{Case, Fault, Source, Verb};
use super::{chain, draw};
use crate::support::{haul_path, scratch};
use std::fs;

/// Maximum number of random runs in which a defect is searched for.
const CASES: u64 = 600;

/// Maximum size of a source: defects show with few bytes, too.
const LEN_MAX: usize = 2 << 20;

/// Runs haul, forwards signals to it, and stores its status in `status`.
const HAUL: &str = r#"
haul= pending=
# Before haul is started: a shell that dies in between leaves a haul that nothing ends.
pass_on() { pending=$1; [ -z "$haul" ] || kill -$1 $haul 2>/dev/null; }
trap 'pass_on INT' INT; trap 'pass_on TERM' TERM
# Else the shell has what it starts behind itself ignore SIGINT.
set -m
"$HAUL" "$@" <&0 & haul=$!
[ -z "$pending" ] || kill -$pending $haul 2>/dev/null
wait $haul; status=$?
while kill -0 $haul 2>/dev/null; do wait $haul; status=$?; done
dest="${@: -1}"
by_signal() { trap - INT TERM; kill -$1 $$; }
"#;

/// Ends as haul does.
const END: &str = r#"
case $status in 130) by_signal INT;; 143) by_signal TERM;; esac
exit $status
"#;

/// The defect, and words of the error about it.
const WRONG: [(&str, &str); 11] = [
    // The last copied byte is wrong.
    (
        r#"[ $status != 0 ] || [ ! -s "$dest" ] || [ ! -f "$dest" ] ||
        printf '\377' | dd of="$dest" bs=1 conv=notrunc status=none seek=$(($(stat -Lc %s "$dest") - 1))"#,
        "status 0, dest 0",
    ),
    // So is the first byte of an incomplete copy.
    (
        r#"[ $status -lt 128 ] || [ ! -s "$dest" ] || [ ! -f "$dest" ] ||
        printf '\377' | dd of="$dest" bs=1 conv=notrunc status=none"#,
        "first at Some(0)",
    ),
    // A temporary file remains.
    (r#": >.left.haul-new"#, ".left.haul-new was not there before"),
    // An unrelated file changes: its bytes, its mode, its time.
    (r#"[ ! -e map.tmp ] || chmod 600 map.tmp"#, "map.tmp is another: mode"),
    (r#"[ ! -e bystander ] || touch bystander"#, "bystander is another: mtime"),
    (r#"rm -f dst~"#, "dst~ was removed"),
    // The dest is replaced instead of written to.
    (r#"[ $status != 0 ] || [ ! -f "$dest" ] || { cp "$dest" ../copy && mv ../copy "$(realpath "$dest")"; }"#, "inode"),
    // It ends by a status instead of the signal.
    (r#"[ $status -lt 128 ] || exit $status"#, "signal None"),
    // An incomplete copy changes a byte outside its range.
    (r#"[ $status -lt 128 ] || [ ! -f "$dest" ] || printf '\377' >>"$dest""#, "outside the ranges of dest 0"),
    // The manifest of a copy of ranges does not list them.
    (r#"[ $status != 0 ] || [ ! -e manifest ] || sed -i /range_of/d manifest"#, "the manifest has the ranges"),
    // Failures are reported as success.
    (r#"[ $status != 1 ] || exit 0"#, "status 0"),
];

/// Cases in which the shell script can replace haul.
fn suits(case: &Case) -> bool {
    let sent = |fault: &Fault| match fault {
        Fault::Signals(sent) => sent.len() == 1 && [libc::SIGINT, libc::SIGTERM].contains(&sent[0].signal),
        Fault::FileSize(_) => true,
    };
    let is_plain = case.len <= LEN_MAX
        && case.verb == Verb::Copy
        && case.dests.len() == 1
        && !matches!(case.source, Source::Failing { .. });
    is_plain && case.fault.as_ref().is_none_or(sent)
}

#[test]
fn every_fault_of_a_broken_haul_is_found() {
    let dir = scratch();
    for (number, (wrong, words)) in WRONG.iter().enumerate() {
        let script = dir.path().join(number.to_string());
        let haul = haul_path();
        let text = format!("HAUL='{}'\n{HAUL}\n{wrong}\n{END}", haul.display());
        fs::write(&script, text).expect("the file can be written");
        let program = ["bash".into(), script];
        let cases = (0..CASES).map(|number| draw::case(9, number)).filter(suits);
        let mut failures = cases.filter_map(|case| chain::run(&program, &case).err());
        let found = failures.find(|failure| failure.contains(words));
        assert!(found.is_some(), "no check detects it: {wrong}");
    }
}
