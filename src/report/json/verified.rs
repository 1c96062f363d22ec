use super::RunReport;
use crate::core::{Extent, Verified};
use serde::Serialize;

/// What came of reading the dest back. Offsets count from the first byte of the copy; runs are of whole blocks.
#[derive(Clone, Debug, Serialize)]
pub struct VerifiedReport {
    /// It got to its end.
    pub complete: bool,
    /// It got to its end, and nothing is wrong on the dest.
    pub right: bool,
    /// Only a sample was read back.
    pub sampled: bool,
    /// Bytes that were read back.
    pub bytes: u64,
    /// Blocks that were.
    pub blocks: u64,
    /// Of the bytes, those that were read back behind the writer, while the copy ran.
    pub behind_bytes: u64,
    /// Time that it took after the copy, with all that was done about blocks that differed.
    pub elapsed_s: f64,
    /// Bytes that could be read from the page cache only; `null` where nobody can tell.
    pub cached_bytes: Option<u64>,
    /// Differed once, and were right when they were read again.
    pub misread: Vec<RunReport>,
    /// Were wrong on the dest, were written again, and are right now.
    pub rewritten: Vec<RunReport>,
    /// Are wrong on the dest.
    pub wrong: Vec<RunReport>,
    /// Why what is wrong was not written again.
    pub not_rewritten: Option<String>,
    /// The source gave other bytes when it was read again to put these right.
    pub source_changed: Vec<RunReport>,
}

impl From<&Verified> for VerifiedReport {
    fn from(verified: &Verified) -> Self {
        VerifiedReport {
            complete: verified.complete,
            right: verified.is_right(),
            sampled: verified.sampled,
            bytes: verified.bytes,
            blocks: verified.blocks,
            behind_bytes: verified.behind_bytes,
            elapsed_s: verified.elapsed.as_secs_f64(),
            cached_bytes: verified.cached_bytes,
            misread: runs(verified.misread.iter()),
            rewritten: runs(verified.rewritten.iter()),
            wrong: runs(verified.wrong.iter()),
            not_rewritten: verified.not_rewritten.clone(),
            source_changed: runs(verified.changed.iter().copied()),
        }
    }
}

fn runs(extents: impl Iterator<Item = Extent>) -> Vec<RunReport> {
    extents.map(|run| RunReport { offset_bytes: run.offset, len_bytes: run.len }).collect()
}
