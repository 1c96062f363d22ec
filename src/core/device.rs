use super::{Identity, InUse, Partition, PendingCopy, QueuePolicy, SavedPace};
use std::path::PathBuf;

/// A whole block device of this machine, as `haul list` shows it. Sizes and offsets in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Kernel name: `sda`, `nvme0n1`, `dm-0`.
    pub name: String,
    /// Its node: `/dev/sda`.
    pub path: PathBuf,
    /// Other paths: symbolic links to it, and the sg, bsg or ng node of the same disk.
    pub aliases: Vec<PathBuf>,
    /// Size in bytes; 0 for a drive without a medium.
    pub size: u64,
    /// Its identity.
    pub identity: Identity,
    /// Lower devices: kernel names of the devices beneath a dm or md device, path of the file beneath a loop device.
    pub made_of: Vec<String>,
    /// Whether it is rotational; `None` if unknown.
    pub rotational: Option<bool>,
    /// The kernel's sequence number of the disk, which changes with the disk or medium; `None` before Linux 5.15.
    pub disk_sequence: Option<u64>,
    /// Whether its medium is removable.
    pub removable: bool,
    /// Whether it or its medium can be removed at run time: removable media, USB disks, SD cards.
    pub hotplug: bool,
    /// Whether it is write-protected at present.
    pub read_only: bool,
    /// Logical block size; 0 if unknown.
    pub logical_block_bytes: u32,
    /// Physical block size; 0 if unknown.
    pub physical_block_bytes: u32,
    /// Scheduler and read-ahead.
    pub queue_policy: QueuePolicy,
    /// Whether this process may read it; its content is unknown otherwise.
    pub readable: bool,
    /// Its content, according to its first blocks: `GPT`, `ext4 "root"`, `empty`.
    pub content: Option<String>,
    /// How it, its partitions and the devices stacked on them are in use.
    pub uses: Vec<InUse>,
    /// Block size and depth that `haul tune --save` found for reading it.
    pub saved: Option<SavedPace>,
    /// The same for writing it.
    pub saved_write: Option<SavedPace>,
    /// The undo journal that an unfinished `haul tune --write` left.
    pub undo: Option<WaitingUndo>,
    /// An unfinished copy to it.
    pub pending: Option<PendingCopy>,
    /// Its partitions, ascending by offset.
    pub partitions: Vec<DevicePartition>,
}

/// A partition of a listed device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePartition {
    /// Name, extent and content.
    pub partition: Partition,
    /// Its node: `/dev/sda1`.
    pub path: PathBuf,
    /// Symbolic links to it.
    pub aliases: Vec<PathBuf>,
    /// How it and the devices stacked on it are in use.
    pub uses: Vec<InUse>,
    /// The undo journal that an unfinished `haul tune --write` left.
    pub undo: Option<WaitingUndo>,
    /// An unfinished copy to it.
    pub pending: Option<PendingCopy>,
}

/// An undo journal of a device: a measurement by writing is running or was interrupted, so some extents do not have
/// their original data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingUndo {
    /// Its path.
    pub path: PathBuf,
    /// Bytes of original data in it; `None` while a process measures.
    pub kept_bytes: Option<u64>,
}

/// A SCSI device that is no block device, reached by its generic node: a tape, a changer, an enclosure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScsiDevice {
    /// Kernel name of its generic node: `sg3`.
    pub name: String,
    /// That node: `/dev/sg3`.
    pub path: PathBuf,
    /// Its other nodes: `/dev/st0`, `/dev/nst0`, `/dev/sch0`, `/dev/bsg/2:0:1:0`.
    pub others: Vec<PathBuf>,
    /// Host, channel, target and logical unit: `2:0:1:0`.
    pub address: String,
    /// Peripheral device type, as reported by INQUIRY; `None` if unknown.
    pub peripheral_type: Option<u8>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Product revision.
    pub revision: Option<String>,
}

impl ScsiDevice {
    /// The name of its type.
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
