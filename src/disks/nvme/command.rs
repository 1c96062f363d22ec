//! The commands that a copy gives, as the NVM command set specification lays them out.
pub(super) use crate::sys::nvme::BLOCKS_MAX;
use crate::sys::nvme::{Blocks, Command};

/// Opcode of Identify, the only command of the controller that is given.
const IDENTIFY: u8 = 0x06;
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE_ZEROES: u8 = 0x08;
const COPY: u8 = 0x19;

/// Force unit access, in double word 12: done means on the medium.
const FUA: u32 = 1 << 30;
/// Deallocate, in double word 12 of Write Zeroes.
const DEALLOCATE: u32 = 1 << 25;

/// Bytes that Identify answers.
pub const IDENTIFY_BYTES: usize = 4096;
/// Bytes of a range to copy from.
const RANGE_BYTES: u32 = 32;

/// What Identify is asked for: its field CNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// The namespace.
    Namespace = 0x00,
    /// The controller.
    Controller = 0x01,
    /// The namespace's identifiers, its command set among them (since NVMe 1.3).
    Descriptors = 0x03,
}

/// Identify.
pub(super) fn identify(nsid: u32, structure: Structure) -> Command {
    let nsid = if structure == Structure::Controller { 0 } else { nsid };
    Command::of_bytes(IDENTIFY, nsid, [structure as u32, 0, 0, 0, 0, 0], IDENTIFY_BYTES as u32)
}

/// Read.
pub(super) fn read(blocks: Blocks) -> Command {
    Command::of_blocks(READ, blocks, 0)
}

/// Write; with `fua` it is done when it is on the medium.
pub(super) fn write(blocks: Blocks, fua: bool) -> Command {
    Command::of_blocks(WRITE, blocks, if fua { FUA } else { 0 })
}

/// How blocks are zeroed.
#[derive(Clone, Copy, Default)]
pub(super) struct Zeroing {
    /// The drive may give their space up too; they still read as zeros only where DLFEAT says so of deallocated blocks.
    pub(super) deallocate: bool,
    /// It is done when it is on the medium.
    pub(super) fua: bool,
}

/// Write Zeroes: the blocks read as zeros afterwards, in any case.
pub(super) fn write_zeroes(blocks: Blocks, how: Zeroing) -> Command {
    let deallocate = if how.deallocate { DEALLOCATE } else { 0 };
    Command::of_blocks(WRITE_ZEROES, blocks, deallocate | if how.fua { FUA } else { 0 })
}

/// Copy, from `ranges` ranges (1 to 256) that are given beside it, one after the other to `lba`.
pub(super) fn copy(nsid: u32, lba: u64, ranges: u32, fua: bool) -> Command {
    debug_assert!((1..=256).contains(&ranges));
    // Descriptors of format 0, which every drive that knows the command has.
    let flags = if fua { FUA } else { 0 };
    let cdw10 = [lba as u32, (lba >> 32) as u32, (ranges - 1) | flags, 0, 0, 0];
    Command::of_bytes(COPY, nsid, cdw10, ranges * RANGE_BYTES)
}

/// A range to copy from, as a descriptor of format 0.
pub(super) fn copy_range(lba: u64, blocks: u32) -> [u8; RANGE_BYTES as usize] {
    debug_assert!((1..=BLOCKS_MAX).contains(&blocks));
    let mut bytes = [0; RANGE_BYTES as usize];
    bytes[8..16].copy_from_slice(&lba.to_le_bytes());
    bytes[16..18].copy_from_slice(&((blocks - 1) as u16).to_le_bytes());
    bytes
}

/// Flush: everything that the drive has acknowledged is on the medium when it is done.
pub(super) fn flush(nsid: u32) -> Command {
    Command::of_bytes(FLUSH, nsid, [0; 6], 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_laid_out_as_the_specification_has_them() {
        let lba = 0x1234_5678_9abc_def0;
        let (low, high) = (0x9abc_def0, 0x1234_5678);
        let blocks = |count| Blocks { nsid: 7, lba, count, block_bytes: 512 };
        let table = [
            (read(blocks(1)), 0x02, [low, high, 0, 0, 0, 0], 512),
            (read(blocks(65_536)), 0x02, [low, high, 0xffff, 0, 0, 0], 32 << 20),
            (write(blocks(256), false), 0x01, [low, high, 255, 0, 0, 0], 128 << 10),
            (write(blocks(256), true), 0x01, [low, high, 0x4000_00ff, 0, 0, 0], 128 << 10),
            (write_zeroes(blocks(2), Zeroing::default()), 0x08, [low, high, 1, 0, 0, 0], 0),
            (
                write_zeroes(blocks(2), Zeroing { deallocate: true, fua: true }),
                0x08,
                [low, high, 0x4200_0001, 0, 0, 0],
                0,
            ),
            (copy(7, lba, 3, false), 0x19, [low, high, 2, 0, 0, 0], 96),
            (copy(7, lba, 1, true), 0x19, [low, high, 0x4000_0000, 0, 0, 0], 32),
            (flush(7), 0x00, [0; 6], 0),
            (identify(7, Structure::Namespace), 0x06, [0; 6], 4096),
            (identify(7, Structure::Descriptors), 0x06, [3, 0, 0, 0, 0, 0], 4096),
        ];
        let parts = |command: Command| (command.opcode(), command.nsid(), command.cdw10(), command.data_bytes());
        for (command, opcode, cdw10, data_bytes) in table {
            assert_eq!(parts(command), (opcode, 7, cdw10, data_bytes));
        }
        let mut range = [0u8; 32];
        range[8..18].copy_from_slice(&[0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 0xff, 0]);
        assert_eq!(copy_range(lba, 256), range);
        // The controller belongs to no namespace.
        assert_eq!(parts(identify(7, Structure::Controller)), (6, 0, [1, 0, 0, 0, 0, 0], 4096));
    }
}
