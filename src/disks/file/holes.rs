//! Where a sparse file has data and where it has holes.
use crate::core::{Extent, Run, RunKind};
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;

/// The run that begins at `within.offset`, cut at `within.end()`. Moves the descriptor's own position, which
/// positional I/O does not use.
///
/// Beyond the file's present end everything counts as data: a file that shrank must be noticed by a read that ends
/// early, not be copied as zeros.
///
/// # Errors
/// The error of `lseek(2)`, except that it knows nothing of holes: then all is data.
pub(super) fn run_at(fd: BorrowedFd<'_>, within: Extent) -> io::Result<Run> {
    let data_to = |end: u64| Run { extent: Extent::new(within.offset, end - within.offset), kind: RunKind::Data };
    let zero_to = |end: u64| Run { extent: Extent::new(within.offset, end - within.offset), kind: RunKind::Zero };
    match rustix::fs::seek(fd, SeekFrom::Data(within.offset)) {
        Ok(data) if data > within.offset => Ok(zero_to(data.min(within.end()))),
        Ok(_) => match rustix::fs::seek(fd, SeekFrom::Hole(within.offset)) {
            Ok(hole) if hole > within.offset => Ok(data_to(hole.min(within.end()))),
            // It was punched or cut off between the two calls, or only SEEK_DATA is known: reading shows.
            Ok(_) | Err(Errno::NXIO | Errno::INVAL | Errno::OPNOTSUPP) => Ok(data_to(within.end())),
            Err(error) => Err(error.into()),
        },
        // No data from here on: a hole up to the end of the file, but not beyond it.
        Err(Errno::NXIO) => {
            let size = rustix::fs::fstat(fd)?.st_size as u64;
            if size > within.offset { Ok(zero_to(size.min(within.end()))) } else { Ok(data_to(within.end())) }
        }
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::SPIPE) => Ok(data_to(within.end())),
        Err(error) => Err(error.into()),
    }
}
