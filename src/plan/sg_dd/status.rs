//! With which status it ends: as the family has it, so that scripts can tell.
use crate::contract::SgFront;
use std::io;

/// What ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The source cannot be opened; what the kernel said.
    OpenSource(Option<i32>),
    /// The dest, or the second one.
    OpenDest(Option<i32>),
    /// The place to begin at cannot be reached.
    Seek(Option<i32>),
    /// Somebody else has the lock.
    Locked,
    /// How many blocks there are is not known.
    Count,
    /// A word that cannot be honoured.
    Wish,
    /// The sides differ.
    Differs,
    /// More bad blocks than were allowed.
    TooManyBad,
    /// A read or a write failed, or anything else.
    Io,
}

impl Failure {
    /// The number in `error`, for [`Failure::OpenSource`] and its like.
    pub fn errno(error: &io::Error) -> Option<i32> {
        error.raw_os_error()
    }
}

/// The family's status for a file that cannot be opened or used.
const FILE: u8 = 15;
/// Any other failure.
const OTHER: u8 = 99;

/// The status with which `front` ends because of `failure`.
pub fn status(front: SgFront, failure: &Failure) -> u8 {
    let plain = front == SgFront::SgDd;
    match failure {
        // The others look whether it is there before they open it.
        Failure::OpenSource(Some(ENOENT)) => FILE,
        Failure::OpenSource(_) | Failure::OpenDest(_) | Failure::Seek(_) if plain => FILE,
        Failure::OpenSource(errno) | Failure::OpenDest(errno) | Failure::Seek(errno) => from_errno(*errno),
        Failure::Locked => 90,
        Failure::Count if front == SgFront::SgmDd => 1,
        Failure::Wish => 31,
        Failure::Differs => 14,
        Failure::TooManyBad => 3,
        Failure::Count | Failure::Io => OTHER,
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
