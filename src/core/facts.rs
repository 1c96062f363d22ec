//! What probing found out about a side: data only, nothing is asked here.
use super::{CopyName, Passthrough, QueuePolicy, SavedPace};
use std::path::PathBuf;

/// The kinds of things that hold bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointKind {
    /// A regular file, existing or to be made.
    File,
    /// A block device or a partition of one.
    Block,
    /// A pipe or FIFO: bytes in order, no offsets.
    Pipe,
    /// A socket: the same.
    Socket,
    /// A terminal: the same.
    Terminal,
    /// A character device as standard input or output: the same.
    Character,
    /// A regular file that is read or written as a stream: standard input or output redirected to it, which go on where
    /// they stand, or a file that is made as it is read, as below /proc.
    FileStream,
    /// A character device that never ends as a source: /dev/zero, /dev/urandom, /dev/full.
    Endless,
    /// /dev/null: nothing in it as a source, swallows everything as a dest.
    Null,
    /// The test pattern: computed as it is read, judged as it is written.
    Pattern,
    /// Bytes in memory, for tests.
    Memory,
    /// The digests of a copy, which bytes are compared with; none is read of it.
    Manifest,
}

impl EndpointKind {
    /// Bytes come and go in order, and cannot be read or written again.
    pub fn is_stream(self) -> bool {
        use EndpointKind::{Character, FileStream, Pipe, Socket, Terminal};
        matches!(self, Pipe | Socket | Terminal | Character | FileStream)
    }

    /// The words for messages.
    pub fn name(self) -> &'static str {
        match self {
            EndpointKind::File => "file",
            EndpointKind::Block => "block device",
            EndpointKind::Pipe => "pipe",
            EndpointKind::Socket => "socket",
            EndpointKind::Terminal => "terminal",
            EndpointKind::Character => "character device",
            EndpointKind::FileStream => "file, as a stream",
            EndpointKind::Endless => "endless device",
            EndpointKind::Null => "null device",
            EndpointKind::Pattern => "test pattern",
            EndpointKind::Memory => "memory",
            EndpointKind::Manifest => "manifest",
        }
    }
}

/// In which order offsets may be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any offset at any time.
    Any,
    /// Ascending, one at a time: pipes.
    Ascending,
}

/// How blocking calls behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStyle {
    /// They may take a while: helper threads make them.
    Waits,
    /// They cost nothing: made on the spot.
    AtOnce,
}

/// What direct I/O asks for, in bytes. Both are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of the buffer's address.
    pub memory_bytes: u32,
    /// Alignment of offsets and lengths.
    pub offset_bytes: u32,
}

/// Limits of a request queue, named as in `/sys/block/*/queue`; 0 where the kernel says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Preferred size of a request (`optimal_io_size`), in bytes.
    pub optimal_io_bytes: u32,
    /// Largest request that is not split (`max_sectors_kb`), in bytes.
    pub max_request_bytes: u32,
    /// Requests that the queue holds (`nr_requests`).
    pub requests_max: u32,
    /// Moves a head (`rotational`); `None` if unknown.
    pub rotational: Option<bool>,
    /// Largest range that the device zeroes by itself (`write_zeroes_max_bytes`); 0: it cannot.
    pub write_zeroes_max_bytes: u64,
    /// Most bytes that the device copies to itself by one command of its own; 0: it cannot.
    pub copy_max_bytes: u32,
    /// Such copies are in multiples of this, in bytes; 0 or less than a block: of a block.
    pub copy_unit_bytes: u32,
}

/// What a path leads to, whatever its name: device and inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileId {
    /// A block device by its number, `makedev(major, minor)`.
    Device(u64),
    /// A file by `st_dev` and `st_ino`.
    File(u64, u64),
    /// A character device by its number: the node that takes the commands of a disk without a block device, a terminal.
    Node(u64),
}

/// Where bytes of an endpoint lie in the end: below partitions, loop devices and linear mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// The disk or file that holds them.
    pub id: FileId,
    /// Its name for messages: `/dev/sda`, or the path of a file.
    pub name: String,
    /// Where the endpoint's byte 0 is on it; `None` where the mapping is not linear or not known.
    pub offset: Option<u64>,
    /// It is rotational; `None` if unknown.
    pub rotational: Option<bool>,
}

/// Who a device is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Vendor and model as the device says them.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name, EUI or UUID.
    pub wwn: Option<String>,
    /// `sata`, `nvme`, `usb`, `scsi`, `virtio`, `mmc`, `loop`, `dm`, `md`, ….
    pub transport: Option<String>,
}

/// A partition of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Kernel name: `sda1`.
    pub name: String,
    /// First byte on the whole device.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// What is on it, according to its first blocks: `ext4 "root"`, `swap`, `LUKS`.
    pub content: Option<String>,
}

/// Why a device must not be overwritten now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUse {
    /// `device`, it or something on top of it, is mounted.
    Mounted {
        /// Kernel name of what is mounted.
        device: String,
        /// Where.
        at: PathBuf,
    },
    /// It or a partition of it is swap space.
    Swap {
        /// Kernel name.
        device: String,
    },
    /// Something is stacked on it: a dm or md device, a loop device.
    Held {
        /// Kernel name of the part that is held.
        device: String,
        /// Kernel name of the holder.
        by: String,
    },
    /// The running system starts or swaps from it.
    System {
        /// Where the part of the system on it is mounted: `/`, `/boot`, `/usr`.
        at: PathBuf,
    },
    /// The kernel refused an exclusive open: it is in use in this or another namespace.
    Exclusive,
}

/// What an endpoint is, as far as a plan needs to know. Sizes and offsets in bytes.
#[derive(Clone, Debug)]
pub struct Facts {
    /// As the user named it.
    pub address: String,
    /// What to open, every symbolic link resolved; the address itself for `-`.
    pub path: PathBuf,
    /// What it is.
    pub kind: EndpointKind,
    /// It is there; a dest file may not be yet.
    pub exists: bool,
    /// This process may write to it, or make it.
    pub writable: bool,
    /// Bytes in it; `None` for a stream.
    pub size: Option<u64>,
    /// Smallest addressable unit; 1 where bytes are.
    pub logical_block_bytes: u32,
    /// Natural write unit.
    pub physical_block_bytes: u32,
    /// What direct I/O asks for; `None` where it is not available.
    pub direct: Option<DirectAlignment>,
    /// RWF_DONTCACHE works (since 6.14, by file system).
    pub dontcache: bool,
    /// Order of offsets.
    pub order: Order,
    /// How blocking calls behave.
    pub calls: CallStyle,
    /// Limits of the request queue beneath.
    pub queue: QueueLimits,
    /// What is set of that queue.
    pub queue_policy: QueuePolicy,
    /// Device and inode; `None` for what cannot be the same as anything else.
    pub id: Option<FileId>,
    /// The kernel's sequence number of the disk, which another disk or medium under the same name does not have; `None`
    /// for what is no block device, and before Linux 5.15.
    pub disk_sequence: Option<u64>,
    /// Which pipe, socket or character device it is, so that two dests are known to be one; `None`: it is none.
    pub stream: Option<FileId>,
    /// Where the bytes lie in the end.
    pub ground: Vec<Ground>,
    /// What keeps its bytes in memory, where that is so: `tmpfs`, `ramfs`, `/dev/ram0`; a power loss loses them.
    pub memory: Option<String>,
    /// Who the device is; for a file, the device it lies on is not asked.
    pub identity: Identity,
    /// Partitions of a whole device.
    pub partitions: Vec<Partition>,
    /// What is on it, according to its first blocks: `GPT`, `ext4 "root"`, `empty`.
    pub content: Option<String>,
    /// Uses that forbid overwriting.
    pub in_use: Vec<InUse>,
    /// Type of the file system a file lies on, as in mountinfo: `ext4`.
    pub filesystem: Option<String>,
    /// Bytes free on that file system for this user.
    pub free_bytes: Option<u64>,
    /// It reports its holes, and may have some: a file of which fewer bytes are allocated than it has, a disk of thin
    /// provisioning whose unmapped blocks read as zeros.
    pub sparse: bool,
    /// The file system can share extents between files.
    pub reflinks: bool,
    /// Bytes of a source that the page cache holds already; reading them from the disk again would be slower.
    pub cached_bytes: Option<u64>,
    /// The node that takes the disk's own commands; where it is to be used, the facts above are those of that way.
    pub passthrough: Option<Passthrough>,
    /// The name by which another disk can copy from this one; known of disks that are reached by SCSI commands.
    pub copy_name: Option<CopyName>,
    /// Block size and depth that were found for reading it and kept; `None`: it was never tuned, or not with --save.
    pub saved: Option<SavedPace>,
    /// The same for writing it.
    pub saved_write: Option<SavedPace>,
}

impl Facts {
    /// Facts of something of which nothing is known yet but its name and kind: bytes in any order, no size.
    pub fn new(address: &str, kind: EndpointKind) -> Self {
        Facts {
            address: address.to_owned(),
            path: PathBuf::from(address),
            kind,
            exists: true,
            writable: true,
            size: None,
            logical_block_bytes: 1,
            physical_block_bytes: 1,
            direct: None,
            dontcache: false,
            order: Order::Any,
            calls: CallStyle::Waits,
            queue: QueueLimits::default(),
            queue_policy: QueuePolicy::default(),
            id: None,
            disk_sequence: None,
            stream: None,
            ground: Vec::new(),
            memory: None,
            identity: Identity::default(),
            partitions: Vec::new(),
            content: None,
            in_use: Vec::new(),
            filesystem: None,
            free_bytes: None,
            sparse: false,
            reflinks: false,
            cached_bytes: None,
            passthrough: None,
            copy_name: None,
            saved: None,
            saved_write: None,
        }
    }

    /// Says that it is a stream: bytes without a size, a block or a place in the page cache, in this order and with
    /// such calls. Who and where it is stays as it was.
    pub fn make_stream(&mut self, order: Order, calls: CallStyle) {
        self.size = None;
        self.logical_block_bytes = 1;
        self.physical_block_bytes = 1;
        self.direct = None;
        self.dontcache = false;
        self.order = order;
        self.calls = calls;
        self.sparse = false;
        self.cached_bytes = None;
    }
}
