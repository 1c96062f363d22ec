//! Errors in dd's operands. `report` has the messages.
use std::ffi::OsString;

/// Words that exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Any two of ascii, ebcdic, ibm.
    Charsets,
    /// block and unblock, given or implied.
    Framings,
    /// lcase and ucase.
    Cases,
    /// excl and nocreat.
    Creation,
    /// direct and nocache.
    Caches,
}

/// Why a command line of dd is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdUsage {
    /// An operand that dd does not have.
    Operand(OsString),
    /// A word of `conv=` that dd does not have.
    Conversion(OsString),
    /// A word of `iflag=` that dd does not have.
    InputFlag(OsString),
    /// A word of `oflag=` that dd does not have.
    OutputFlag(OsString),
    /// A word of `status=` that dd does not have.
    StatusLevel(OsString),
    /// Not a number, or one that is too small.
    Number(OsString),
    /// A number that is too large.
    Overflow(OsString),
    /// Words that exclude each other.
    Conflict(Conflict),
    /// `--foo`.
    LongOption(OsString),
    /// `--` followed by too few letters.
    Ambiguous(OsString),
    /// `--help=x`: the option.
    NoArgument(&'static str),
    /// `-x`: the first letter.
    ShortOption(u8),
}

impl DdUsage {
    /// Whether a reference to `--help` follows the message.
    pub fn refers_to_help(&self) -> bool {
        !matches!(self, DdUsage::Number(_) | DdUsage::Overflow(_) | DdUsage::Conflict(_))
    }
}

/// A warning about the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdWarning {
    /// `0x…` is a product with a factor of 0, not a hexadecimal number.
    ZeroMultiplier,
    /// `oflag=append` without `conv=notrunc`.
    AppendTruncates,
}
