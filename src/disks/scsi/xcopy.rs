//! EXTENDED COPY(LID1) between logical units (SPC-4, 6.3 and 6.4): encodes parameter lists, and parses the limits of a
//! copy manager.
//!
//! The input comes from a disk: whatever its length and content, these functions do not panic.
use crate::core::CopyName;

/// Length of the operating parameters, in bytes: the fields and all possible descriptor types.
pub const LIMITS_BYTES: u32 = 44 + 256;

/// Length of a parameter list, in bytes: a header, two target descriptors, one segment descriptor.
pub const REQUEST_BYTES: usize = HEAD_BYTES + 2 * UNIT_BYTES + SEGMENT_BYTES;

const HEAD_BYTES: usize = 16;
const UNIT_BYTES: usize = 32;
const SEGMENT_BYTES: usize = 28;

/// Descriptor types: a target by its designator, and a segment from block device to block device.
const UNIT: u8 = 0xe4;
const BLOCK_TO_BLOCK: u8 = 0x02;

/// Maximum bytes per segment, so that stop requests and progress are handled in between.
const SEGMENT_BYTES_MAX: u64 = 16 << 20;

/// Limits of a copy manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyLimits {
    /// Maximum segment length in bytes; `None` if unlimited.
    pub segment_bytes_max: Option<u32>,
    /// Segment granularity, in bytes.
    pub granularity_bytes: u32,
    /// Whether requests without a list identifier are supported (SNLID).
    pub nameless: bool,
}

fn number(bytes: &[u8], at: usize, len: usize) -> u32 {
    let field = bytes.get(at..at + len).unwrap_or(&[]);
    field.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

/// Parses the operating parameters of RECEIVE COPY RESULTS; `None` if the copy manager does not support the requests
/// used here.
pub fn limits(answer: &[u8]) -> Option<CopyLimits> {
    let end = answer.len().min((number(answer, 0, 4) as usize).saturating_add(4));
    let answer = &answer[..end];
    // Up to the length of the list of descriptor types.
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
    /// Segment length in bytes for units with this block size: a power of two, like the units in which arrays store
    /// data; 0 if no segment is possible.
    pub fn command_bytes(&self, block_bytes: u32) -> u32 {
        // The block count field has 16 bits.
        let most = (u64::from(block_bytes) * 0xffff).min(SEGMENT_BYTES_MAX);
        let most = self.segment_bytes_max.map_or(most, |bytes| most.min(bytes.into()));
        let bytes = most.checked_ilog2().map_or(0, |log| 1u32 << log);
        if bytes >= block_bytes.max(self.granularity_bytes) { bytes } else { 0 }
    }
}

/// A segment to copy, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First block on the source unit.
    pub from_lba: u64,
    /// First block on the destination unit.
    pub to_lba: u64,
    /// Number of blocks.
    pub blocks: u16,
}

/// The parameter list that copies one segment between units with blocks of `block_bytes` (24 bits).
pub fn request(names: [&CopyName; 2], block_bytes: u32, segment: Segment, nameless: bool) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    // No list identifier and no held data; if that is not supported, identifier 1 and no held data.
    (bytes[0], bytes[1]) = if nameless { (0, 0b11 << 3) } else { (1, 0b10 << 3) };
    bytes[2..4].copy_from_slice(&(2 * UNIT_BYTES as u16).to_be_bytes());
    bytes[8..12].copy_from_slice(&(SEGMENT_BYTES as u32).to_be_bytes());
    let (units, last) = bytes[HEAD_BYTES..].split_at_mut(2 * UNIT_BYTES);
    for (unit, name) in units.chunks_exact_mut(UNIT_BYTES).zip(names) {
        // A disk, by a binary designator of the logical unit.
        (unit[0], unit[4], unit[5], unit[7]) = (UNIT, 1, name.kind(), name.bytes().len() as u8);
        unit[8..8 + name.bytes().len()].copy_from_slice(name.bytes());
        unit[29..32].copy_from_slice(&block_bytes.to_be_bytes()[1..]);
    }
    (last[0], last[3]) = (BLOCK_TO_BLOCK, SEGMENT_BYTES as u8 - 4);
    // From the first unit to the second.
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

    /// Operating parameters of the Linux SCSI target.
    fn answer() -> Vec<u8> {
        let mut bytes = vec![0; 46];
        (bytes[3], bytes[4], bytes[9], bytes[11], bytes[14], bytes[16]) = (42, 1, 2, 1, 4, 0x10);
        (bytes[37], bytes[43], bytes[44], bytes[45]) = (9, 2, 2, 0xe4);
        bytes
    }

    #[test]
    fn the_limits_of_a_copy_manager_are_parsed() {
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
    fn an_unsuitable_copy_manager_is_rejected() {
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
    fn a_request_has_the_layout_of_the_standard() {
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
        fn no_response_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), block in 1u32..100_000) {
            if let Some(limits) = limits(&bytes) {
                let command = limits.command_bytes(block);
                prop_assert!(command == 0 || command.is_power_of_two() && command / block <= 0xffff);
            }
        }
    }
}
