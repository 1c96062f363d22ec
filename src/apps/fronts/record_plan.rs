//! What a copy by records does, as data. dd leaves nothing open, so what was asked for is what will be done.
use crate::core::{Error, Extent, Side};
use std::ffi::OsString;
use std::io;

/// So many records, and so many bytes behind them, fewer than a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Whole records.
    pub records: u64,
    /// Bytes behind them.
    pub bytes: u64,
}

impl Amount {
    /// Nothing at all.
    pub fn is_zero(self) -> bool {
        self == Amount::default()
    }

    /// In bytes, where a record has `record_bytes`; `None` if 63 bits do not hold that.
    pub fn in_bytes(self, record_bytes: u64) -> Option<u64> {
        let bytes = self.records.checked_mul(record_bytes)?.checked_add(self.bytes)?;
        i64::try_from(bytes).is_ok().then_some(bytes)
    }
}

/// How a file is opened: dd's `iflag=` and `oflag=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenWords {
    /// O_APPEND.
    pub append: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DIRECTORY.
    pub directory: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_NONBLOCK.
    pub nonblock: bool,
    /// O_NOATIME.
    pub noatime: bool,
    /// O_NOCTTY.
    pub noctty: bool,
    /// O_NOFOLLOW.
    pub nofollow: bool,
    /// Give the page cache back behind the copy.
    pub nocache: bool,
    /// O_EXCL: a block device that is in use, or an existing file where one would be created, is refused.
    pub excl: bool,
    /// Take an advisory lock (flock), or fail.
    pub flock: bool,
}

/// One side of a copy by records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSide {
    /// What to open; `None`: standard input or output.
    pub path: Option<OsString>,
    /// How.
    pub words: OpenWords,
    /// Bytes of a record: what one read asks for, what one write gives.
    pub record_bytes: u64,
    /// What to skip before the first byte.
    pub skip: Amount,
}

/// What happens to the dest when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestWords {
    /// It must not exist.
    pub excl: bool,
    /// It must exist.
    pub nocreat: bool,
    /// What is in it stays.
    pub notrunc: bool,
}

/// Lines of any length to records of one length, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingKind {
    /// Lines become records: padded with spaces, or cut.
    Block,
    /// Records become lines: spaces at their end go, a newline comes.
    Unblock,
}

/// The framing, in the characters of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Which way.
    pub kind: FramingKind,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// What ends a line.
    pub newline: u8,
    /// What pads a record.
    pub space: u8,
}

/// What the data is made durable with at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// fdatasync(2).
    Data,
    /// fsync(2).
    All,
}

/// How much is printed on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusOutput {
    /// Records and the line about the transfer.
    #[default]
    All,
    /// Records only.
    NoTransfer,
    /// Errors only.
    Errors,
    /// Everything, and the line about the transfer once a second.
    Progress,
}

/// Bytes that are made up where there is no file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All bits set.
    Ones,
    /// Each 32-bit word of a record, big-endian, is the record's number.
    Addresses,
    /// Random, but not for secrets: made for speed.
    Random,
}

/// Which 32-bit words of a record have to hold its number, big-endian: what [`Pattern::Addresses`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressCheck {
    /// The first one.
    First,
    /// Each of them.
    All,
}

/// What is done about a medium that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorPolicy {
    /// A call that failed is made so many times again.
    pub retries: u32,
    /// Records that cannot be read become zeros, and count as read.
    pub zero_unreadable: bool,
    /// Records that cannot be written, or differ, are skipped.
    pub pass_unwritable: bool,
    /// What a disk fetches of an unreadable record anyway takes its place, where it is reached by its own commands;
    /// true: corrected as far as possible.
    pub fetch_corrected: Option<bool>,
    /// More unreadable records consecutively end the copy; 0: any number goes.
    pub bad_in_a_row_max: u64,
}

/// Everything a copy by records does.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordPlan {
    /// Where bytes come from.
    pub source: RecordSide,
    /// Where they go.
    pub dest: RecordSide,
    /// What happens to the dest when it is opened.
    pub dest_words: DestWords,
    /// Most to read; `None`: to the end.
    pub count: Option<Amount>,
    /// Records of the dest are filled across those of the source; otherwise each one read is one written.
    pub reblock: bool,
    /// A read that brings less than a record is followed by another.
    pub full_reads: bool,
    /// Records that are too short are filled with this byte.
    pub pad: Option<u8>,
    /// Each two bytes change places.
    pub swab: bool,
    /// What each byte becomes.
    pub table: Option<Box<[u8; 256]>>,
    /// Lines to records or back.
    pub framing: Option<Framing>,
    /// Records of zeros are skipped on the dest.
    pub sparse: bool,
    /// A failed read is not the end.
    pub keep_going: bool,
    /// At the end.
    pub durable: Option<Durable>,
    /// What is reported.
    pub telling: StatusOutput,
    /// Records that one call moves at most, and that are examined for zeros as one; `None`: as many as pay.
    pub transfer_records: Option<u64>,
    /// Buffers between reading and writing, 1: one after the other; `None`: as many as pay.
    pub buffers: Option<usize>,
    /// What to make up instead of reading.
    pub pattern: Option<Pattern>,
    /// Records that were read have to hold their own number.
    pub addresses: Option<AddressCheck>,
    /// A second file or pipe for all bytes.
    pub second: Option<OsString>,
    /// The dest is read and compared with the source; nothing is written.
    pub compare: bool,
    /// The last transfer is written even if it is zeros that could be skipped.
    pub write_last: bool,
    /// What is done about a medium that fails.
    pub care: ErrorPolicy,
}

impl RecordPlan {
    /// The bytes that may change on the dest: to the largest offset where the number is unknown come, and where the
    /// dest is cut at its first record.
    pub fn written(&self) -> Extent {
        let (ibs, obs) = (self.source.record_bytes, self.dest.record_bytes);
        let offset = if self.dest_words.notrunc {
            self.dest.skip.in_bytes(obs).unwrap_or(i64::MAX as u64)
        } else {
            // As dd has it: whole records keep what is before them.
            Amount { bytes: 0, ..self.dest.skip }.in_bytes(obs).unwrap_or(i64::MAX as u64)
        };
        let all_behind = u64::MAX - offset;
        // A short record at the end may be filled; a line may become a record of any length.
        let most = self.count.filter(|_| self.framing.is_none() && self.dest_words.notrunc);
        let most = most.and_then(|count| (count.records + u64::from(count.bytes > 0)).checked_mul(ibs));
        Extent::new(offset, most.unwrap_or(all_behind).min(all_behind))
    }
}

impl Default for RecordPlan {
    fn default() -> Self {
        let side = RecordSide { record_bytes: 512, ..RecordSide::default() };
        RecordPlan {
            source: side.clone(),
            dest: side,
            dest_words: DestWords::default(),
            count: None,
            reblock: true,
            full_reads: false,
            pad: None,
            swab: false,
            table: None,
            framing: None,
            sparse: false,
            keep_going: false,
            durable: None,
            telling: StatusOutput::All,
            transfer_records: None,
            buffers: None,
            pattern: None,
            addresses: None,
            second: None,
            compare: false,
            write_last: false,
            care: ErrorPolicy::default(),
        }
    }
}

/// What dd has a sentence for. The path is reported by the side.
#[derive(Debug)]
pub enum Diagnostic {
    /// A side cannot be opened.
    Open(io::Error),
    /// Another haul is busy with the dest.
    Busy(Box<Error>),
    /// A side takes commands, and no reads and writes.
    CommandsOnly(Box<Error>),
    /// Flags of a standard stream cannot be changed.
    SetFlags(io::Error),
    /// A read failed.
    Read(io::Error),
    /// A write failed; `midway` is true where records are filled across those of the source and this was a whole one.
    Write {
        /// See above.
        midway: bool,
        /// The kernel's error.
        error: io::Error,
    },
    /// The place to begin at cannot be reached.
    Skip(io::Error),
    /// A read brought this many bytes, fewer than a record, and was not the last, where records are counted.
    PartialRead(u64),
    /// The source ends before the place to begin at.
    SkipTooFar,
    /// The end of the dest cannot be set, to this many bytes.
    Truncate(u64, io::Error),
    /// No file is as long as this many records of the dest.
    TooLong(u64),
    /// The data cannot be made durable.
    Sync(Durable, io::Error),
    /// The page cache cannot be given back.
    Discard(io::Error),
    /// A side cannot be closed.
    Close(io::Error),
    /// No memory for a buffer of so many bytes.
    Memory(u64),
    /// Cases of sg_dd and its variants only.
    Careful(ExtraDiagnostic),
}

/// What goes wrong where more is asked for than dd does. Records are counted from the beginning of the side.
#[derive(Debug)]
pub enum ExtraDiagnostic {
    /// Another process has the lock.
    Locked(io::Error),
    /// A record cannot be read, and zeros take its place.
    Unreadable {
        /// Number of the record.
        record: u64,
        /// What the kernel or the disk said.
        error: io::Error,
        /// Why the disk could not fetch it anyway, where that was tried.
        unfetched: Option<io::Error>,
    },
    /// A record cannot be read, and what the disk fetched of it anyway takes its place.
    Fetched(u64, io::Error),
    /// The disk does not compare by itself: it is read, and compared here.
    ReadToCompare(io::Error),
    /// The driver shares no memory: it copies.
    NotShared(io::Error),
    /// So many records consecutively could not be read, which is more than was allowed.
    TooManyBad(u64),
    /// A record cannot be written, and is skipped.
    Unwritable(u64, io::Error),
    /// The dest differs from the source, first at this byte of this record.
    Differs {
        /// Number of the record.
        record: u64,
        /// The byte in it.
        byte: u64,
    },
    /// The dest ends at this record, before the source does.
    DestEnds(u64),
    /// A record of the source does not hold its number: at this byte of it stands another word.
    WrongAddress {
        /// Number of the record.
        record: u64,
        /// The first byte of the word.
        byte: u64,
        /// The word.
        found: u32,
    },
    /// The dest cannot be read to compare with it.
    Compare(io::Error),
    /// The second dest cannot be opened or written to.
    Second(io::Error),
}

impl ExtraDiagnostic {
    /// The copy continues as if nothing had been.
    pub fn is_passed_over(&self) -> bool {
        use ExtraDiagnostic::{Fetched, NotShared, ReadToCompare, Unreadable, Unwritable};
        matches!(self, Unreadable { .. } | Fetched(..) | Unwritable(..) | ReadToCompare(_) | NotShared(_))
    }
}

/// Receives each message at the moment at which dd prints it.
pub trait RecordListener: Send + Sync {
    /// A failure of one side. Where `with_counts` is true the counts are passed too: the copy continues behind it.
    fn complain(&self, side: Side, complaint: &Diagnostic, with_counts: bool);

    /// Progress was due, and another record has been copied since.
    fn progress(&self) {}
}
