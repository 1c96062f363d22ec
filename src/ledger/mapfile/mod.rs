//! GNU ddrescue's mapfile: which parts of a source were read, are unreadable, or were not tried yet.
//!
//! The format is described in the chapter "Mapfile structure" of its manual, and read as in ddrescuelog 1.27.
mod combine;
mod file;
mod kept;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub use combine::Combination;
pub use file::MapfileFile;
pub use kept::KeptMapfile;

pub use crate::core::rescue::{RescueStatus, Status, StatusBlock as Block};
use crate::core::{Extent, ExtentSet};

/// The contents of a mapfile. Positions are byte offsets of the source below 2⁶³, as in ddrescue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapfile {
    /// The comments before the status line, each a line that begins with `#`.
    pub comments: Vec<String>,
    /// The current position.
    pub current_pos: u64,
    /// The current phase.
    pub doing: RescueStatus,
    /// The current pass, from 1.
    pub current_pass: u32,
    /// Ascending and contiguous.
    pub blocks: Vec<Block>,
}

/// The bytes of a mapfile by status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sets {
    /// Finished.
    pub finished: ExtentSet,
    /// Unreadable.
    pub bad: ExtentSet,
    /// Not tried, or not completely.
    pub untried: ExtentSet,
}

impl Mapfile {
    /// Which bytes are finished, bad, and not completely tried (`?`, `*` and `/`).
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

    /// The mapfile for the bytes `within`, of which some are `finished` and some of the others `bad`; the rest
    /// is not tried. The status line makes ddrescue continue: by copying if parts were not tried, else by
    /// retrying bad ones.
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
