//! The duration of copies between disks that serve one command at a time, in the virtual time of `lab/vmlab`.
//!
//! The only clock on which a test may depend: it counts instructions and skips idle time, so that it shows the same
//! in every run, even on a busy machine.
use crate::guests::findings;
use crate::support::lab_is_available;
use std::collections::BTreeMap;

/// The reported times, in the script's units, by kind, disks and program: one of each run.
type Times = BTreeMap<[String; 3], Vec<f64>>;

/// Minimum and maximum of haul's time, relative to that of the slower disk, with either engine.
///
/// The disk's time is that of 1536 commands of 2.1 ms. The 5 % (161 ms) are for constant costs of a copy, which
/// matter only here: 14 commands of 2 ms that examine the contents of both disks (30 ms), clearing memory for the
/// blocks at a byte per instruction (17 ms), the last block, which overlaps with nothing (17 ms), and for a ring the
/// two grace periods of the kernel when it releases the device (24 ms). They are not enough for one stall of the
/// pump per block.
const HAUL: (f64, f64) = (0.95, 1.05);
/// Helper threads have no ring to release.
const THREADS: (f64, f64) = (0.95, 1.04);
/// dd and sg_dd read, then write: the sum of both.
const SERIAL: (f64, f64) = (1.9, 2.05);
/// Four threads that read and write command by command: the longer of both times.
const SGP_DD: (f64, f64) = (0.95, 1.05);
/// Maximum of haul's time relative to sgp_dd's, both without a flush.
const BESIDE_SGP_DD_MAX: f64 = 1.02;
/// The same with a flush, for a copy half as long: constant costs have twice the weight.
const BESIDE_SGP_DD_SHORT_MAX: f64 = 1.03;
/// Maximum of haul's processor time relative to that of sgp_dd, which sends the same commands: disks, program, its
/// sgp_dd.
///
/// At sg nodes a command costs haul the same as sgp_dd if the driver need not copy, and less if it copies. The rest
/// is the start, which matters in a copy of 96 MiB: 30 ms for haul copy, 18 ms for haul sgp_dd, 12 ms for sgp_dd.
/// haul's runs differ by 1 %. Those of sgp_dd mostly take 698 ms, but 1 of 20 took 637 ms. The ratios of the medians of
/// three are 0.95 (copy) and 0.94 (front) where the driver copies; with direct transfer 1.03 to 1.11 and 1.01 to 1.06.
/// A start that takes 3 ms longer adds 0.01 to those: it grows with the program.
const TASKS_BESIDE_SGP_DD_MAX: [(&str, &str, &str, f64); 5] = [
    ("debug", "haul", "sgp_dd", 1.25),
    ("debug-sg", "haul", "sgp_dd", 1.05),
    ("debug-sg", "front", "sgp_dd", 1.05),
    ("debug-sg", "haul-dio", "sgp_dd-dio", 1.14),
    ("debug-sg", "front-dio", "sgp_dd-dio", 1.09),
];

/// Maximum of the processor time of copying by SCSI commands, relative to copying through the page cache with the
/// same program: haul 0.62, and 0.30 if the driver may transfer data directly; sg_dd relative to dd 0.47.
const TASKS_BESIDE_CACHE_MAX: f64 = 0.9;

/// By the block layer: the times of dd and sgp_dd exclude the final flush.
const BY_SD: [(&str, (f64, f64)); 4] = [("haul", HAUL), ("haul-threads", THREADS), ("dd", SERIAL), ("sgp_dd", SGP_DD)];
/// By SCSI commands: the disk's time is that of sg_dd, which sends a command after the previous one has completed.
const BY_SG: [(&str, (f64, f64)); 5] =
    [("haul", HAUL), ("haul-threads", THREADS), ("haul-dio", HAUL), ("sg_dd", SERIAL), ("sgp_dd", SGP_DD)];

/// The times that the script printed. Asserts that every copy of haul used the engine in its name.
fn times(messages: &str) -> Times {
    let mut times = Times::new();
    for line in messages.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [what @ ("time" | "tasks"), disks, program, figure] => {
                let figure = figure.parse().expect("a time is a number");
                times.entry([what.into(), disks.into(), program.into()]).or_default().push(figure);
            }
            ["engine", _, program, engine] => {
                let named = if program == "haul-threads" { "threads" } else { "ring" };
                assert_eq!(engine, named, "{program} copied with another engine:\n{messages}");
            }
            _ => {}
        }
    }
    times
}

/// A time, or a time of all tasks: the median of its runs.
#[track_caller]
fn of(times: &Times, what: &str, disks: &str, program: &str) -> f64 {
    let runs = times.get(&[what.to_owned(), disks.to_owned(), program.to_owned()]);
    let mut runs = runs.unwrap_or_else(|| panic!("the lab reported no {what} of {program} on {disks}")).clone();
    runs.sort_by(f64::total_cmp);
    runs[runs.len() / 2]
}

/// The ratio of each copy to the time of the slower disk: printed, and compared with its limits. Returns those
/// outside.
fn missed_limits(disks: &str, figures: &[(&str, (f64, f64))], times: &Times) -> Vec<String> {
    let of = |program: &str| of(times, "time", disks, program);
    // Written and durable, command by command, without the time in which dd generates zeros.
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

/// The claim of the documents from which haul originates: by sg, a copy takes less processor time than through the
/// page cache by sd.
fn beside_the_cache(disks: &str, by_sg: &str, cached: &str, times: &Times) -> Option<String> {
    let through = of(times, "tasks", &format!("{disks}-cache"), cached);
    let ratio = of(times, "tasks", &format!("{disks}-sg"), by_sg) / through;
    println!("{disks:8} {by_sg:12} {ratio:.4} by sg of the processor time of {cached} through the page cache");
    let most = TASKS_BESIDE_CACHE_MAX;
    (ratio > most)
        .then(|| format!("{by_sg} by sg: {ratio:.4} of {cached} through the page cache, wanted {most} at most"))
}

/// haul compared with sgp_dd, which sends the same commands: no slower, and with little more processor time.
fn beside_sgp_dd(what: &str, disks: &str, [haul, sgp_dd]: [&str; 2], most: f64, times: &Times) -> Option<String> {
    let ratio = of(times, what, disks, haul) / of(times, what, disks, sgp_dd);
    println!("{disks:8} {haul:12} {ratio:.4} of the {what} of {sgp_dd}");
    (ratio > most).then(|| format!("{haul} on {disks}: {ratio:.4} of the {what} of {sgp_dd}, wanted {most} at most"))
}

#[test]
fn a_copy_between_disks_of_queue_depth_one_takes_the_time_of_the_slower_disk() {
    if !lab_is_available(&["sg_dd", "sgp_dd"]) {
        return;
    }
    let findings = findings("proofs/copy-times.sh");
    let messages = findings.messages();
    let times = times(messages);
    // SCSI disks, whose drive serves one command, by both interfaces; and null_blk, whose queue holds only one.
    let mut missed = missed_limits("debug", &BY_SD, &times);
    missed.extend(missed_limits("debug-sg", &BY_SG, &times));
    missed.extend(missed_limits("slow", &BY_SD, &times));
    let longer = ["haul-longer", "sgp_dd-longer"];
    missed.extend(beside_sgp_dd("time", "debug", longer, BESIDE_SGP_DD_MAX, &times));
    missed.extend(beside_sgp_dd("time", "debug-sg", ["haul", "sgp_dd"], BESIDE_SGP_DD_SHORT_MAX, &times));
    for (disks, haul, sgp_dd, most) in TASKS_BESIDE_SGP_DD_MAX {
        missed.extend(beside_sgp_dd("tasks", disks, [haul, sgp_dd], most, &times));
    }
    for (by_sg, cached) in [("haul", "haul"), ("haul-dio", "haul"), ("sg_dd", "dd")] {
        missed.extend(beside_the_cache("debug", by_sg, cached, &times));
    }
    assert!(missed.is_empty(), "{}\n{messages}", missed.join("\n"));
}
