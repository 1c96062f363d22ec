//! Errors of writes that were acknowledged and failed later, in writeback.
use std::{error, fmt, io};

/// The kernel could not write back data of earlier writes from the page cache. It is wrapped in an [`io::Error`] until
/// errors are classified, because it does not concern the request that returned it.
#[derive(Debug)]
pub struct WritebackError(io::Error);

impl WritebackError {
    /// Marks a kernel error as a writeback error.
    pub fn mark(error: io::Error) -> io::Error {
        io::Error::new(error.kind(), WritebackError(error))
    }

    /// The kernel's error, and whether it is a writeback error.
    pub(super) fn unmark(error: io::Error) -> (io::Error, bool) {
        match error.downcast::<WritebackError>() {
            Ok(WritebackError(device_failure)) => (device_failure, true),
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
    fn marked_errors_are_unmarked_and_others_are_unchanged() {
        let (device_failure, marked) =
            WritebackError::unmark(WritebackError::mark(io::Error::from_raw_os_error(libc::EIO)));
        assert_eq!((device_failure.raw_os_error(), marked), (Some(libc::EIO), true));
        let (device_failure, marked) = WritebackError::unmark(io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!((device_failure.raw_os_error(), marked), (Some(libc::ENOSPC), false));
    }
}
