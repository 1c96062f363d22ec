//! What is done with the test pattern.

/// What is done with the test pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatternAct {
    /// It is written to the dest.
    Write,
    /// The source is read and each block judged.
    Check,
}

impl PatternAct {
    /// The word of the command line, which is the verb for messages too: "to {name} the rest".
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
    /// What is done with it.
    pub act: PatternAct,
    /// The run that its blocks carry; `None`: to be found on the source.
    pub run: Option<u64>,
    /// Bytes of a block.
    pub block_bytes: u32,
}
