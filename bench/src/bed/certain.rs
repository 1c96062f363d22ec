//! Verified copies on modelled disks: there the disks are the limit, so that the cost of verification shows.
use super::content::{self, Removed};
use super::modelled::{Pair, disk, pair, reads, start};
use super::{Bed, Recipe, Size, Task};
use crate::error::{Error, Result};
use crate::workplace::Workplace;

pub(super) fn recipes() -> Vec<Recipe> {
    let bed = |name, title| Recipe { name, title, make, seed: 0 };
    vec![
        bed("certain-ssd", "Digests and reading back: SATA SSD to SATA SSD"),
        bed("certain-7200", "Digests and reading back: 7200 rpm to 7200 rpm"),
        bed("certain-journal", "With a journal and without: SATA SSD to SATA SSD"),
        bed("certain-journal-cache", "With a journal and without: 7200 rpm, write caches on"),
        bed("certain-delta", "A dest that is nearly equal: SSD to a USB stick"),
        bed("certain-also", "Two dests: SATA SSD to two others"),
        bed("certain-compare", "Comparing: SATA SSD with SATA SSD"),
        bed("certain-compare-7200", "Comparing: 7200 rpm with 7200 rpm"),
    ]
}

/// The disks of a bed, the task, and the number of rounds in full size.
fn named(name: &str) -> Result<(&'static str, &'static str, u64, Task, u32)> {
    Ok(match name {
        "certain-ssd" => ("sata-ssd", "sata-ssd", 256, Task::BeSure, 5),
        "certain-7200" => ("disk-7200", "disk-7200", 256, Task::BeSure, 5),
        // A checkpoint is made every 5 s: this takes longer than two of them.
        "certain-journal" => ("sata-ssd", "sata-ssd", 1600, Task::KeepJournal, 5),
        "certain-journal-cache" => ("disk-7200-cache", "disk-7200-cache", 1600, Task::KeepJournal, 5),
        "certain-delta" => ("sata-ssd", "usb-stick", 512, Task::Renew, 3),
        "certain-also" => ("sata-ssd", "sata-ssd", 256, Task::Both, 5),
        "certain-compare" => ("sata-ssd", "sata-ssd", 256, Task::Compare, 5),
        "certain-compare-7200" => ("disk-7200", "disk-7200", 256, Task::Compare, 5),
        _ => return Err(Error(format!("{name} is no bed of certainty"))),
    })
}

fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let (source, dest, mib, task, rounds) = named(recipe.name)?;
    let time_scale = if dest == "usb-stick" { 3 } else { 1 };
    let made = pair(recipe, &Pair { source, dest, time_scale, bytes: mib << 20 }, workplace, size)?;
    // On the disk, like a user's own file.
    let beside = workplace.disk().join(format!("{}-beside", recipe.name));
    content::empty(&beside)?;
    let mut bed = Bed { task, rounds: size.rounds(rounds), beside: Some(beside.clone()), ..made };
    bed.parts.push(Box::new(Removed(beside)));
    match task {
        Task::Renew | Task::Compare => {
            let dest = disk(dest, bed.bytes, time_scale)?;
            // Data that is not written does not limit the copy.
            bed.known_limits.truncate(1);
            bed.known_limits.push(reads("the dest's medium reads", &dest.1));
        }
        Task::Both => {
            let (server, place) = start(recipe.name, "also", &disk(dest, bed.bytes, time_scale)?, workplace)?;
            content::spoil(&place.store, 0, bed.bytes)?;
            bed.also = Some(place);
            bed.parts.push(Box::new(server));
        }
        _ => {}
    }
    bed.what = format!("{} {}", bed.what, more(task));
    Ok(bed)
}

/// A note about the dest or the data.
fn more(task: Task) -> &'static str {
    match task {
        Task::Renew => "Before each run the dest is equal but for one 64 KiB in a hundred.",
        Task::Both => "There are two dests of the same kind.",
        Task::Compare => "Both are equal.",
        _ => "",
    }
}
