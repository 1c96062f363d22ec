//! Every sweep, and how its sides are made.
use super::SweepRecipe;
use super::ground::{Expected, From, Ground, To, source_file};
use super::point::{Cost, Point, short};
use crate::bed::content::{Removed, noise};
use crate::bed::loop_device::LoopDevice;
use crate::bed::{Part, Size, device};
use crate::error::{Doing, Result};
use crate::process::output;
use crate::workplace::Workplace;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Required speed relative to GNU dd, on block devices without a block size.
const DEFAULT_SPEED_MIN: f64 = 50.0;
/// Conversions, with the operands that they need besides the record size.
const CONVERSIONS: [(&str, &str); 7] = [
    ("swab", ""),
    ("ucase", ""),
    ("lcase", ""),
    ("ascii", ""),
    ("sync", ""),
    ("block", "cbs=80"),
    ("unblock", "cbs=80"),
];
/// Record sizes for measuring conversions.
const RECORD_BYTES: [u64; 3] = [512, 4096, 1 << 20];

/// Every sweep, in the order of measuring.
pub fn recipes() -> Vec<SweepRecipe> {
    let sweep = |name, title, what, make| SweepRecipe { name, title, what, make };
    vec![
        sweep(
            "dd-device",
            "haul dd, from device to device",
            "Noise, from one loop device over tmpfs to another. Without bs= the whole device, else the first part of \
             it. Nothing is cached before; the flush counts.",
            |workplace, size| devices(workplace, size, ""),
        ),
        sweep(
            "dd-direct",
            "haul dd, from device to device, direct",
            "The same with iflag=direct oflag=direct.",
            |workplace, size| devices(workplace, size, "iflag=direct oflag=direct"),
        ),
        sweep(
            "dd-file",
            "haul dd, from file to file",
            "Noise, from a file on tmpfs to a new one: through the page cache only.",
            files,
        ),
        sweep(
            "dd-file-direct",
            "haul dd, from file to file, direct",
            "Noise, from a file to a new one on ext4, which is on a loop device over tmpfs, with iflag=direct \
             oflag=direct; the flush counts.",
            direct_files,
        ),
        sweep(
            "dd-pipe",
            "haul dd, from pipe to pipe",
            "cat writes to one pipe, cmp reads from the other.",
            |w, size| pipes(w, size, true),
        ),
        sweep(
            "dd-to-pipe",
            "haul dd, from file to pipe",
            "From a file on tmpfs; cmp reads from the pipe.",
            |w, size| pipes(w, size, false),
        ),
        sweep(
            "dd-convert",
            "haul dd, conversions",
            "Lines of text, from a file on tmpfs to a new one. What haul makes of them is compared with what GNU dd \
             makes.",
            conversions,
        ),
    ]
}

fn devices(workplace: &Workplace, size: Size, flags: &str) -> Result<Ground> {
    let (whole, default) = match size {
        Size::Full => (512 << 20, 512 << 20),
        Size::Quick => (64 << 20, 16 << 20),
        Size::Tiny => (2 << 20, 2 << 20),
    };
    let cost = match flags {
        "" => Cost { record_us: 10.0, bytes_per_us: 1000.0 },
        _ => Cost { record_us: 60.0, bytes_per_us: 1500.0 },
    };
    let (source_part, source) = device(workplace, "dd-source", whole)?;
    let (dest_part, dest) = device(workplace, "dd-dest", whole)?;
    noise(&source.store, 0, whole)?;
    let of_size = |point: Point, bs: u64| {
        let fits = Point { bytes: point.bytes.min(whole), ..point };
        fits.counted(bs)
    };
    let sizes = super::point::block_sizes(size);
    let mut points: Vec<Point> =
        Point::of_block_sizes(cost, flags, size).into_iter().zip(sizes).map(|(point, bs)| of_size(point, bs)).collect();
    if flags.is_empty() {
        let point = Point { name: "no bs=".into(), operands: String::new(), bytes: default, wanted: DEFAULT_SPEED_MIN };
        let point = if default < whole { point.counted(512) } else { point };
        points.insert(0, point);
    }
    Ok(Ground {
        from: From::Device(source),
        to: To::Device(dest),
        stem: PathBuf::new(),
        expected: Expected::Source,
        points,
        _parts: vec![source_part, dest_part],
    })
}

fn files(workplace: &Workplace, size: Size) -> Result<Ground> {
    let points = Point::of_block_sizes(Cost { record_us: 0.7, bytes_per_us: 2500.0 }, "", size);
    let dir = workplace.memory().join("dd-files");
    let removed = directory(&dir)?;
    let stem = sources(&dir, &points, |path, bytes| noise(path, 0, bytes))?;
    let to = To::File { path: dir.join("dest"), flushed: false };
    Ok(Ground {
        from: From::Files { stem: stem.clone() },
        to,
        stem,
        expected: Expected::Source,
        points,
        _parts: vec![removed],
    })
}

fn direct_files(workplace: &Workplace, size: Size) -> Result<Ground> {
    let cost = Cost { record_us: 300.0, bytes_per_us: 1000.0 };
    let mut points = Point::of_block_sizes(cost, "iflag=direct oflag=direct", size);
    // Single sectors take GNU dd seconds there.
    points.retain(|point| size != Size::Quick || point.name != "bs=512");
    let disk = Disk::new(workplace)?;
    let stem = sources(&disk.at, &points, |path, bytes| noise(path, 0, bytes))?;
    let to = To::File { path: disk.at.join("dest"), flushed: true };
    let from = From::Files { stem: stem.clone() };
    Ok(Ground { from, to, stem, expected: Expected::Source, points, _parts: vec![Box::new(disk)] })
}

fn pipes(workplace: &Workplace, size: Size, at_both_ends: bool) -> Result<Ground> {
    let points = Point::of_block_sizes(Cost { record_us: 1.5, bytes_per_us: 1000.0 }, "", size);
    let dir = workplace.memory().join("dd-pipes");
    let removed = directory(&dir)?;
    let stem = sources(&dir, &points, |path, bytes| noise(path, 0, bytes))?;
    let from = if at_both_ends { From::Pipe } else { From::Files { stem: stem.clone() } };
    Ok(Ground { from, to: To::Pipe, stem, expected: Expected::Source, points, _parts: vec![removed] })
}

fn conversions(workplace: &Workplace, size: Size) -> Result<Ground> {
    let mut points = Vec::new();
    for (conversion, more) in CONVERSIONS {
        // The two that search for line ends process byte by byte.
        let bytes_per_us = if more.is_empty() { 600.0 } else { 120.0 };
        for record_bytes in RECORD_BYTES {
            let name = format!("conv={conversion} bs={}", short(record_bytes));
            let operands = format!("{name} {more}");
            let bytes = Cost { record_us: 0.7, bytes_per_us }.bytes(record_bytes, size);
            points.push(Point { name, operands, bytes, wanted: 1.0 });
        }
    }
    let dir = workplace.memory().join("dd-lines");
    let removed = directory(&dir)?;
    let stem = sources(&dir, &points, lines)?;
    Ok(Ground {
        from: From::Files { stem: stem.clone() },
        to: To::File { path: dir.join("dest"), flushed: false },
        stem,
        expected: Expected::SameOfBoth,
        points,
        _parts: vec![removed],
    })
}

/// A file for each number of bytes in `points`; returns the prefix of their names.
fn sources(dir: &Path, points: &[Point], fill: impl Fn(&Path, u64) -> Result<()>) -> Result<PathBuf> {
    let stem = dir.join("source");
    for point in points {
        let path = source_file(&stem, point.bytes);
        if !path.exists() {
            fill(&path, point.bytes)?;
        }
    }
    Ok(stem)
}

/// Lines of 0 to 90 letters of both cases: most are shorter than a record of 80, some are truncated.
fn lines(path: &Path, bytes: u64) -> Result<()> {
    let mut text = Vec::with_capacity(1 << 16);
    let mut state = 1u32;
    while text.len() < 1 << 16 {
        // Any constants that produce all lengths.
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12345);
        let len = state >> 16 & 0x7F;
        text.extend((0..len.min(90)).map(|at| b"The Quick brown FOX "[at as usize % 20]));
        text.push(b'\n');
    }
    let mut file = File::create(path).doing(format_args!("make {}", path.display()))?;
    let mut left = bytes as usize;
    while left > 0 {
        let piece = &text[..left.min(text.len())];
        file.write_all(piece).doing(format_args!("write {}", path.display()))?;
        left -= piece.len();
    }
    Ok(())
}

fn directory(path: &Path) -> Result<Part> {
    fs::create_dir_all(path).doing(format_args!("make {}", path.display()))?;
    Ok(Box::new(Removed(path.into())))
}

/// An ext4 on a loop device over tmpfs, mounted in the bench's own namespace.
struct Disk {
    at: PathBuf,
    _device: LoopDevice,
    _store: Removed,
}

impl Disk {
    fn new(workplace: &Workplace) -> Result<Self> {
        let store = workplace.memory().join("dd-disk");
        File::create(&store)?.set_len(2 << 30)?;
        let removed = Removed(store.clone());
        let device = LoopDevice::new(&store)?;
        output(&format!("mkfs.ext4 -q -E nodiscard {}", device.path.display()))?;
        let at = workplace.disk().join("dd-disk");
        fs::create_dir_all(&at)?;
        mount(&device.path, &at, "ext4", MountFlags::empty(), None).doing("mount an ext4")?;
        Ok(Disk { at, _device: device, _store: removed })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(&self.at, UnmountFlags::empty());
        let _ = fs::remove_dir(&self.at);
    }
}
