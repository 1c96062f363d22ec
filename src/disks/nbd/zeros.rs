//! Extents of an export that read as zeros, cached from block status queries.
use crate::core::{Extent, Run, RunKind};
use std::io;

/// Number of bytes per query: few enough for a quick reply by a server that has to search.
const QUERY_BYTES: u64 = 1 << 30;

/// The latest reply: runs from `start` on.
#[derive(Debug, Default)]
pub(super) struct Zeros {
    start: u64,
    runs: Vec<(u64, RunKind)>,
}

impl Zeros {
    /// The run that begins at `within.offset`, limited to `within.end()`. If it is not cached, calls `ask` with whole
    /// blocks of an export of `size` bytes, which returns the status of at least one byte.
    ///
    /// # Errors
    /// The error of `ask`.
    pub(super) fn run_at(
        &mut self,
        within: Extent,
        block: u64,
        size: u64,
        mut ask: impl FnMut(Extent) -> io::Result<Vec<(u64, RunKind)>>,
    ) -> io::Result<Run> {
        if let Some(run) = self.known(within) {
            return Ok(run);
        }
        let start = within.offset - within.offset % block;
        let runs = ask(Extent::new(start, QUERY_BYTES.next_multiple_of(block).min(size.saturating_sub(start))))?;
        (self.start, self.runs) = (start, runs);
        // A status that does not cover a whole block is ignored.
        Ok(self.known(within).unwrap_or(Run { extent: within, kind: RunKind::Data }))
    }

    fn known(&self, within: Extent) -> Option<Run> {
        let mut at = self.start;
        if within.offset < at {
            return None;
        }
        for &(len, kind) in &self.runs {
            let end = at.saturating_add(len);
            if within.offset < end {
                let len = (end - within.offset).min(within.len);
                return Some(Run { extent: Extent::new(within.offset, len), kind });
            }
            at = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_asked_once_for_many_runs_and_again_behind_them() {
        let mut zeros = Zeros::default();
        let mut requested = Vec::new();
        let mut at = |offset, len| {
            let run = zeros.run_at(Extent::new(offset, len), 512, 4096, |extent| {
                requested.push((extent.offset, extent.len));
                Ok(vec![(512, RunKind::Data), (1024, RunKind::Zero)])
            });
            let run = run.unwrap();
            (run.extent.len, run.kind)
        };
        assert_eq!(at(0, 4096), (512, RunKind::Data));
        assert_eq!(at(512, 4096 - 512), (1024, RunKind::Zero));
        assert_eq!(at(600, 100), (100, RunKind::Zero));
        assert_eq!(at(1537, 2559), (511, RunKind::Data));
        assert_eq!(requested, [(0, 4096), (1536, 2560)]);
    }
}
