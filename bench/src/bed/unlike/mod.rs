//! Pairs of modelled disks on which haul was not tuned: drawn at random by a seed. haul is compared with the best of
//! several fixed block sizes and depths.
pub mod draw;
mod random;

use super::server::{Disk, Server};
use super::{Bed, Place, Recipe, Shape, Size, Task, content, modelled};
use crate::error::{Error, Result};
use crate::result::Limit;
use crate::workplace::Workplace;
use draw::{Drawn, Side};
use modelled_disk::limit::{Job, least_seconds};
use modelled_disk::parameters::{Extent, Parameters};

/// The prefix of the names of these beds.
pub const PREFIX: &str = "unlike-";

/// Name and title of each pair of each size, and its bytes; a seed has as many pairs as there are names per size.
const BEDS: [(&str, &str, u64); 2 * draw::PAIRS] = [
    ("unlike-256m-a", "Unlike disks, 256 MiB: pair a", 256 << 20),
    ("unlike-256m-b", "Unlike disks, 256 MiB: pair b", 256 << 20),
    ("unlike-256m-c", "Unlike disks, 256 MiB: pair c", 256 << 20),
    ("unlike-256m-d", "Unlike disks, 256 MiB: pair d", 256 << 20),
    ("unlike-256m-e", "Unlike disks, 256 MiB: pair e", 256 << 20),
    ("unlike-256m-f", "Unlike disks, 256 MiB: pair f", 256 << 20),
    ("unlike-256m-g", "Unlike disks, 256 MiB: pair g", 256 << 20),
    ("unlike-256m-h", "Unlike disk, 256 MiB: h, one half onto the other", 256 << 20),
    ("unlike-1g-a", "Unlike disks, 1 GiB: pair a", 1 << 30),
    ("unlike-1g-b", "Unlike disks, 1 GiB: pair b", 1 << 30),
    ("unlike-1g-c", "Unlike disks, 1 GiB: pair c", 1 << 30),
    ("unlike-1g-d", "Unlike disks, 1 GiB: pair d", 1 << 30),
    ("unlike-1g-e", "Unlike disks, 1 GiB: pair e", 1 << 30),
    ("unlike-1g-f", "Unlike disks, 1 GiB: pair f", 1 << 30),
    ("unlike-1g-g", "Unlike disks, 1 GiB: pair g", 1 << 30),
    ("unlike-1g-h", "Unlike disk, 1 GiB: h, one half onto the other", 1 << 30),
];

pub(super) fn recipes() -> Vec<Recipe> {
    BEDS.iter().map(|(name, title, _)| Recipe { name, title, make, seed: 0 }).collect()
}

fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let found = BEDS.iter().position(|(name, ..)| *name == recipe.name);
    let index = found.ok_or_else(|| Error(format!("{} is no pair of unlike disks", recipe.name)))?;
    let bytes = size.bytes(BEDS[index].2, 64 << 20);
    let bed = Bed { task: Task::Pace, ..Bed::new(recipe, Shape::DeviceToDevice, bytes, size, 5) };
    match draw::pair(recipe.seed, index % draw::PAIRS) {
        Drawn::Two(source, dest) => two(bed, &[source, dest], recipe, workplace),
        Drawn::Halves(disk) => halves(bed, &disk, recipe, workplace),
    }
}

fn two(bed: Bed, sides: &[Side; 2], recipe: &Recipe, workplace: &Workplace) -> Result<Bed> {
    let whole = Extent { offset: 0, len: bed.bytes };
    let (source, from) = serve(recipe, "source", &sides[0], bed.bytes, workplace)?;
    let (dest, to) = serve(recipe, "dest", &sides[1], bed.bytes, workplace)?;
    content::noise(&from.place.store, 0, bed.bytes)?;
    content::spoil(&to.place.store, 0, bed.bytes)?;
    Ok(Bed {
        what: format!(
            "Pair {} of seed {}. Source: {}. Dest: {}. In words: {} → {}",
            letter(recipe),
            recipe.seed,
            sides[0].about,
            sides[1].about,
            sides[0].words.join(" "),
            sides[1].words.join(" ")
        ),
        known_limits: vec![
            limit("the source reads", &from.parameters, Job::Read, whole),
            limit("the dest writes", &to.parameters, Job::Write, whole),
        ],
        source: from.place,
        dest: to.place,
        parts: vec![Box::new(source), Box::new(dest)],
        ..bed
    })
}

fn halves(bed: Bed, disk: &Side, recipe: &Recipe, workplace: &Workplace) -> Result<Bed> {
    let bytes = bed.bytes;
    let (server, Served { place: whole, parameters }) = serve(recipe, "disk", disk, 2 * bytes, workplace)?;
    content::noise(&whole.store, 0, bytes)?;
    content::spoil(&whole.store, bytes, bytes)?;
    let (source, dest) = modelled::halves(&server, &whole, bytes)?;
    let seconds = |job, offset| least_seconds(&parameters, job, Extent { offset, len: bytes }, modelled::COMMAND_BYTES);
    let (read_s, write_s) = (seconds(Job::Read, 0), seconds(Job::Write, bytes));
    Ok(Bed {
        what: format!(
            "Disk {} of seed {}: its first half onto its second. {}. In words: {}",
            letter(recipe),
            recipe.seed,
            disk.about,
            disk.words.join(" ")
        ),
        source,
        dest,
        one_head: true,
        known_limits: vec![modelled::limit("the disk reads, then writes, without a seek", read_s + write_s)],
        parts: vec![Box::new(server)],
        ..bed
    })
}

fn letter(recipe: &Recipe) -> &str {
    recipe.name.rsplit('-').next().unwrap_or_default()
}

struct Served {
    place: Place,
    parameters: Parameters,
}

fn serve(recipe: &Recipe, name: &str, side: &Side, bytes: u64, workplace: &Workplace) -> Result<(Server, Served)> {
    let mut parameters = Parameters { size_bytes: bytes, ..Parameters::default() };
    for word in &side.words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        parameters.set(key, value).map_err(|error| Error(format!("{word}: {error}")))?;
    }
    let disk = Disk {
        name: &format!("{}-{name}", recipe.name),
        words: &side.words,
        bytes,
        time_scale: 1.0,
        rotates: parameters.rotational(),
    };
    let (server, place) = Server::start(&disk, workplace.memory())?;
    Ok((server, Served { place, parameters }))
}

fn limit(what: &str, disk: &Parameters, job: Job, extent: Extent) -> Limit {
    modelled::limit(what, least_seconds(disk, job, extent, modelled::COMMAND_BYTES))
}
