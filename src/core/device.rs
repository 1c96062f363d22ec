use super::{Identity, InUse, Partition, PendingCopy, QueuePolicy, SavedPace};
use std::path::PathBuf;

/// A whole block device of this machine, as `haul list` shows it. Sizes and offsets in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Kernel name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Its node: `/dev/sda`.
    pub path: PathBuf,
    /// Other names: links that lead to it, and the sg, bsg or ng node of the same disk.
    pub aliases: Vec<PathBuf>,
    /// Bytes; 0 for a drive without a medium.
    pub size: u64,
    /// Who it is.
    pub identity: Identity,
    /// What it was made of: kernel names of the devices beneath a dm or md device, the file beneath a loop device.
    pub made_of: Vec<String>,
    /// It is rotational; `None` if unknown.
    pub rotational: Option<bool>,
    /// The kernel's sequence number of the disk, which another disk or medium under the same name does not have; `None`
    /// before Linux 5.15.
    pub disk_sequence: Option<u64>,
    /// Its medium can be taken out.
    pub removable: bool,
    /// It or its medium can be taken out while the machine runs: removable, a disk on USB, an SD card.
    pub hotplug: bool,
    /// It cannot be written to now.
    pub read_only: bool,
    /// Smallest addressable unit; 0 if unknown.
    pub logical_block_bytes: u32,
    /// Natural write unit; 0 if unknown.
    pub physical_block_bytes: u32,
    /// Scheduler and read-ahead.
    pub queue_policy: QueuePolicy,
    /// This process may read it; what is on it is not known otherwise.
    pub readable: bool,
    /// What is on it, according to its first blocks: `GPT`, `ext4 "root"`, `empty`.
    pub content: Option<String>,
    /// Uses of it, of its partitions, and of what is on top of them.
    pub uses: Vec<InUse>,
    /// Block size and depth that `haul tune --save` found for reading it.
    pub saved: Option<SavedPace>,
    /// The same for writing it.
    pub saved_write: Option<SavedPace>,
    /// What measuring it by writing has left.
    pub undo: Option<WaitingUndo>,
    /// An unfinished copy to it.
    pub pending: Option<PendingCopy>,
    /// Its partitions in the order of their places.
    pub partitions: Vec<DevicePartition>,
}

/// A partition of a listed device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePartition {
    /// Name, place and content.
    pub partition: Partition,
    /// Its node: `/dev/sda1`.
    pub path: PathBuf,
    /// Links that lead to it.
    pub aliases: Vec<PathBuf>,
    /// Uses of it and of what is on top of it.
    pub uses: Vec<InUse>,
    /// What measuring it by writing has left.
    pub undo: Option<WaitingUndo>,
    /// An unfinished copy to it.
    pub pending: Option<PendingCopy>,
}

/// An undo journal of a device: measuring it by writing is not over, or was interrupted, so that some places do not
/// have the original data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingUndo {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes in it; `None` while a process measures.
    pub kept_bytes: Option<u64>,
}

/// A SCSI device that is no block device, reached by its generic node: a tape, a changer, an enclosure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScsiDevice {
    /// Kernel name of its generic node: `sg3`.
    pub name: String,
    /// That node: `/dev/sg3`.
    pub path: PathBuf,
    /// Other nodes of it: `/dev/st0`, `/dev/nst0`, `/dev/sch0`, `/dev/bsg/2:0:1:0`.
    pub others: Vec<PathBuf>,
    /// Host, channel, target and unit: `2:0:1:0`.
    pub address: String,
    /// Peripheral device type, as INQUIRY has it; `None` if unknown.
    pub peripheral_type: Option<u8>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Product revision.
    pub revision: Option<String>,
}

impl ScsiDevice {
    /// The words for its type.
    pub fn kind(&self) -> &'static str {
        match self.peripheral_type {
            Some(0 | 14 | 20) => "disk without a block device",
            Some(1) => "tape",
            Some(2) => "printer",
            Some(3) => "processor",
            Some(4) => "write-once disk",
            Some(5) => "optical drive without a block device",
            Some(6) => "scanner",
            Some(7) => "optical disk without a block device",
            Some(8) => "medium changer",
            Some(9) => "communications device",
            Some(12) => "array controller",
            Some(13) => "enclosure",
            Some(17) => "object storage",
            Some(30) => "well-known logical unit",
            _ => "SCSI device of another type",
        }
    }
}
