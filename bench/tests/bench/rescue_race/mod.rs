//! haul's schedule of a rescue against GNU ddrescue on failing disks drawn from seeds, in virtual time: each run has
//! the same figures, on any machine under any load. ddrescue itself decides its reads, in its own test mode.
//!
//! RESCUE_SEEDS=100..140 draws other disks and prints all figures.
mod draw;
mod race;

use draw::{Drawn, KINDS};
use haul::core::rescue::Status;
use race::{Course, of_haul, of_reads, reads_of_ddrescue};
use std::path::Path;

#[derive(Debug)]
struct Figures {
    /// How much more ddrescue had read at some moment, as percentage of the disk.
    behind: f64,
    /// haul's time for 99 % of what is readable, by ddrescue's; `None`: one of them never has it.
    time: Option<f64>,
    /// haul's time for the whole rescue, by ddrescue's.
    whole: f64,
    /// haul's bytes, by ddrescue's.
    bytes: f64,
    /// haul's failed reads, and ddrescue's.
    failed: [u64; 2],
    /// Whether haul has rescued everything readable.
    all: bool,
}

fn figures(drawn: &Drawn, dir: &Path) -> Figures {
    let len = drawn.parameters.size_bytes;
    let bad: u64 = drawn.parameters.failing.bad(len).iter().map(|bad| bad.len).sum();
    let (haul, map) = of_haul(drawn);
    let peer = of_reads(drawn, &reads_of_ddrescue(drawn, dir));
    let lead = |(ns, bytes): &(u64, u64)| bytes.saturating_sub(haul.bytes_at(*ns));
    let behind = peer.moments.iter().map(lead).max().unwrap_or_default();
    let wanted = (len - bad) / 100 * 99;
    let time = |course: &Course| course.reaches_s(wanted);
    Figures {
        behind: behind as f64 * 100.0 / len as f64,
        time: time(&haul).zip(time(&peer)).map(|(haul_s, peer_s)| haul_s / peer_s),
        whole: haul.end_ns as f64 / peer.end_ns as f64,
        bytes: haul.bytes() as f64 / peer.bytes() as f64,
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
    let mut short = Vec::new();
    for (kind, seed) in KINDS.into_iter().flat_map(|kind| seeds.clone().map(move |seed| (kind, seed))) {
        let drawn = draw::disk(seed, kind);
        let found = figures(&drawn, dir.path());
        let text = format!("{kind} {seed}: {found:.3?} of {}", drawn.about);
        if asked.is_some() {
            println!("{text}");
        }
        let [failed, failed_of_peer] = found.failed;
        // Where the place of the next skip decides, either may be ahead by some reads. A head is predicted from the
        // areas before, and what was left beside it is read in later passes.
        let (behind_max, time_max) = if kind == "head" { (5.0, 1.5) } else { (1.2, 1.2) };
        let holds = found.behind <= behind_max
            && (drawn.dies || found.time.is_none_or(|time| time <= time_max))
            && found.whole <= 1.05
            && found.bytes >= 0.99
            && (drawn.dies || failed <= failed_of_peer)
            && (drawn.copying || found.all);
        short.extend((!holds).then_some(text));
    }
    assert!(short.is_empty(), "{}", short.join("\n"));
}
