//! The request of sg_dd, sgp_dd or sgm_dd, parsed from its operands.
use super::record_plan::RecordPlan;

/// The program: they differ in some operands, messages and statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgFront {
    /// One transfer at a time, with options for bad media.
    #[default]
    Sg,
    /// Many transfers at once.
    Sgp,
    /// Mapped memory for SCSI generic nodes.
    Sgm,
}

impl SgFront {
    #[cfg(test)]
    /// All programs.
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

/// Flags of one side that have an effect only if SCSI commands are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScsiFlags {
    /// The device transfers data directly to and from user memory.
    pub dio: bool,
    /// Disable page out: the device need not keep the data in its cache.
    pub dpo: bool,
    /// Force unit access: bypass the device's cache.
    pub fua: bool,
    /// Force unit access, but non-volatile cache is sufficient (FUA_NV).
    pub fua_nv: bool,
    /// Through memory that is mapped from the driver.
    pub mmap: bool,
    /// SCSI commands to a block device: sgio, pt, blk_sgio=1.
    pub passthrough: bool,
}

/// SCSI options of the commands in general, not of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScsiOptions {
    /// Bytes of a READ or WRITE command: 6, 10, 12 or 16.
    pub command_bytes: Option<u8>,
    /// Command duration limits of source and dest, 0 to 7.
    pub duration_limits: [u8; 2],
    /// Group numbers of commands for source and dest, for the disk's statistics: 1 to 63; 0: none.
    pub groups: [u8; 2],
    /// READ LONG for blocks that READ cannot read: 1; with its CORRCT bit: 2.
    pub read_long: u8,
    /// Time limit of a command, in seconds.
    pub timeout_s: Option<u32>,
}

/// Everything that sg_dd, sgp_dd or sgm_dd does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SgPlan {
    /// The program.
    pub front: SgFront,
    /// The copy, with blocks as records; without a count until it is derived.
    pub records: RecordPlan,
    /// The SCSI flags of each side.
    pub scsi_flags: [ScsiFlags; 2],
    /// The SCSI options that apply to both sides.
    pub scsi: ScsiOptions,
    /// `bpt=`: blocks of a transfer.
    pub transfer_blocks: Option<u64>,
    /// `thr=`: transfers in flight.
    pub in_flight: Option<u32>,
    /// `odir=1`: block devices are opened for direct I/O.
    pub direct_devices: bool,
    /// Write to a device even if it is in use.
    pub overwrites_in_use: bool,
    /// Exit before anything would be written.
    pub writes_nothing: bool,
    /// No block size was specified.
    pub block_size_assumed: bool,
    /// Report the duration and the rate.
    pub timing: bool,
    /// Interval of progress reports, in seconds.
    pub progress_s: Option<u64>,
    /// Amount of other output: 0 to 9.
    pub verbose: u8,
    /// Examine both sides, and copy nothing.
    pub dry_run: bool,
}

impl SgPlan {
    /// Block size in bytes.
    pub fn block_bytes(&self) -> u64 {
        self.records.source.record_bytes
    }
}
