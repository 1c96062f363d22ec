//! Modelled disks: their times are calculated, so that the overhead of a copier shows.
use super::server::{Disk, Server};
use super::{Bed, Place, Recipe, Shape, Size, content};
use crate::error::{Error, Result};
use crate::result::Limit;
use crate::workplace::Workplace;
use modelled_disk::limit::{Job, least_seconds};
use modelled_disk::parameters::{Extent, Parameters};
use modelled_disk::preset::Preset;
use std::time::Duration;

/// The command size in the calculation for the medium: one overhead per MiB.
pub(super) const COMMAND_BYTES: u64 = 1 << 20;

pub(super) fn recipes() -> Vec<Recipe> {
    let pair = |name, title| Recipe { name, title, make: make_pair, seed: 0 };
    vec![
        pair("disk-ssd", "Modelled disks: SATA SSD to SATA SSD"),
        pair("disk-fast-slow", "Modelled disks: fast to slow"),
        pair("disk-slow-fast", "Modelled disks: slow to fast"),
        pair("disk-7200", "Modelled disks: 7200 rpm to 7200 rpm, zoned"),
        pair("disk-7200-cache", "Modelled disks: the same with their write caches on"),
        pair("disk-usb", "Modelled disks: SSD to a USB stick that chokes"),
        pair("disk-2001", "Modelled disks: the seeds' SCSI pair of 2001"),
        Recipe {
            name: "disk-self",
            title: "Modelled disk: 7200 rpm, one half onto the other",
            make: make_self,
            seed: 0,
        },
    ]
}

/// The two disks of a bed.
pub(super) struct Pair {
    pub source: &'static str,
    pub dest: &'static str,
    /// Factor by which its time is shortened: ratios are the same, waiting is shorter.
    pub time_scale: u32,
    /// Bytes in full size: a few seconds for the slower side.
    pub bytes: u64,
}

fn pair_named(name: &str) -> Result<Pair> {
    let (source, dest, time_scale, mib) = match name {
        "disk-ssd" => ("sata-ssd", "sata-ssd", 1, 512),
        // Beyond the 256 MiB after which the slow one gets slower.
        "disk-fast-slow" => ("fast-ssd", "slow-ssd", 2, 320),
        "disk-slow-fast" => ("slow-ssd", "fast-ssd", 2, 320),
        "disk-7200" => ("disk-7200", "disk-7200", 1, 512),
        "disk-7200-cache" => ("disk-7200-cache", "disk-7200-cache", 1, 512),
        "disk-usb" => ("sata-ssd", "usb-stick", 3, 192),
        "disk-2001" => ("scsi-2001", "scsi-2001", 8, 256),
        _ => return Err(Error(format!("{name} is not a pair of modelled disks"))),
    };
    Ok(Pair { source, dest, time_scale, bytes: mib << 20 })
}

/// A disk to serve, with its size and its time scale set.
pub(super) fn disk(name: &str, bytes: u64, time_scale: u32) -> Result<(&'static Preset, Parameters)> {
    let preset = Preset::named(name).map_err(Error)?;
    let mut parameters = preset.parameters();
    parameters.size_bytes = bytes;
    parameters.time_scale = time_scale.into();
    Ok((preset, parameters))
}

fn make_pair(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    pair(recipe, &pair_named(recipe.name)?, workplace, size)
}

/// The pair of this name, long enough that its duration is worth an estimate.
pub(crate) fn long_pair(name: &'static str, workplace: &Workplace, size: Size) -> Result<Bed> {
    let recipe = Recipe { name, title: name, make: make_pair, seed: 0 };
    // About a minute for the slow pair of 2001, and 20 s for the others.
    let (time_scale, gibibytes) = match (name, size) {
        ("disk-2001", Size::Full) => (8, 4),
        (_, Size::Full) => (1, 4),
        _ => (2, 1),
    };
    let long = Pair { time_scale, bytes: gibibytes << 30, ..pair_named(name)? };
    // Copies below about 3 GiB are not estimated: smaller sizes only show that it works.
    pair(&recipe, &long, workplace, if size == Size::Tiny { size } else { Size::Full })
}

/// A modelled disk to be copied to another.
pub(super) fn pair(recipe: &Recipe, pair: &Pair, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(pair.bytes, 16 << 20);
    let from = disk(pair.source, bytes, pair.time_scale)?;
    let to = disk(pair.dest, bytes, pair.time_scale)?;
    let (source, source_place) = start(recipe.name, "source", &from, workplace)?;
    let (dest, dest_place) = start(recipe.name, "dest", &to, workplace)?;
    content::noise(&source_place.store, 0, bytes)?;
    content::spoil(&dest_place.store, 0, bytes)?;
    let whole = Extent { offset: 0, len: bytes };
    let read = reads("the source's medium reads", &from.1);
    let write = limit("the dest's medium writes", least_seconds(&to.1, Job::Write, whole, COMMAND_BYTES));
    let faster = if pair.time_scale == 1 { String::new() } else { format!(" Time runs {}-fold.", pair.time_scale) };
    Ok(Bed {
        what: format!(
            "Noise from a modelled disk onto another. Source: {}: {} Dest: {}: {}{faster}",
            pair.source, from.0.about, pair.dest, to.0.about
        ),
        source: source_place,
        dest: dest_place,
        known_limits: vec![read, write],
        rest: rest(&from.1).max(rest(&to.1)),
        parts: vec![Box::new(source), Box::new(dest)],
        ..bed(recipe, bytes, size)
    })
}

/// Copies the first half of a disk to the second: both are partitions.
fn make_self(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(256 << 20, 8 << 20);
    let disk = disk("disk-7200", 2 * bytes, 1)?;
    let (server, whole) = start(recipe.name, "disk", &disk, workplace)?;
    content::noise(&whole.store, 0, bytes)?;
    content::spoil(&whole.store, bytes, bytes)?;
    let (source, dest) = halves(&server, &whole, bytes)?;
    let read = least_seconds(&disk.1, Job::Read, Extent { offset: 0, len: bytes }, COMMAND_BYTES);
    let write = least_seconds(&disk.1, Job::Write, Extent { offset: bytes, len: bytes }, COMMAND_BYTES);
    Ok(Bed {
        what: format!("The first partition of a modelled disk onto its second, of the same size. {}", disk.0.about),
        source,
        dest,
        one_head: true,
        known_limits: vec![limit("the medium reads, then writes, without a seek", read + write)],
        parts: vec![Box::new(server)],
        ..bed(recipe, bytes, size)
    })
}

/// Two partitions of `bytes` each, which fill the disk.
pub(super) fn halves(server: &Server, whole: &Place, bytes: u64) -> Result<(Place, Place)> {
    let part = |number: u32, offset: u64| -> Result<Place> {
        let path = server.device.add_partition(number, offset, bytes)?;
        Ok(Place { path, uri: None, store: whole.store.clone(), store_offset: offset })
    };
    Ok((part(1, 0)?, part(2, bytes)?))
}

/// The time for reading the whole disk.
pub(super) fn reads(what: &str, disk: &Parameters) -> Limit {
    let whole = Extent { offset: 0, len: disk.size_bytes };
    limit(what, least_seconds(disk, Job::Read, whole, COMMAND_BYTES))
}

/// The pair for the tables of the old documents: small, because GNU dd also copies it with 512-byte blocks.
pub(crate) fn seed_pair(workplace: &Workplace, size: Size) -> Result<Bed> {
    let recipe = Recipe { name: "disk-2001", title: "The seeds' SCSI pair of 2001", make: make_pair, seed: 0 };
    make_pair(&recipe, workplace, size)
}

/// A single disk with noise: for tables about reading.
pub(crate) fn single(name: &'static str, workplace: &Workplace, size: Size) -> Result<Bed> {
    let recipe = Recipe { name, title: name, make: make_pair, seed: 0 };
    let bytes = size.bytes(256 << 20, 16 << 20);
    let time_scale = if name == "scsi-2001" { 8 } else { 1 };
    let (source, place) = start(name, "single", &disk(name, bytes, time_scale)?, workplace)?;
    content::noise(&place.store, 0, bytes)?;
    Ok(Bed { source: place, parts: vec![Box::new(source)], ..bed(&recipe, bytes, size) })
}

pub(super) fn start(
    name: &str,
    side: &str,
    (preset, parameters): &(&'static Preset, Parameters),
    workplace: &Workplace,
) -> Result<(Server, Place)> {
    let disk = Disk {
        name: &format!("{name}-{side}"),
        words: &[format!("preset={}", preset.name)],
        bytes: parameters.size_bytes,
        time_scale: parameters.time_scale,
        // A stick does not report that it is non-rotational, so the kernel treats it as rotational (sd(4),
        // usb-storage).
        rotates: preset.rotational() || preset.name == "usb-stick",
    };
    Server::start(&disk, workplace.memory())
}

/// The idle time after which the disk is as fast as before, and a little more.
fn rest(disk: &Parameters) -> Duration {
    Duration::from_nanos(disk.scaled().recover_ns).mul_f64(1.2)
}

pub(super) fn limit(what: &str, seconds: f64) -> Limit {
    Limit { what: format!("{what}, by its own arithmetic"), seconds, binding: true }
}

fn bed(recipe: &Recipe, bytes: u64, size: Size) -> Bed {
    Bed::new(recipe, Shape::DeviceToDevice, bytes, size, 3)
}
