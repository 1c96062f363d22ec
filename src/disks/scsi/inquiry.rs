//! Parsing of INQUIRY data, VPD pages, capacity and mode pages (SPC-5, SBC-4).
//!
//! The input comes from a disk: whatever its length and content, these functions do not panic.
use crate::core::CopyName;

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let field = bytes.get(at..at.saturating_add(len)).unwrap_or(&[]);
    field.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Fixed-width text; `None` if it is blank.
fn text(bytes: &[u8]) -> Option<String> {
    let printable: String =
        bytes.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { ' ' }).collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Standard INQUIRY data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquiry {
    /// Peripheral device type: 0 for a disk.
    pub device_type: u8,
    /// Peripheral qualifier: 0 if a device is connected.
    pub qualifier: u8,
    /// SPC version that it supports: 5 for SPC-3.
    pub version: u8,
    /// Whether it supports protection information.
    pub protect: bool,
    /// Whether it has a copy manager (3PC).
    pub copies: bool,
    /// Vendor and product identification.
    pub model: Option<String>,
}

impl Inquiry {
    /// Parses INQUIRY data; `None` if it is too short.
    pub fn parse(bytes: &[u8]) -> Option<Inquiry> {
        let names = [bytes.get(8..16), bytes.get(16..32)].map(|field| field.and_then(text));
        let model: Vec<String> = names.into_iter().flatten().collect();
        (bytes.len() >= 5).then(|| Inquiry {
            device_type: bytes[0] & 0x1f,
            qualifier: bytes[0] >> 5,
            version: bytes[2],
            protect: byte(bytes, 5) & 1 != 0,
            copies: byte(bytes, 5) & 8 != 0,
            model: (!model.is_empty()).then(|| model.join(" ")),
        })
    }
}

/// The name of a peripheral device type.
pub fn device_type_words(device_type: u8) -> &'static str {
    match device_type {
        0x00 => "a disk",
        0x01 => "a tape drive",
        0x02 => "a printer",
        0x03 => "a processor",
        0x04 => "a write-once disk",
        0x05 => "a CD or DVD drive",
        0x06 => "a scanner",
        0x07 => "an optical disk",
        0x08 => "a medium changer",
        0x0c => "a storage array controller",
        0x0d => "an enclosure",
        0x0e => "a simplified direct-access device",
        0x11 => "an object store",
        0x14 => "a host-managed zoned disk",
        0x1e => "a well known logical unit",
        0x1f => "an unknown device type",
        _ => "no device",
    }
}

/// The content of the VPD page `page`; `None` if the bytes are another page.
fn page_of(page: u8, bytes: &[u8]) -> Option<&[u8]> {
    let len = number(bytes, 2, 2) as usize;
    (bytes.len() >= 4 && bytes[1] == page).then(|| &bytes[4..bytes.len().min(4 + len)])
}

/// The supported VPD pages (page 00h).
pub fn pages(bytes: &[u8]) -> Vec<u8> {
    page_of(0x00, bytes).unwrap_or(&[]).to_vec()
}

/// Serial number (page 80h).
pub fn serial(bytes: &[u8]) -> Option<String> {
    text(page_of(0x80, bytes)?)
}

/// World wide name of the logical unit (page 83h), the longest available: `naa.…`, or else `eui.…`.
pub fn wwn(bytes: &[u8]) -> Option<String> {
    let (kind, id) = best_designator(bytes)?;
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{}.{hex}", if kind == 3 { "naa" } else { "eui" }))
}

/// The same designator, as a copy manager uses it.
pub fn copy_name(bytes: &[u8]) -> Option<CopyName> {
    let (kind, id) = best_designator(bytes)?;
    CopyName::new(kind, id)
}

/// The preferred binary designator of the logical unit in page 83h: NAA (type 3) before EUI (2), and the longest of
/// them.
fn best_designator(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let mut rest = page_of(0x83, bytes)?;
    let mut best: Option<(u8, &[u8])> = None;
    while let Some((head, behind)) = rest.split_at_checked(4) {
        let (id, next) = behind.split_at(behind.len().min(head[3].into()));
        let (binary, unit, kind) = (head[0] & 0x0f == 1, head[1] & 0x30 == 0, head[1] & 0x0f);
        if binary && unit && !id.is_empty() && matches!(kind, 2 | 3) {
            let better = best.is_none_or(|(known, longest)| (kind, id.len()) > (known, longest.len()));
            best = if better { Some((kind, id)) } else { best };
        }
        rest = next;
    }
    best
}

/// Block limits (page B0h), in blocks; 0 if not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockLimits {
    /// Maximum transfer length.
    pub transfer_blocks_max: u32,
    /// Optimal transfer length.
    pub transfer_blocks_optimal: u32,
    /// Maximum WRITE SAME length.
    pub write_same_blocks_max: u64,
}

/// Block limits (page B0h).
pub fn block_limits(bytes: &[u8]) -> Option<BlockLimits> {
    // Ignore bytes after the page length: older disks have a shorter page.
    let page = page_of(0xb0, bytes)?;
    Some(BlockLimits {
        transfer_blocks_max: number(page, 4, 4) as u32,
        transfer_blocks_optimal: number(page, 8, 4) as u32,
        write_same_blocks_max: number(page, 32, 8),
    })
}

/// Whether the disk is rotational (page B1h); `None` if not reported.
pub fn rotational(bytes: &[u8]) -> Option<bool> {
    match number(page_of(0xb1, bytes)?, 0, 2) {
        1 => Some(false),
        0x0401..=0xfffe => Some(true),
        _ => None,
    }
}

/// Logical block provisioning (page B2h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provisioning {
    /// Whether it supports UNMAP (LBPU).
    pub unmaps: bool,
    /// Whether WRITE SAME(16) may unmap (LBPWS).
    pub unmaps_by_write_same: bool,
    /// Whether unmapped blocks read as zeros (LBPRZ).
    pub unmapped_are_zeros: bool,
}

/// Parses page B2h; all false if the bytes are another page.
pub fn provisioning(bytes: &[u8]) -> Provisioning {
    let flags = page_of(0xb2, bytes).map_or(0, |page| byte(page, 1));
    // LBPRZ was extended to three bits; the lowest, the original one, means zeros.
    Provisioning {
        unmaps: flags & 0x80 != 0,
        unmaps_by_write_same: flags & 0x40 != 0,
        unmapped_are_zeros: flags & 0x04 != 0,
    }
}

/// READ CAPACITY data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// Number of blocks.
    pub blocks: u64,
    /// Block size in bytes.
    pub block_bytes: u32,
    /// Number of logical blocks per physical block.
    pub blocks_a_physical: u32,
    /// Type of protection information in use, 1 to 3.
    pub protection: Option<u8>,
    /// Whether there may be unmapped blocks, which read as zeros.
    pub unmapped_are_zeros: bool,
}

impl Capacity {
    /// Parses READ CAPACITY(10) data; `blocks` is 2^32 if the disk has that many or more.
    pub fn parse_10(bytes: &[u8]) -> Option<Capacity> {
        let blocks = number(bytes, 0, 4) + 1;
        let block_bytes = number(bytes, 4, 4) as u32;
        (bytes.len() >= 8).then_some(Capacity { blocks, block_bytes, blocks_a_physical: 1, ..Capacity::default() })
    }

    /// Parses READ CAPACITY(16) data.
    pub fn parse_16(bytes: &[u8]) -> Option<Capacity> {
        let (protection, flags) = (byte(bytes, 12), byte(bytes, 14));
        (bytes.len() >= 12).then(|| Capacity {
            blocks: number(bytes, 0, 8).saturating_add(1),
            block_bytes: number(bytes, 8, 4) as u32,
            blocks_a_physical: 1 << (byte(bytes, 13) & 0x0f),
            protection: (protection & 1 != 0).then_some((protection >> 1 & 7) + 1),
            unmapped_are_zeros: flags & 0xc0 == 0xc0,
        })
    }
}

/// MODE SENSE data with the caching page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// Whether it is write protected.
    pub write_protected: bool,
    /// Whether DPO and FUA are supported.
    pub takes_dpo_and_fua: bool,
    /// Whether a write cache is enabled; `None` if not reported.
    pub write_cache: Option<bool>,
}

/// The command that returned the mode data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeSense {
    /// MODE SENSE(6).
    Six,
    /// MODE SENSE(10).
    Ten,
}

impl Mode {
    /// Parses the response to `command`.
    pub fn parse(bytes: &[u8], command: ModeSense) -> Option<Mode> {
        let header = match command {
            ModeSense::Six => 4,
            ModeSense::Ten => 8,
        };
        if bytes.len() < header {
            return None;
        }
        let (flags, descriptors) = match command {
            ModeSense::Six => (bytes[2], bytes[3].into()),
            ModeSense::Ten => (bytes[3], number(bytes, 6, 2) as usize),
        };
        let page = bytes.get(header + descriptors..).unwrap_or(&[]);
        let caching = page.len() > 2 && page[0] & 0x3f == 0x08;
        Some(Mode {
            write_protected: flags & 0x80 != 0,
            takes_dpo_and_fua: flags & 0x10 != 0,
            write_cache: caching.then(|| page[2] & 0x04 != 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inquiry_data_are_parsed() {
        let mut bytes = [0x20; 36];
        bytes[..8].copy_from_slice(&[0x05, 0x80, 6, 2, 31, 1, 0, 0]);
        bytes[8..12].copy_from_slice(b"QEMU");
        bytes[16..29].copy_from_slice(b"QEMU HARDDISK");
        let inquiry = Inquiry::parse(&bytes).unwrap();
        let model = Some("QEMU QEMU HARDDISK".to_owned());
        assert_eq!(inquiry, Inquiry { device_type: 5, qualifier: 0, version: 6, protect: true, copies: false, model });
        bytes[5] = 0x08;
        assert!(Inquiry::parse(&bytes).unwrap().copies);
        assert_eq!(Inquiry::parse(&[0x7f, 0, 0, 0, 0]).unwrap().qualifier, 3);
        assert_eq!(Inquiry::parse(&[0, 0, 0]), None);
    }

    #[test]
    fn pages_are_accepted_only_by_their_code() {
        assert_eq!(pages(&[0, 0, 0, 3, 0, 0x80, 0xb0, 9]), [0, 0x80, 0xb0]);
        assert_eq!(serial(&[0, 0x80, 0, 6, b' ', b'A', b'1', 0, 0, b' ']).as_deref(), Some("A1"));
        assert_eq!(serial(&[0, 0x83, 0, 2, b'A', b'1']), None);
        let mut limits = [0; 64];
        limits[..4].copy_from_slice(&[0, 0xb0, 0, 60]);
        limits[10..12].copy_from_slice(&[8, 0]);
        limits[15] = 9;
        limits[42] = 1;
        let wanted = BlockLimits { transfer_blocks_max: 2048, transfer_blocks_optimal: 9, write_same_blocks_max: 256 };
        assert_eq!(block_limits(&limits), Some(wanted));
        assert_eq!(rotational(&[0, 0xb1, 0, 60, 0, 1]), Some(false));
        assert_eq!(rotational(&[0, 0xb1, 0, 60, 0x1c, 0x20]), Some(true));
        assert_eq!(rotational(&[0, 0xb1, 0, 60, 0, 0]), None);
        let flags = |flags| {
            let Provisioning { unmaps, unmaps_by_write_same, unmapped_are_zeros } =
                provisioning(&[0, 0xb2, 0, 4, 0, flags, 0, 0]);
            [unmaps, unmaps_by_write_same, unmapped_are_zeros]
        };
        assert_eq!(flags(0x80), [true, false, false]);
        assert_eq!(flags(0x40), [false, true, false]);
        assert_eq!(flags(0x04), [false, false, true]);
        assert_eq!(flags(0x3b), [false; 3]);
        assert_eq!(provisioning(&[0, 0xb1, 0, 4, 0, 0xff, 0, 0]), Provisioning::default());
    }

    #[test]
    fn the_designator_of_the_unit_is_used_and_not_that_of_its_port() {
        let port = [1, 0x13, 0, 8, 5, 0, 0, 0, 0, 0, 0, 9];
        let eui = [1, 0x02, 0, 2, 0xaa, 0xbb];
        let naa = [1, 0x03, 0, 3, 0x5a, 1, 2];
        let page = |parts: &[&[u8]]| {
            let content = parts.concat();
            [&[0, 0x83, 0, content.len() as u8], &content[..]].concat()
        };
        assert_eq!(wwn(&page(&[&port, &eui, &naa])).as_deref(), Some("naa.5a0102"));
        assert_eq!(wwn(&page(&[&port, &eui])).as_deref(), Some("eui.aabb"));
        assert_eq!(wwn(&page(&[&port])), None);
        assert_eq!(copy_name(&page(&[&port, &eui, &naa])), CopyName::new(3, &[0x5a, 1, 2]));
        assert_eq!(copy_name(&page(&[&[1, 3, 0, 21], &[9; 21]])), None, "no copy manager takes so long a name");
    }

    #[test]
    fn both_forms_of_read_capacity_are_parsed() {
        let ten = Capacity::parse_10(&[0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0]).unwrap();
        assert_eq!((ten.blocks, ten.block_bytes), (1 << 32, 512));
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x10, 0, 3, 3, 0xc0, 0]);
        let sixteen = Capacity::parse_16(&bytes).unwrap();
        let wanted = Capacity {
            blocks: (1 << 32) + 1,
            block_bytes: 4096,
            blocks_a_physical: 8,
            protection: Some(2),
            unmapped_are_zeros: true,
        };
        assert_eq!(sixteen, wanted);
        // Without provisioning, no blocks are unmapped.
        bytes[14] = 0x40;
        assert!(!Capacity::parse_16(&bytes).unwrap().unmapped_are_zeros);
        assert_eq!(Capacity::parse_10(&[0; 7]), None);
    }

    #[test]
    fn write_protection_and_write_cache_are_found_after_either_header() {
        let short = [0, 0, 0x90, 0, 0x88, 0x12, 0x04];
        let wanted = Mode { write_protected: true, takes_dpo_and_fua: true, write_cache: Some(true) };
        assert_eq!(Mode::parse(&short, ModeSense::Six), Some(wanted));
        let long = [0, 0, 0, 0x80, 0, 0, 0, 2, 9, 9, 0x08, 0x12, 0x00];
        let wanted = Mode { write_protected: true, write_cache: Some(false), ..Mode::default() };
        assert_eq!(Mode::parse(&long, ModeSense::Ten), Some(wanted));
        assert_eq!(Mode::parse(&short[..4], ModeSense::Six).unwrap().write_cache, None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), page in 0usize..6) {
            if bytes.len() > 1 {
                bytes[1] = [0, 0x80, 0x83, 0xb0, 0xb1, 0xb2][page];
            }
            Inquiry::parse(&bytes);
            prop_assert!(pages(&bytes).len() <= bytes.len());
            serial(&bytes);
            wwn(&bytes);
            block_limits(&bytes);
            rotational(&bytes);
            provisioning(&bytes);
            copy_name(&bytes);
            Capacity::parse_10(&bytes);
            Capacity::parse_16(&bytes);
            for command in [ModeSense::Six, ModeSense::Ten] {
                Mode::parse(&bytes, command);
            }
        }
    }
}
