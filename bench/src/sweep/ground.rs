//! The source and dest of a sweep: made once, reset before each run, examined after it.
use super::point::Point;
use crate::bed::loop_device::forget_pages;
use crate::bed::{Comparison, Part, Place, content};
use crate::error::{Doing, Result};
use crate::process::{Ended, Interrupt, run};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The source of a sweep.
pub(super) enum From {
    /// The first bytes of a block device.
    Device(Place),
    /// Files, one for each number of bytes; in the page cache, unless they are read with direct I/O.
    Files {
        /// Their directory, and the start of their names.
        stem: PathBuf,
    },
    /// A pipe that cat fills from such a file.
    Pipe,
}

/// The destination of a sweep.
pub(super) enum To {
    /// A block device.
    Device(Place),
    /// A file that does not exist yet.
    File {
        /// Its path.
        path: PathBuf,
        /// It is on a disk, so its flush counts.
        flushed: bool,
    },
    /// A pipe, at whose end cmp compares the data with the source.
    Pipe,
}

/// The expected data on the dest after a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// The data of the source.
    Source,
    /// The output of the other program.
    SameOfBoth,
}

/// Both sides of a sweep, with its points.
pub(super) struct Ground {
    pub from: From,
    pub to: To,
    /// Files for filling pipes.
    pub stem: PathBuf,
    pub expected: Expected,
    pub points: Vec<Point>,
    /// Its parts, in the order of removal.
    pub _parts: Vec<Part>,
}

/// A file of a sweep of this many bytes.
pub(super) fn source_file(stem: &Path, bytes: u64) -> PathBuf {
    PathBuf::from(format!("{}-{}", stem.display(), super::point::short(bytes)))
}

impl Ground {
    /// The source for a point of `bytes`.
    pub(super) fn source(&self, bytes: u64) -> PathBuf {
        match &self.from {
            From::Device(place) => place.path.clone(),
            From::Files { stem } => source_file(stem, bytes),
            From::Pipe => source_file(&self.stem, bytes),
        }
    }

    /// Whether the data can only be compared with that of the other program.
    pub(super) fn is_held_against_the_other(&self) -> bool {
        self.expected == Expected::SameOfBoth
    }

    /// Runs `program` at `point`; returns the seconds until it had ended and the dest was flushed, or the error.
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

    /// Removes the data of the last run from the dest, and from the page cache of both devices.
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
            // A file that was not created fails the comparison.
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

    /// Keeps the output of program number `which` of a pair.
    pub(super) fn keep_for_comparison(&self, which: usize) -> Result<()> {
        let To::File { path, .. } = &self.to else { return Ok(()) };
        // A missing file differs from an existing one.
        if !path.exists() {
            return Ok(());
        }
        fs::rename(path, kept(path, which)).doing(format_args!("set {} aside", path.display()))
    }

    /// The offset at which both outputs differ; both are removed.
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

/// How it failed. The output of cmp at the end of a pipe is on standard output.
fn how(ended: &Ended) -> String {
    match ended.stdout.lines().last() {
        Some(found) if found.contains("differ") => format!("copied wrongly: {found}"),
        _ => format!("failed: {}", ended.how()),
    }
}
