//! Queries the properties of a disk.
use super::cdb::Cdb;
use super::copy::Copying;
use super::inquiry::{self, BlockLimits, Capacity, Inquiry, Mode, ModeSense, Provisioning};
use super::node::{Data, Node};
use super::verdict::CommandRange;
use crate::core::{CopyName, DeviceError, Facts, Kind};
use std::io;

/// Plausible block sizes in bytes.
const BLOCK_BYTES: std::ops::RangeInclusive<u32> = 256..=65_536;

/// Properties that a disk reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    pub(super) inquiry: Inquiry,
    pub(super) capacity: Capacity,
    pub(super) limits: BlockLimits,
    pub(super) mode: Mode,
    /// Logical block provisioning.
    pub(super) provisioning: Provisioning,
    pub(super) rotational: Option<bool>,
    pub(super) serial: Option<String>,
    pub(super) wwn: Option<String>,
    /// The designator by which a copy manager identifies it.
    pub(super) copy_name: Option<CopyName>,
    /// Its copy manager.
    pub(super) copying: Option<Copying>,
}

fn refused(kind: Kind, words: impl Into<String>, advice: &'static str) -> io::Error {
    DeviceError { kind, words: words.into(), offset: None, of_medium: false, advice, sense: None }.into()
}

/// The response to a command; empty if the disk does not support it.
fn ask(node: &Node, cdb: &Cdb, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    match node.carry_out(cdb, Data::From(&mut bytes), CommandRange::default()) {
        Ok(moved) => {
            bytes.truncate(moved as usize);
            Ok(bytes)
        }
        Err(error)
            if DeviceError::of(&error)
                .is_some_and(|device_failure| matches!(device_failure.kind, Kind::Io | Kind::Unsupported)) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

impl Survey {
    /// Queries the disk without changing it. Behind a USB bridge, which may hang on an unknown command, it uses only
    /// commands that every disk supports.
    ///
    /// # Errors
    /// The kernel's error; a [`DeviceError`] if it is not a disk, has no medium, or stores additional bytes with its
    /// blocks that a copy would lose.
    pub(super) fn take(node: &Node, facts: &Facts) -> io::Result<Survey> {
        let careful = facts.identity.transport.as_deref() == Some("usb");
        let inquiry = Inquiry::parse(&ask(node, &Cdb::inquiry(96), 96)?)
            .ok_or_else(|| refused(Kind::Io, "it does not answer INQUIRY", "Check whether it is connected."))?;
        is_disk(&inquiry)?;
        node.carry_out(&Cdb::test_unit_ready(), Data::None, CommandRange::default())?;
        let capacity = capacity(node, inquiry.version >= 5 && !careful || inquiry.protect)?;
        if let Some(kind) = capacity.protection {
            let words =
                format!("it is formatted with protection information (type {kind}), which passthrough would lose");
            let advice = "Name the block device and omit --passthrough: the kernel handles protection information.";
            return Err(refused(Kind::Refused, words, advice));
        }
        let page = |page, len: u16| ask(node, &Cdb::inquiry_page(page, len), len.into());
        let pages = if careful { Vec::new() } else { inquiry::pages(&page(0, 252)?) };
        let page = |number, len| if pages.contains(&number) { page(number, len) } else { Ok(Vec::new()) };
        // Other systems request all pages in 192 bytes, so bridges are tested with that.
        let six = ask(node, &Cdb::mode_sense_6(if careful { 0x3f } else { 0x08 }, 192), 192)?;
        let mode = match Mode::parse(&six, ModeSense::Six) {
            Some(mode) => mode,
            None if careful => Mode::default(),
            None => {
                let ten = ask(node, &Cdb::mode_sense_10(0x08, 252), 252)?;
                Mode::parse(&ten, ModeSense::Ten).unwrap_or_default()
            }
        };
        let names = page(0x83, 252)?;
        let copy_name = inquiry::copy_name(&names);
        let able = copy_name.filter(|_| inquiry.copies && !careful);
        Ok(Survey {
            capacity,
            mode,
            limits: inquiry::block_limits(&page(0xb0, 64)?).unwrap_or_default(),
            provisioning: inquiry::provisioning(&page(0xb2, 64)?),
            rotational: inquiry::rotational(&page(0xb1, 64)?),
            serial: inquiry::serial(&page(0x80, 252)?),
            wwn: inquiry::wwn(&names),
            copy_name,
            copying: able.and_then(|name| Copying::query(node, name)),
            inquiry,
        })
    }

    /// Whether unmapped blocks read as zeros according to both sources.
    pub(super) fn unmapped_are_zeros(&self) -> bool {
        self.capacity.unmapped_are_zeros && self.provisioning.unmapped_are_zeros
    }
}

/// Refuses devices that are not disks.
fn is_disk(inquiry: &Inquiry) -> io::Result<()> {
    let words = inquiry::device_type_words(inquiry.device_type);
    match (inquiry.qualifier, inquiry.device_type) {
        (0, 0x00 | 0x04 | 0x05 | 0x07 | 0x0e) => Ok(()),
        (0, 0x14) => {
            let advice = "Name its block device, and use a program that supports zones.";
            Err(refused(Kind::Unsupported, format!("it is {words}"), advice))
        }
        (0, _) => {
            let advice = "Name the node of a disk; see 'haul list'.";
            Err(refused(Kind::Usage, format!("it is {words}, not a disk"), advice))
        }
        _ => Err(refused(Kind::Usage, "no device is connected to it", "'haul list' shows the available disks.")),
    }
}

/// The capacity. Uses READ CAPACITY(16) too if it returns more: if `modern`, or the disk has more blocks than (10) can
/// report.
fn capacity(node: &Node, modern: bool) -> io::Result<Capacity> {
    let short = Capacity::parse_10(&ask(node, &Cdb::read_capacity_10(), 8)?);
    let long = if modern || short.is_none_or(|short| short.blocks >= 1 << 32) {
        Capacity::parse_16(&ask(node, &Cdb::read_capacity_16(32), 32)?)
    } else {
        None
    };
    let capacity = long.or(short.filter(|short| short.blocks < 1 << 32));
    let capacity = capacity.ok_or_else(|| {
        let advice = "Check whether it has a medium, and see the kernel log (dmesg).";
        refused(Kind::Io, "it does not report its size (READ CAPACITY)", advice)
    })?;
    if !BLOCK_BYTES.contains(&capacity.block_bytes) || !capacity.block_bytes.is_power_of_two() {
        let words = format!("its block size of {} bytes is not supported", capacity.block_bytes);
        return Err(refused(Kind::Unsupported, words, "Format it with blocks of 512 or 4096 bytes (sg_format)."));
    }
    Ok(capacity)
}
