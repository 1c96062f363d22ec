//! ATA commands to a disk behind a SCSI/ATA translation layer (SAT-4), and their results.
use super::cdb::Cdb;
use super::node::{Data, DataTransfer, Node};
use super::verdict::CommandRange;
use crate::core::CommandOptions;
use std::io;
use std::path::Path;

/// Bytes of a block of ATA data.
pub(super) const BLOCK: usize = 512;

/// The timeout of these commands: a failing disk may finish an earlier one first.
const TIMEOUT_MS: u32 = 15_000;

/// The protocols of commands that receive and send data: PIO data-in and data-out.
const PIO_IN: u8 = 4;
/// See [`PIO_IN`].
const PIO_OUT: u8 = 5;
/// The transfer is as many blocks of 512 bytes as the count says.
const IN_BLOCKS: u8 = 0b0110;
/// The transfer is from the disk.
const FROM_DISK: u8 = 1 << 3;
/// The registers are returned in sense data.
const CHECK_CONDITION: u8 = 1 << 5;

/// The page of vital product data with the IDENTIFY DEVICE data, its length, and where that data begins.
const ATA_PAGE: (u8, u16, usize) = (0x89, 572, 60);

/// An ATA command that transfers one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtaCommand {
    pub(super) command: u8,
    pub(super) feature: u8,
    /// From its lowest byte.
    pub(super) lba: [u8; 3],
}

/// Registers after a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Registers {
    pub(super) status: u8,
    pub(super) count: u8,
    /// The lowest byte of the LBA.
    pub(super) lba_low: u8,
}

impl Registers {
    /// Parses sense data of either format; `None` if it has no registers.
    fn parse(sense: &[u8]) -> Option<Registers> {
        match sense.first()? & 0x7f {
            // The INFORMATION and COMMAND-SPECIFIC INFORMATION fields.
            0x70 => Some(Registers { status: *sense.get(4)?, count: *sense.get(6)?, lba_low: *sense.get(9)? }),
            0x72 => {
                let mut rest = sense.get(8..8 + usize::from(*sense.get(7)?))?;
                while let [kind, len, ..] = *rest {
                    let descriptor = rest.get(..2 + usize::from(len))?;
                    if let (9, [_, _, _, _, _, count, _, low, _, _, _, _, _, status, ..]) = (kind, descriptor) {
                        return Some(Registers { status: *status, count: *count, lba_low: *low });
                    }
                    rest = &rest[descriptor.len()..];
                }
                None
            }
            _ => None,
        }
    }

    /// Whether the disk has refused or failed the command.
    fn failed(&self) -> bool {
        const ERROR: u8 = 1;
        const DEVICE_FAULT: u8 = 1 << 5;
        self.status & (ERROR | DEVICE_FAULT) != 0
    }
}

/// Takes ATA commands: a node, or a simulated disk in tests.
pub(super) trait AtaDisk: Send {
    /// The IDENTIFY DEVICE data.
    ///
    /// # Errors
    /// It is no ATA disk, or its bridge does not say.
    fn identify(&self) -> io::Result<[u8; BLOCK]>;

    /// Sends a block, and returns the registers.
    ///
    /// # Errors
    /// The disk or its bridge refuses the command, or returns no registers.
    fn send(&self, command: AtaCommand, block: &[u8; BLOCK]) -> io::Result<Registers>;
}

/// Opens the node of a disk, or its block device, for such commands. Read-only: what is opened for writing is examined
/// by udev when it is closed.
///
/// # Errors
/// Those of `open(2)`, and of a driver without these commands.
pub(super) fn open(path: &Path) -> io::Result<Node> {
    Node::open_read_only(path, CommandOptions::default())
}

impl Node {
    /// Receives a block.
    ///
    /// # Errors
    /// The disk or its bridge refuses the command.
    pub(super) fn receive(&self, command: AtaCommand) -> io::Result<[u8; BLOCK]> {
        let AtaCommand { command, feature, lba: [low, mid, high] } = command;
        let registers = [feature, 1, low, mid, high, command];
        let cdb = Cdb::ata_pass_through(PIO_IN, FROM_DISK | IN_BLOCKS, registers);
        let mut block = [0; BLOCK];
        let (answer, _) =
            self.exchange_for_sense(DataTransfer::Copied, &cdb, &mut Data::From(&mut block), TIMEOUT_MS)?;
        let is_done = answer.status == 0 && answer.host == 0 && answer.sense.is_none() && answer.residual == 0;
        if is_done { Ok(block) } else { Err(io::ErrorKind::Unsupported.into()) }
    }
}

impl AtaDisk for Node {
    /// By INQUIRY, which no bridge fails on, and for which the disk need not answer.
    fn identify(&self) -> io::Result<[u8; BLOCK]> {
        let (page, len, at) = ATA_PAGE;
        let mut bytes = vec![0; len.into()];
        let cdb = Cdb::inquiry_page(page, len);
        let received = self.carry_out(&cdb, Data::From(&mut bytes), CommandRange::default())?;
        if received < len.into() || bytes[1] != page {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(*bytes[at..].first_chunk().expect("the page ends with a block"))
    }

    fn send(&self, command: AtaCommand, block: &[u8; BLOCK]) -> io::Result<Registers> {
        let AtaCommand { command, feature, lba: [low, mid, high] } = command;
        let registers = [feature, 1, low, mid, high, command];
        let cdb = Cdb::ata_pass_through(PIO_OUT, CHECK_CONDITION | IN_BLOCKS, registers);
        let (answer, sense) = self.exchange_for_sense(DataTransfer::Copied, &cdb, &mut Data::To(block), TIMEOUT_MS)?;
        match Registers::parse(&sense) {
            Some(registers) if answer.host == 0 && !registers.failed() => Ok(registers),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_found_in_both_formats_of_sense_data() {
        let mut described = vec![0x72, 1, 0, 0x1d, 0, 0, 0, 14, 9, 12, 0, 0, 0, 70, 0, 1, 0, 0x4f, 0, 0xc2, 0, 0x50];
        let expected = Registers { status: 0x50, count: 70, lba_low: 1 };
        assert_eq!(Registers::parse(&described), Some(expected));
        assert!(!expected.failed());
        // After another descriptor.
        described.splice(8..8, [0, 2, 1, 1]);
        described[7] += 4;
        assert_eq!(Registers::parse(&described), Some(expected));
        let fixed = [0x70, 0, 1, 0, 0x51, 0, 70, 10, 0, 1, 0x4f, 0xc2, 0, 0x1d, 0, 0, 0, 0];
        let failed = Registers { status: 0x51, ..expected };
        assert_eq!(Registers::parse(&fixed), Some(failed));
        assert!(failed.failed());
        for len in 0..described.len() {
            assert_eq!(Registers::parse(&described[..len]), None);
        }
        assert_eq!(Registers::parse(&[0; 96]), None);
    }

    #[test]
    fn a_command_has_the_layout_of_the_standard() {
        let cdb = Cdb::ata_pass_through(PIO_OUT, CHECK_CONDITION | IN_BLOCKS, [0xd6, 1, 0xe0, 0x4f, 0xc2, 0xb0]);
        let expected = [0x85, 0x0a, 0x26, 0, 0xd6, 0, 1, 0, 0xe0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0];
        assert_eq!(cdb.bytes(), expected);
    }
}
