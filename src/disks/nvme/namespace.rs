//! Parsing of Identify data: the controller, the namespace, and its command set.
pub use super::command::IDENTIFY_BYTES;

/// Unit of MDTS in bytes: CAP.MPSMIN is 0 on every drive that Linux supports.
const PAGE_BYTES: u64 = 4096;

/// Properties of the controller that a copy needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Serial number.
    pub serial: String,
    /// Model number.
    pub model: String,
    /// Maximum transfer length (MDTS), in bytes; `None` if unlimited.
    pub transfer_bytes_max: Option<u64>,
    /// Whether it supports Write Zeroes (ONCS).
    pub writes_zeroes: bool,
    /// Whether it has a volatile write cache (VWC), so that writes are not durable before a flush.
    pub write_cache: bool,
    /// Whether it supports Copy (ONCS).
    pub copies: bool,
}

/// Properties of the namespace that a copy needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Size in blocks (NSZE).
    pub blocks: u64,
    /// Block size as a power of two (LBADS).
    pub block_shift: u32,
    /// Metadata bytes per block (MS).
    pub metadata_bytes: u16,
    /// Type of protection information in use (DPS); 0 for none.
    pub protection: u8,
    /// Preferred write granularity in blocks (NPWG); 1 if not reported.
    pub write_granularity_blocks: u32,
    /// Optimal write size in blocks, whose borders sequential writes should not cross (NOWS); `None` if not reported.
    pub optimal_write_blocks: Option<u32>,
    /// Whether deallocated blocks read as zeros (DLFEAT).
    pub deallocated_is_zero: bool,
    /// Whether Write Zeroes may deallocate (DLFEAT).
    pub zeroes_may_deallocate: bool,
    /// Limits of the Copy command.
    pub copy: CopyLimits,
    /// Whether it is write protected (NSATTR).
    pub write_protected: bool,
}

/// Limits of the Copy command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// Maximum blocks per source range (MSSRL).
    pub range_blocks: u32,
    /// Maximum total blocks (MCL).
    pub blocks: u32,
    /// Maximum number of source ranges (MSRC).
    pub ranges: u32,
}

impl CopyLimits {
    /// Maximum blocks of a Copy of one contiguous extent; 0 if Copy cannot be used.
    pub fn longest(&self) -> u32 {
        self.range_blocks.saturating_mul(self.ranges).min(self.blocks)
    }
}

/// Parses Identify Controller data.
pub fn controller(answer: &[u8; IDENTIFY_BYTES]) -> Controller {
    let text = |from: usize, to: usize| String::from_utf8_lossy(&answer[from..to]).trim().to_owned();
    let exponent = u32::from(answer[77]);
    let oncs = word(answer, 520);
    Controller {
        serial: text(4, 24),
        model: text(24, 64),
        transfer_bytes_max: (exponent > 0)
            .then(|| PAGE_BYTES.checked_shl(exponent).filter(|bytes| *bytes > 0))
            .flatten(),
        writes_zeroes: oncs & 1 << 3 != 0,
        write_cache: answer[525] & 1 != 0,
        copies: oncs & 1 << 8 != 0,
    }
}

/// Parses Identify Namespace data; `None` if the namespace is inactive or the data is invalid.
pub fn namespace(answer: &[u8; IDENTIFY_BYTES]) -> Option<Namespace> {
    let blocks = u64::from_le_bytes(answer[0..8].try_into().ok()?);
    let (features, formats, in_use) = (answer[24], answer[25], answer[26]);
    // The format index has 4 bits, and 2 more if there are more than 16 formats.
    let high = if formats > 15 { in_use >> 5 & 3 } else { 0 };
    let format = 128 + 4 * usize::from(in_use & 0xf | high << 4);
    let (metadata_bytes, block_shift) = (word(answer, format), u32::from(answer[format + 2]));
    let whole = (9..=16).contains(&block_shift) && blocks > 0 && blocks <= i64::MAX as u64 >> block_shift;
    // Zero-based fields that are valid only if a bit of NSFEAT is set.
    let optimal = features & 1 << 4 != 0;
    let (granularity, stretch) = (word(answer, 64), word(answer, 72));
    let deallocated = answer[33];
    whole.then(|| Namespace {
        blocks,
        block_shift,
        metadata_bytes,
        protection: answer[29] & 7,
        write_granularity_blocks: if optimal { u32::from(granularity) + 1 } else { 1 },
        optimal_write_blocks: (optimal && stretch > 0).then(|| u32::from(stretch) + 1),
        deallocated_is_zero: deallocated & 7 == 1,
        zeroes_may_deallocate: deallocated & 1 << 3 != 0,
        copy: CopyLimits {
            range_blocks: word(answer, 74).into(),
            blocks: u32::from_le_bytes([answer[76], answer[77], answer[78], answer[79]]),
            ranges: u32::from(answer[80]) + 1,
        },
        write_protected: answer[99] & 1 != 0,
    })
}

/// Parses the identification descriptors: the command set of the namespace, 0 for the NVM command set.
pub fn command_set(answer: &[u8; IDENTIFY_BYTES]) -> u8 {
    let mut rest = answer.as_slice();
    while let [kind, len, _, _, tail @ ..] = rest {
        let len = usize::from(*len);
        match (kind, tail.first()) {
            (0, _) => break,
            (4, Some(set)) if len >= 1 => return *set,
            _ => rest = tail.get(len..).unwrap_or_default(),
        }
    }
    0
}

impl Namespace {
    /// Block size in bytes.
    pub fn block_bytes(&self) -> u32 {
        1 << self.block_shift
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks << self.block_shift
    }

    /// Why a copy would lose data that is stored with its blocks; `None` if it would not.
    pub fn loses(&self) -> Option<String> {
        match (self.metadata_bytes, self.protection) {
            (0, _) => None,
            (bytes, 0) => Some(format!("each block has {bytes} bytes of metadata, which a copy would lose")),
            (bytes, of_type) => Some(format!(
                "each block has {bytes} bytes of metadata with protection information of type {of_type}, which a copy \
                 would lose"
            )),
        }
    }
}

fn word(answer: &[u8; IDENTIFY_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([answer[at], answer[at + 1]])
}

/// Identify data for tests.
#[cfg(test)]
pub(super) mod made {
    use super::IDENTIFY_BYTES;

    /// A namespace with this number of blocks.
    pub(in crate::disks::nvme) fn namespace(blocks: u64, block_shift: u8) -> [u8; IDENTIFY_BYTES] {
        let mut answer = [0; IDENTIFY_BYTES];
        answer[0..8].copy_from_slice(&blocks.to_le_bytes());
        // Two formats, the second of which is in use.
        (answer[25], answer[26]) = (1, 1);
        answer[128 + 2] = 9;
        answer[132 + 2] = block_shift;
        answer
    }

    /// A controller with a write cache, Write Zeroes and a maximum transfer of 64 KiB.
    pub(in crate::disks::nvme) fn controller() -> [u8; IDENTIFY_BYTES] {
        let mut answer = [0; IDENTIFY_BYTES];
        answer[4..24].copy_from_slice(b"S1                  ");
        answer[24..64].copy_from_slice(b"A drive                                 ");
        (answer[77], answer[520], answer[525]) = (4, 1 << 3, 1);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identify_controller_is_parsed() {
        let read = controller(&made::controller());
        assert_eq!((read.serial.as_str(), read.model.as_str()), ("S1", "A drive"));
        assert_eq!(read.transfer_bytes_max, Some(64 << 10));
        assert!(read.writes_zeroes && read.write_cache);
        let other = controller(&[0; IDENTIFY_BYTES]);
        assert!(!other.writes_zeroes && !other.write_cache);
        assert_eq!(other.transfer_bytes_max, None);
    }

    #[test]
    fn identify_namespace_is_parsed_in_the_current_format() {
        let read = namespace(&made::namespace(1000, 12)).unwrap();
        assert_eq!((read.block_bytes(), read.bytes(), read.loses()), (4096, 4_096_000, None));
        assert_eq!((read.write_granularity_blocks, read.optimal_write_blocks), (1, None));
        assert!(!read.deallocated_is_zero && !read.zeroes_may_deallocate && !read.write_protected);
        let mut answer = made::namespace(1000, 12);
        (answer[25], answer[26]) = (17, 1 << 5 | 1);
        answer[128 + 4 * 17 + 2] = 9;
        assert_eq!(namespace(&answer).unwrap().block_bytes(), 512, "format 17");
        answer[25] = 15;
        assert_eq!(namespace(&answer).unwrap().block_bytes(), 4096, "with 16 formats the upper bits mean nothing");
    }

    #[test]
    fn preferred_sizes_are_zero_based_and_used_only_if_supported() {
        let mut answer = made::namespace(1000, 12);
        (answer[64], answer[72]) = (3, 31);
        assert_eq!(namespace(&answer).unwrap().write_granularity_blocks, 1);
        answer[24] = 1 << 4;
        let read = namespace(&answer).unwrap();
        assert_eq!((read.write_granularity_blocks, read.optimal_write_blocks), (4, Some(32)));
    }

    #[test]
    fn the_limits_of_copy_are_parsed() {
        let mut answer = made::namespace(1000, 12);
        assert_eq!(namespace(&answer).unwrap().copy.longest(), 0);
        (answer[74], answer[75], answer[76], answer[78], answer[80]) = (128, 1, 0xe8, 1, 3);
        let copy = namespace(&answer).unwrap().copy;
        assert_eq!(copy, CopyLimits { range_blocks: 384, blocks: 0x100e8, ranges: 4 });
        assert_eq!(copy.longest(), 4 * 384);
        assert_eq!(CopyLimits { blocks: 100, ..copy }.longest(), 100);
    }

    #[test]
    fn metadata_that_a_copy_would_lose_is_reported() {
        let mut answer = made::namespace(1000, 12);
        answer[132] = 8;
        assert_eq!(
            namespace(&answer).unwrap().loses().as_deref(),
            Some("each block has 8 bytes of metadata, which a copy would lose")
        );
        answer[29] = 1;
        assert!(namespace(&answer).unwrap().loses().unwrap().contains("protection information of type 1"));
    }

    #[test]
    fn deallocated_blocks_read_as_zeros_only_if_the_drive_reports_it() {
        let mut answer = made::namespace(1000, 12);
        for (dlfeat, zero, deallocate) in [(0, false, false), (1, true, false), (2, false, false), (0b1001, true, true)]
        {
            answer[33] = dlfeat;
            let read = namespace(&answer).unwrap();
            assert_eq!((read.deallocated_is_zero, read.zeroes_may_deallocate), (zero, deallocate), "{dlfeat:#b}");
        }
    }

    #[test]
    fn an_invalid_namespace_is_rejected() {
        assert_eq!(namespace(&[0; IDENTIFY_BYTES]), None);
        for (blocks, shift) in [(0, 9), (1, 8), (1, 17), (1 << 60, 12), (u64::MAX, 9)] {
            assert_eq!(namespace(&made::namespace(blocks, shift)), None, "{blocks} blocks of 1 << {shift}");
        }
    }

    #[test]
    fn the_command_set_is_found_among_the_identifiers() {
        let mut answer = [0; IDENTIFY_BYTES];
        assert_eq!(command_set(&answer), 0);
        // An EUI64 of 8 bytes, then the command set: zoned.
        (answer[0], answer[1], answer[12], answer[13], answer[16]) = (1, 8, 4, 1, 2);
        assert_eq!(command_set(&answer), 2);
        answer[1] = 255;
        assert_eq!(command_set(&answer), 0, "the list goes on behind the longest identifier");
    }

    proptest! {
        #[test]
        fn no_response_makes_it_panic(head in prop::collection::vec(any::<u8>(), 600), filler: u8) {
            let mut answer = [filler; IDENTIFY_BYTES];
            answer[..600].copy_from_slice(&head);
            controller(&answer);
            command_set(&answer);
            if let Some(read) = namespace(&answer) {
                prop_assert!(read.bytes() >> read.block_shift == read.blocks);
                prop_assert!(read.bytes() <= i64::MAX as u64);
            }
        }

        #[test]
        fn no_response_of_one_byte_makes_the_parser_panic(filler: u8) {
            let answer = [filler; IDENTIFY_BYTES];
            controller(&answer);
            command_set(&answer);
            namespace(&answer);
        }
    }
}
