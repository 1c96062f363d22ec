//! What Identify answers: the controller, the namespace, and whose commands the namespace takes.
pub use super::command::IDENTIFY_BYTES;

/// Bytes of one page of memory, in which drives count: CAP.MPSMIN is 0 on every drive that Linux drives.
const PAGE_BYTES: u64 = 4096;

/// What the controller says of itself, as far as a copy needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Serial number.
    pub serial: String,
    /// Model.
    pub model: String,
    /// Longest transfer (MDTS), in bytes; `None`: as long as one likes.
    pub transfer_bytes_max: Option<u64>,
    /// It knows Write Zeroes (ONCS).
    pub writes_zeroes: bool,
    /// It has a volatile write cache (VWC), so that a write is not durable before a flush.
    pub write_cache: bool,
    /// It knows Copy (ONCS).
    pub copies: bool,
}

/// What the namespace says of itself, as far as a copy needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Blocks in it (NSZE).
    pub blocks: u64,
    /// Two to this power are the bytes of a block (LBADS).
    pub block_shift: u32,
    /// Bytes of metadata that go with each block (MS).
    pub metadata_bytes: u16,
    /// Type of the protection information that is in use (DPS); 0: none.
    pub protection: u8,
    /// Blocks that are best written at once (NPWG), 1 where it does not say.
    pub write_granularity_blocks: u32,
    /// Blocks of the stretch that sequential writes should not cross (NOWS); `None` where it does not say.
    pub optimal_write_blocks: Option<u32>,
    /// Deallocated blocks read as zeros (DLFEAT).
    pub deallocated_is_zero: bool,
    /// Write Zeroes may deallocate (DLFEAT).
    pub zeroes_may_deallocate: bool,
    /// Limits of Copy.
    pub copy: CopyLimits,
    /// It is write protected (NSATTR).
    pub write_protected: bool,
}

/// What one Copy may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// Blocks of one range (MSSRL).
    pub range_blocks: u32,
    /// Blocks altogether (MCL).
    pub blocks: u32,
    /// Ranges (MSRC).
    pub ranges: u32,
}

impl CopyLimits {
    /// Blocks of the longest Copy of what lies in one piece; 0: none can be made.
    pub fn longest(&self) -> u32 {
        self.range_blocks.saturating_mul(self.ranges).min(self.blocks)
    }
}

/// Reads an answer about the controller.
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

/// Reads an answer about the namespace; `None` for one that is not active or says what cannot be.
pub fn namespace(answer: &[u8; IDENTIFY_BYTES]) -> Option<Namespace> {
    let blocks = u64::from_le_bytes(answer[0..8].try_into().ok()?);
    let (features, formats, in_use) = (answer[24], answer[25], answer[26]);
    // The index of the format has 4 bits, and 2 more where there are more than 16 formats.
    let high = if formats > 15 { in_use >> 5 & 3 } else { 0 };
    let format = 128 + 4 * usize::from(in_use & 0xf | high << 4);
    let (metadata_bytes, block_shift) = (word(answer, format), u32::from(answer[format + 2]));
    let whole = (9..=16).contains(&block_shift) && blocks > 0 && blocks <= i64::MAX as u64 >> block_shift;
    // Fields that count from 0 and mean something only where a bit of NSFEAT says so.
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

/// Reads a list of identifiers: the namespace's command set, 0 for the usual one of reads and writes.
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
    /// Bytes of a block.
    pub fn block_bytes(&self) -> u32 {
        1 << self.block_shift
    }

    /// Bytes in it.
    pub fn bytes(&self) -> u64 {
        self.blocks << self.block_shift
    }

    /// Why its blocks are more than their data, which a copy would lose; `None`: they are not.
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

/// Answers of a drive, for tests.
#[cfg(test)]
pub(super) mod made {
    use super::IDENTIFY_BYTES;

    /// A namespace of so many blocks.
    pub(in crate::disks::nvme) fn namespace(blocks: u64, block_shift: u8) -> [u8; IDENTIFY_BYTES] {
        let mut answer = [0; IDENTIFY_BYTES];
        answer[0..8].copy_from_slice(&blocks.to_le_bytes());
        // Two formats, the second in use.
        (answer[25], answer[26]) = (1, 1);
        answer[128 + 2] = 9;
        answer[132 + 2] = block_shift;
        answer
    }

    /// A controller with a write cache that knows Write Zeroes and transfers 64 KiB at most.
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
    fn a_controller_is_read() {
        let read = controller(&made::controller());
        assert_eq!((read.serial.as_str(), read.model.as_str()), ("S1", "A drive"));
        assert_eq!(read.transfer_bytes_max, Some(64 << 10));
        assert!(read.writes_zeroes && read.write_cache);
        let other = controller(&[0; IDENTIFY_BYTES]);
        assert!(!other.writes_zeroes && !other.write_cache);
        assert_eq!(other.transfer_bytes_max, None);
    }

    #[test]
    fn a_namespace_is_read_in_the_format_that_is_in_use() {
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
    fn preferences_count_from_zero_and_only_where_they_mean_something() {
        let mut answer = made::namespace(1000, 12);
        (answer[64], answer[72]) = (3, 31);
        assert_eq!(namespace(&answer).unwrap().write_granularity_blocks, 1);
        answer[24] = 1 << 4;
        let read = namespace(&answer).unwrap();
        assert_eq!((read.write_granularity_blocks, read.optimal_write_blocks), (4, Some(32)));
    }

    #[test]
    fn the_limits_of_copy_are_read() {
        let mut answer = made::namespace(1000, 12);
        assert_eq!(namespace(&answer).unwrap().copy.longest(), 0);
        (answer[74], answer[75], answer[76], answer[78], answer[80]) = (128, 1, 0xe8, 1, 3);
        let copy = namespace(&answer).unwrap().copy;
        assert_eq!(copy, CopyLimits { range_blocks: 384, blocks: 0x100e8, ranges: 4 });
        assert_eq!(copy.longest(), 4 * 384);
        assert_eq!(CopyLimits { blocks: 100, ..copy }.longest(), 100);
    }

    #[test]
    fn what_a_copy_would_lose_is_told() {
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
    fn zeros_are_believed_only_where_the_drive_promises_them() {
        let mut answer = made::namespace(1000, 12);
        for (dlfeat, zero, deallocate) in [(0, false, false), (1, true, false), (2, false, false), (0b1001, true, true)]
        {
            answer[33] = dlfeat;
            let read = namespace(&answer).unwrap();
            assert_eq!((read.deallocated_is_zero, read.zeroes_may_deallocate), (zero, deallocate), "{dlfeat:#b}");
        }
    }

    #[test]
    fn a_namespace_that_cannot_be_is_none() {
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
        fn no_answer_makes_it_panic(head in prop::collection::vec(any::<u8>(), 600), filler: u8) {
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
        fn no_answer_of_one_byte_makes_it_panic(filler: u8) {
            let answer = [filler; IDENTIFY_BYTES];
            controller(&answer);
            command_set(&answer);
            namespace(&answer);
        }
    }
}
