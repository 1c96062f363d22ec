//! Commands of the NVM command set, laid out according to the specification.
pub(super) use crate::sys::nvme::BLOCKS_MAX;
use crate::sys::nvme::{Blocks, Command};

/// Opcode of Identify, the only admin command used.
const IDENTIFY: u8 = 0x06;
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE_ZEROES: u8 = 0x08;
const COPY: u8 = 0x19;

/// Force Unit Access, in command dword 12.
const FUA: u32 = 1 << 30;
/// Deallocate, in command dword 12 of Write Zeroes.
const DEALLOCATE: u32 = 1 << 25;

/// Length of Identify data, in bytes.
pub const IDENTIFY_BYTES: usize = 4096;
/// Length of a source range of Copy, in bytes.
const RANGE_BYTES: u32 = 32;

/// The Identify data structure to return (CNS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// The namespace.
    Namespace = 0x00,
    /// The controller.
    Controller = 0x01,
    /// The identification descriptors of the namespace, including its command set (since NVMe 1.3).
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

/// Write; with `fua` it completes when the data is on the medium.
pub(super) fn write(blocks: Blocks, fua: bool) -> Command {
    Command::of_blocks(WRITE, blocks, if fua { FUA } else { 0 })
}

/// Options of Write Zeroes.
#[derive(Clone, Copy, Default)]
pub(super) struct Zeroing {
    /// Allow the drive to deallocate the blocks. They then read as zeros only if DLFEAT reports that for deallocated
    /// blocks.
    pub(super) deallocate: bool,
    /// Complete only when the zeros are on the medium.
    pub(super) fua: bool,
}

/// Write Zeroes: the blocks read as zeros afterwards.
pub(super) fn write_zeroes(blocks: Blocks, how: Zeroing) -> Command {
    let deallocate = if how.deallocate { DEALLOCATE } else { 0 };
    Command::of_blocks(WRITE_ZEROES, blocks, deallocate | if how.fua { FUA } else { 0 })
}

/// Copy from `ranges` source ranges (1 to 256), which are passed as data, to consecutive blocks at `lba`.
pub(super) fn copy(nsid: u32, lba: u64, ranges: u32, fua: bool) -> Command {
    debug_assert!((1..=256).contains(&ranges));
    // Descriptors of format 0, which every drive with Copy supports.
    let flags = if fua { FUA } else { 0 };
    let cdw10 = [lba as u32, (lba >> 32) as u32, (ranges - 1) | flags, 0, 0, 0];
    Command::of_bytes(COPY, nsid, cdw10, ranges * RANGE_BYTES)
}

/// A source range of Copy, as a descriptor of format 0.
pub(super) fn copy_range(lba: u64, blocks: u32) -> [u8; RANGE_BYTES as usize] {
    debug_assert!((1..=BLOCKS_MAX).contains(&blocks));
    let mut bytes = [0; RANGE_BYTES as usize];
    bytes[8..16].copy_from_slice(&lba.to_le_bytes());
    bytes[16..18].copy_from_slice(&((blocks - 1) as u16).to_le_bytes());
    bytes
}

/// Flush: completes when all acknowledged data is on the medium.
pub(super) fn flush(nsid: u32) -> Command {
    Command::of_bytes(FLUSH, nsid, [0; 6], 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_layout_of_the_specification() {
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
        // Identify Controller has no namespace ID.
        assert_eq!(parts(identify(7, Structure::Controller)), (6, 0, [1, 0, 0, 0, 0, 0], 4096));
    }
}
