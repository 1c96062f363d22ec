//! Digests of some blocks of a shard, for the manifest of the whole. A worker writes one such text with each
//! checkpoint.
use super::lines_of_record::{self, More};
use crate::core::{DigestedBlock, Extent};
use crate::ledger::first_line::FirstLine;
use crate::ledger::{Fault, FaultKind};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Blocks of a shard: one line, and lines with the digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardBlocks {
    /// The job: the digest of its plan.
    pub job: String,
    /// The shard, from 1.
    pub shard: u64,
    /// The attempt that copied them.
    pub attempt: u64,
    /// Number of blocks, in further lines.
    pub block_count: u64,
    /// The blocks; offsets count from the first byte of the shard.
    #[serde(skip)]
    pub blocks: Vec<DigestedBlock>,
}

impl FirstLine for ShardBlocks {
    const KEY: &'static str = "haul_shard_blocks";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        Ok(())
    }
}

impl ShardBlocks {
    /// The text.
    ///
    /// # Errors
    /// A line is too long.
    pub fn to_text(&self) -> Result<String, Fault> {
        let head = ShardBlocks { block_count: self.blocks.len() as u64, ..self.clone() };
        let blocks = self.blocks.iter().map(|block| (block.extent.offset, block.extent.len, block.digest)).collect();
        lines_of_record::to_text(&head, &More { blocks, ..More::default() })
    }

    /// Reads the text.
    ///
    /// # Errors
    /// It is no such record, from a newer haul, damaged or incomplete.
    pub fn parse(text: &str) -> Result<ShardBlocks, Fault> {
        let is_complete = |head: &ShardBlocks, lists: &More| {
            let is_possible = lists.blocks.iter().all(|(offset, len, _)| offset.checked_add(*len).is_some());
            lists.blocks.len() as u64 == head.block_count && is_possible
        };
        let (head, lists) = lines_of_record::parse(text, is_complete)?;
        let block = |(offset, len, digest)| DigestedBlock { extent: Extent::new(offset, len), digest };
        Ok(ShardBlocks { blocks: lists.blocks.into_iter().map(block).collect(), ..head })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::BlockDigest;

    #[test]
    fn blocks_return_as_they_were_written() {
        let digest = |number: u64| (!number.is_multiple_of(3)).then(|| BlockDigest::blake3(&number.to_le_bytes()));
        let block = |number| DigestedBlock { extent: Extent::new(number * 65536, 65536), digest: digest(number) };
        let blocks = ShardBlocks {
            shard: 3,
            attempt: 2,
            block_count: 900,
            blocks: (0..900).map(block).collect(),
            ..ShardBlocks::default()
        };
        let text = blocks.to_text().unwrap();
        assert_eq!((ShardBlocks::parse(&text).unwrap(), text.lines().count()), (blocks, 4));
        let lines: Vec<&str> = text.lines().collect();
        assert!(ShardBlocks::parse(&(lines[..3].join("\n") + "\n")).is_err(), "a line is missing");
        assert!(ShardBlocks::parse(&text.replace("[65536,", "[65537,")).is_err());
    }
}
