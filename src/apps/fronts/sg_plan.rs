//! What sg_dd, sgp_dd or sgm_dd was asked for, settled as far as words go.
use super::record_plan::RecordPlan;

/// Which program of the family is meant: they differ in some words, lines and statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgFront {
    /// One transfer after the other, with care for bad media.
    #[default]
    Sg,
    /// Many transfers at once.
    Sgp,
    /// Mapped memory for SCSI generic nodes.
    Sgm,
}

impl SgFront {
    #[cfg(test)]
    /// All of them.
    pub const ALL: [SgFront; 3] = [SgFront::Sg, SgFront::Sgp, SgFront::Sgm];

    /// The program's name.
    pub const fn name(self) -> &'static str {
        match self {
            SgFront::Sg => "sg_dd",
            SgFront::Sgp => "sgp_dd",
            SgFront::Sgm => "sgm_dd",
        }
    }
}

/// Words about one side that mean something only where SCSI commands are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScsiFlags {
    /// The device moves data straight to and from our memory.
    pub dio: bool,
    /// Disable page out: the device need not keep it in its cache.
    pub dpo: bool,
    /// Force unit access: past the device's cache.
    pub fua: bool,
    /// Force unit access, where non-volatile memory will do (FUA_NV).
    pub fua_nv: bool,
    /// Through memory that is mapped from the driver.
    pub mmap: bool,
    /// SCSI commands to a block device: sgio, pt, blk_sgio=1.
    pub passthrough: bool,
}

/// The same, about the commands as such; of the copy, not of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScsiOptions {
    /// Bytes of a READ or WRITE command: 6, 10, 12 or 16.
    pub command_bytes: Option<u8>,
    /// Command duration limits of source and dest, 0 to 7.
    pub duration_limits: [u8; 2],
    /// Group numbers of commands for source and dest, for the disk's counters: 1 to 63; 0: none.
    pub groups: [u8; 2],
    /// READ LONG for what READ cannot get: 1; with its CORRCT bit: 2.
    pub read_long: u8,
    /// After how long a command is abandoned, in seconds.
    pub timeout_s: Option<u32>,
}

/// Everything that a member of the family does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SgPlan {
    /// Which of them.
    pub front: SgFront,
    /// The copy, by blocks as records; without a count where that is still to be derived.
    pub records: RecordPlan,
    /// What is wished of SCSI for each side.
    pub wishes: [ScsiFlags; 2],
    /// What is wished of SCSI altogether.
    pub scsi: ScsiOptions,
    /// `bpt=`: blocks of a transfer.
    pub transfer_blocks: Option<u64>,
    /// `thr=`: transfers in flight.
    pub in_flight: Option<u32>,
    /// `odir=1`: block devices are opened for direct I/O.
    pub direct_devices: bool,
    /// A device that is in use is written anyway.
    pub overwrites_in_use: bool,
    /// End where anything would be written.
    pub writes_nothing: bool,
    /// No block size was given.
    pub block_size_assumed: bool,
    /// Tell how long it took and how fast it was.
    pub timing: bool,
    /// Tell how far it is, so often, in seconds.
    pub progress_s: Option<u64>,
    /// How much is printed beside that: 0 to 9.
    pub verbose: u8,
    /// Look, and copy nothing.
    pub dry_run: bool,
}

impl SgPlan {
    /// Bytes of a block.
    pub fn block_bytes(&self) -> u64 {
        self.records.source.record_bytes
    }
}
