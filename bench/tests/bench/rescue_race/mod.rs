//! haul's schedule of a rescue against GNU ddrescue on failing disks drawn from seeds, in virtual time: each run has
//! the same figures, on any machine under any load. ddrescue itself decides its reads, in its own test mode.
//!
//! RESCUE_SEEDS=100..140 draws other disks and prints all figures.
mod bed;
mod draw;
mod race;
mod summary;

use draw::{Drawn, KINDS};
use haul::core::rescue::Status;
use race::{Course, ideal, of_haul, of_reads, reads_of_ddrescue};
use std::path::Path;

#[derive(Debug)]
struct Figures {
    /// How much more ddrescue had read at some moment, as percentage of the disk.
    behind: f64,
    /// haul's time for 99 % of what is readable, by ddrescue's; `None`: one of them never has it.
    time: Option<f64>,
    /// haul's time for the whole rescue, by ddrescue's.
    whole: f64,
    /// The ideal time for that, by ddrescue's.
    ideal_time: Option<f64>,
    /// The time of a rescue to a disk for that, by that of ddrescue if it writes what it has read before it reads on.
    to_disk: Option<f64>,
    /// The ideal time without a destination, by the same.
    ideal_to_disk: Option<f64>,
    /// haul's bytes, by ddrescue's.
    bytes: f64,
    /// The ideal bytes, by ddrescue's.
    ideal_bytes: f64,
    /// haul's failed reads, and ddrescue's.
    failed: [u64; 2],
    /// Whether haul has rescued everything readable.
    all: bool,
}

fn figures(drawn: &Drawn, dir: &Path) -> Figures {
    let len = drawn.parameters.size_bytes;
    let bad: u64 = drawn.parameters.failing.bad(len).iter().map(|bad| bad.len).sum();
    let (haul, map) = of_haul(drawn, None);
    let (reads, ideal) = (reads_of_ddrescue(drawn, dir), ideal(drawn));
    let peer = of_reads(drawn, &reads, None);
    let to_disk = [of_haul(drawn, Some(&drawn.dest)).0, of_reads(drawn, &reads, Some(&drawn.dest))];
    let lead = |(ns, bytes): &(u64, u64)| bytes.saturating_sub(haul.bytes_at(*ns));
    let behind = peer.moments.iter().map(lead).max().unwrap_or_default();
    let wanted = (len - bad) / 100 * 99;
    let by = |one: &Course, other: &Course| {
        one.reaches_s(wanted).zip(other.reaches_s(wanted)).map(|(one_s, other_s)| one_s / other_s)
    };
    Figures {
        behind: behind as f64 * 100.0 / len as f64,
        time: by(&haul, &peer),
        ideal_time: by(&ideal, &peer),
        to_disk: by(&to_disk[0], &to_disk[1]),
        ideal_to_disk: by(&ideal, &to_disk[1]),
        whole: haul.end_ns as f64 / peer.end_ns as f64,
        bytes: haul.bytes() as f64 / peer.bytes() as f64,
        ideal_bytes: ideal.bytes() as f64 / peer.bytes() as f64,
        failed: [haul.failed_reads, peer.failed_reads],
        all: map.bytes(Status::Finished) == len - bad,
    }
}

#[test]
fn haul_is_not_behind_ddrescue_on_failing_disks_and_fails_no_more_reads() {
    if std::process::Command::new("ddrescue").arg("--version").output().is_err() {
        return println!("skipped: ddrescue is not installed");
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let asked = std::env::var("RESCUE_SEEDS").ok();
    let seeds = match asked.as_deref().and_then(|asked| asked.split_once("..")) {
        Some((first, last)) => first.parse().unwrap()..last.parse().unwrap(),
        None => 1..3_u64,
    };
    let (mut short, mut all) = (Vec::new(), Vec::new());
    for (kind, seed) in KINDS.into_iter().flat_map(|kind| seeds.clone().map(move |seed| (kind, seed))) {
        let drawn = draw::disk(seed, kind);
        let found = figures(&drawn, dir.path());
        let text = format!("{kind} {seed}: {found:.3?} of {}", drawn.about);
        if asked.is_some() {
            println!("{text}");
        }
        let [failed, failed_of_peer] = found.failed;
        // Where the place of the next skip decides, either may be ahead by some failed reads. The modelled disk reads
        // ahead over the stretches of a head that were skipped, as if they were readable; a failed read ends that.
        let behind_max = if kind == "head" { 5.0 } else { 1.6 };
        let holds = found.behind <= behind_max
            && (drawn.dies || found.time.is_none_or(|time| time <= 1.15))
            && found.to_disk.is_none_or(|time| time <= 1.05)
            && found.whole <= 1.05
            && found.bytes >= 0.99
            && (drawn.dies || failed <= failed_of_peer)
            && (drawn.copying || found.all);
        short.extend((!holds).then_some(text));
        all.push((kind, found));
    }
    if asked.is_some() {
        println!("{}", summary::table(&all));
    }
    assert!(short.is_empty(), "{}", short.join("\n"));
}
