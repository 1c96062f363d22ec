//! Simulated disk pairs without a table and without root: the loss of each family, and the trials of the worst
//! copies.
//!
//! `cargo run --example zoo -- FROM..TO MIB [FAMILY]...`; the variables `WIDER` (factor by which
//! ranges are wider at both ends), `SLOPPY` (how often queues of rotational disks are served out of order) and
//! `WORST` (number of copies shown) change what is drawn and shown.
use haul_bench::zoo::{Draw, FAMILIES, regrets, summary};
use std::str::FromStr;

fn variable<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: zoo FROM..TO MIB [FAMILY]...";
    let [seeds, mib, families @ ..] = &words[..] else { panic!("{usage}") };
    let (from, to) = seeds.split_once("..").expect(usage);
    let seeds = from.parse().expect(usage)..to.parse().expect(usage);
    let mib: u64 = mib.parse().expect(usage);
    let families: Vec<&str> = families.iter().map(String::as_str).collect();
    let draw = Draw { wider: variable("WIDER").unwrap_or(1.0), sloppy: variable("SLOPPY") };
    let mut found = regrets(&families, seeds, mib << 20, &draw, &|| false);
    for family in FAMILIES {
        if let Some(of_family) = summary(found.iter().filter(|regret| regret.family == *family)) {
            println!("{family:16} {:.3} {:.3}", of_family.mean, of_family.worst);
        }
    }
    let first = FAMILIES.iter().position(|family| *family == "old-scsi").map_or(0, |last| last + 1);
    let of_first = summary(found.iter().filter(|regret| FAMILIES[..first].contains(&regret.family)));
    for (name, figures) in [("first 33", of_first), ("all", summary(&found))] {
        if let Some(figures) = figures {
            println!("{name:16} {:.4} {:.3}", figures.mean, figures.worst);
        }
    }
    found.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
    for regret in found.iter().take(variable("WORST").unwrap_or(3)) {
        println!("{regret:#?}");
    }
}
