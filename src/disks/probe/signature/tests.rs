use super::*;
use proptest::prelude::*;

/// Zeros, overwritten with these parts.
fn bytes(len: usize, parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; len];
    for (at, part) in parts {
        bytes[*at..at + part.len()].copy_from_slice(part);
    }
    bytes
}

fn named(parts: &[(usize, &[u8])]) -> Option<String> {
    name(&bytes(START_BYTES, parts), None)
}

/// The content that [`look`] recognizes in a file of `size` bytes with these parts.
fn looked(size: usize, parts: &[(usize, &[u8])]) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes(size, parts)).unwrap();
    look(file.path())
}

const BOOT: (usize, &[u8]) = (510, b"\x55\xaa");
const PROTECTIVE: (usize, &[u8]) = (446, b"\0\0\x02\0\xee\xff\xff\xff\x01\0\0\0\xff\xff\0\0");
const LINUX: (usize, &[u8]) = (446, b"\x80\x20\x21\0\x83\xfe\xff\xff\0\x08\0\0\0\0\x10\0");
const ISO: (usize, &[u8]) = (32768, b"\x01CD001\x01");
const ISO_LABEL: (usize, &[u8]) = (32768 + 40, b"Debian 13 amd64                 ");

#[test]
fn a_partition_table_is_recognized_and_a_bare_boot_sector_is_not() {
    assert_eq!(named(&[BOOT, PROTECTIVE, (512, b"EFI PART")]).unwrap(), "GPT");
    assert_eq!(named(&[BOOT, PROTECTIVE, (4096, b"EFI PART")]).unwrap(), "GPT");
    assert_eq!(named(&[BOOT, LINUX]).unwrap(), "MBR");
    assert_eq!(named(&[BOOT]).unwrap(), "MBR");
    assert_eq!(named(&[BOOT, (0, b"\xeb\x3c"), (446, b"some boot code, no table")]), None);
}

#[test]
fn an_mbr_written_over_a_gpt_takes_precedence() {
    assert_eq!(named(&[BOOT, LINUX, (512, b"EFI PART")]).unwrap(), "MBR");
}

#[test]
fn half_a_gpt_is_damaged() {
    const SIZE: usize = 2 << 20;
    assert_eq!(named(&[(512, b"EFI PART")]).unwrap(), "GPT (damaged)");
    assert_eq!(looked(SIZE, &[BOOT, PROTECTIVE, (SIZE - 512, b"EFI PART")]).unwrap(), "GPT (damaged)");
    assert_eq!(looked(SIZE, &[(SIZE - 4096, b"EFI PART")]).unwrap(), "GPT (damaged)");
    assert_eq!(looked(SIZE, &[BOOT, PROTECTIVE]).unwrap(), "GPT (damaged)");
}

#[test]
fn ext2_ext3_and_ext4_are_distinguished_by_features() {
    let ext = |compatible: u8, incompatible: u8, read_only: u8| {
        let features = [compatible, 0, 0, 0, incompatible, 0, 0, 0, read_only];
        named(&[(1024, b"\x10"), (1080, b"\x53\xef"), (1116, &features), (1144, b"root")]).unwrap()
    };
    assert_eq!(ext(0, 2, 3), "ext2 \"root\"");
    assert_eq!(ext(4, 2, 3), "ext3 \"root\"");
    assert_eq!(ext(4, 0x42, 3), "ext4 \"root\"");
    assert_eq!(ext(0, 2, 8), "ext4 \"root\"");
    assert_eq!(ext(0, 8, 0), "ext journal \"root\"");
    assert_eq!(named(&[(1080, b"\x53\xef")]), None, "two bytes alone are no file system");
}

#[test]
fn every_other_magic_is_recognized() {
    let utf16: Vec<u8> = "phone".encode_utf16().flat_map(u16::to_le_bytes).collect();
    type Case<'a> = (&'a [(usize, &'a [u8])], &'a str);
    let table: &[Case] = &[
        (&[(0, b"LUKS\xba\xbe\0\x01")], "LUKS1"),
        (&[(0, b"LUKS\xba\xbe\0\x02"), (24, b"vault")], "LUKS2 \"vault\""),
        (&[(512, b"LABELONE")], "LVM2 member"),
        (&[(1536, b"LABELONE")], "LVM2 member"),
        (&[(0, b"\xfc\x4e\x2b\xa9\x01"), (32, b"host:0")], "md member \"host:0\""),
        (&[(4096, b"\xfc\x4e\x2b\xa9\x01"), (4128, b"host:0")], "md member \"host:0\""),
        (&[(4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")], "bcache"),
        (
            &[(16404, b"\0\0\0\x07version"), (16500, b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01\0\0\0\x04tank")],
            "ZFS member \"tank\"",
        ),
        (&[(4086, b"SWAPSPACE2"), (1052, b"sleep")], "swap \"sleep\""),
        (&[(4086, b"S1SUSPEND\0")], "swap with a suspended system"),
        (&[(0, b"XFSB"), (108, b"data        ")], "xfs \"data\""),
        (&[(65600, b"_BHRfS_M"), (65835, b"pool")], "btrfs \"pool\""),
        (&[(1024, b"\x10\x20\xf5\xf2"), (1148, &utf16)], "f2fs \"phone\""),
        (&[BOOT, (3, b"NTFS    ")], "ntfs"),
        (&[BOOT, (3, b"EXFAT   ")], "exfat"),
        (&[(0, b"hsqs")], "squashfs"),
        (&[ISO, ISO_LABEL], "iso9660 \"Debian 13 amd64\""),
        (&[ISO, ISO_LABEL, (34817, b"BEA01"), (36865, b"NSR02")], "udf \"Debian 13 amd64\""),
        (&[(0, b"QFI\xfb")], "qcow2 image"),
        (&[(0, b"\x1f\x8b\x08")], "gzip compressed data"),
        (&[(0, b"\xfd7zXZ\0")], "xz compressed data"),
        (&[(0, b"\x28\xb5\x2f\xfd")], "zstd compressed data"),
        (&[(0, b"BZh91AY&SY")], "bzip2 compressed data"),
    ];
    for (parts, expected) in table {
        assert_eq!(named(parts).as_deref(), Some(*expected));
    }
}

#[test]
fn a_hybrid_iso_image_is_both() {
    assert_eq!(named(&[BOOT, LINUX, ISO, ISO_LABEL]).unwrap(), "MBR, iso9660 \"Debian 13 amd64\"");
}

#[test]
fn the_label_of_vfat_is_read_from_an_undeleted_root_entry() {
    // One reserved sector of 512 bytes, two tables of one sector, the root directory in sector 3.
    let boot = b"\xeb\x3c\x90mkfs.fat\0\x02\x01\x01\0\x02\x10\0\x40\x0b\xf0\x01\0";
    let entry = |name: &[u8; 11]| [name.as_slice(), b"\x08"].concat();
    let (freed, live) = (entry(b"\xe5LD        "), entry(b"NEW        "));
    let old: (usize, &[u8]) = (43, b"OLD        FAT12   ");
    let with = |parts: &[(usize, &[u8])]| named(&[&[BOOT, (0, boot), old], parts].concat()).unwrap();
    assert_eq!(with(&[(1536, &freed), (1568, &live)]), "vfat \"NEW\"");
    assert_eq!(with(&[(1536, &freed)]), "vfat \"OLD\"");
    assert_eq!(with(&[(1536, &entry(b"NO NAME    "))]), "vfat");
}

#[test]
fn the_label_of_exfat_is_read_from_its_root_directory() {
    // 512-byte sectors, clusters of one sector, the cluster heap from sector 64, the root directory in cluster 4.
    let parts: &[(usize, &[u8])] = &[
        (3, b"EXFAT   "),
        (88, b"\x40\0\0\0"),
        (96, b"\x04\0\0\0"),
        (108, b"\x09\0"),
        (66 * 512, b"\x81"),
        (66 * 512 + 32, b"\x83\x03C\0a\0m\0x\0"),
    ];
    assert_eq!(named(parts).unwrap(), "exfat \"Cam\"");
}

#[test]
fn an_array_member_with_metadata_at_the_end_is_recognized() {
    const SIZE: usize = (3 << 20) + 4096 + 512;
    let recent = (SIZE / 512 - 16) / 8 * 8 * 512;
    let found = looked(SIZE, &[(recent, b"\xfc\x4e\x2b\xa9\x01"), (recent + 32, b"host:boot")]);
    assert_eq!(found.unwrap(), "md member \"host:boot\"");
    let old = (SIZE & !0xffff) - 0x1_0000;
    assert_eq!(looked(SIZE, &[(old, b"\xfc\x4e\x2b\xa9\0")]).unwrap(), "md member");
}

#[test]
fn only_zeros_count_as_empty() {
    assert_eq!(looked(4 << 20, &[]).unwrap(), "empty");
    assert_eq!(looked(1, &[]).unwrap(), "empty");
    assert_eq!(looked(0, &[]), None);
    assert_eq!(looked(4 << 20, &[(1000, b"x")]), None);
    assert_eq!(looked(4 << 20, &[((4 << 20) - 1, b"x")]), None);
    assert_eq!(looked(4 << 20, &[((1 << 20) + 1080, b"\x53\xef")]), None, "a wiped table before a file system");
    assert_eq!(name(&[0; 512], Some(1 << 30)).unwrap(), "empty");
}

#[test]
fn labels_are_escaped_within_their_quotes() {
    assert_eq!(named(&[(0, b"XFSB"), (108, b"a\"\x1b[2J\xff\n")]).unwrap(), "xfs \"a\\\"\\u{1b}[2J\u{fffd}\"");
}

#[test]
fn only_files_and_disks_are_opened() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert_eq!(look(&fifo), None);
    assert_eq!(look(directory.path()), None);
    assert_eq!(look(Path::new("/dev/zero")), None);
    assert_eq!(look(&directory.path().join("missing")), None);
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(start in proptest::collection::vec(any::<u8>(), 0..70_000), size: Option<u64>) {
        name(&start, size);
    }

    #[test]
    fn no_bytes_behind_a_magic_make_the_parser_panic(
        mut start in proptest::collection::vec(any::<u8>(), 5000..40_000),
        which in 0usize..8,
        size: Option<u64>,
    ) {
        let magics: [(usize, &[u8]); 8] = [
            (3, b"EXFAT   "), (0, b"LUKS\xba\xbe"), (1080, b"\x53\xef"), (0, b"\xeb\x3c\x90"),
            (1024, b"\x10\x20\xf5\xf2"), (32769, b"CD001"), (16404, b"\0\0\0\x07version"), BOOT,
        ];
        let (at, magic) = magics[which];
        if start.len() >= at + magic.len() {
            start[at..at + magic.len()].copy_from_slice(magic);
        }
        name(&start, size);
    }
}
