//! Partition tables.
use super::seen::Seen;

const BOOT_SIGNATURE: u64 = 510;
const ENTRIES: u64 = 446;
const ENTRY_BYTES: u64 = 16;
/// Type of the MBR entry that protects a disk with a GPT from old tools.
const PROTECTIVE: u8 = 0xee;
const GPT_MAGIC: &[u8] = b"EFI PART";
/// Logical block sizes of disks; the GPT header is in block 1, its backup in the last block.
const BLOCK_BYTES: [u64; 2] = [512, 4096];

/// A GPT whose primary header exists and that was not replaced by a later MBR.
pub(super) fn gpt(seen: &Seen) -> Option<String> {
    let header = BLOCK_BYTES.iter().any(|&block| seen.has(block, GPT_MAGIC));
    (header && types(seen)?.contains(&PROTECTIVE)).then(|| "GPT".to_owned())
}

/// A GPT without primary header or protective MBR: the kernel may not detect its partitions, but tools can restore it.
pub(super) fn gpt_damaged(seen: &Seen) -> Option<String> {
    let last = |block: u64| seen.size.and_then(|size| size.checked_sub(block));
    let first = BLOCK_BYTES.iter().any(|&block| seen.has(block, GPT_MAGIC));
    let backup = BLOCK_BYTES.iter().any(|&block| last(block).is_some_and(|offset| seen.has(offset, GPT_MAGIC)));
    let covered = types(seen).is_some_and(|types| types.contains(&PROTECTIVE));
    (first || backup || covered).then(|| "GPT (damaged)".to_owned())
}

/// An MBR partition table, possibly empty. All boot sectors have the same signature, so the entries must be plausible.
pub(super) fn mbr(seen: &Seen) -> Option<String> {
    let types = types(seen)?;
    (!types.contains(&PROTECTIVE)).then(|| "MBR".to_owned())
}

/// Types of the four entries of an MBR; `None` if there is no MBR.
fn types(seen: &Seen) -> Option<[u8; 4]> {
    if !seen.has(BOOT_SIGNATURE, &[0x55, 0xaa]) {
        return None;
    }
    let mut types = [0; 4];
    for (number, kind) in types.iter_mut().enumerate() {
        let entry = ENTRIES + number as u64 * ENTRY_BYTES;
        let boots = seen.byte(entry)?;
        *kind = seen.byte(entry + 4)?;
        let (first, sectors) = (seen.u32(entry + 8)?, seen.u32(entry + 12)?);
        let unused = *kind == 0 && boots == 0;
        let used = *kind != 0 && boots & 0x7f == 0 && first > 0 && sectors > 0;
        if !unused && !used {
            return None;
        }
    }
    Some(types)
}
