//! EXTENDED COPY of the shorter list identifier, from one logical unit to another (SPC-4, 6.3 and 6.4): the bytes of
//! the request, and what a copy manager says of its limits.
//!
//! Bytes come from the disk: they may be short, long or nonsense, and none of it makes these functions panic.
use crate::core::CopyName;

/// Bytes of the answer about limits that are asked for: its fields, and every type of descriptor there can be.
pub const LIMITS_BYTES: u32 = 44 + 256;

/// Bytes of a request: a header, two units, one segment.
pub const REQUEST_BYTES: usize = HEAD_BYTES + 2 * UNIT_BYTES + SEGMENT_BYTES;

const HEAD_BYTES: usize = 16;
const UNIT_BYTES: usize = 32;
const SEGMENT_BYTES: usize = 28;

/// Types of descriptors: a unit by its designator, and a segment from block device to block device.
const UNIT: u8 = 0xe4;
const BLOCK_TO_BLOCK: u8 = 0x02;

/// Most bytes of a segment, so that a copy can be stopped and its progress moves.
const SEGMENT_BYTES_MAX: u64 = 16 << 20;

/// What a copy manager takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// Bytes of the longest segment; `None`: as long as one likes.
    pub segment_bytes_max: Option<u32>,
    /// Segments are multiples of this, in bytes.
    pub granularity_bytes: u32,
    /// A request needs no list identifier (SNLID).
    pub nameless: bool,
}

fn number(bytes: &[u8], at: usize, len: usize) -> u32 {
    let field = bytes.get(at..at + len).unwrap_or(&[]);
    field.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// The limits from the operating parameters that RECEIVE COPY RESULTS answers; `None` for a copy manager that takes no
/// request as they are made here.
pub fn limits(answer: &[u8]) -> Option<CopyLimits> {
    let end = answer.len().min((number(answer, 0, 4) as usize).saturating_add(4));
    let answer = &answer[..end];
    // As far as the number of bytes of the last list.
    if answer.len() < 44 {
        return None;
    }
    let types = &answer[44..answer.len().min(44 + usize::from(answer[43]))];
    let takes = |kind| types.contains(&kind) || types.is_empty();
    let room = number(answer, 8, 2) >= 2 && number(answer, 10, 2) >= 1;
    let long = matches!(number(answer, 12, 4), 0) || number(answer, 12, 4) as usize >= REQUEST_BYTES - HEAD_BYTES;
    let granularity_bytes = 1u32.checked_shl(answer[37].into())?;
    (room && long && takes(UNIT) && takes(BLOCK_TO_BLOCK)).then(|| CopyLimits {
        segment_bytes_max: Some(number(answer, 16, 4)).filter(|bytes| *bytes > 0),
        granularity_bytes,
        nameless: answer[4] & 1 != 0,
    })
}

impl CopyLimits {
    /// Bytes of the segments that are asked for, between units with such blocks: a power of two, as what an array
    /// stores together is; 0 where no segment is possible.
    pub fn command_bytes(&self, block_bytes: u32) -> u32 {
        // The field that counts blocks has 16 bits.
        let most = (u64::from(block_bytes) * 0xffff).min(SEGMENT_BYTES_MAX);
        let most = self.segment_bytes_max.map_or(most, |bytes| most.min(bytes.into()));
        let bytes = most.checked_ilog2().map_or(0, |log| 1u32 << log);
        if bytes >= block_bytes.max(self.granularity_bytes) { bytes } else { 0 }
    }
}

/// A segment to copy, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First block on the unit that is read.
    pub from_lba: u64,
    /// First block on the unit that is written.
    pub to_lba: u64,
    /// How many.
    pub blocks: u16,
}

/// The request that copies one segment between units with blocks of `block_bytes`, 24 bits of which count.
pub fn request(names: [&CopyName; 2], block_bytes: u32, segment: Segment, nameless: bool) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    // No identifier, and nothing kept of how it went; or, where that is not known, the first, and nothing kept.
    (bytes[0], bytes[1]) = if nameless { (0, 0b11 << 3) } else { (1, 0b10 << 3) };
    bytes[2..4].copy_from_slice(&(2 * UNIT_BYTES as u16).to_be_bytes());
    bytes[8..12].copy_from_slice(&(SEGMENT_BYTES as u32).to_be_bytes());
    let (units, last) = bytes[HEAD_BYTES..].split_at_mut(2 * UNIT_BYTES);
    for (unit, name) in units.chunks_exact_mut(UNIT_BYTES).zip(names) {
        // A disk, named in binary, by the name of the unit itself.
        (unit[0], unit[4], unit[5], unit[7]) = (UNIT, 1, name.kind(), name.bytes().len() as u8);
        unit[8..8 + name.bytes().len()].copy_from_slice(name.bytes());
        unit[29..32].copy_from_slice(&block_bytes.to_be_bytes()[1..]);
    }
    (last[0], last[3]) = (BLOCK_TO_BLOCK, SEGMENT_BYTES as u8 - 4);
    // From the first of the units to the second.
    last[7] = 1;
    last[10..12].copy_from_slice(&segment.blocks.to_be_bytes());
    last[12..20].copy_from_slice(&segment.from_lba.to_be_bytes());
    last[20..28].copy_from_slice(&segment.to_lba.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the kernel's target says it.
    fn answer() -> Vec<u8> {
        let mut bytes = vec![0; 46];
        (bytes[3], bytes[4], bytes[9], bytes[11], bytes[14], bytes[16]) = (42, 1, 2, 1, 4, 0x10);
        (bytes[37], bytes[43], bytes[44], bytes[45]) = (9, 2, 2, 0xe4);
        bytes
    }

    #[test]
    fn the_limits_of_a_copy_manager_are_read() {
        let limits = limits(&answer()).unwrap();
        let wanted = CopyLimits { segment_bytes_max: Some(1 << 28), granularity_bytes: 512, nameless: true };
        assert_eq!(limits, wanted);
        assert_eq!(limits.command_bytes(512), 16 << 20);
        let short = CopyLimits { segment_bytes_max: Some(100_000), ..limits };
        assert_eq!(short.command_bytes(512), 65_536, "a power of two");
        assert_eq!(CopyLimits { granularity_bytes: 1 << 20, ..short }.command_bytes(512), 0);
        let free = CopyLimits { segment_bytes_max: None, ..limits };
        assert_eq!([free.command_bytes(64), free.command_bytes(1)], [2 << 20, 32 << 10], "no more than 65535 blocks");
    }

    #[test]
    fn a_copy_manager_that_does_not_take_what_is_asked_is_none() {
        for (at, value) in [(9, 1), (11, 0), (43, 1), (45, 0xe5), (44, 0), (3, 20), (37, 32)] {
            let mut bytes = answer();
            bytes[at] = value;
            assert_eq!(limits(&bytes), None, "byte {at} {value}");
        }
        let mut bytes = answer();
        (bytes[14], bytes[15]) = (0, 91);
        assert_eq!(limits(&bytes), None, "descriptors of 92 bytes are too long for it");
        bytes[15] = 92;
        assert!(limits(&bytes).is_some());
        bytes[43] = 0;
        assert!(limits(&bytes).is_some(), "it names no types at all");
    }

    #[test]
    fn a_request_has_its_fields_where_the_standard_has_them() {
        let (from, to) = (CopyName::new(3, &[0x60; 16]).unwrap(), CopyName::new(2, &[7; 8]).unwrap());
        let segment = Segment { from_lba: 0x1_0203_0405, to_lba: 9, blocks: 0x8000 };
        let bytes = request([&from, &to], 4096, segment, true);
        assert_eq!(bytes[..16], [0, 0x18, 0, 64, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 0]);
        assert_eq!(bytes[16..24], [0xe4, 0, 0, 0, 1, 3, 0, 16]);
        assert_eq!((&bytes[24..40], &bytes[40..48]), (&[0x60; 16][..], &[0, 0, 0, 0, 0, 0, 0x10, 0][..]));
        assert_eq!(bytes[48..56], [0xe4, 0, 0, 0, 1, 2, 0, 8]);
        assert_eq!(
            (&bytes[56..64], &bytes[64..80]),
            (&[7; 8][..], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0][..])
        );
        assert_eq!(bytes[80..92], [2, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0x80, 0]);
        assert_eq!(bytes[92..108], [0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert_eq!(request([&from, &to], 4096, segment, false)[..2], [1, 0x10]);
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), block in 1u32..100_000) {
            if let Some(limits) = limits(&bytes) {
                let command = limits.command_bytes(block);
                prop_assert!(command == 0 || command.is_power_of_two() && command / block <= 0xffff);
            }
        }
    }
}
