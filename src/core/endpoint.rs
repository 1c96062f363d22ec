//! One open side of a copy.
use super::{
    CopyName, Damage, DestOutcome, DestTally, Digest, Extent, ExtentSet, Facts, Kind, Op, Queue, RecordDevice, Request,
    Run, RunKind, SidePart, Upload,
};
use io_uring::{squeue, types};
use std::cmp::Ordering;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// A change of an endpoint since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointChange {
    /// The size grew by this many bytes.
    Grew(u64),
    /// The size shrank by this many bytes.
    Shrank(u64),
    /// The size is the same, but another process wrote to it.
    Modified,
}

impl EndpointChange {
    /// Compares two sizes in bytes; `None` if they are equal.
    pub fn of_size(was: u64, is: u64) -> Option<EndpointChange> {
        match is.cmp(&was) {
            Ordering::Greater => Some(EndpointChange::Grew(is - was)),
            Ordering::Less => Some(EndpointChange::Shrank(was - is)),
            Ordering::Equal => None,
        }
    }
}

/// What an endpoint reports at the end of a copy.
#[derive(Debug, Default)]
pub struct ClosingReport {
    /// How the endpoint was accessed, if the report should mention it: `SCSI commands (/dev/sg0)`.
    pub detail: Option<String>,
    /// Notes for the user about this side.
    pub notes: Vec<String>,
    /// Unavailable optimizations and the methods used instead.
    pub fallbacks: Vec<String>,
    /// The damage found, if the dest checks what it receives.
    pub damage: Option<Damage>,
    /// The digest of the file or stream itself, where its content was read.
    pub stored_digest: Option<Digest>,
    /// The outcome of each dest, if this endpoint combines several.
    pub dests: Vec<DestOutcome>,
}

/// The bytes of a dest that a later run can rely on.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The bytes.
    pub bytes: ExtentSet,
    /// How a later run continues the upload that has them, if it is one.
    pub upload: Option<Upload>,
}

/// The source of a copy that bypasses user space.
#[derive(Clone, Copy, Debug)]
pub enum OffloadSource<'a> {
    /// An open file: the file system shares its extents (FICLONERANGE, since 4.5).
    File(BorrowedFd<'a>),
    /// The whole device that is, or contains, the dest.
    SameDevice,
    /// Another whole device, by the name that the dest's copy command uses for it.
    Device(&'a CopyName),
}

/// How much of a compressed file was read or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredBytes {
    /// Its bytes so far.
    pub done: u64,
    /// Its size, of a source that has one.
    pub total: Option<u64>,
}

/// One open side of a copy. Each kind of endpoint implements it.
pub trait Endpoint: Send + Sync {
    /// The facts found by probing.
    fn facts(&self) -> &Facts;

    /// Executes the current transfer of the request and returns the number of bytes moved: at least one, except at the
    /// end of the data. Every endpoint supports this. May be called from any thread; retries EINTR internally.
    ///
    /// # Errors
    /// The kernel's error, unchanged, or a [`super::DeviceError`]; ECANCELED after [`Endpoint::cancel`].
    fn perform(&self, request: &mut Request) -> io::Result<u32>;

    /// Conversion of requests to io_uring entries, if supported.
    fn on_ring(&self) -> Option<&dyn OnRing> {
        None
    }

    /// Opens a separate queue, if supported.
    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        None
    }

    /// Access by records, for endpoints that support passthrough commands. Not to be used while a queue of the endpoint
    /// is in use.
    fn records(&self) -> Option<Arc<dyn RecordDevice>> {
        None
    }

    /// The run that begins at `within.offset`, limited to `within.end()`. Offsets count on this side; `within` is not
    /// empty. Endpoints without holes report that everything is data.
    ///
    /// # Errors
    /// The error of the seek for the next hole.
    fn run_at(&self, within: Extent) -> io::Result<Run> {
        Ok(Run { extent: within, kind: RunKind::Data })
    }

    /// Prepares a dest for `extent` before the first write: allocates space, so that a full file system is detected
    /// early. Changes nothing that a reader could see except the size.
    ///
    /// # Errors
    /// ENOSPC if there is not enough space. Endpoints that need no preparation do nothing.
    fn prepare(&self, _extent: Extent) -> io::Result<()> {
        Ok(())
    }

    /// Sets the size of a regular dest file to `size` bytes; other endpoints do nothing.
    ///
    /// # Errors
    /// The error of `ftruncate(2)`.
    fn end_at(&self, _size: u64) -> io::Result<()> {
        Ok(())
    }

    /// Returns when all data written so far, and the directory entry of a new file, survives a power loss.
    ///
    /// # Errors
    /// The error of `fdatasync(2)`, which may concern writes that were acknowledged earlier.
    fn make_durable(&self) -> io::Result<()> {
        Ok(())
    }

    /// Makes a dest that appears as a whole visible, with `size` bytes: all of a copy was written. Other endpoints do
    /// nothing.
    ///
    /// # Errors
    /// The store refuses it, or has something else afterwards.
    fn complete(&self, _size: u64) -> io::Result<()> {
        Ok(())
    }

    /// Those of the acknowledged bytes that a later run can rely on, after [`Endpoint::make_durable`]: all of them,
    /// unless the dest collects bytes in larger parts. Offsets count from the first byte of the copy.
    fn kept(&self, acknowledged: ExtentSet) -> Kept {
        Kept { bytes: acknowledged, upload: None }
    }

    /// How much of a compressed file was read or written; `None`: it is not compressed. Returns at once.
    fn stored(&self) -> Option<StoredBytes> {
        None
    }

    /// The part of this side that takes most of its time, if it has several. Returns at once.
    fn slowest_part(&self) -> Option<SidePart> {
        None
    }

    /// Copies or shares bytes without transferring them through haul: from `extent` of `from` to `to_offset` on this
    /// side. The extents must not overlap. Returns the number of bytes copied: at least one, possibly fewer than
    /// requested; for a file always all.
    ///
    /// # Errors
    /// EOPNOTSUPP, or a [`super::DeviceError`] of [`Kind::Unsupported`], if it is not supported; for a file system also
    /// EXDEV or EINVAL. Nothing has changed then. Otherwise the device's error.
    fn offload(&self, _from: OffloadSource<'_>, _extent: Extent, _to_offset: u64) -> io::Result<u64> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// The main descriptor of an endpoint whose data is in the page cache: to query its pages, or to share its extents
    /// with the other side.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Makes calls of `perform` that wait for another process, such as on a pipe, return ECANCELED, including later
    /// calls.
    fn cancel(&self) {}

    /// Limits the time of each read from now on, where reads are commands with limits of their own. Returns whether
    /// they are.
    fn limit_reads(&self, _limit: Duration) -> bool {
        false
    }

    /// Classifies the `error` of `op` at `offset` on this side.
    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Kind::NoSpace,
            _ if error.kind() == io::ErrorKind::UnexpectedEof => Kind::EndedEarly,
            _ => Kind::Io,
        }
    }

    /// What to report about this side. Called once, at the end of a copy, also if it combines several dests.
    fn closing(&self) -> ClosingReport {
        ClosingReport::default()
    }

    /// The counters of each dest, if this endpoint combines several. Called before the first request.
    fn dest_tallies(&self) -> Vec<Arc<DestTally>> {
        Vec::new()
    }

    /// How the endpoint changed since it was opened, as far as that can be detected. Called at the end of a copy.
    fn change(&self) -> Option<EndpointChange> {
        None
    }

    /// Evicts the clean pages of `extent` from the page cache and returns the number of its bytes that remain cached
    /// (cachestat, since 6.5, or mincore); `None` if unknown.
    fn uncache(&self, _extent: Extent) -> Option<u64> {
        None
    }
}

/// Turns requests into ring entries and ring results back into byte counts.
///
/// An entry has 64 bytes and a completion 16; passthrough commands need the wide form with 128 and 32 bytes. All
/// entries of a ring have the same form: if one side needs the wide form, both use it.
///
/// # Safety
/// The kernel executes entries without further checks and accesses the memory that they reference. An implementation
/// guarantees for every entry that it encodes:
///
/// * It references only the memory of the current transfer of its request, and memory that the endpoint owns.
/// * The kernel writes to the request's buffer only for a read, and no field of the entry or of an embedded command
///   covers more bytes than the current transfer has.
/// * Memory that the endpoint owns does not move while the endpoint exists, and no other entry references it before the
///   completion. If the kernel writes to it, haul accesses it only as atomics or by raw pointers until then.
/// * It operates on `fd`. [`OnRing::fd`] always returns the same descriptor, which stays open as long as the endpoint
///   exists. The same is true of any other descriptor that the entry references.
/// * It has exactly one completion, after which the kernel no longer accesses any of that memory.
///
/// The caller that pushes an entry guarantees in turn:
///
/// * The endpoint accepted the request ([`OnRing::takes`]), and the request and its buffer are not changed or moved
///   before the completion. No other request with the same slot is on a ring meanwhile.
/// * The endpoint is not dropped before the completion.
/// * If the kernel does not report the completion, both are leaked.
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
/// An implementation without `unsafe` does not compile:
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
    /// The descriptor that is registered with the ring.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Whether it requires a ring of the wide form (since 5.19).
    fn needs_wide(&self) -> bool {
        false
    }

    /// Whether it can encode this request now; other requests go to `perform` on a helper thread.
    fn takes(&self, request: &Request) -> bool;

    /// The entry for the current transfer, which references the request's buffer: the caller keeps the request until
    /// the completion. `fd` is the index under which [`OnRing::fd`] is registered. Never called for an endpoint that
    /// requires the wide form.
    fn encode(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry;

    /// The same for a ring of the wide form.
    fn encode_wide(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        self.encode(request, fd).into()
    }

    /// Bytes moved, or the error, from the `res` field of the completion and, on a ring of the wide form, the extra
    /// fields; `None` if nothing has happened and the request can be submitted by another method.
    ///
    /// # Errors
    /// The error of the kernel or the device.
    fn decode(&self, _request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        u32::try_from(result).map(Some).map_err(|_| io::Error::from_raw_os_error(-result))
    }
}
