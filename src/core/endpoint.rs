//! One side of a copy, open and ready.
use super::{
    CopyName, Damage, DestOutcome, DestTally, Extent, Facts, Kind, Op, Queue, RecordDevice, Request, Run, RunKind,
};
use io_uring::{squeue, types};
use std::cmp::Ordering;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// How an endpoint differs from what it was when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointChange {
    /// It has this many bytes more.
    Grew(u64),
    /// It has this many bytes fewer.
    Shrank(u64),
    /// Same size, but another process wrote to it.
    Modified,
}

impl EndpointChange {
    /// The change from a size in bytes to another; `None`: it is the same.
    pub fn of_size(was: u64, is: u64) -> Option<EndpointChange> {
        match is.cmp(&was) {
            Ordering::Greater => Some(EndpointChange::Grew(is - was)),
            Ordering::Less => Some(EndpointChange::Shrank(was - is)),
            Ordering::Equal => None,
        }
    }
}

/// What to report about a side at the end of a copy.
#[derive(Debug, Default)]
pub struct ClosingReport {
    /// How it was reached, where that is worth a word in the report: `SCSI commands (/dev/sg0)`.
    pub detail: Option<String>,
    /// What the user should know of how it went on this side.
    pub notes: Vec<String>,
    /// What was not available for speed on this side, and what was used instead.
    pub fallbacks: Vec<String>,
    /// What was wrong with the bytes that came, for a dest that judges them.
    pub damage: Option<Damage>,
    /// How each of several dests ended that look like one.
    pub dests: Vec<DestOutcome>,
}

/// Whose bytes a dest takes over by itself.
#[derive(Clone, Copy, Debug)]
pub enum OffloadSource<'a> {
    /// The file that is open here: the file system shares its extents (FICLONERANGE, since 4.5).
    File(BorrowedFd<'a>),
    /// The device as a whole that the dest is, or is a part of: by a command of its own.
    SameDevice,
    /// The device of that name, as a whole: by a command of the dest's.
    Device(&'a CopyName),
}

/// One side of a copy, open and ready. One implementation per kind of thing that holds bytes.
pub trait Endpoint: Send + Sync {
    /// What it is.
    fn facts(&self) -> &Facts;

    /// Carries the present transfer of the request out and returns when it is done: the bytes moved, at least one
    /// unless the end is reached. Everyone can. Called from any thread; retries EINTR itself.
    ///
    /// # Errors
    /// The kernel's error, unchanged, or a [`super::DeviceError`]; ECANCELED after [`Endpoint::cancel`].
    fn perform(&self, request: &mut Request) -> io::Result<u32>;

    /// How to put requests on an io_uring, for endpoints that can be.
    fn on_ring(&self) -> Option<&dyn OnRing> {
        None
    }

    /// A queue of its own, for endpoints that have one.
    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        None
    }

    /// Its records, for endpoints that move them by commands of their own. Not while a queue of it is in use.
    fn records(&self) -> Option<Arc<dyn RecordDevice>> {
        None
    }

    /// The run that begins at `within.offset`, cut at `within.end()`. `within` is not empty and counts on this side.
    /// Endpoints that know nothing of holes say that all is data.
    ///
    /// # Errors
    /// The kernel's error when asked for the next hole.
    fn run_at(&self, within: Extent) -> io::Result<Run> {
        Ok(Run { extent: within, kind: RunKind::Data })
    }

    /// Prepares a dest for `extent` before the first write, where that helps: allocates, so that a full file system
    /// is noticed now. Nothing that a reader could see changes but the size.
    ///
    /// # Errors
    /// ENOSPC when there is no room; endpoints to which this means nothing do nothing.
    fn prepare(&self, _extent: Extent) -> io::Result<()> {
        Ok(())
    }

    /// Makes a regular dest file end at `size` bytes; others do nothing.
    ///
    /// # Errors
    /// The error of `ftruncate(2)`.
    fn end_at(&self, _size: u64) -> io::Result<()> {
        Ok(())
    }

    /// Returns when everything written so far survives a power loss, a new file's name too.
    ///
    /// # Errors
    /// The error of `fdatasync(2)`: also of writes that were acknowledged before.
    fn make_durable(&self) -> io::Result<()> {
        Ok(())
    }

    /// Takes bytes of `from` over without transferring them to haul: those of `extent`, which counts there, to
    /// `to_offset` on this side. Returns the bytes: one at least, and all of `extent` or fewer; of a file all. They do
    /// not overlap.
    ///
    /// # Errors
    /// EOPNOTSUPP, or a [`super::DeviceError`] of [`Kind::Unsupported`], where it cannot; of a file system
    /// also EXDEV or EINVAL. Nothing has changed then. Otherwise the device's error.
    fn offload(&self, _from: OffloadSource<'_>, _extent: Extent, _to_offset: u64) -> io::Result<u64> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// The descriptor that most goes through, of what has pages in the page cache: to ask for them, or to share its
    /// extents with the other side.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Makes calls of `perform` that wait for another process, as on a pipe, return ECANCELED, now and from now on.
    fn cancel(&self) {}

    /// What a failure means here. `error` came of `op` at `offset` on this side.
    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Kind::NoSpace,
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Kind::EndedEarly,
            _ => Kind::Io,
        }
    }

    /// What to report about this side; asked at the end of a copy, of several dests once.
    fn closing(&self) -> ClosingReport {
        ClosingReport::default()
    }

    /// The running numbers of each of several dests that look like one; asked before the first request.
    fn dest_tallies(&self) -> Vec<Arc<DestTally>> {
        Vec::new()
    }

    /// How it changed since it was opened, as far as that can be seen; asked at the end of a copy.
    fn change(&self) -> Option<EndpointChange> {
        None
    }

    /// Has the page cache drop what it holds of `extent`, which is clean, and says how many bytes of that are still
    /// there (cachestat, since 6.5, or mincore); `None` if unknown.
    fn uncache(&self, _extent: Extent) -> Option<u64> {
        None
    }
}

/// Turns requests into ring entries and ring results back into byte counts.
///
/// An entry has 64 bytes and a completion 16; passthrough commands need the wide form, of 128 and 32. A ring has one
/// form for all its entries: where either side needs the wide one, both are encoded so.
///
/// # Safety
/// Entries go to the kernel unchecked, and the kernel reads and writes memory by what they say. An implementation
/// promises of every entry that it encodes:
///
/// * It names no memory but the present transfer of its request, and what belongs to the endpoint.
/// * The kernel writes to the request's bytes for a read alone, and moves no more bytes than the present transfer has,
///   by any field of the entry or of a command in it.
/// * What belongs to the endpoint stays where it is while the endpoint lives, is named by no other entry before
///   the completion, and if the kernel writes to it is only reached as atomics or by raw pointers meanwhile.
/// * It works on `fd`. The descriptor of [`OnRing::fd`] is the same at any time, and open for as long as the endpoint
///   lives. So is any other descriptor that the entry names.
/// * It has exactly one completion, after which the kernel touches none of that memory.
///
/// The caller that pushes an entry promises in turn:
///
/// * The request was taken ([`OnRing::takes`]) and is kept as it is until the completion, its buffer with it; no other
///   request with the same slot is on a ring meanwhile.
/// * The endpoint is kept until the completion too.
/// * Where the kernel does not say when it is done, both are leaked.
///
/// ```
/// # use haul::core::{OnRing, Request};
/// # use io_uring::{opcode, squeue, types};
/// # use std::os::fd::{AsFd, BorrowedFd};
/// struct Nothing(std::fs::File);
///
/// // SAFETY: the entry names no memory.
/// unsafe impl OnRing for Nothing {
/// #   fn fd(&self) -> BorrowedFd<'_> {
/// #       self.0.as_fd()
/// #   }
/// #   fn takes(&self, _: &Request) -> bool {
/// #       true
/// #   }
///     fn encode(&self, _: &mut Request, _: types::Fixed) -> squeue::Entry {
///         opcode::Nop::new().build()
///     }
/// }
/// ```
///
/// Without `unsafe` that cannot be promised:
///
/// ```compile_fail,E0200
/// # use haul::core::{OnRing, Request};
/// # use io_uring::{opcode, squeue, types};
/// # use std::os::fd::{AsFd, BorrowedFd};
/// struct Nothing(std::fs::File);
///
/// impl OnRing for Nothing {
/// #   fn fd(&self) -> BorrowedFd<'_> {
/// #       self.0.as_fd()
/// #   }
/// #   fn takes(&self, _: &Request) -> bool {
/// #       true
/// #   }
///     fn encode(&self, _: &mut Request, _: types::Fixed) -> squeue::Entry {
///         opcode::Nop::new().build()
///     }
/// }
/// ```
pub unsafe trait OnRing {
    /// The descriptor to register with the ring.
    fn fd(&self) -> BorrowedFd<'_>;

    /// It can only be on a ring of the wide form (since 5.19).
    fn needs_wide(&self) -> bool {
        false
    }

    /// Whether it would encode this request now; the others go through `perform` on a helper thread.
    fn takes(&self, request: &Request) -> bool;

    /// The entry for the present transfer, which points into the request's buffer: the caller that pushes it keeps the
    /// request until the completion. `fd` is where the ring has [`OnRing::fd`] registered. Never asked of an endpoint
    /// that needs the wide form.
    fn encode(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry;

    /// The same for a ring of the wide form.
    fn encode_wide(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        self.encode(request, fd).into()
    }

    /// Bytes moved, or the error, from the `res` field of the completion and, on a ring of the wide form, what follows
    /// it; `None`: nothing has happened, and another way is worth a try.
    ///
    /// # Errors
    /// The error of the kernel or the device.
    fn decode(&self, _request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        u32::try_from(result).map(Some).map_err(|_| io::Error::from_raw_os_error(-result))
    }
}
