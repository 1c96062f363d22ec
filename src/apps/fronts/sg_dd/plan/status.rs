//! The exit statuses of the sg_dd family, on which scripts depend.
use crate::apps::fronts::sg_plan::SgFront;

/// The failure that ended the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SgFailure {
    /// The source cannot be opened; the kernel's error.
    OpenSource(Option<i32>),
    /// The dest or the second one cannot be opened; the kernel's error.
    OpenDest(Option<i32>),
    /// The offset of the first block cannot be reached.
    Seek(Option<i32>),
    /// Another process has the lock.
    Locked,
    /// The number of blocks is unknown.
    Count,
    /// A flag is not supported.
    UnsupportedFlag,
    /// Commands of the requested length are too short for the request.
    CommandLength,
    /// Blocks beyond the end of a disk.
    Beyond,
    /// The dest is write-protected.
    WriteProtected,
    /// Another host has reserved the disk.
    Reserved,
    /// A disk reported this sense key, code and qualifier.
    Sense([u8; 3]),
    /// The sides differ.
    Differs,
    /// More bad blocks than permitted.
    TooManyBad,
    /// A read or a write failed, or anything else.
    Io,
}

/// The status of sg3_utils for a file that cannot be opened or used.
const FILE: u8 = 15;
/// Any other failure.
const OTHER: u8 = 99;

/// The exit status of `front` after `failure`.
pub fn status(front: SgFront, failure: &SgFailure) -> u8 {
    let plain = front == SgFront::Sg;
    match failure {
        // The other programs check that it exists before they open it.
        SgFailure::OpenSource(Some(ENOENT)) => FILE,
        SgFailure::OpenSource(_) | SgFailure::OpenDest(_) | SgFailure::Seek(_) if plain => FILE,
        SgFailure::OpenSource(errno) | SgFailure::OpenDest(errno) | SgFailure::Seek(errno) => from_errno(*errno),
        SgFailure::Locked => 90,
        SgFailure::Count if front == SgFront::Sgm => 1,
        SgFailure::UnsupportedFlag => 31,
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

/// The statuses of sg3_utils for errors that a disk reports: mostly its sense key.
fn from_sense([key, code, qualifier]: [u8; 3]) -> u8 {
    match (key, code, qualifier) {
        (2 | 3 | 6 | 7 | 11 | 14, ..) => key,
        // Medium error, hardware error, blank check.
        (4 | 8, ..) => 3,
        (5, 0x20, 0) => 9,
        (5, 0x21, 0) => 22,
        (5, ..) => 5,
        _ => OTHER,
    }
}

/// ENOENT, the same on every Linux.
const ENOENT: i32 = 2;

/// The statuses 51 to 96 encode the kernel's error numbers; 50 is for those that are larger.
fn from_errno(errno: Option<i32>) -> u8 {
    match errno {
        Some(number @ 1..=46) => 50 + number as u8,
        Some(_) => 50,
        None => OTHER,
    }
}
