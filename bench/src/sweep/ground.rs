//! What a sweep copies from where to where: made once, put back before each run, looked at after it.
use super::point::Point;
use crate::bed::loop_device::forget_pages;
use crate::bed::{Comparison, Part, Place, content};
use crate::error::{Doing, Result};
use crate::process::{Ended, Interrupt, run};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a sweep reads.
pub(super) enum From {
    /// The first bytes of a block device.
    Device(Place),
    /// Files, one for each number of bytes; in the page cache, unless they are read past it.
    Files {
        /// Their directory, and the start of their names.
        stem: PathBuf,
    },
    /// A pipe that cat fills from such a file.
    Pipe,
}

/// Where a sweep writes.
pub(super) enum To {
    /// A block device.
    Device(Place),
    /// A file that is not there yet.
    File {
        /// Where it will be.
        path: PathBuf,
        /// It is on a disk, so its flush counts.
        flushed: bool,
    },
    /// A pipe, at whose end cmp compares what comes with the source.
    Pipe,
}

/// What must be on the dest after a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// What was on the source.
    Source,
    /// What the other program of the pair made of it.
    SameOfBoth,
}

/// Both sides of a sweep, with its points.
pub(super) struct Ground {
    pub from: From,
    pub to: To,
    /// Files that pipes are filled from.
    pub stem: PathBuf,
    pub expected: Expected,
    pub points: Vec<Point>,
    /// What it is made of, in the order in which it goes away.
    pub _parts: Vec<Part>,
}

/// A file of a sweep of this many bytes.
pub(super) fn source_file(stem: &Path, bytes: u64) -> PathBuf {
    PathBuf::from(format!("{}-{}", stem.display(), super::point::short(bytes)))
}

impl Ground {
    /// What is read at a point of `bytes`.
    pub(super) fn source(&self, bytes: u64) -> PathBuf {
        match &self.from {
            From::Device(place) => place.path.clone(),
            From::Files { stem } => source_file(stem, bytes),
            From::Pipe => source_file(&self.stem, bytes),
        }
    }

    /// Whether the bytes can only be held against those of the other program.
    pub(super) fn is_held_against_the_other(&self) -> bool {
        self.expected == Expected::SameOfBoth
    }

    /// Runs `program` at `point`; seconds until it had ended and the dest was flushed, or what was wrong.
    pub(super) fn run(
        &self,
        point: &Point,
        program: &str,
        interrupt: &Interrupt,
    ) -> Result<std::result::Result<f64, String>> {
        self.reset(point)?;
        let ended = run(&point.line(program, self), None, interrupt)?;
        if !ended.status.success() {
            return Ok(Err(how(&ended)));
        }
        let flushing = Instant::now();
        self.flush()?;
        let taken_s = (ended.wall + flushing.elapsed()).as_secs_f64();
        Ok(match self.compare(point)? {
            Comparison::Equal => Ok(taken_s),
            Comparison::DiffersFrom(byte) => Err(format!("copied wrongly: differs from byte {byte} on")),
        })
    }

    /// Nothing of the last run is on the dest, nor on either side in the page cache of a device.
    fn reset(&self, point: &Point) -> Result<()> {
        if let From::Device(place) = &self.from {
            forget_pages(&place.path)?;
        }
        match &self.to {
            To::Device(place) => {
                forget_pages(&place.path)?;
                content::spoil(&place.store, place.store_offset, point.bytes)
            }
            To::File { path, .. } => remove(path),
            To::Pipe => Ok(()),
        }
    }

    fn flush(&self) -> Result<()> {
        let path = match &self.to {
            To::Device(place) => &place.path,
            // What was not made is told by the comparison.
            To::File { path, flushed: true } if path.exists() => path,
            _ => return Ok(()),
        };
        File::open(path).and_then(|file| file.sync_all()).doing(format_args!("flush {}", path.display()))
    }

    fn compare(&self, point: &Point) -> Result<Comparison> {
        if self.is_held_against_the_other() {
            return Ok(Comparison::Equal);
        }
        match (&self.from, &self.to) {
            (From::Device(source), To::Device(dest)) => {
                forget_pages(&dest.path)?;
                content::compare(source, dest, point.bytes)
            }
            (_, To::File { path, .. }) => content::compare_files(&self.source(point.bytes), path),
            // cmp was part of the pipeline.
            _ => Ok(Comparison::Equal),
        }
    }

    /// Sets aside what program number `which` of a pair has written.
    pub(super) fn keep_for_comparison(&self, which: usize) -> Result<()> {
        let To::File { path, .. } = &self.to else { return Ok(()) };
        // What was not made differs from what was.
        if !path.exists() {
            return Ok(());
        }
        fs::rename(path, kept(path, which)).doing(format_args!("set {} aside", path.display()))
    }

    /// Where what both have written differs; both are removed.
    pub(super) fn first_difference_of_both(&self) -> Result<Option<u64>> {
        let To::File { path, .. } = &self.to else { return Ok(None) };
        let [first, second] = [0, 1].map(|which| kept(path, which));
        let compared = content::compare_files(&first, &second)?;
        remove(&first)?;
        remove(&second)?;
        Ok(match compared {
            Comparison::Equal => None,
            Comparison::DiffersFrom(byte) => Some(byte),
        })
    }
}

fn kept(path: &Path, which: usize) -> PathBuf {
    PathBuf::from(format!("{}-of-{which}", path.display()))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(format_args!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// How it failed. What cmp found at the end of a pipe is on standard output.
fn how(ended: &Ended) -> String {
    match ended.stdout.lines().last() {
        Some(found) if found.contains("differ") => format!("copied wrongly: {found}"),
        _ => format!("failed: {}", ended.how()),
    }
}
