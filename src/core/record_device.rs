//! A disk whose records are moved by its own commands.
use super::Buffer;
use std::fmt::Debug;
use std::io;

/// What a disk counts while records are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Errors that the disk recovered from by itself.
    pub recovered: u64,
    /// Transfers that were asked for without a copy in the driver.
    pub direct_asked: u64,
    /// How many of them had one.
    pub indirect: u64,
}

/// Where the bytes that a READ BUFFER brings end up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferWay {
    /// In the driver's memory only: they are not visible.
    NotMoved,
    /// In haul's memory, without a copy where the driver can do without one.
    Direct,
    /// In haul's memory, copied by the driver.
    Indirect,
}

impl BufferWay {
    /// All of them, the cheapest first.
    pub const ALL: [BufferWay; 3] = [BufferWay::NotMoved, BufferWay::Direct, BufferWay::Indirect];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            BufferWay::NotMoved => "not moved",
            BufferWay::Direct => "direct",
            BufferWay::Indirect => "indirect",
        }
    }
}

/// Which of a disk's own buffers is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnBuffer {
    /// That of its data, usually its cache.
    #[default]
    Data,
    /// The echo buffer, for tests of the link: a few KiB, which hold what was last written to it.
    Echo,
}

/// A disk whose records are moved by its own commands, past the block layer. Offsets count from where this side begins;
/// they and lengths are whole blocks of the disk.
pub trait RecordDevice: Debug + Send + Sync {
    /// Reads at `offset`; the bytes that came, one block at least.
    ///
    /// # Errors
    /// The kernel's error; a [`super::DeviceError`] for the disk's error.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at `offset`; the bytes that went, one block at least.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`].
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Lets the disk compare all of `bytes` with what it has at `offset`.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`], with [`super::DeviceError::is_miscompare`] for what differs. The kind
    /// Unsupported of a disk that cannot compare.
    fn compare_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Fetches the one block at `offset` as stored on the medium, bad or not; with `correct`, corrected as far as
    /// possible. There is no guarantee that these are the bytes that were written.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`]; the kind Unsupported of a disk that does not know the command.
    fn read_long(&self, block: &mut [u8], offset: u64, correct: bool) -> io::Result<()>;

    /// Memory of at least one block and at most `len` bytes that the driver shares with haul, where that was requested:
    /// transfers to and from its beginning need no copy. There is one such piece.
    fn shared_memory(&self, _len: u32) -> Option<io::Result<Buffer>> {
        None
    }

    /// Gives the disk a READ of no blocks, which moves no byte: what a command costs as such.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_at`]; the kind Unsupported of what has no such command.
    fn read_nothing(&self) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// Bytes of a buffer of the disk's own, which [`RecordDevice::read_buffer`] fetches.
    ///
    /// # Errors
    /// As for [`RecordDevice::read_nothing`].
    fn buffer_bytes(&self, _which: OwnBuffer) -> io::Result<u32> {
        Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
    }

    /// Fetches the first bytes of a buffer of the disk's own, whatever they are, by one command and without the medium;
    /// the bytes that came. They may be fewer than were asked for, as many as one command moves.
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

    /// Drops what the page cache holds of the block device behind it, which may be older than the disk.
    ///
    /// # Errors
    /// What could not be written back before.
    fn drop_cache(&self) -> io::Result<()>;

    /// What was counted so far.
    fn counts(&self) -> DeviceCounts;
}
