//! Access to a disk by passthrough commands.
use std::path::PathBuf;
use std::time::Duration;

/// Command sets of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandSet {
    /// SCSI, also for SATA and USB disks: `/dev/sgN`.
    Scsi,
    /// NVMe: `/dev/ngXnY`.
    Nvme,
}

impl CommandSet {
    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            CommandSet::Scsi => "SCSI",
            CommandSet::Nvme => "NVMe",
        }
    }
}

/// A node that accepts the commands of a disk. It has no partitions, mounts or page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passthrough {
    /// The command set.
    pub commands: CommandSet,
    /// The node: `/dev/sg0`, `/dev/ng0n1`.
    pub node: PathBuf,
    /// Device number of the node.
    pub number: u64,
    /// Whether the user named the node itself instead of a block device.
    pub named: bool,
    /// Offset on the disk where this side begins, in bytes; more than 0 for a partition.
    pub start: u64,
    /// The block device of the same disk, which is claimed during the copy and whose cached pages are dropped; `None`
    /// if there is none.
    pub block: Option<PathBuf>,
}

/// How data is transferred between a node's driver and haul.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transfers {
    /// Direct I/O: without a copy if the driver supports it; transfers that the driver copies anyway are counted.
    #[default]
    Direct,
    /// Indirect I/O: the driver copies the data.
    Copied,
    /// Into memory shared with the driver, one command at a time. The data stays there and the request's buffer does
    /// not change: for measurements only, not for copies.
    Shared,
}

/// Options for passthrough commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOptions {
    /// The kernel aborts a command after this time.
    pub timeout: Duration,
    /// Disable Page Out: transferred blocks need not be retained in the disk's cache (DPO).
    pub dpo: bool,
    /// Force Unit Access: bypass the disk's volatile cache (FUA).
    pub fua: bool,
    /// The same, but a non-volatile cache may be used (FUA_NV, obsolete since SBC-4). SCSI only.
    pub fua_nv: bool,
    /// Group number of commands, for statistics that the disk collects: 1 to 63, or 0 for none. SCSI only.
    pub group: u8,
    /// Length of READ and WRITE commands: 6, 10, 12, 16 or 32 bytes; `None` for the shortest possible. SCSI only.
    pub cdb_bytes: Option<u8>,
    /// The disk is failing: a read that times out or is aborted is not repeated but fails, as one of a bad block does.
    pub failing: bool,
    /// Number of retries of a command after a failure that may be transient.
    pub retries: u32,
    /// Command duration limit: 1 to 7, or 0 for none. Only 16-byte commands support it. SCSI only.
    pub duration_limit: u8,
    /// How queued requests are transferred. SCSI only.
    pub transfers: Transfers,
    /// Use direct I/O for records, if the driver supports it. SCSI only; for queued requests, see `transfers`.
    pub direct: bool,
    /// Allow records to be transferred through memory shared with the driver. SCSI only.
    pub shared: bool,
    /// Fail if another process has the node open. SCSI only.
    pub exclusive: bool,
    /// Take an advisory lock on the node (flock), or fail with EWOULDBLOCK. SCSI only.
    pub locked: bool,
}

impl Default for CommandOptions {
    /// A timeout of 60 s, twice the kernel's default for disks; five retries, like the kernel's disk drivers.
    fn default() -> Self {
        CommandOptions {
            timeout: Duration::from_secs(60),
            dpo: false,
            fua: false,
            fua_nv: false,
            group: 0,
            cdb_bytes: None,
            failing: false,
            retries: 5,
            duration_limit: 0,
            transfers: Transfers::Direct,
            direct: false,
            shared: false,
            exclusive: false,
            locked: false,
        }
    }
}

/// A side of a plan that is reached by passthrough commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    /// The node.
    pub node: Passthrough,
    /// The options for its commands.
    pub options: CommandOptions,
}
