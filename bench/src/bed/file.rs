//! Files on the machine's own file system.
use super::content::Removed;
use super::memory::device;
use super::{Bed, Place, Recipe, Shape, Size, content};
use crate::error::{Doing, Result};
use crate::workplace::Workplace;
use std::fs::File;
use std::path::Path;

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        Recipe { name: "file-new", title: "File to new file", make: whole, seed: 0 },
        Recipe { name: "file-sparse", title: "Sparse image to new file", make: sparse, seed: 0 },
        Recipe { name: "file-device", title: "Image to device", make: onto_device, seed: 0 },
    ]
}

fn whole(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(1 << 30, 64 << 20);
    let source = workplace.disk().join("source");
    content::noise(&source, 0, bytes)?;
    let what = format!("Noise, not in the page cache, to a new file, both {}.", place_of(workplace));
    Ok(Bed { what, ..bed(recipe, Shape::FileToFile, &source, workplace, bytes, size) })
}

/// An eighth of it is data, in pieces of 4 MiB, as in a fresh system image.
fn sparse(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes: u64 = size.bytes(4 << 30, 128 << 20);
    let source = workplace.disk().join("image");
    let file = File::create(&source).doing("make a sparse file")?;
    file.set_len(bytes)?;
    let pieces: Vec<u64> = (0..bytes).step_by(32 << 20).collect();
    for &offset in &pieces {
        content::noise(&source, offset, 4 << 20)?;
    }
    let data_bytes = pieces.len() as u64 * (4 << 20);
    let what = format!(
        "An image of which an eighth is data (4 MiB of noise in every 32 MiB) and the rest holes, to a file that is \
         not there yet, both {}.",
        place_of(workplace)
    );
    Ok(Bed { what, data_bytes, ..bed(recipe, Shape::SparseToFile, &source, workplace, bytes, size) })
}

fn onto_device(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(1 << 30, 64 << 20);
    let source = workplace.disk().join("image");
    content::noise(&source, 0, bytes)?;
    let (device, dest) = device(workplace, "file-dest", bytes)?;
    content::spoil(&dest.store, 0, bytes)?;
    let mut bed = bed(recipe, Shape::FileToDevice, &source, workplace, bytes, size);
    bed.what = format!("Noise, not in the page cache, {}, onto a loop device over tmpfs.", place_of(workplace));
    bed.dest = dest;
    bed.parts.push(device);
    Ok(bed)
}

/// `on ext4`: the file system of the directory of the file beds.
fn place_of(workplace: &Workplace) -> String {
    let found = crate::process::output(&format!("findmnt -n -o FSTYPE -T {}", workplace.disk().display()));
    found.map_or_else(|_| "on one file system".into(), |kind| format!("on {}", kind.trim()))
}

fn bed(recipe: &Recipe, shape: Shape, source: &Path, workplace: &Workplace, bytes: u64, size: Size) -> Bed {
    let dest = workplace.disk().join("dest");
    Bed {
        source: Place { path: source.into(), store: source.into(), ..Place::default() },
        dest: Place { path: dest.clone(), store: dest.clone(), ..Place::default() },
        under_pressure: size == Size::Full && shape != Shape::SparseToFile,
        parts: vec![Box::new(Removed(source.into())), Box::new(Removed(dest))],
        ..Bed::new(recipe, shape, bytes, size, 5)
    }
}
