//! Formats without a magic number, or combined with another format: FAT and optical discs.
use super::seen::{Seen, labelled};

/// FAT12, FAT16 or FAT32, which all mount as vfat: recognized by a plausible boot sector.
pub(super) fn fat(seen: &Seen) -> Option<String> {
    let jump = seen.bytes(0, 3)?;
    let (sector, cluster) = (u64::from(seen.u16(11)?), u64::from(seen.byte(13)?));
    let (reserved, fats) = (u64::from(seen.u16(14)?), u64::from(seen.byte(16)?));
    let (root_entries, media) = (u64::from(seen.u16(17)?), seen.byte(21)?);
    let makes_sense = (jump[0] == 0xe9 || jump[0] == 0xeb)
        && sector.is_power_of_two()
        && (512..=4096).contains(&sector)
        && cluster.is_power_of_two()
        && reserved > 0
        && (1..=2).contains(&fats)
        && (media == 0xf0 || media >= 0xf8);
    if !makes_sense {
        return None;
    }
    let (small_fat, small_total) = (u64::from(seen.u16(22)?), u64::from(seen.u16(19)?));
    let is_32 = small_fat == 0;
    let fat_sectors = if is_32 { u64::from(seen.u32(36)?) } else { small_fat };
    let total = if small_total == 0 { u64::from(seen.u32(32)?) } else { small_total };
    let root = reserved + fats * fat_sectors;
    let data = root + (root_entries * 32).div_ceil(sector);
    if fat_sectors == 0 || total <= data {
        return None;
    }
    let (root, in_boot_sector) = match is_32 {
        true => (data + u64::from(seen.u32(44)?.checked_sub(2)?) * cluster, 71),
        false => (root, 43),
    };
    // Systems display and change the label in the root directory; the one in the boot sector may be old.
    let label = fat_label(seen, root * sector).or_else(|| seen.label(in_boot_sector, 11));
    Some(labelled("vfat", label.filter(|label| label != "NO NAME")))
}

/// The label among the first entries of a root directory.
fn fat_label(seen: &Seen, directory: u64) -> Option<String> {
    const VOLUME: u8 = 0x08;
    const DIRECTORY: u8 = 0x10;
    const LONG_NAME: u8 = 0x0f;
    const FREED: u8 = 0xe5;
    let is_label = |&entry: &u64| {
        let attributes = seen.byte(entry + 11).unwrap_or(0);
        let kind = attributes & (VOLUME | DIRECTORY);
        attributes != LONG_NAME && kind == VOLUME && seen.byte(entry) != Some(FREED)
    };
    let entry = (0..16).map(|number| directory + 32 * number).find(is_label)?;
    seen.label(entry, 11)
}

/// An optical disc or its image, which may also have a partition table for booting from USB.
pub(super) fn disc(seen: &Seen) -> Option<String> {
    const FIRST_DESCRIPTOR: u64 = 32 << 10;
    const DESCRIPTOR_BYTES: u64 = 2048;
    let is = |number: u64, magic: &[u8]| seen.has(FIRST_DESCRIPTOR + number * DESCRIPTOR_BYTES + 1, magic);
    let iso = is(0, b"CD001");
    if (0..16).any(|number| is(number, b"NSR02") || is(number, b"NSR03")) {
        return Some(labelled("udf", seen.label(FIRST_DESCRIPTOR + 40, 32).filter(|_| iso)));
    }
    iso.then(|| labelled("iso9660", seen.label(FIRST_DESCRIPTOR + 40, 32)))
}
