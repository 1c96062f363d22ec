//! Formats that are identified by bytes at a fixed offset.
use super::seen::{Seen, labelled};
use super::{file_systems, volumes};

/// Bytes at an offset, and the format they identify.
struct Magic {
    at: u64,
    bytes: &'static [u8],
    means: MagicAction,
}

/// How to describe a format.
enum MagicAction {
    /// By this name.
    Is(&'static str),
    /// By this name and the label at an offset, with a maximum length.
    Labelled(&'static str, u64, usize),
    /// By the result of a function; `None` if it is another format.
    Parsed(fn(&Seen) -> Option<String>),
}

use MagicAction::{Is, Labelled, Parsed};

const fn magic(at: u64, bytes: &'static [u8], means: MagicAction) -> Magic {
    Magic { at, bytes, means }
}

/// What ends the names of disk images that are not raw.
pub(super) const IMAGE: &str = " image";

/// Ordered: containers before their possible content, long magics before short ones.
#[rustfmt::skip]
const MAGICS: &[Magic] = &[
    // Containers and members of volumes.
    magic(0, b"LUKS\xba\xbe", Parsed(volumes::luks)),
    magic(3, b"-FVE-FS-", Is("BitLocker")),
    magic(0, b"LABELONE", Is("LVM2 member")),
    magic(512, b"LABELONE", Is("LVM2 member")),
    magic(1024, b"LABELONE", Is("LVM2 member")),
    magic(1536, b"LABELONE", Is("LVM2 member")),
    magic(0, b"\xfc\x4e\x2b\xa9", Parsed(volumes::md_first)),
    magic(4096, b"\xfc\x4e\x2b\xa9", Parsed(volumes::md_second)),
    magic(4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", Is("bcache")),
    magic(4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", Is("bcachefs")),
    magic((16 << 10) + 20, b"\0\0\0\x07version", Parsed(volumes::zfs)),
    magic(512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh", Is("Stratis member")),
    magic(0, b"bluestore block device", Is("Ceph BlueStore")),
    magic(0, b"integrt\0", Is("dm-integrity")),
    magic(0, b"verity\0\0", Is("dm-verity")),
    // Swap space: the magic is at the end of the first page, so it depends on the page size.
    magic(4086, b"SWAPSPACE2", Labelled("swap", 1052, 16)),
    magic(4086, b"SWAP-SPACE", Is("swap")),
    magic(8182, b"SWAPSPACE2", Labelled("swap", 1052, 16)),
    magic(16374, b"SWAPSPACE2", Labelled("swap", 1052, 16)),
    magic(65526, b"SWAPSPACE2", Labelled("swap", 1052, 16)),
    magic(4086, b"S1SUSPEND", Is("swap with a suspended system")),
    magic(4086, b"S2SUSPEND", Is("swap with a suspended system")),
    magic(4086, b"ULSUSPEND", Is("swap with a suspended system")),
    magic(4086, b"LINHIB0001", Is("swap with a suspended system")),
    // File systems.
    magic(0, b"XFSB", Labelled("xfs", 108, 12)),
    magic(65536 + 64, b"_BHRfS_M", Labelled("btrfs", 65536 + 299, 256)),
    magic(1080, b"\x53\xef", Parsed(file_systems::ext)),
    magic(1024, b"\x10\x20\xf5\xf2", Parsed(file_systems::f2fs)),
    magic(3, b"NTFS    ", Is("ntfs")),
    magic(3, b"EXFAT   ", Parsed(file_systems::exfat)),
    magic(1024, b"\xe2\xe1\xf5\xe0", Labelled("erofs", 1024 + 64, 16)),
    magic(0, b"hsqs", Is("squashfs")),
    magic(32, b"NXSB", Is("apfs")),
    magic(1024, b"H+\0\x04", Is("hfs+")),
    magic(1024, b"HX\0\x05", Is("hfs+")),
    magic(32768, b"JFS1", Labelled("jfs", 32768 + 152, 16)),
    magic(65536 + 52, b"ReIsEr", Labelled("reiserfs", 65536 + 100, 16)),
    magic(65536, b"\x01\x16\x19\x70\0\0\0\x01", Is("gfs2")),
    magic(8192, b"OCFSV2", Is("ocfs2")),
    magic(1024 + 6, b"\x34\x34", Parsed(nilfs)),
    // Image formats other than raw.
    magic(0, b"QFI\xfb", Is("qcow2 image")),
    magic(0, b"KDMV", Is("VMDK image")),
    magic(0, b"vhdxfile", Is("VHDX image")),
    magic(0, b"conectix", Is("VHD image")),
    magic(64, b"\x7f\x10\xda\xbe", Is("VDI image")),
    magic(0, b"\x3a\xff\x26\xed", Is("Android sparse image")),
    magic(257, b"ustar", Is("tar archive")),
    // Compressed data.
    magic(0, b"\xfd7zXZ\0", Is("xz compressed data")),
    magic(0, b"\x28\xb5\x2f\xfd", Is("zstd compressed data")),
    magic(0, b"\x04\x22\x4d\x18", Is("lz4 compressed data")),
    magic(4, b"1AY&SY", Parsed(bzip2)),
    magic(0, b"LZIP\x01", Is("lzip compressed data")),
    magic(0, b"7z\xbc\xaf\x27\x1c", Is("7z archive")),
    magic(0, b"PK\x03\x04", Is("zip archive")),
    magic(0, b"\x1f\x8b\x08", Is("gzip compressed data")),
];

/// The description by the first matching magic.
pub(super) fn content(seen: &Seen) -> Option<String> {
    MAGICS.iter().filter(|magic| seen.has(magic.at, magic.bytes)).find_map(|magic| match magic.means {
        Is(name) => Some(name.to_owned()),
        Labelled(name, at, len) => Some(labelled(name, seen.label(at, len))),
        Parsed(describe) => describe(seen),
    })
}

fn bzip2(seen: &Seen) -> Option<String> {
    (seen.has(0, b"BZh") && seen.byte(3)?.is_ascii_digit()).then(|| "bzip2 compressed data".to_owned())
}

/// The magic has only two bytes, so the revision and the size of the superblock are checked too.
fn nilfs(seen: &Seen) -> Option<String> {
    (seen.u32(1024)? == 2 && (64..=1024).contains(&seen.u16(1024 + 8)?)).then(|| "nilfs2".to_owned())
}
