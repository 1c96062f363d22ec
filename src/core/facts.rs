//! What probing found out about a side: plain data, no probing.
use super::{
    Compression, CopyName, Encoding, Export, HashKind, HttpResource, InUse, Passthrough, QueuePolicy, SavedPace,
    Upload, ZipMember,
};
use std::path::PathBuf;

/// The kinds of endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointKind {
    /// A regular file, existing or to be created.
    File,
    /// A block device or a partition of one.
    Block,
    /// An export of an NBD server.
    Nbd,
    /// A resource of a web server that sends any range of it.
    Http,
    /// A resource of a web server that sends it from the first byte on only: bytes in order, no offsets.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the feature http finds it"))]
    HttpStream,
    /// An object in an object store: read by ranges, written as a whole in ascending order.
    Object,
    /// A pipe or FIFO: a sequential stream without offsets.
    Pipe,
    /// A socket: a stream.
    Socket,
    /// A terminal: a stream.
    Terminal,
    /// A character device as standard input or output: a stream.
    Character,
    /// A regular file that is used as a stream: standard input or output redirected to it, which continue at the
    /// current offset, or a file whose content is generated on reading, as below /proc.
    FileStream,
    /// A character device that is endless as a source: /dev/zero, /dev/urandom, /dev/full.
    Endless,
    /// /dev/null: empty as a source, discards everything as a dest.
    Null,
    /// The test pattern: generated as a source, checked as a dest.
    Pattern,
    /// Memory, for tests.
    Memory,
    /// A compressed file whose content is read: bytes in order.
    Compressed,
    /// A file that is compressed while it is written: bytes in order.
    CompressedDest,
    /// The digests of a copy, which bytes are compared with. It is not read through an endpoint.
    Manifest,
}

impl EndpointKind {
    /// Whether bytes pass in order and cannot be read or written again.
    pub fn is_stream(self) -> bool {
        use EndpointKind::{Character, FileStream, HttpStream, Pipe, Socket, Terminal};
        matches!(self, Pipe | Socket | Terminal | Character | FileStream | HttpStream)
    }

    /// Whether bytes are stored at offsets and can be read again later.
    pub fn is_storage(self) -> bool {
        use EndpointKind::{CompressedDest, File, Http, Object};
        matches!(self, File | CompressedDest | Http | Object) || self.is_fixed_size()
    }

    /// Whether it is storage with a size that writing does not change, and usually with existing data.
    pub fn is_fixed_size(self) -> bool {
        matches!(self, EndpointKind::Block | EndpointKind::Nbd)
    }

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            EndpointKind::File => "file",
            EndpointKind::Block => "block device",
            EndpointKind::Nbd => "NBD export",
            EndpointKind::Http => "web resource",
            EndpointKind::HttpStream => "web resource, as a stream",
            EndpointKind::Object => "object",
            EndpointKind::Pipe => "pipe",
            EndpointKind::Socket => "socket",
            EndpointKind::Terminal => "terminal",
            EndpointKind::Character => "character device",
            EndpointKind::FileStream => "file, as a stream",
            EndpointKind::Endless => "endless device",
            EndpointKind::Null => "null device",
            EndpointKind::Pattern => "test pattern",
            EndpointKind::Memory => "memory",
            EndpointKind::Compressed | EndpointKind::CompressedDest => "compressed file",
            EndpointKind::Manifest => "manifest",
        }
    }
}

/// The order in which offsets may be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any order.
    Any,
    /// Ascending, one request at a time: streams.
    Ascending,
}

/// How blocking calls behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStyle {
    /// They may block for long: helper threads make them.
    Waits,
    /// They return immediately: they are made in place.
    AtOnce,
}

/// What direct I/O requires, in bytes. Both are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of the buffer's address.
    pub memory_bytes: u32,
    /// Alignment of offsets and lengths.
    pub offset_bytes: u32,
}

/// Limits of a request queue, named as in `/sys/block/*/queue`; 0 where the kernel reports none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Preferred size of a request (`optimal_io_size`), in bytes.
    pub optimal_io_bytes: u32,
    /// Largest request that is not split (`max_sectors_kb`), in bytes.
    pub max_request_bytes: u32,
    /// Requests that the queue holds (`nr_requests`).
    pub requests_max: u32,
    /// Whether it is rotational; `None` if unknown.
    pub rotational: Option<bool>,
    /// Largest range that the device zeroes without receiving data (`write_zeroes_max_bytes`); 0 if it does not support
    /// that.
    pub write_zeroes_max_bytes: u64,
    /// Maximum number of bytes that one copy command of the device copies; 0 if it has none.
    pub copy_max_bytes: u32,
    /// Granularity of such copies, in bytes; if it is less than a block, the block size applies.
    pub copy_unit_bytes: u32,
}

/// Identifies a file regardless of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileId {
    /// A block device by its device number, `makedev(major, minor)`.
    Device(u64),
    /// A file by `st_dev` and `st_ino`.
    File(u64, u64),
    /// A character device by its device number: a node for commands without a block device, or a terminal.
    Node(u64),
    /// An export or a resource of a server, by a number derived from its address: valid in this process only.
    Export(u64),
}

/// The disk or file that stores the bytes of an endpoint, below partitions, loop devices and linear mappings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// The disk or file.
    pub id: FileId,
    /// Its name for messages: `/dev/sda`, or the path of a file.
    pub name: String,
    /// Offset on it of the endpoint's byte 0; `None` if the mapping is not linear or not known.
    pub offset: Option<u64>,
    /// Whether it is rotational; `None` if unknown.
    pub rotational: Option<bool>,
}

/// The identity of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Vendor and model as the device reports them.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name, EUI or UUID.
    pub wwn: Option<String>,
    /// `sata`, `nvme`, `usb`, `scsi`, `virtio`, `mmc`, `loop`, `dm`, `md`, ….
    pub transport: Option<String>,
    /// What identifies the content of a web resource: its strong entity tag, else the time of its last change.
    pub version: Option<String>,
}

/// A partition of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Kernel name: `sda1`.
    pub name: String,
    /// Offset of its first byte on the whole device.
    pub offset: u64,
    /// Size in bytes.
    pub len: u64,
    /// Its content, according to its first blocks: `ext4 "root"`, `swap`, `LUKS`.
    pub content: Option<String>,
}

/// Everything that planning needs to know about an endpoint. Sizes and offsets in bytes.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The address, as the user gave it.
    pub address: String,
    /// The path to open, with all symbolic links resolved; for `-` the address itself.
    pub path: PathBuf,
    /// The kind of endpoint.
    pub kind: EndpointKind,
    /// Whether it exists; a dest file may not exist yet.
    pub exists: bool,
    /// Whether this process may write to it, or create it.
    pub writable: bool,
    /// Size; `None` for a stream.
    pub size: Option<u64>,
    /// Logical block size; 1 if every byte is addressable.
    pub logical_block_bytes: u32,
    /// Physical block size.
    pub physical_block_bytes: u32,
    /// What direct I/O requires; `None` where it is not available.
    pub direct: Option<DirectAlignment>,
    /// Whether RWF_DONTCACHE works (since 6.14, depends on the file system).
    pub dontcache: bool,
    /// The order in which offsets may be accessed.
    pub order: Order,
    /// How blocking calls behave.
    pub calls: CallStyle,
    /// Limits of the request queue beneath.
    pub queue: QueueLimits,
    /// The scheduler and read-ahead of that queue.
    pub queue_policy: QueuePolicy,
    /// Device and inode number; `None` if it cannot be the same as another endpoint.
    pub id: Option<FileId>,
    /// The kernel's sequence number of the disk, which changes with the disk or medium; `None` if it is not a block
    /// device, and before Linux 5.15.
    pub disk_sequence: Option<u64>,
    /// Identifies the pipe, socket or character device, to detect that two dests are the same; `None` for other kinds.
    pub stream: Option<FileId>,
    /// The disks or files that store its bytes.
    pub ground: Vec<Ground>,
    /// The volatile storage that holds its bytes, if any: `tmpfs`, `ramfs`, `/dev/ram0`, a volatile cache that is never
    /// flushed. A power loss destroys its content.
    pub memory: Option<String>,
    /// Identity of the device; empty for a file.
    pub identity: Identity,
    /// Partitions of a whole device.
    pub partitions: Vec<Partition>,
    /// Its content, according to its first blocks: `GPT`, `ext4 "root"`, `empty`.
    pub content: Option<String>,
    /// Uses that forbid overwriting it.
    pub in_use: Vec<InUse>,
    /// Type of the file system that contains the file, as in mountinfo: `ext4`.
    pub filesystem: Option<String>,
    /// Free bytes on that file system for this user.
    pub free_bytes: Option<u64>,
    /// Whether it may have holes that it reports: a file with fewer allocated bytes than its size, or a
    /// thin-provisioned disk whose unmapped blocks read as zeros.
    pub sparse: bool,
    /// Whether the file system can share extents between files.
    pub reflinks: bool,
    /// Bytes of a source that are in the page cache; reading them from the disk would be slower.
    pub cached_bytes: Option<u64>,
    /// The node that accepts the disk's commands. If it is used, the facts above are those of the node.
    pub passthrough: Option<Passthrough>,
    /// The properties of the export, for an export of a server.
    pub export: Option<Export>,
    /// What a web server reported about a resource of it.
    pub http: Option<HttpResource>,
    /// The upload of an earlier run that continues, for an object as a dest.
    #[cfg_attr(not(feature = "objects"), allow(dead_code, reason = "only the feature objects continues one"))]
    pub upload: Option<Upload>,
    /// It is decompressed while it is read, or as soon as its first bytes show that it is compressed.
    pub compressed: Option<Box<Compressed>>,
    /// The name by which another disk can copy from this one; known for disks that are reached by SCSI commands.
    pub copy_name: Option<CopyName>,
    /// The block size and depth for reading that `haul tune --save` stored; `None` if there is none.
    pub saved: Option<SavedPace>,
    /// The same for writing.
    pub saved_write: Option<SavedPace>,
}

impl Facts {
    /// Facts of an endpoint of which only name and kind are known: bytes in any order, no size.
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
            export: None,
            http: None,
            upload: None,
            compressed: None,
            copy_name: None,
            saved: None,
            saved_write: None,
        }
    }

    /// Whether it is a regular file, compressed or not.
    pub fn is_file(&self) -> bool {
        matches!(self.kind, EndpointKind::File | EndpointKind::CompressedDest)
    }

    /// How it is compressed, if it is a dest that is.
    pub fn encoding(&self) -> Option<Encoding> {
        self.compressed.as_ref().and_then(|compressed| compressed.encoding)
    }

    /// Whether it can only be written in ascending order.
    pub fn is_written_in_order(&self) -> bool {
        self.order == Order::Ascending || self.kind == EndpointKind::Object
    }

    /// Turns it into a stream: without a size, blocks or cached pages, with this order of offsets and these calls.
    /// Identity and path do not change.
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

/// What is known of a source that is decompressed while it is read, or of a dest that is compressed.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The file or stream itself.
    pub stored: Facts,
    /// `None`: a stream, of which the first bytes show it, or that it is not compressed.
    pub format: Option<Compression>,
    /// It has to be compressed: that was requested.
    pub is_required: bool,
    /// Its content has this many bytes or more.
    pub least_bytes: u64,
    /// Where the file of an archive lies.
    #[cfg_attr(not(feature = "images"), allow(dead_code, reason = "nothing is decompressed"))]
    pub member: Option<ZipMember>,
    /// The end of what is copied of its content, if that is less: the rest is decompressed to check its end.
    #[cfg_attr(not(feature = "images"), allow(dead_code, reason = "nothing is decompressed"))]
    pub copied_to: Option<u64>,
    /// The digest of the file itself to compute while it is read.
    pub digest: Option<HashKind>,
    /// How it is written, if it is a dest.
    pub encoding: Option<Encoding>,
}

impl Compressed {
    /// The facts of a stream that is decompressed if it is compressed; `is_required`: it has to be.
    pub fn of_stream(stored: Facts, is_required: bool) -> Facts {
        let facts = stored.clone();
        let (format, member, copied_to, digest, encoding) = Default::default();
        let compressed =
            Compressed { stored, format, is_required, least_bytes: 0, member, copied_to, digest, encoding };
        Facts { compressed: Some(Box::new(compressed)), ..facts }
    }
}
