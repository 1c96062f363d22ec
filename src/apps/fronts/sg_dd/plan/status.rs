//! With which status it ends: as the family has it, so that scripts can tell.
use crate::apps::fronts::sg_plan::SgFront;

/// What ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SgFailure {
    /// The source cannot be opened; the kernel's error.
    OpenSource(Option<i32>),
    /// The dest, or the second one.
    OpenDest(Option<i32>),
    /// The place to begin at cannot be reached.
    Seek(Option<i32>),
    /// Another process has the lock.
    Locked,
    /// How many blocks there are is not known.
    Count,
    /// A word that cannot be honoured.
    Wish,
    /// Commands of the length asked for cannot do it.
    CommandLength,
    /// Blocks behind the end of a disk.
    Beyond,
    /// The dest is write-protected.
    WriteProtected,
    /// Another host has reserved the disk.
    Reserved,
    /// A disk failed it, with this sense key, code and qualifier.
    Sense([u8; 3]),
    /// The sides differ.
    Differs,
    /// More bad blocks than were allowed.
    TooManyBad,
    /// A read or a write failed, or anything else.
    Io,
}

/// The family's status for a file that cannot be opened or used.
const FILE: u8 = 15;
/// Any other failure.
const OTHER: u8 = 99;

/// The status with which `front` ends because of `failure`.
pub fn status(front: SgFront, failure: &SgFailure) -> u8 {
    let plain = front == SgFront::Sg;
    match failure {
        // The others look whether it is there before they open it.
        SgFailure::OpenSource(Some(ENOENT)) => FILE,
        SgFailure::OpenSource(_) | SgFailure::OpenDest(_) | SgFailure::Seek(_) if plain => FILE,
        SgFailure::OpenSource(errno) | SgFailure::OpenDest(errno) | SgFailure::Seek(errno) => from_errno(*errno),
        SgFailure::Locked => 90,
        SgFailure::Count if front == SgFront::Sgm => 1,
        SgFailure::Wish => 31,
        SgFailure::CommandLength => 1,
        SgFailure::Beyond => 22,
        SgFailure::WriteProtected => 7,
        SgFailure::Reserved => 24,
        SgFailure::Sense(codes) => from_sense(*codes),
        SgFailure::Differs => 14,
        SgFailure::TooManyBad => 3,
        SgFailure::Count | SgFailure::Io => OTHER,
    }
}

/// The family has statuses for what a disk says: mostly its sense key.
fn from_sense([key, code, qualifier]: [u8; 3]) -> u8 {
    match (key, code, qualifier) {
        (2 | 3 | 6 | 7 | 11 | 14, ..) => key,
        // Medium, hardware, nothing written there.
        (4 | 8, ..) => 3,
        (5, 0x20, 0) => 9,
        (5, 0x21, 0) => 22,
        (5, ..) => 5,
        _ => OTHER,
    }
}

/// ENOENT, the same on every Linux.
const ENOENT: i32 = 2;

/// 51 to 96 stand for the kernel's error numbers; 50 for those that are greater.
fn from_errno(errno: Option<i32>) -> u8 {
    match errno {
        Some(number @ 1..=46) => 50 + number as u8,
        Some(_) => 50,
        None => OTHER,
    }
}
