//! A write that succeeded into the page cache and failed on its way from there to the medium.
use std::{error, fmt, io};

/// The kernel could not write back what earlier writes had left in the page cache. Travels inside an [`io::Error`] from
/// the endpoint to where errors are classified: it says nothing about the request that heard of it.
#[derive(Debug)]
pub struct WritebackError(io::Error);

impl WritebackError {
    /// Marks the kernel's error about a writeback.
    pub fn mark(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), WritebackError(error))
    }

    /// The kernel's error, and whether it was about a writeback.
    pub(super) fn unmark(error: io::Error) -> (io::Error, bool) {
        match error.downcast::<WritebackError>() {
            Ok(WritebackError(said)) => (said, true),
            Err(error) => (error, false),
        }
    }
}

impl fmt::Display for WritebackError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl error::Error for WritebackError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_marked_is_the_kernels_again_and_what_was_not_is_left_alone() {
        let (said, marked) = WritebackError::unmark(WritebackError::mark(io::Error::from_raw_os_error(libc::EIO)));
        assert_eq!((said.raw_os_error(), marked), (Some(libc::EIO), true));
        let (said, marked) = WritebackError::unmark(io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!((said.raw_os_error(), marked), (Some(libc::ENOSPC), false));
    }
}
