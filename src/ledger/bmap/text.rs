//! The text of a block map, version 2.0.
use crate::core::stages::Hasher;
use crate::core::{BlockMap, HashKind};
use std::fmt::Write as _;

/// The version that is written.
pub const VERSION: &str = "2.0";

/// The text of `map`, whose digests are SHA-256, with its own digest.
pub fn text(map: &BlockMap) -> String {
    let blocks = |bytes: u64| bytes.div_ceil(map.block_bytes);
    let mapped: u64 = map.ranges.iter().map(|range| blocks(range.extent.len)).sum();
    let zeros = "0".repeat(Hasher::new(HashKind::Sha256).finish().len());
    let mut text = format!(
        "<?xml version=\"1.0\" ?>\n<!-- Written by haul {} -->\n<bmap version=\"{VERSION}\">\n  <ImageSize> {} \
         </ImageSize>\n  <BlockSize> {} </BlockSize>\n  <BlocksCount> {} </BlocksCount>\n  <MappedBlocksCount> \
         {mapped} </MappedBlocksCount>\n  <ChecksumType> sha256 </ChecksumType>\n  <BmapFileChecksum> ",
        env!("CARGO_PKG_VERSION"),
        map.image_bytes,
        map.block_bytes,
        blocks(map.image_bytes),
    );
    let at = text.len();
    text += &format!("{zeros} </BmapFileChecksum>\n  <BlockMap>\n");
    for range in &map.ranges {
        let (first, last) = (range.extent.offset / map.block_bytes, blocks(range.extent.end()) - 1);
        let digest = range.digest.as_ref().map_or_else(String::new, |digest| format!(" chksum=\"{digest}\""));
        let blocks = if first == last { first.to_string() } else { format!("{first}-{last}") };
        // Memory does not fail.
        let _ = writeln!(text, "    <Range{digest}> {blocks} </Range>");
    }
    text += "  </BlockMap>\n</bmap>\n";
    let mut hasher = Hasher::new(HashKind::Sha256);
    hasher.update(text.as_bytes());
    text.replace_range(at..at + zeros.len(), &hasher.finish());
    text
}
