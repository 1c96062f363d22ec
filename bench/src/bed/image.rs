//! Compressed disk images in memory, unpacked onto a device in memory: the decoder is the limit, or the device.
use super::content::{self, Removed};
use super::memory::device;
use super::{Bed, Place, Recipe, Shape, Size, Task};
use crate::error::{Error, Result};
use crate::process::{Interrupt, Line, run};
use crate::result::Limit;
use crate::workplace::Workplace;
use std::path::Path;

/// Start of the names of these beds.
pub(crate) const PREFIX: &str = "image-";

/// Trials of a decoder; the fastest is the limit.
const TRIES: u32 = 3;

/// How an image is compressed.
struct Format {
    /// End of the file's name.
    suffix: &'static str,
    /// What compresses, from a file to standard output.
    pack: &'static str,
    /// The reference decoder with its threads, from a file to standard output.
    unpack: &'static str,
    /// Bytes of the image in full size: a bed takes less than a minute.
    mib: u64,
}

pub(super) fn recipes() -> Vec<Recipe> {
    let bed = |name, title| Recipe { name, title, make, seed: 0 };
    vec![
        bed("image-xz", "A compressed image to a device: xz, in blocks"),
        bed("image-zst", "A compressed image to a device: zstd, one frame"),
        bed("image-zst-frames", "A compressed image to a device: zstd, many frames"),
        bed("image-gz", "A compressed image to a device: gzip"),
        bed("image-bz2", "A compressed image to a device: bzip2"),
        bed("image-lz4", "A compressed image to a device: lz4"),
    ]
}

fn format(name: &str) -> Result<Format> {
    let format = |suffix, pack, unpack, mib| Format { suffix, pack, unpack, mib };
    Ok(match name {
        // Low levels: they take a tenth of the time, and a decoder hardly notices.
        "image-xz" => format("xz", "xz -T2 -1 -c", "xz -T0 -dc", 256),
        "image-zst" => format("zst", "zstd -q -T2 -c", "zstd -q -dc", 512),
        "image-zst-frames" => format("zst", "pzstd -q -p 2 -c", "pzstd -q -dc", 512),
        "image-gz" => format("gz", "gzip -1 -c", "gzip -dc", 256),
        "image-bz2" => format("bz2", "bzip2 -c", "bzip2 -dc", 96),
        "image-lz4" => format("lz4", "lz4 -q -c", "lz4 -q -dc", 512),
        _ => return Err(Error(format!("{name} is no bed of images"))),
    })
}

fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let format = format(recipe.name)?;
    let bytes = size.bytes(format.mib << 20, 16 << 20);
    let plain = workplace.memory().join(format!("{}-plain", recipe.name));
    let packed = workplace.memory().join(format!("{}.img.{}", recipe.name, format.suffix));
    content::half_compressible(&plain, bytes)?;
    shell(format!("{} {} > {}", format.pack, plain.display(), packed.display()))?;
    let (device, dest) = device(workplace, &format!("{}-dest", recipe.name), bytes)?;
    content::spoil(&dest.store, 0, bytes)?;
    Ok(Bed {
        task: Task::Unpack,
        what: format!(
            "An image in a tmpfs file, half of it noise and half of it text, compressed by `{}`, onto a loop device \
             over tmpfs.",
            format.pack
        ),
        known_limits: vec![decoder(format.unpack, &packed)?],
        // Comparisons are of what the image has, not of how it is stored.
        source: Place { path: packed.clone(), store: plain.clone(), ..Place::default() },
        dest,
        parts: vec![device, Box::new(Removed(plain)), Box::new(Removed(packed))],
        ..Bed::new(recipe, Shape::ImageToDevice, bytes, size, 5)
    })
}

/// The time of the decoder alone.
fn decoder(unpack: &str, packed: &Path) -> Result<Limit> {
    let mut seconds = f64::INFINITY;
    for _ in 0..TRIES {
        let took = shell(format!("{unpack} {} > /dev/null", packed.display()))?;
        seconds = seconds.min(took);
    }
    Ok(Limit { what: format!("`{unpack}` alone, to /dev/null"), seconds, binding: true })
}

/// The seconds that a pipeline takes.
fn shell(text: String) -> Result<f64> {
    let ended = run(&Line::shell(text.as_str()), None, &Interrupt::default())?;
    if ended.status.success() {
        Ok(ended.wall.as_secs_f64())
    } else {
        Err(Error(format!("`{text}` failed: {}", ended.how())))
    }
}
