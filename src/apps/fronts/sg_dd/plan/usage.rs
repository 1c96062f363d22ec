//! Errors in the operands. `report` has the messages.
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
    /// The same for a short option, with the argument that contains it.
    ShortOption(OsString),
    /// This operand has an invalid value; the valid ones.
    Value(&'static str, &'static str),
    /// A flag that this operand does not have.
    Flag(OsString, &'static str),
    /// It was given twice.
    Twice(Operand),
    /// `ibs=` or `obs=` differs from `bs=`.
    BlockSizes,
    /// Neither side is named.
    NoSides,
    /// append and seek.
    AppendSeek,
    /// append and sparse: a file that is appended to cannot have skipped blocks.
    AppendSparse,
    /// A pattern and a file to read.
    PatternAndFile(&'static str, OsString),
    /// `bpt=0`.
    NoTransfer,
    /// `thr=` is 0 or more than 1024.
    Threads,
    /// `thr=` transfers of `bpt=` blocks need more memory than can be requested, in bytes.
    TooMuchInFlight(u64),
    /// mmap on both sides.
    MmapTwice,
    /// `cdl=` and a `cdbsz=` below 16.
    LimitsOfShortCommands,
    /// `--verify` and sparse, of2 or append.
    VerifyWith(&'static str),
    /// `--verify` without a second side.
    VerifyWhat,
}

impl SgUsage {
    /// The exit status of `front`.
    pub fn status(&self, front: SgFront) -> u8 {
        /// The status for operands that contradict each other.
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
