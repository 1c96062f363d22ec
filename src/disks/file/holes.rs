//! Detecting the data and holes of a sparse file.
use crate::core::{Extent, Run, RunKind};
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;

/// The run that begins at `within.offset`, limited to `within.end()`. Changes the position of the descriptor, which
/// positional I/O does not use.
///
/// Everything past the current end of the file counts as data: a file that shrank must lead to a short read, not be
/// copied as zeros.
///
/// # Errors
/// The error of `lseek(2)`. If it does not support holes, everything counts as data.
pub(super) fn run_at(fd: BorrowedFd<'_>, within: Extent) -> io::Result<Run> {
    let data_to = |end: u64| Run { extent: Extent::new(within.offset, end - within.offset), kind: RunKind::Data };
    let zero_to = |end: u64| Run { extent: Extent::new(within.offset, end - within.offset), kind: RunKind::Zero };
    match rustix::fs::seek(fd, SeekFrom::Data(within.offset)) {
        Ok(data) if data > within.offset => Ok(zero_to(data.min(within.end()))),
        Ok(_) => match rustix::fs::seek(fd, SeekFrom::Hole(within.offset)) {
            Ok(hole) if hole > within.offset => Ok(data_to(hole.min(within.end()))),
            // The hole was filled or truncated between the two calls, or only SEEK_DATA is supported: the read
            // determines the content.
            Ok(_) | Err(Errno::NXIO | Errno::INVAL | Errno::OPNOTSUPP) => Ok(data_to(within.end())),
            Err(error) => Err(error.into()),
        },
        // No more data: a hole up to the end of the file.
        Err(Errno::NXIO) => {
            let size = rustix::fs::fstat(fd)?.st_size as u64;
            if size > within.offset { Ok(zero_to(size.min(within.end()))) } else { Ok(data_to(within.end())) }
        }
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::SPIPE) => Ok(data_to(within.end())),
        Err(error) => Err(error.into()),
    }
}
