//! Finding out which run wrote a disk, from samples of it.
use super::{Mark, PATTERN_BLOCK_BYTES_MIN};

/// Looks for marks in samples of a disk, to learn the run and the length of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Surveyor {
    run: Option<u64>,
    newest: Option<Mark>,
}

impl Surveyor {
    /// Bytes of a sample, which begins on a multiple of as many; longer blocks are not searched for.
    pub const SAMPLE_BYTES: u32 = 4096;

    /// Looks for marks of this run; `None`: for the newest there is.
    pub fn new(run: Option<u64>) -> Self {
        Surveyor { run, newest: None }
    }

    /// Looks at a sample.
    pub fn look(&mut self, bytes: &[u8]) {
        let wanted = |mark: &Mark| {
            Self::SAMPLE_BYTES.is_multiple_of(mark.block_bytes) && self.run.is_none_or(|run| run == mark.run)
        };
        let marks = bytes.chunks(PATTERN_BLOCK_BYTES_MIN as usize).filter_map(Mark::read).filter(wanted);
        self.newest = marks.chain(self.newest).max_by_key(|mark| mark.run);
    }

    /// A mark of the run, wherever it lay; `None`: there was none in any sample.
    pub fn found(&self) -> Option<Mark> {
        self.newest
    }
}
