use super::*;
use crate::core::stages::Hasher;
use crate::core::{BlockMap, Extent, HashKind, MappedRange};
use proptest::prelude::*;
use std::fmt::Write as _;

/// What begins a map that haul writes.
const HEAD: &str = "<?xml version=\"1.0\" ?>\n<!-- Block map of an image, made by haul: the ranges of blocks \
    that have data. \
    'haul copy'\n     and bmaptool copy them. -->\n";

/// The text of a map, in version 2.0.
fn write(map: &BlockMap) -> String {
    let algorithm = map.algorithm.unwrap_or(HashKind::Sha256);
    let zeros = "0".repeat(Hasher::new(algorithm).finish().len());
    let BlockMap { image_bytes, block_bytes, ranges, .. } = map;
    let first = |at: u64| at / block_bytes;
    let last = |end: u64| end.div_ceil(*block_bytes) - 1;
    let extents = || ranges.iter().map(|range| range.extent);
    let mapped: u64 = extents().map(|extent| last(extent.end()) - first(extent.offset) + 1).sum();
    let mut text = HEAD.to_owned();
    let _ = write!(
        text,
        "<bmap version=\"2.0\">\n    <ImageSize> {image_bytes} </ImageSize>\n    <BlockSize> {block_bytes} \
         </BlockSize>\n    \
         <BlocksCount> {} </BlocksCount>\n    <MappedBlocksCount> {mapped} </MappedBlocksCount>\n    <ChecksumType> {} \
         </ChecksumType>\n    <BmapFileChecksum> ",
        image_bytes.div_ceil(*block_bytes),
        algorithm.name()
    );
    let at = text.len();
    let _ = writeln!(text, "{zeros} </BmapFileChecksum>\n    <BlockMap>");
    for range in ranges {
        let (first, last) = (first(range.extent.offset), last(range.extent.end()));
        let blocks = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let digest = range.digest.as_ref().map(|digest| format!(" chksum=\"{digest}\"")).unwrap_or_default();
        let _ = writeln!(text, "        <Range{digest}> {blocks} </Range>");
    }
    text.push_str("    </BlockMap>\n</bmap>\n");
    let mut hasher = Hasher::new(algorithm);
    hasher.update(text.as_bytes());
    text.replace_range(at..at + zeros.len(), &hasher.finish());
    text
}

fn digest(kind: HashKind, bytes: &[u8]) -> String {
    let mut hasher = Hasher::new(kind);
    hasher.update(bytes);
    hasher.finish()
}

/// A map of 5 blocks, the last one short, in the form of a version.
fn text(version: &str, own: &str, attribute: &str, kind: HashKind) -> String {
    let ranges = [("0-1", "one"), ("4", "two")];
    let range = |(blocks, bytes): (&str, &str)| {
        format!("<Range {attribute}=\"{}\"> {blocks} </Range>", digest(kind, bytes.as_bytes()))
    };
    let zeros = "0".repeat(digest(kind, b"").len());
    let algorithm =
        if attribute == "chksum" { format!("<ChecksumType> {} </ChecksumType>", kind.name()) } else { String::new() };
    let itself = if own.is_empty() { String::new() } else { format!("<{own}> {zeros} </{own}>") };
    let text = format!(
        "<?xml version=\"1.0\" ?>\n<!-- made by a test -->\n<bmap version=\"{version}\">\n\
         <ImageSize> 16484 </ImageSize><BlockSize> 4096 </BlockSize><BlocksCount> 5 </BlocksCount><!-- x -->\
         <MappedBlocksCount> 3 </MappedBlocksCount>\
         {algorithm}{itself}<BlockMap>{}{}</BlockMap></bmap>",
        range(ranges[0]),
        range(ranges[1])
    );
    if own.is_empty() { text } else { text.replacen(&zeros, &digest(kind, text.as_bytes()), 1) }
}

#[test]
fn maps_of_each_version_are_read() {
    for (version, own, attribute, kind) in [
        ("1.2", "", "sha1", HashKind::Sha1),
        ("1.3", "BmapFileSHA1", "sha1", HashKind::Sha1),
        ("1.4", "BmapFileChecksum", "chksum", HashKind::Sha256),
        ("2.0", "BmapFileChecksum", "chksum", HashKind::Sha256),
        ("2.0", "BmapFileChecksum", "chksum", HashKind::Sha512),
    ] {
        let text = text(version, own, attribute, kind);
        assert!(is_bmap(&text));
        let map = parse("disk.bmap", &text).unwrap();
        assert_eq!((map.image_bytes, map.block_bytes, map.algorithm), (16484, 4096, Some(kind)), "{version}");
        let extents: Vec<Extent> = map.ranges.iter().map(|range| range.extent).collect();
        assert_eq!(extents, [Extent::new(0, 8192), Extent::new(16384, 100)], "the last block ends with the image");
        assert_eq!(map.ranges[0].digest.as_deref(), Some(digest(kind, b"one").as_str()));
        assert_eq!((map.mapped_bytes(), map.digested_ranges()), (8292, 2));
    }
}

#[test]
fn a_damaged_or_foreign_map_is_refused_with_its_reason() {
    let good = text("2.0", "BmapFileChecksum", "chksum", HashKind::Sha256);
    let unsealed = |text: &str| {
        let at = text.find("<BmapFileChecksum> ").unwrap() + 19;
        let zeros = format!("{}{}{}", &text[..at], "0".repeat(64), &text[at + 64..]);
        zeros.replacen(&"0".repeat(64), &digest(HashKind::Sha256, zeros.as_bytes()), 1)
    };
    assert_eq!(unsealed(&good), good);
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from));
        unsealed(&good.replace(from, to))
    };
    let cases = [
        (good.replace("16484", "16485"), "it is damaged: its sha256 digest is"),
        (changed("version=\"2.0\"", "version=\"3.0\""), "its version is '3.0'"),
        (changed("version=\"2.0\"", "version=\"1.1\""), "its version is '1.1'"),
        (changed("> sha256 <", "> crc32 <"), "its checksum algorithm, 'crc32'"),
        (changed("> 5 <", "> 6 <"), "BlocksCount is another number"),
        (changed("> 3 <", "> 4 <"), "MappedBlocksCount is another number"),
        (changed("> 4 <", "> 5 <"), "its range 5-5 is not between block 2 and block 5"),
        (changed("> 4 <", "> 1 <"), "its range 1-1 is not between block 2"),
        (changed("> 0-1 <", "> 1-0 <"), "its range 1-0"),
        (changed("> 0-1 <", "> a-b <"), "'a-b' is not a range of blocks"),
        (changed("> 4096 <", "> 0 <"), "blocks of 0 bytes"),
        (changed("> 4096 <", "> -1 <"), "'-1' is not a number"),
        (changed("chksum=\"", "chksum=\"x"), "is no sha256 digest"),
        (good[..good.len() - 30].to_owned(), "it"),
        ("<html><body>bmap</body></html>".to_owned(), "its outermost element is html"),
        ("no XML".to_owned(), "it ends too early"),
    ];
    for (text, words) in cases {
        let error = parse("disk.bmap", &text).unwrap_err();
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(!is_bmap("<html><body>not found</body></html>"));
}

prop_compose! {
    fn maps()(
        block_log in 9u32..17, blocks in 1u64..2000, tail in 0u64..512,
        gaps in prop::collection::vec((1u64..9, 1u64..9, any::<bool>()), 0..40),
    ) -> BlockMap
    {
        let block_bytes = 1u64 << block_log;
        let image_bytes = (blocks * block_bytes).saturating_sub(tail);
        let mut at = 0;
        let mut ranges = Vec::new();
        for (gap, len, has) in gaps {
            let (first, end) = (at + gap, at + gap + len);
            at = end;
            if end > blocks {
                break;
            }
            let extent = Extent::new(first * block_bytes, (end * block_bytes).min(image_bytes) - first * block_bytes);
            let digest = has.then(|| digest(HashKind::Sha256, &end.to_le_bytes()).into());
            ranges.push(MappedRange { extent, digest });
        }
        let algorithm = ranges.iter().any(|range| range.digest.is_some()).then_some(HashKind::Sha256);
        BlockMap { address: "m".to_owned(), version: "2.0".to_owned(), image_bytes, block_bytes, algorithm, ranges }
    }
}

proptest! {
    #[test]
    fn a_map_that_was_written_is_read_as_the_same(map in maps()) {
        prop_assert_eq!(parse("m", &write(&map)), Ok(map));
    }

    #[test]
    fn no_change_of_a_map_is_read_as_intact(map in maps(), at in any::<prop::sample::Index>(), bit in 0u8..7) {
        let mut bytes = write(&map).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(text) = String::from_utf8(bytes) {
            prop_assert!(parse("m", &text).is_err() || text.eq_ignore_ascii_case(&write(&map)));
        }
    }
}
