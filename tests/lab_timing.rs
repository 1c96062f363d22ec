//! What copies take between disks that serve one command at a time, in the virtual time of `lab/vmlab`.
//!
//! The one clock that may fail a test: it counts instructions and leaps over idle waits, so that it shows the same at
//! every run, whatever the machine is busy with.
mod support;

use std::collections::BTreeMap;
use support::{in_the_lab, lab_is_there, release_binary};

/// What the programs took, in microseconds, by disks and program.
type Times = BTreeMap<(String, String), f64>;

/// Most of the longer disk's own time that haul may take with either engine.
///
/// The own time is that of 1536 commands of 2.1 ms. The 5 % (161 ms) are for what happens once a copy, whatever its
/// length, and is long only here: 14 commands of 2 ms that look for what is on both disks (30 ms), memory for the
/// blocks, cleared at a byte an instruction (17 ms), the last block on its own (17 ms), and for a ring the two grace
/// periods of the kernel that give the device back (24 ms). Room for one stall of the pump a block it is not.
const HAUL_MAX: f64 = 1.05;
/// Helper threads have no ring to give back.
const THREADS_MAX: f64 = 1.04;
/// dd reads, then writes: the sum of both.
const DD: (f64, f64) = (1.9, 2.05);
/// Four threads that read and write command by command: the longer of both.
const SGP_DD: (f64, f64) = (0.95, 1.05);

/// The times that the script told. Every copy of haul was made by the engine that it is named for.
fn times(said: &str) -> Times {
    let mut times = Times::new();
    for line in said.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["time", disks, program, us] => {
                times.insert((disks.into(), program.into()), us.parse().expect("microseconds are a number"));
            }
            ["engine", _, program, engine] => {
                let named = if program == "haul-threads" { "threads" } else { "ring" };
                assert_eq!(engine, named, "{program} copied with another engine:\n{said}");
            }
            _ => {}
        }
    }
    times
}

/// The ratio of each copy to the time that the longer disk takes alone: told, and held to its figure.
fn judge(disks: &str, times: &Times) -> Vec<String> {
    let of = |program: &str| {
        let time = times.get(&(disks.to_owned(), program.to_owned()));
        *time.unwrap_or_else(|| panic!("the lab told no time of {program} on {disks}: {times:?}"))
    };
    // Written and durable, command by command, without the time in which dd makes zeros.
    let own = of("read").max(of("write") - of("zeros"));
    let figures = [("haul", (0.95, HAUL_MAX)), ("haul-threads", (0.95, THREADS_MAX)), ("dd", DD), ("sgp_dd", SGP_DD)];
    let mut missed = Vec::new();
    for (program, (least, most)) in figures {
        let ratio = of(program) / own;
        println!("{disks:5} {program:12} {ratio:.4} of the longer disk's own time");
        if !(least..=most).contains(&ratio) {
            missed.push(format!("{program} on {disks}: {ratio:.4}, wanted {least} to {most}"));
        }
    }
    missed
}

#[test]
fn a_copy_between_disks_of_one_command_at_a_time_takes_hardly_longer_than_the_longer_disk_alone() {
    if !lab_is_there(&["sgp_dd"]) {
        return;
    }
    let words = [("VMLAB_CLOCK", "virtual"), ("VMLAB_TIMEOUT", "900")];
    let said = in_the_lab("proofs/copy-times.sh", &[&release_binary()], &words);
    let times = times(&said);
    // SCSI disks, whose drive takes one command; and null_blk, whose queue holds no more than one.
    let missed: Vec<String> = ["debug", "slow"].into_iter().flat_map(|disks| judge(disks, &times)).collect();
    assert!(missed.is_empty(), "{}\n{said}", missed.join("\n"));
}
