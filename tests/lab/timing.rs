//! What copies take between disks that serve one command at a time, in the virtual time of `lab/vmlab`.
//!
//! The one clock that may fail a test: it counts instructions and leaps over idle waits, so that it shows the same at
//! every run, whatever the machine is busy with.
use crate::guests::findings;
use crate::support::lab_is_there;
use std::collections::BTreeMap;

/// What was told, in the script's units, by what it is, disks and program.
type Times = BTreeMap<[String; 3], f64>;

/// Most of the longer disk's own time that haul may take with either engine.
///
/// The own time is that of 1536 commands of 2.1 ms. The 5 % (161 ms) are for what happens once a copy, whatever its
/// length, and is long only here: 14 commands of 2 ms that look for what is on both disks (30 ms), memory for the
/// blocks, cleared at a byte an instruction (17 ms), the last block on its own (17 ms), and for a ring the two grace
/// periods of the kernel that give the device back (24 ms). Room for one stall of the pump a block it is not.
const HAUL: (f64, f64) = (0.95, 1.05);
/// Helper threads have no ring to give back.
const THREADS: (f64, f64) = (0.95, 1.04);
/// dd and sg_dd read, then write: the sum of both.
const SERIAL: (f64, f64) = (1.9, 2.05);
/// Four threads that read and write command by command: the longer of both.
const SGP_DD: (f64, f64) = (0.95, 1.05);
/// Most that haul may take of sgp_dd's time, neither flushed.
const BESIDE_SGP_DD_MAX: f64 = 1.02;
/// The same, both flushed, of a copy half as long: what happens once weighs twice as much.
const BESIDE_SGP_DD_SHORT_MAX: f64 = 1.03;
/// Most that haul may take of the processor time of sgp_dd, which gives the same commands: disks, program, its sgp_dd.
///
/// At sg nodes a command costs haul what it costs sgp_dd where the driver need not copy, and less where it copies. The
/// rest is the start, which a copy of 96 MiB does not hide: 30 ms of haul copy, 18 ms of its front, 12 ms of sgp_dd.
/// Runs of one program differ by 2 to 3 %.
const TASKS_BESIDE_SGP_DD_MAX: [(&str, &str, &str, f64); 5] = [
    ("debug", "haul", "sgp_dd", 1.25),
    ("debug-sg", "haul", "sgp_dd", 1.0),
    ("debug-sg", "front", "sgp_dd", 1.0),
    ("debug-sg", "haul-dio", "sgp_dd-dio", 1.1),
    ("debug-sg", "front-dio", "sgp_dd-dio", 1.07),
];

/// Most that copying by SCSI commands may take of the processor time of copying through the page cache, with the same
/// program: haul 0.62, and 0.30 where the driver may move bytes directly; sg_dd by dd 0.47.
const TASKS_BESIDE_CACHE_MAX: f64 = 0.9;

/// By the block layer: what is flushed at the end is not in what dd and sgp_dd take.
const BY_SD: [(&str, (f64, f64)); 4] = [("haul", HAUL), ("haul-threads", THREADS), ("dd", SERIAL), ("sgp_dd", SGP_DD)];
/// By SCSI commands: the own time is that of sg_dd, which waits for each answer before it thinks of the next command.
const BY_SG: [(&str, (f64, f64)); 5] =
    [("haul", HAUL), ("haul-threads", THREADS), ("haul-dio", HAUL), ("sg_dd", SERIAL), ("sgp_dd", SGP_DD)];

/// The times that the script told. Every copy of haul was made by the engine that it is named for.
fn times(said: &str) -> Times {
    let mut times = Times::new();
    for line in said.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [what @ ("time" | "tasks"), disks, program, figure] => {
                let figure = figure.parse().expect("a time is a number");
                times.insert([what.into(), disks.into(), program.into()], figure);
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

/// A time, or a time of all tasks.
#[track_caller]
fn of(times: &Times, what: &str, disks: &str, program: &str) -> f64 {
    let time = times.get(&[what.to_owned(), disks.to_owned(), program.to_owned()]);
    *time.unwrap_or_else(|| panic!("the lab told no {what} of {program} on {disks}: {times:?}"))
}

/// The ratio of each copy to the time that the longer disk takes alone: told, and held to its figure. What missed it.
fn judge(disks: &str, figures: &[(&str, (f64, f64))], times: &Times) -> Vec<String> {
    let of = |program: &str| of(times, "time", disks, program);
    // Written and durable, command by command, without the time in which dd makes zeros.
    let own = of("read").max(of("write") - of("zeros"));
    let mut missed = Vec::new();
    for &(program, (least, most)) in figures {
        let ratio = of(program) / own;
        println!("{disks:8} {program:12} {ratio:.4} of the longer disk's own time");
        if !(least..=most).contains(&ratio) {
            missed.push(format!("{program} on {disks}: {ratio:.4}, wanted {least} to {most}"));
        }
    }
    missed
}

/// The seeds' claim: past the page cache by sg, a copy takes less processor time than through it by sd.
fn beside_the_cache(disks: &str, by_sg: &str, cached: &str, times: &Times) -> Option<String> {
    let through = of(times, "tasks", &format!("{disks}-cache"), cached);
    let ratio = of(times, "tasks", &format!("{disks}-sg"), by_sg) / through;
    println!("{disks:8} {by_sg:12} {ratio:.4} by sg of the processor time of {cached} through the page cache");
    let most = TASKS_BESIDE_CACHE_MAX;
    (ratio > most)
        .then(|| format!("{by_sg} by sg: {ratio:.4} of {cached} through the page cache, wanted {most} at most"))
}

/// haul beside sgp_dd, which gives the same commands: no slower, and not much dearer.
fn beside_sgp_dd(what: &str, disks: &str, [haul, sgp_dd]: [&str; 2], most: f64, times: &Times) -> Option<String> {
    let ratio = of(times, what, disks, haul) / of(times, what, disks, sgp_dd);
    println!("{disks:8} {haul:12} {ratio:.4} of the {what} of {sgp_dd}");
    (ratio > most).then(|| format!("{haul} on {disks}: {ratio:.4} of the {what} of {sgp_dd}, wanted {most} at most"))
}

#[test]
fn a_copy_between_disks_of_one_command_at_a_time_takes_hardly_longer_than_the_longer_disk_alone() {
    if !lab_is_there(&["sg_dd", "sgp_dd"]) {
        return;
    }
    let findings = findings("proofs/copy-times.sh");
    let said = findings.said();
    let times = times(said);
    // SCSI disks, whose drive takes one command, by both ways; and null_blk, whose queue holds no more than one.
    let mut missed = judge("debug", &BY_SD, &times);
    missed.extend(judge("debug-sg", &BY_SG, &times));
    missed.extend(judge("slow", &BY_SD, &times));
    let longer = ["haul-longer", "sgp_dd-longer"];
    missed.extend(beside_sgp_dd("time", "debug", longer, BESIDE_SGP_DD_MAX, &times));
    missed.extend(beside_sgp_dd("time", "debug-sg", ["haul", "sgp_dd"], BESIDE_SGP_DD_SHORT_MAX, &times));
    for (disks, haul, sgp_dd, most) in TASKS_BESIDE_SGP_DD_MAX {
        missed.extend(beside_sgp_dd("tasks", disks, [haul, sgp_dd], most, &times));
    }
    for (by_sg, cached) in [("haul", "haul"), ("haul-dio", "haul"), ("sg_dd", "dd")] {
        missed.extend(beside_the_cache("debug", by_sg, cached, &times));
    }
    assert!(missed.is_empty(), "{}\n{said}", missed.join("\n"));
}
