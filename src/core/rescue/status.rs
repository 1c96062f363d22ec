//! The states of a rescue, as GNU ddrescue has them.
use super::super::Extent;

/// The status of a block of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// `?`: not tried.
    Untried,
    /// `*`: failed as a large block; its edges are not trimmed yet.
    Untrimmed,
    /// `/`: failed, and its sectors have not been tried one by one.
    Unscraped,
    /// `-`: unreadable sectors.
    Bad,
    /// `+`: read.
    Finished,
}

impl Status {
    /// Each status, with its letter in a mapfile.
    pub const ALL: [(Status, char); 5] = [
        (Status::Untried, '?'),
        (Status::Untrimmed, '*'),
        (Status::Unscraped, '/'),
        (Status::Bad, '-'),
        (Status::Finished, '+'),
    ];

    /// Its letter in a mapfile.
    pub fn letter(self) -> char {
        Status::ALL[self.index()].1
    }

    /// Its place in [`Status::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The phase of ddrescue when it wrote the mapfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RescueStatus {
    /// `?`: copying parts that were not tried.
    Copying,
    /// `*`: trimming bad blocks.
    Trimming,
    /// `/`: scraping, sector by sector.
    Scraping,
    /// `-`: retrying bad sectors.
    Retrying,
    /// `F`: filling.
    Filling,
    /// `G`: generating an approximate mapfile.
    Generating,
    /// `+`: finished.
    Finished,
}

impl RescueStatus {
    /// Each phase, with its letter in a mapfile.
    pub const ALL: [(RescueStatus, char); 7] = [
        (RescueStatus::Copying, '?'),
        (RescueStatus::Trimming, '*'),
        (RescueStatus::Scraping, '/'),
        (RescueStatus::Retrying, '-'),
        (RescueStatus::Filling, 'F'),
        (RescueStatus::Generating, 'G'),
        (RescueStatus::Finished, '+'),
    ];

    /// Its letter in a mapfile.
    pub fn letter(self) -> char {
        RescueStatus::ALL[self as usize].1
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RescueStatus::Copying => "copying",
            RescueStatus::Trimming => "trimming",
            RescueStatus::Scraping => "scraping",
            RescueStatus::Retrying => "retrying",
            RescueStatus::Filling => "filling",
            RescueStatus::Generating => "generating",
            RescueStatus::Finished => "finished",
        }
    }
}

/// A block of the source and its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusBlock {
    /// The bytes; not empty.
    pub extent: Extent,
    /// Its status.
    pub status: Status,
}
