//! The use of the test pattern in a plan.

/// What to do with the test pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternAct {
    /// Write it to the dest.
    Write,
    /// Read the source and check each block.
    Check,
}

impl PatternAct {
    /// The command-line argument, which is also the verb for messages: "to {name} the rest".
    pub fn name(self) -> &'static str {
        match self {
            PatternAct::Write => "write",
            PatternAct::Check => "check",
        }
    }
}

/// The test pattern in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternUse {
    /// What to do with it.
    pub act: PatternAct,
    /// Number of the run in its blocks; `None` to detect it on the source.
    pub run: Option<u64>,
    /// Block size, in bytes.
    pub block_bytes: u32,
}
