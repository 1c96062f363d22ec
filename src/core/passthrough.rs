//! Reaching a disk by its own commands, past the block layer.
use std::path::PathBuf;
use std::time::Duration;

/// Whose commands a disk takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandSet {
    /// SCSI, also for SATA and USB disks: `/dev/sgN`.
    Scsi,
    /// NVMe: `/dev/ngXnY`.
    Nvme,
}

impl CommandSet {
    /// The word for messages.
    pub fn name(self) -> &'static str {
        match self {
            CommandSet::Scsi => "SCSI",
            CommandSet::Nvme => "NVMe",
        }
    }
}

/// A node that takes a disk's own commands. It knows nothing of partitions, mounts or the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passthrough {
    /// Whose commands.
    pub commands: CommandSet,
    /// The node: `/dev/sg0`, `/dev/ng0n1`.
    pub node: PathBuf,
    /// Device number of the node.
    pub number: u64,
    /// The user named the node itself, and no block device.
    pub named: bool,
    /// Where this side begins on the disk, in bytes; more than 0 for a partition.
    pub start: u64,
    /// The block device behind it, which is claimed meanwhile and whose cache is dropped; `None`: there is none.
    pub block: Option<PathBuf>,
}

/// How the bytes of a queue's commands come from the driver of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transfers {
    /// Without a copy, where the driver does that; else it copies them anyway, and that is counted.
    #[default]
    Direct,
    /// The driver copies them.
    Copied,
    /// Into memory that the driver shares with haul, one command at a time; and there they stay: the requests' own
    /// memory is left as it was. To be measured, and for no copy.
    Shared,
}

/// How commands are to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOptions {
    /// The kernel gives a command up after this time.
    pub timeout: Duration,
    /// Do not keep what is moved in the disk's cache (DPO).
    pub dpo: bool,
    /// A write is done when it is on the medium, and a read comes from there (FUA).
    pub fua: bool,
    /// The same, but memory that survives a loss of power will do (FUA_NV, obsolete since SBC-4). SCSI only.
    pub fua_nv: bool,
    /// Group number of commands, for the disk's counters: 1 to 63; 0: none. SCSI only.
    pub group: u8,
    /// Length of READ and WRITE commands in bytes: 6, 10, 12, 16 or 32; `None`: the shortest that does. SCSI only.
    pub cdb_bytes: Option<u8>,
    /// Times that a command is given once more after a failure that may pass.
    pub retries: u32,
    /// Command duration limit, 1 to 7; 0: none. Only commands of 16 bytes have it. SCSI only.
    pub duration_limit: u8,
    /// How a queue's bytes are moved. SCSI only.
    pub transfers: Transfers,
    /// Records are moved without a copy in the driver, where it does that. SCSI only; of queues, see `transfers`.
    pub direct: bool,
    /// Records may be moved through memory that the driver shares with haul. SCSI only.
    pub shared: bool,
    /// No other process may have the node open. SCSI only.
    pub exclusive: bool,
    /// Take an advisory lock of the node (flock), or fail with EWOULDBLOCK. SCSI only.
    pub locked: bool,
}

impl Default for CommandOptions {
    /// A minute, as the kernel gives tape drives and itself twice 30 s; five retries, as the kernel's own disks have.
    fn default() -> Self {
        CommandOptions {
            timeout: Duration::from_secs(60),
            dpo: false,
            fua: false,
            fua_nv: false,
            group: 0,
            cdb_bytes: None,
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

/// A side of a plan that is reached by its own commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    /// By which node.
    pub node: Passthrough,
    /// How.
    pub wishes: CommandOptions,
}
