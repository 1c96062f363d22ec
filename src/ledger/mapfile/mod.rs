//! GNU ddrescue's mapfile: which parts of a source were read, which could not be, and which were not tried yet.
//!
//! As chapter "Mapfile structure" of its manual describes it, and as ddrescuelog 1.27 reads it.
mod file;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub use file::MapfileFile;

use crate::core::{Extent, ExtentSet};

/// What is known about a block of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// `?`: not tried.
    Untried,
    /// `*`: failed as a large block; its edges are still to be found.
    Untrimmed,
    /// `/`: failed, and each of its sectors is still to be tried alone.
    Unscraped,
    /// `-`: sectors that could not be read.
    Bad,
    /// `+`: read.
    Finished,
}

impl Status {
    const ALL: [(Status, char); 5] = [
        (Status::Untried, '?'),
        (Status::Untrimmed, '*'),
        (Status::Unscraped, '/'),
        (Status::Bad, '-'),
        (Status::Finished, '+'),
    ];
}

/// What ddrescue was doing when it wrote the mapfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RescueStatus {
    /// `?`: copying what was not tried.
    Copying,
    /// `*`: finding the edges of bad places.
    Trimming,
    /// `/`: trying sectors alone.
    Scraping,
    /// `-`: trying bad sectors again.
    Retrying,
    /// `F`: filling.
    Filling,
    /// `G`: making an approximate mapfile.
    Generating,
    /// `+`: nothing more.
    Finished,
}

impl RescueStatus {
    const ALL: [(RescueStatus, char); 7] = [
        (RescueStatus::Copying, '?'),
        (RescueStatus::Trimming, '*'),
        (RescueStatus::Scraping, '/'),
        (RescueStatus::Retrying, '-'),
        (RescueStatus::Filling, 'F'),
        (RescueStatus::Generating, 'G'),
        (RescueStatus::Finished, '+'),
    ];
}

/// A block of the source, in bytes, and what is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The bytes; not empty.
    pub extent: Extent,
    /// What is known.
    pub status: Status,
}

/// What a mapfile says. Positions are those of the source, in bytes, below 2⁶³ as ddrescue's are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapfile {
    /// The comments before the status line, each a line that begins with `#`.
    pub comments: Vec<String>,
    /// Where it was being read.
    pub current_pos: u64,
    /// What was being done.
    pub doing: RescueStatus,
    /// Number of the pass, from 1.
    pub current_pass: u32,
    /// Ascending, each where the one before it ends.
    pub blocks: Vec<Block>,
}

/// The bytes of a mapfile by what is to be done with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// Read.
    pub finished: ExtentSet,
    /// Cannot be read.
    pub bad: ExtentSet,
    /// Not tried, or not yet to the end.
    pub untried: ExtentSet,
}

impl Mapfile {
    /// Which bytes are finished, bad, and still to be tried (`?`, `*` and `/`).
    pub fn sets(&self) -> Sets {
        let mut sets = Sets::default();
        for block in &self.blocks {
            let set = match block.status {
                Status::Finished => &mut sets.finished,
                Status::Bad => &mut sets.bad,
                Status::Untried | Status::Untrimmed | Status::Unscraped => &mut sets.untried,
            };
            set.insert(block.extent);
        }
        sets
    }

    /// The mapfile of the bytes `within`, of which some are `finished` and some of the others `bad`; the rest was not
    /// tried. The status line lets ddrescue go on: to copy if something was not tried, else to retry what is bad.
    pub fn of_sets(within: Extent, finished: &ExtentSet, bad: &ExtentSet) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let pieces = |set: &ExtentSet, part: Extent| set.within(part).collect::<Vec<_>>();
        blocks.extend(pieces(finished, within).into_iter().map(|extent| Block { extent, status: Status::Finished }));
        for gap in finished.gaps(within) {
            blocks.extend(bad.within(gap).map(|extent| Block { extent, status: Status::Bad }));
            blocks.extend(bad.gaps(gap).map(|extent| Block { extent, status: Status::Untried }));
        }
        blocks.sort_unstable_by_key(|block| block.extent.offset);
        let first = |status| blocks.iter().find(|block| block.status == status).map(|block| block.extent.offset);
        let (doing, current_pos) = match (first(Status::Untried), first(Status::Bad)) {
            (Some(at), _) => (RescueStatus::Copying, at),
            (None, Some(at)) => (RescueStatus::Retrying, at),
            (None, None) => (RescueStatus::Finished, within.offset),
        };
        let comments = vec![format!("# Mapfile. Created by haul version {}", env!("CARGO_PKG_VERSION"))];
        Mapfile { comments, current_pos, doing, current_pass: 1, blocks }
    }
}
