//! File systems that need more than a magic and a label.
use super::seen::{Seen, labelled};

/// ext2, ext3 or ext4, distinguished by their features as in the kernel.
pub(super) fn ext(seen: &Seen) -> Option<String> {
    const SUPERBLOCK: u64 = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    // Features of ext3: filetype, recover, meta_bg; sparse_super, large_file, btree_dir.
    const EXT3_INCOMPATIBLE: u32 = 0x2 | 0x4 | 0x10;
    const EXT3_READ_ONLY: u32 = 0x1 | 0x2 | 0x4;
    // The magic has only two bytes, so other fields must be plausible.
    let (inodes, log_block) = (seen.u32(SUPERBLOCK)?, seen.u32(SUPERBLOCK + 24)?);
    if inodes == 0 && log_block == 0 || log_block > 6 || seen.u32(SUPERBLOCK + 76)? > 1 {
        return None;
    }
    let features = |at: u64| seen.u32(SUPERBLOCK + at);
    let (compatible, incompatible, read_only) = (features(92)?, features(96)?, features(100)?);
    let label = seen.label(SUPERBLOCK + 120, 16);
    let name = if incompatible & JOURNAL_DEVICE != 0 {
        "ext journal"
    } else if incompatible & !EXT3_INCOMPATIBLE != 0 || read_only & !EXT3_READ_ONLY != 0 {
        "ext4"
    } else if compatible & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(labelled(name, label))
}

pub(super) fn f2fs(seen: &Seen) -> Option<String> {
    Some(labelled("f2fs", seen.label_utf16(1024 + 124, 512)))
}

/// exFAT, whose label is an entry of its root directory.
pub(super) fn exfat(seen: &Seen) -> Option<String> {
    Some(labelled("exfat", exfat_label(seen)))
}

fn exfat_label(seen: &Seen) -> Option<String> {
    const LABEL_ENTRY: u8 = 0x83;
    let (heap, root) = (u64::from(seen.u32(88)?), u64::from(seen.u32(96)?.checked_sub(2)?));
    let (sector_shift, cluster_shift) = (u32::from(seen.byte(108)?), u32::from(seen.byte(109)?));
    if !(9..=12).contains(&sector_shift) || sector_shift + cluster_shift > 25 {
        return None;
    }
    let directory = (heap << sector_shift) + (root << (sector_shift + cluster_shift));
    let entry = (0..16).map(|number| directory + 32 * number).find(|&at| seen.byte(at) == Some(LABEL_ENTRY))?;
    let letters = usize::from(seen.byte(entry + 1)?).min(11);
    seen.label_utf16(entry + 2, letters)
}
