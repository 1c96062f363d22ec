//! What can be wrong with the words. The room `report` has the sentences.
use crate::apps::fronts::sg_plan::SgFront;
use std::ffi::OsString;

/// IFILE or OFILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `if=`.
    If,
    /// `of=`.
    Of,
}

/// Why a command line is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SgUsage {
    /// An operand or long option that this program does not have.
    Unrecognized(OsString),
    /// The same of a short option, with the word that it stands in.
    ShortOption(OsString),
    /// The value of this operand, and what it may be.
    Value(&'static str, &'static str),
    /// A word that this operand does not have.
    Flag(OsString, &'static str),
    /// Given a second time.
    Twice(Operand),
    /// `ibs=` or `obs=` is another than `bs=`.
    BlockSizes,
    /// Neither side is named.
    NoSides,
    /// append and seek.
    AppendSeek,
    /// append and sparse: what is skipped has no place at the end.
    AppendSparse,
    /// A pattern and a file to read.
    PatternAndFile(&'static str, OsString),
    /// `bpt=0`.
    NoTransfer,
    /// `thr=` is 0 or more than 1024.
    Threads,
    /// `thr=` transfers of `bpt=` blocks need more memory than can be asked for: so many bytes.
    TooMuchInFlight(u64),
    /// mmap on both sides.
    MmapTwice,
    /// `cdl=` and a `cdbsz=` below 16.
    LimitsOfShortCommands,
    /// `--verify` and sparse, of2 or append.
    VerifyWith(&'static str),
    /// `--verify` with nothing to compare with.
    VerifyWhat,
}

impl SgUsage {
    /// The status with which `front` ends.
    pub fn status(&self, front: SgFront) -> u8 {
        /// Words that are fine one by one contradict each other.
        const CONTRADICTION: u8 = 31;
        let sgp = front == SgFront::Sgp;
        match self {
            SgUsage::Twice(Operand::If) if front == SgFront::Sg => 1,
            SgUsage::PatternAndFile(..) | SgUsage::VerifyWith(_) | SgUsage::VerifyWhat => CONTRADICTION,
            SgUsage::AppendSparse | SgUsage::TooMuchInFlight(_) | SgUsage::LimitsOfShortCommands => CONTRADICTION,
            SgUsage::Twice(_) | SgUsage::BlockSizes | SgUsage::NoSides | SgUsage::AppendSeek if !sgp => CONTRADICTION,
            _ => 1,
        }
    }
}
