//! Detects the run on a disk from samples of it.
use super::{Mark, PATTERN_BLOCK_BYTES_MIN};

/// Searches samples of a disk for marks, to find the run and its block size.
#[derive(Clone, Copy, Debug)]
pub struct Surveyor {
    run: Option<u64>,
    newest: Option<Mark>,
}

impl Surveyor {
    /// Size and alignment of a sample, in bytes; larger blocks are not detected.
    pub const SAMPLE_BYTES: u32 = 4096;

    /// Searches for marks of this run; `None` for the newest run.
    pub fn new(run: Option<u64>) -> Self {
        Surveyor { run, newest: None }
    }

    /// Searches a sample.
    pub fn look(&mut self, bytes: &[u8]) {
        let wanted = |mark: &Mark| {
            Self::SAMPLE_BYTES.is_multiple_of(mark.block_bytes) && self.run.is_none_or(|run| run == mark.run)
        };
        let marks = bytes.chunks(PATTERN_BLOCK_BYTES_MIN as usize).filter_map(Mark::read).filter(wanted);
        self.newest = marks.chain(self.newest).max_by_key(|mark| mark.run);
    }

    /// A mark of the run, of any offset; `None` if no sample had one.
    pub fn found(&self) -> Option<Mark> {
        self.newest
    }
}
