//! Disks whose records are transferred by passthrough commands.
use super::Buffer;
use std::fmt::Debug;
use std::io;

/// Counters of a disk that transfers records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Recovered errors that the disk reported.
    pub recovered: u64,
    /// Transfers requested as direct I/O.
    pub direct_requested: u64,
    /// Those of them that the driver copied.
    pub indirect: u64,
}

/// Where the data of a READ BUFFER command ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferWay {
    /// In the driver's memory only: haul does not receive it.
    NotMoved,
    /// In haul's memory, by direct I/O if the driver supports it.
    Direct,
    /// In haul's memory, copied by the driver.
    Indirect,
}

impl BufferWay {
    /// All variants, the cheapest first.
    pub const ALL: [BufferWay; 3] = [BufferWay::NotMoved, BufferWay::Direct, BufferWay::Indirect];

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            BufferWay::NotMoved => "not moved",
            BufferWay::Direct => "direct",
            BufferWay::Indirect => "indirect",
        }
    }
}

/// Which internal buffer of a disk is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnBuffer {
    /// The data buffer, usually the disk's cache.
    #[default]
    Data,
    /// The echo buffer, for testing the link: a few KiB that return what was last written to them.
    Echo,
}

/// A disk whose records are transferred by passthrough commands. Offsets count from the start of this side; offsets and
/// lengths are multiples of the disk's block size.
pub trait RecordDevice: Debug + Send + Sync {
    /// Reads at `offset`; returns the number of bytes read, at least one block.
    ///
    /// # Errors
    /// The kernel's error, or a [`super::DeviceError`] reported by the disk.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at `offset`; returns the number of bytes written, at least one block.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`].
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes the disk compare all of `bytes` with its data at `offset`.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`]; [`super::DeviceError::is_miscompare`] is true if the data differs. The kind is
    /// Unsupported if the disk has no compare command.
    fn compare_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads the raw block at `offset` from the medium, even if it is unreadable otherwise; with `correct`,
    /// error-corrected as far as possible. The result may differ from what was written.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`]; the kind is Unsupported if the disk does not support the command.
    fn read_long(&self, block: &mut [u8], offset: u64, correct: bool) -> io::Result<()>;

    /// Memory that the driver shares with haul, of at least one block and at most `len` bytes, if requested. Transfers
    /// to and from its start need no copy. There is only one such buffer.
    fn shared_memory(&self, _len: u32) -> Option<io::Result<Buffer>> {
        None
    }

    /// Sends a READ of zero blocks, which transfers no data, to measure the fixed latency of a command.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`]; the kind is Unsupported if there is no such command.
    fn read_nothing(&self) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// Size in bytes of an internal buffer, which [`RecordDevice::read_buffer`] reads.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_nothing`].
    fn buffer_bytes(&self, _which: OwnBuffer) -> io::Result<u32> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// Reads the start of an internal buffer, whose contents are arbitrary, by one command without access to the
    /// medium. Returns the number of bytes, which may be fewer than requested if one command cannot transfer more.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_nothing`].
    fn read_buffer(&self, _which: OwnBuffer, _way: BufferWay, _bytes: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// Returns when everything written so far is on the medium.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`].
    fn make_durable(&self) -> io::Result<()>;

    /// Drops the cached pages of its block device, which may be older than the data on the disk.
    ///
    /// # Errors
    /// The error of writing back dirty pages before.
    fn drop_cache(&self) -> io::Result<()>;

    /// The current counters.
    fn counts(&self) -> DeviceCounts;
}
