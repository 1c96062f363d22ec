//! Sources and destinations of the copies. A bed is made once and used by every run; between runs it is reset.
//!
//! Independent of the contenders, and of how they are measured.
mod certain;
pub mod content;
mod file;
pub(crate) mod image;
mod link;
pub mod loop_device;
mod memory;
pub mod modelled;
mod network;
pub(crate) mod object;
mod server;
mod stream;
pub mod unlike;

use crate::error::{Error, Result};
use crate::result::Limit;
use crate::workplace::Workplace;
pub use content::Comparison;
pub use memory::device;
pub use server::{Disk, Server};
use std::path::PathBuf;
use std::time::Duration;

/// The kind of copy; a contender has a command line for each of these, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One block device onto another.
    DeviceToDevice,
    /// A file to a file that does not exist yet.
    FileToFile,
    /// The same, but most of the source is holes.
    SparseToFile,
    /// An image file onto a block device.
    FileToDevice,
    /// A compressed image in memory onto a block device.
    ImageToDevice,
    /// Standard input to a block device.
    PipeToDevice,
    /// A block device to standard output, where it is hashed.
    DeviceToPipe,
}

/// The task on a bed; each contender is made for one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Copies.
    #[default]
    Copy,
    /// Copies and verifies: by digests, by reading back.
    BeSure,
    /// Copies and records its progress.
    KeepJournal,
    /// Copies to a dest that is nearly equal.
    Renew,
    /// Copies to two dests.
    Both,
    /// Compares two equal sides.
    Compare,
    /// Copies with a fixed block size and depth.
    Pace,
    /// Copies between servers and devices.
    Network,
    /// Unpacks a compressed image.
    Unpack,
    /// Copies to or from an object store.
    Objects,
}

impl Task {
    /// A contender that takes this many times as long as haul in the first round is not run again. This is low if
    /// only the best of the others matters.
    pub fn far_behind(self) -> f64 {
        if self == Task::Pace { 1.5 } else { 8.0 }
    }
}

/// One side of the copy.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The path for contenders.
    pub path: PathBuf,
    /// The same as an NBD URI, if there is one.
    pub uri: Option<String>,
    /// The file with the data, which can be read bypassing all caches of the side.
    pub store: PathBuf,
    /// Offset of the side's first byte in `store`.
    pub store_offset: u64,
}

/// The size of the beds, and the number of rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// For published results.
    #[default]
    Full,
    /// A short run that checks that everything works, in minutes.
    Quick,
    /// For the tests of the bench itself: a few MiB, one round.
    Tiny,
}

impl Size {
    /// Bytes to copy; `full` and `quick` are the values of the bed for these sizes.
    fn bytes(self, full: u64, quick: u64) -> u64 {
        match self {
            Size::Full => full,
            Size::Quick => quick,
            Size::Tiny => 4 << 20,
        }
    }

    /// Number of rounds; `full` is the value of the bed for that size.
    fn rounds(self, full: u32) -> u32 {
        match self {
            Size::Full => full,
            Size::Quick | Size::Tiny => 1,
        }
    }
}

/// A copy for all contenders.
pub struct Bed {
    /// Short name.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// A description of the copy.
    pub what: String,
    /// Kind of copy.
    pub shape: Shape,
    /// The task.
    pub task: Task,
    /// The source.
    pub source: Place,
    /// The dest.
    pub dest: Place,
    /// The second dest.
    pub also: Option<Place>,
    /// A directory for the files beside a copy, empty before each run.
    pub beside: Option<PathBuf>,
    /// Bytes to copy.
    pub bytes: u64,
    /// The number of bytes that are data instead of holes.
    pub data_bytes: u64,
    /// Rounds, unless the user specifies them.
    pub rounds: u32,
    /// Whether each contender copies once more with little memory, to measure evictions from the page cache.
    pub under_pressure: bool,
    /// Idle time of both sides before a run: a disk that becomes slower after some writes must recover.
    pub rest: Duration,
    /// Whether both sides are on one rotational disk: then their times add up.
    pub one_head: bool,
    /// Limits that need no measurement: calculated by the model of the medium.
    pub known_limits: Vec<Limit>,
    /// SHA-256 of the source if the dest is a hash.
    pub digest: Option<String>,
    /// The parts of the bed, in the order of removal.
    pub parts: Vec<Part>,
}

/// Something with a destructor.
pub type Part = Box<dyn std::any::Any>;

/// A kind of bed: its name, title, and constructor.
pub struct Recipe {
    /// Short name, as in `SCENARIO=`.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Creates the bed.
    pub make: fn(&Recipe, &Workplace, Size) -> Result<Bed>,
    /// The seed of a random bed.
    pub seed: u64,
}

/// The recipe of the bed called `name`.
///
/// # Errors
/// It does not exist.
pub fn recipe(name: &str) -> Result<Recipe> {
    let found = recipes().into_iter().find(|recipe| recipe.name == name);
    found.ok_or_else(|| Error(format!("there is no bed {name}")))
}

/// Every bed, in the order of measuring.
pub fn recipes() -> Vec<Recipe> {
    let kinds = [
        memory::recipes(),
        modelled::recipes(),
        certain::recipes(),
        file::recipes(),
        stream::recipes(),
        network::recipes(),
        object::recipes(),
        image::recipes(),
        unlike::recipes(),
    ];
    kinds.into_iter().flatten().collect()
}

impl Bed {
    /// A bed of `bytes` bytes, all of them data, without sides; `rounds` is the value for full size.
    fn new(recipe: &Recipe, shape: Shape, bytes: u64, size: Size, rounds: u32) -> Self {
        Bed {
            name: recipe.name,
            title: recipe.title,
            what: String::new(),
            shape,
            task: Task::Copy,
            source: Place::default(),
            dest: Place::default(),
            also: None,
            beside: None,
            bytes,
            data_bytes: bytes,
            rounds: size.rounds(rounds),
            under_pressure: false,
            rest: Duration::ZERO,
            one_head: false,
            known_limits: Vec::new(),
            digest: None,
            parts: Vec::new(),
        }
    }

    /// All dests.
    fn dests(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.dest).chain(&self.also)
    }

    /// Whether there is a dest that can be opened: not if it is a pipe, or a file that does not exist yet.
    pub fn has_dest(&self) -> bool {
        self.shape != Shape::DeviceToPipe && self.dest.path.exists()
    }

    /// Resets everything: no data of the last run is on the dest or in the page cache.
    ///
    /// # Errors
    /// A side cannot be opened.
    pub fn reset(&self) -> Result<()> {
        match self.shape {
            Shape::FileToFile | Shape::SparseToFile => {
                if self.dest.path.exists() {
                    std::fs::remove_file(&self.dest.path)?;
                }
            }
            Shape::DeviceToPipe => {}
            _ => self.dests().try_for_each(|dest| self.reset_device(dest))?,
        }
        if let Some(beside) = &self.beside {
            content::empty(beside)?;
        }
        std::thread::sleep(self.rest);
        self.forget_source()
    }

    /// Prepares `dest` for a run; evicts it from the page cache.
    fn reset_device(&self, dest: &Place) -> Result<()> {
        loop_device::forget_pages(&dest.path)?;
        match self.task {
            Task::Compare => content::same(&self.source, dest, self.bytes),
            Task::Renew => content::nearly_same(&self.source, dest, self.bytes),
            _ => content::spoil(&dest.store, dest.store_offset, self.bytes),
        }
    }

    /// Evicts the source from the page cache, so that no program reads it from there.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn forget_source(&self) -> Result<()> {
        match self.shape {
            Shape::FileToFile | Shape::SparseToFile | Shape::FileToDevice => crate::machine::uncache(&self.source.path),
            // A file on tmpfs exists only in memory.
            Shape::PipeToDevice | Shape::ImageToDevice => Ok(()),
            Shape::DeviceToDevice | Shape::DeviceToPipe => loop_device::forget_pages(&self.source.path),
        }
    }

    /// Flushes the dest and waits for it. Fast for a contender that has flushed it itself.
    ///
    /// # Errors
    /// The flush fails.
    pub fn flush(&self) -> Result<()> {
        match self.shape {
            Shape::DeviceToPipe => Ok(()),
            _ => self.dests().try_for_each(|dest| Ok(std::fs::File::open(&dest.path)?.sync_all()?)),
        }
    }

    /// Compares every byte of both sides, bypassing the caches of the devices. `messages` is the standard output of
    /// the contender.
    ///
    /// # Errors
    /// It cannot be compared.
    pub fn compare(&self, messages: &str) -> Result<Comparison> {
        match self.shape {
            Shape::DeviceToPipe => {
                let digest = self.digest.as_deref().ok_or_else(|| Error(format!("{} has no digest", self.name)))?;
                let same = messages.split_whitespace().any(|word| word == digest);
                Ok(if same { Comparison::Equal } else { Comparison::DiffersFrom(0) })
            }
            Shape::FileToFile | Shape::SparseToFile => content::compare_files(&self.source.path, &self.dest.path),
            _ => {
                for dest in self.dests() {
                    loop_device::forget_pages(&dest.path)?;
                    let compared = content::compare(&self.source, dest, self.bytes)?;
                    if compared != Comparison::Equal {
                        return Ok(compared);
                    }
                }
                Ok(Comparison::Equal)
            }
        }
    }

    /// Makes both sides differ by one bit in the middle, and evicts both from the page cache.
    ///
    /// # Errors
    /// A side cannot be opened.
    pub fn damage(&self) -> Result<()> {
        content::flip(&self.dest, self.bytes)?;
        loop_device::forget_pages(&self.dest.path)?;
        self.forget_source()
    }

    /// Bytes of both sides that are in the page cache.
    ///
    /// # Errors
    /// A side cannot be opened.
    pub fn cached_bytes(&self) -> Result<u64> {
        let source = match self.shape {
            Shape::PipeToDevice | Shape::ImageToDevice => 0,
            _ => crate::machine::cached_bytes(&self.source.path)?,
        };
        let same = self.source.path == self.dest.path;
        let none = self.shape == Shape::DeviceToPipe || same;
        Ok(source + if none { 0 } else { crate::machine::cached_bytes(&self.dest.path)? })
    }
}
