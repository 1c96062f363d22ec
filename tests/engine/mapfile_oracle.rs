//! ddrescuelog reads haul's mapfiles with the same meaning, and haul reads those of ddrescuelog.
use crate::support;
use haul::core::{Extent, ExtentSet};
use haul::ledger::mapfile::{Mapfile, Sets};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SECTOR: u64 = 512;

/// Mapfiles of 40 sectors with all statuses, always the same.
fn cases() -> Vec<(Extent, Sets)> {
    let mut seed = 1u64;
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let one = |_| {
        let start = next() % 100 * SECTOR;
        let mut sets = Sets::default();
        for number in 0..40 {
            let sector = Extent::new(start + number * SECTOR, SECTOR);
            [&mut sets.finished, &mut sets.bad, &mut sets.untried][(next() % 3) as usize].insert(sector);
        }
        (Extent::new(start, 40 * SECTOR), sets)
    };
    (0..25).map(one).collect()
}

fn ddrescuelog(arguments: &[&str], mapfile: &Path) -> String {
    let output = Command::new("ddrescuelog").args(arguments).arg(mapfile).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The sectors of a set, as ddrescuelog lists them.
fn sectors(set: &ExtentSet) -> Vec<u64> {
    set.iter().flat_map(|extent| extent.offset / SECTOR..extent.end() / SECTOR).collect()
}

fn listed(types: &str, mapfile: &Path) -> Vec<u64> {
    let text = ddrescuelog(&["-b", "512", &format!("--list-blocks={types}")], mapfile);
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn ddrescuelog_reads_what_haul_writes() {
    if !support::has("ddrescuelog") {
        return;
    }
    let scratch = support::scratch();
    let path = scratch.path().join("map");
    for (within, sets) in cases() {
        let map = Mapfile::of_sets(within, &sets.finished, &sets.bad);
        map.write(fs::File::create(&path).unwrap()).unwrap();
        assert_eq!(listed("+", &path), sectors(&sets.finished));
        assert_eq!(listed("-", &path), sectors(&sets.bad));
        assert_eq!(listed("?", &path), sectors(&sets.untried));
        assert!(listed("*/", &path).is_empty());
    }
}

#[test]
fn haul_reads_what_ddrescuelog_writes() {
    if !support::has("ddrescuelog") {
        return;
    }
    let scratch = support::scratch();
    let path = scratch.path().join("map");
    for (within, sets) in cases() {
        let map = Mapfile::of_sets(within, &sets.finished, &sets.bad);
        map.write(fs::File::create(&path).unwrap()).unwrap();
        // Finished becomes bad, and everything else finished.
        let inverted = Mapfile::parse(ddrescuelog(&["--invert-mapfile"], &path).as_bytes()).unwrap().sets();
        assert_eq!(inverted.bad, sets.finished);
        let mut rest = sets.bad.clone();
        rest.insert_all(&sets.untried);
        assert_eq!(inverted.finished, rest);
        // With comments after every line, and completed from byte 0.
        let annotated = ddrescuelog(&["--annotate-mapfile"], &path);
        assert_eq!(Mapfile::parse(annotated.as_bytes()).unwrap().sets(), sets);
        let complete = Mapfile::parse(ddrescuelog(&["--complete-mapfile=*"], &path).as_bytes()).unwrap().sets();
        assert_eq!((complete.finished, complete.bad), (sets.finished, sets.bad));
        assert!(within.offset == 0 || complete.untried.contains(Extent::new(0, within.offset)));
    }
}
