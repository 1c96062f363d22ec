//! Recognizes a compressed file by its first bytes. A magic number alone is not enough: the header after it has to be
//! valid, because the same four bytes may begin a disk.
use super::crc32::crc32;
use super::read_at::{ReadAt, u32_at};
use crate::core::Compression;
use std::hash::Hasher;
use std::io;

/// Bytes that suffice to recognize any format, unless it begins with frames that are to be skipped.
pub(super) const HEAD_BYTES: usize = 512;

const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD_MAGIC: u32 = 0xfd2f_b528;
const LZ4_MAGIC: u32 = 0x184d_2204;

/// First bytes of a bzip2 block, and of the end of a stream without one.
const BZIP2_BLOCKS: [[u8; 6]; 2] = [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];

/// Frames with user data before the first frame with content, at most.
const SKIPPED_MAX: usize = 16;

/// The format of what begins with `head`: all of it, or [`HEAD_BYTES`] at least. `None`: no format that haul knows.
pub(super) fn detect(head: &[u8]) -> Option<Compression> {
    // What bytes in memory cannot be read.
    detect_at(&head).ok()?
}

/// The format of a file.
///
/// # Errors
/// The error of reading it.
pub(super) fn detect_at(file: &impl ReadAt) -> io::Result<Option<Compression>> {
    let mut offset = 0;
    for _ in 0..=SKIPPED_MAX {
        let mut head = [0; 32];
        let len = file.read_full_at(&mut head, offset)?;
        let head = &head[..len];
        let Some(skipped) = skippable(head) else {
            let found = of_header(head);
            // Only frames of these formats may have others before them.
            let frames = matches!(found, Some(Compression::Zstd | Compression::Lz4));
            return Ok(found.filter(|_| frames || offset == 0));
        };
        offset += skipped;
    }
    Ok(None)
}

/// Bytes of a frame with user data, which zstd and lz4 skip; `None`: it is none.
pub(super) fn skippable(head: &[u8]) -> Option<u64> {
    let magic = u32_at(head, 0)?;
    (magic & 0xffff_fff0 == 0x184d_2a50).then_some(())?;
    Some(8 + u64::from(u32_at(head, 4)?))
}

fn of_header(head: &[u8]) -> Option<Compression> {
    if head.starts_with(&XZ_MAGIC) {
        let flags = head.get(6..8)?;
        let is_valid = flags[0] == 0 && flags[1] < 16 && u32_at(head, 8)? == crc32(flags);
        return is_valid.then_some(Compression::Xz);
    }
    if head.starts_with(&[0x1f, 0x8b, 8]) {
        // Three flags are reserved.
        return (head.get(3)? & 0xe0 == 0).then_some(Compression::Gzip);
    }
    if head.starts_with(b"BZh") {
        let level = *head.get(3)?;
        let block = head.get(4..10)?;
        let is_valid = (b'1'..=b'9').contains(&level) && BZIP2_BLOCKS.iter().any(|known| known == block);
        return is_valid.then_some(Compression::Bzip2);
    }
    if head.starts_with(b"PK\x03\x04") {
        // The version that is needed to extract it: at most 6.3 is defined.
        return (*head.get(4)? <= 63).then_some(Compression::Zip);
    }
    match u32_at(head, 0)? {
        ZSTD_MAGIC => ZstdFrame::parse(head).map(|_| Compression::Zstd),
        LZ4_MAGIC => Lz4Frame::parse(head).map(|_| Compression::Lz4),
        _ => None,
    }
}

/// The header of a zstd frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZstdFrame {
    /// Bytes of the header, its magic number included.
    pub(super) header_bytes: usize,
    /// Memory that its decoder needs for earlier data.
    pub(super) window_bytes: u64,
    /// Bytes of its content, where it has them.
    pub(super) content_bytes: Option<u64>,
    /// A checksum follows its last block.
    pub(super) has_checksum: bool,
}

impl ZstdFrame {
    /// Bytes of the longest header.
    pub(super) const HEADER_MAX: usize = 18;

    /// The frame that begins with `head`, if all of its header is there and it is valid.
    pub(super) fn parse(head: &[u8]) -> Option<ZstdFrame> {
        if u32_at(head, 0)? != ZSTD_MAGIC {
            return None;
        }
        let descriptor = *head.get(4)?;
        let is_single = descriptor & 0x20 != 0;
        if descriptor & 0x08 != 0 {
            return None;
        }
        let mut at = 5;
        let mut window_bytes = 0;
        if !is_single {
            let window = *head.get(at)?;
            let base = 1u64 << (10 + u32::from(window >> 3));
            window_bytes = base + base / 8 * u64::from(window & 7);
            at += 1;
        }
        at += [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size_bytes = match descriptor >> 6 {
            0 => usize::from(is_single),
            1 => 2,
            2 => 4,
            _ => 8,
        };
        let size = head.get(at..at + size_bytes)?;
        let value = size.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        let content_bytes = match size_bytes {
            0 => None,
            2 => Some(value + 256),
            _ => Some(value),
        };
        if is_single {
            window_bytes = value;
        }
        let has_checksum = descriptor & 4 != 0;
        Some(ZstdFrame { header_bytes: at + size_bytes, window_bytes, content_bytes, has_checksum })
    }
}

/// The header of an LZ4 frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lz4Frame {
    /// Bytes of the header, its magic number included.
    pub(super) header_bytes: usize,
    /// Bytes of a decoded block at most.
    pub(super) block_bytes_max: usize,
    /// Blocks refer to data of earlier ones.
    pub(super) is_linked: bool,
    /// Each block has a checksum.
    pub(super) has_block_checksums: bool,
    /// Bytes of its content, where it has them.
    pub(super) content_bytes: Option<u64>,
    /// A checksum of the content follows the end mark.
    pub(super) has_checksum: bool,
    /// It refers to a dictionary, which is not in the file.
    pub(super) needs_dictionary: bool,
}

impl Lz4Frame {
    /// Bytes of the longest header.
    pub(super) const HEADER_MAX: usize = 19;

    /// The frame that begins with `head`, if all of its header is there and its checksum is right.
    pub(super) fn parse(head: &[u8]) -> Option<Lz4Frame> {
        if u32_at(head, 0)? != LZ4_MAGIC {
            return None;
        }
        let (flags, block) = (*head.get(4)?, *head.get(5)?);
        if flags >> 6 != 1 || flags & 2 != 0 || block & 0x8f != 0 {
            return None;
        }
        let block_bytes_max = match block >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => 4 << 20,
            _ => return None,
        };
        let mut at = 6;
        let mut content_bytes = None;
        if flags & 8 != 0 {
            let size = head.get(at..at + 8)?;
            content_bytes = Some(u64::from_le_bytes(size.try_into().ok()?));
            at += 8;
        }
        let needs_dictionary = flags & 1 != 0;
        if needs_dictionary {
            at += 4;
        }
        let check = *head.get(at)?;
        if check != (xxh32(&head[4..at]) >> 8 & 0xff) as u8 {
            return None;
        }
        Some(Lz4Frame {
            header_bytes: at + 1,
            block_bytes_max,
            is_linked: flags & 0x20 == 0,
            has_block_checksums: flags & 0x10 != 0,
            content_bytes,
            has_checksum: flags & 4 != 0,
            needs_dictionary,
        })
    }
}

/// XXH32 without a seed.
pub(super) fn xxh32(bytes: &[u8]) -> u32 {
    let mut hasher = twox_hash::XxHash32::with_seed(0);
    hasher.write(bytes);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_recognized_by_its_header_and_not_by_its_magic_number_alone() {
        let xz = [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46];
        let bzip2 = *b"BZh91AY&SY";
        // `printf a | zstd`, `gzip`, `lz4 --content-size`.
        let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x24, 1];
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let mut lz4 = vec![4, 0x22, 0x4d, 0x18, 0x64, 0x40];
        lz4.push((xxh32(&lz4[4..]) >> 8) as u8);
        let zip = *b"PK\x03\x04\x14\0\0\0\x08\0";
        let table: [(&[u8], Compression, usize); 6] = [
            (&xz, Compression::Xz, 9),
            (&bzip2, Compression::Bzip2, 5),
            (&zstd, Compression::Zstd, 1),
            (&gzip, Compression::Gzip, 3),
            (&lz4, Compression::Lz4, 6),
            (&zip, Compression::Zip, 4),
        ];
        for (head, format, at) in table {
            assert_eq!(detect(head), Some(format));
            let mut damaged = head.to_vec();
            damaged[at] ^= 0xe9;
            assert_eq!(detect(&damaged), None, "{}", format.name());
            assert_eq!(detect(&head[..3]), None);
        }
    }

    #[test]
    fn frames_with_user_data_before_the_first_frame_are_skipped() {
        let mut file = [&0x184d_2a53u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
        assert_eq!(detect(&file), None);
        let user = file.clone();
        file.extend([0x28, 0xb5, 0x2f, 0xfd, 0x24, 1]);
        assert_eq!(detect(&file), Some(Compression::Zstd));
        assert_eq!(detect(&[&user[..], &[0x1f, 0x8b, 8, 0]].concat()), None);
    }
}
