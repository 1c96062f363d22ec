//! What is copied from where to where. A bed is made once and serves every run; between runs it is made as it was.
//!
//! Must not know: who copies, and how it is measured.
mod certain;
pub mod content;
mod file;
pub mod loop_device;
mod memory;
pub mod modelled;

mod server;
mod stream;
pub mod unlike;

use crate::error::{Error, Result};
use crate::result::Limit;
use crate::workplace::Workplace;
pub use content::Comparison;
pub use memory::device;
pub use server::Server;
use std::path::PathBuf;
use std::time::Duration;

/// What kind of copy it is; a contender has a command line for each of these, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One block device onto another.
    DeviceToDevice,
    /// A file to a file that is not there yet.
    FileToFile,
    /// The same, but most of the source is holes.
    SparseToFile,
    /// An image file onto a block device.
    FileToDevice,
    /// Standard input to a block device.
    PipeToDevice,
    /// A block device to standard output, where it is hashed.
    DeviceToPipe,
}

/// What everyone does on a bed; each contender is made for one of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Copies.
    #[default]
    Copy,
    /// Copies, and makes sure: by digests, by reading back.
    BeSure,
    /// Copies, and writes down how far it is.
    KeepJournal,
    /// Copies onto a dest that is nearly equal already.
    Renew,
    /// Copies to two dests.
    Both,
    /// Compares two sides that are equal already.
    Compare,
    /// Copies with a block size and a depth of its own.
    Pace,
}

impl Task {
    /// Who takes this many times as long as the first contender, haul, in the first round has shown what there is to
    /// see, and runs once. Where only the best of the others counts, that is soon.
    pub fn far_behind(self) -> f64 {
        if self == Task::Pace { 1.5 } else { 8.0 }
    }
}

/// One side of the copy.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// What is given to a contender.
    pub path: PathBuf,
    /// The same as an NBD URI, where there is one.
    pub uri: Option<String>,
    /// Where the bytes really are: a file that can be looked at past every cache of the side.
    pub store: PathBuf,
    /// Offset of the side's first byte in `store`.
    pub store_offset: u64,
}

/// How large, and so how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// Worth quoting.
    #[default]
    Full,
    /// To see that everything works, in minutes.
    Quick,
    /// For the tests of the bench itself: a few MiB, one round.
    Tiny,
}

impl Size {
    /// Bytes to copy; `full` and `quick` are what the bed wants in these sizes.
    fn bytes(self, full: u64, quick: u64) -> u64 {
        match self {
            Size::Full => full,
            Size::Quick => quick,
            Size::Tiny => 4 << 20,
        }
    }

    /// Rounds; `full` is what the bed wants in that size.
    fn rounds(self, full: u32) -> u32 {
        match self {
            Size::Full => full,
            Size::Quick | Size::Tiny => 1,
        }
    }
}

/// A copy to be done by everyone.
pub struct Bed {
    /// Short name.
    pub name: &'static str,
    /// Name in words.
    pub title: &'static str,
    /// What is copied from where to where.
    pub what: String,
    /// Kind of copy.
    pub shape: Shape,
    /// What is done.
    pub task: Task,
    /// Where from.
    pub source: Place,
    /// Where to.
    pub dest: Place,
    /// Where to as well.
    pub also: Option<Place>,
    /// A directory for the files that are written beside a copy, empty before each run.
    pub beside: Option<PathBuf>,
    /// How many bytes.
    pub bytes: u64,
    /// How many of them are data that somebody has to read and write: all but holes.
    pub data_bytes: u64,
    /// How often, unless the user says.
    pub rounds: u32,
    /// Whether everyone copies once more with little memory, to see what that does to the page cache.
    pub under_pressure: bool,
    /// How long both sides are left alone before a run: a disk that gets slower with what it has written wants to rest.
    pub rest: Duration,
    /// Whether both sides are on one head: then their times add up.
    pub one_head: bool,
    /// Bounds that need no measurement: a modelled medium's own arithmetic.
    pub known_limits: Vec<Limit>,
    /// SHA-256 of the source where the dest is a hash.
    pub digest: Option<String>,
    /// What the bed is made of, in the order in which it goes away.
    pub parts: Vec<Part>,
}

/// Something that is undone when it is dropped.
pub type Part = Box<dyn std::any::Any>;

/// A bed that can be made: its name, what it is, and how.
pub struct Recipe {
    /// Short name, as in `SCENARIO=`.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Makes it.
    pub make: fn(&Recipe, &Workplace, Size) -> Result<Bed>,
    /// What a bed that is drawn at random is drawn from.
    pub seed: u64,
}

/// The recipe of the bed called `name`.
///
/// # Errors
/// There is none.
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
        unlike::recipes(),
    ];
    kinds.into_iter().flatten().collect()
}

impl Bed {
    /// A bed of `bytes` bytes, all of them data, without sides; `rounds` is what it wants in full size.
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

    /// Every dest.
    fn dests(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.dest).chain(&self.also)
    }

    /// Whether there is a dest that can be opened: not where it is a pipe, nor a file that nobody has made.
    pub fn has_dest(&self) -> bool {
        self.shape != Shape::DeviceToPipe && self.dest.path.exists()
    }

    /// Makes everything as it was before the first run: nothing of the last one is on the dest or in the page cache.
    ///
    /// # Errors
    /// When a side cannot be reached any more.
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

    /// What is on `dest` before a run; what the page cache holds of it is dropped.
    fn reset_device(&self, dest: &Place) -> Result<()> {
        loop_device::forget_pages(&dest.path)?;
        match self.task {
            Task::Compare => content::same(&self.source, dest, self.bytes),
            Task::Renew => content::nearly_same(&self.source, dest, self.bytes),
            _ => content::spoil(&dest.store, dest.store_offset, self.bytes),
        }
    }

    /// Drops the source from the page cache, so that nobody reads it from there.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn forget_source(&self) -> Result<()> {
        match self.shape {
            Shape::FileToFile | Shape::SparseToFile | Shape::FileToDevice => crate::machine::uncache(&self.source.path),
            // A file on tmpfs, which is nowhere but in memory.
            Shape::PipeToDevice => Ok(()),
            Shape::DeviceToDevice | Shape::DeviceToPipe => loop_device::forget_pages(&self.source.path),
        }
    }

    /// What is on disk only once this has returned: waits until the dest is flushed. Nothing to do for a contender that
    /// has flushed it.
    ///
    /// # Errors
    /// When the flush fails.
    pub fn flush(&self) -> Result<()> {
        match self.shape {
            Shape::DeviceToPipe => Ok(()),
            _ => self.dests().try_for_each(|dest| Ok(std::fs::File::open(&dest.path)?.sync_all()?)),
        }
    }

    /// Compares every byte of both sides, past the caches of the devices. `said` is what the contender wrote on
    /// standard output.
    ///
    /// # Errors
    /// When it cannot be compared.
    pub fn compare(&self, said: &str) -> Result<Comparison> {
        match self.shape {
            Shape::DeviceToPipe => {
                let digest = self.digest.as_deref().ok_or_else(|| Error(format!("{} has no digest", self.name)))?;
                let same = said.split_whitespace().any(|word| word == digest);
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

    /// Makes both sides differ by one bit in the middle, and drops the page cache of both.
    ///
    /// # Errors
    /// When a side cannot be reached.
    pub fn damage(&self) -> Result<()> {
        content::flip(&self.dest, self.bytes)?;
        loop_device::forget_pages(&self.dest.path)?;
        self.forget_source()
    }

    /// Bytes of both sides that are in the page cache.
    ///
    /// # Errors
    /// When a side cannot be opened.
    pub fn cached_bytes(&self) -> Result<u64> {
        let source = match self.shape {
            Shape::PipeToDevice => 0,
            _ => crate::machine::cached_bytes(&self.source.path)?,
        };
        let same = self.source.path == self.dest.path;
        let none = self.shape == Shape::DeviceToPipe || same;
        Ok(source + if none { 0 } else { crate::machine::cached_bytes(&self.dest.path)? })
    }
}
