//! Streams: one side has no offsets.
use super::content::Removed;
use super::memory::device;
use super::{Bed, Place, Recipe, Shape, Size, content};
use crate::error::Result;
use crate::process::output;
use crate::workplace::Workplace;

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        Recipe { name: "stream-in", title: "Pipe to device", make: into_device, seed: 0 },
        Recipe { name: "stream-out", title: "Device to pipe, hashed at the other end", make: out_of_device, seed: 0 },
    ]
}

fn size_bytes(size: Size) -> u64 {
    size.bytes(2 << 30, 128 << 20)
}

fn into_device(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size_bytes(size);
    let source = workplace.memory().join("stream-source");
    content::noise(&source, 0, bytes)?;
    let (device, dest) = device(workplace, "stream-dest", bytes)?;
    Ok(Bed {
        what: "cat writes noise from tmpfs into a pipe; the contender writes what comes out of it onto a loop device \
               over tmpfs."
            .into(),
        source: Place { path: source.clone(), store: source.clone(), ..Place::default() },
        dest,
        parts: vec![device, Box::new(Removed(source))],
        ..bed(recipe, Shape::PipeToDevice, bytes, size)
    })
}

fn out_of_device(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size_bytes(size);
    let (device, source) = device(workplace, "stream-source", bytes)?;
    content::noise(&source.store, 0, bytes)?;
    let digest = output(&format!("sha256sum {}", source.store.display()))?;
    Ok(Bed {
        what: "A loop device over tmpfs, written into a pipe; sha256sum at its other end takes most of the time, and \
               what it prints must be right."
            .into(),
        source,
        digest: digest.split_whitespace().next().map(Into::into),
        parts: vec![device],
        ..bed(recipe, Shape::DeviceToPipe, bytes, size)
    })
}

fn bed(recipe: &Recipe, shape: Shape, bytes: u64, size: Size) -> Bed {
    Bed { under_pressure: size == Size::Full, ..Bed::new(recipe, shape, bytes, size, 5) }
}
