//! Messages. Those for which scripts may search begin like those of sg3_utils; what to do follows.
use crate::apps::fronts::error_text::{self, strerror};
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic};
use crate::apps::fronts::sg_dd::plan::{CommandRefusal, CountRefusal, Operand, Refusal, SgUsage};
use crate::apps::fronts::sg_plan::SgFront;
use crate::core::{DeviceError, Error, Side};
use crate::report::units;
use std::ffi::OsStr;
use std::io;

/// Why a command line is invalid.
pub fn usage(usage: &SgUsage, program: &[u8], front: SgFront) -> Vec<u8> {
    let lossy = |word: &OsStr| word.to_string_lossy().into_owned();
    let help = "For more information use '--help'\n";
    let name = String::from_utf8_lossy(program);
    let text = match usage {
        SgUsage::Unrecognized(word) => format!("Unrecognized option '{}'\n{help}", lossy(word)),
        SgUsage::ShortOption(word) => format!("Unrecognised short option in '{}', try '--help'\n", lossy(word)),
        SgUsage::Value(operand, what) => format!("{name}: bad argument to '{operand}=', expect {what}\n"),
        SgUsage::Flag(word, operand) => {
            format!("unrecognised flag: {}\n{name}: bad argument to '{operand}='\n{help}", lossy(word))
        }
        SgUsage::Twice(operand) => {
            let (file, word) = if *operand == Operand::If { ("IFILE", "if=") } else { ("OFILE", "of=") };
            match front {
                SgFront::Sg => format!("Second {file} argument??\n"),
                SgFront::Sgp | SgFront::Sgm => format!("Second '{word}' argument??\n"),
            }
        }
        SgUsage::BlockSizes => format!("If 'ibs' or 'obs' given must be same as 'bs'\n{help}"),
        SgUsage::NoSides => {
            format!("Won't default both IFILE to stdin _and_ OFILE to stdout: give if=, of= or both\n{help}")
        }
        SgUsage::AppendSeek => "Can't use both append and seek switches\n".to_owned(),
        SgUsage::AppendSparse => "Can't use both append and sparse: skipped blocks need an offset\n".to_owned(),
        SgUsage::PatternAndFile(word, path) => format!("iflag={word} and if={} contradict\n", lossy(path)),
        SgUsage::NoTransfer => "bpt must be greater than 0\n".to_owned(),
        SgUsage::Threads => format!("too few or too many threads requested: thr= takes 1 to 1024\n{help}"),
        SgUsage::TooMuchInFlight(bytes) => {
            let memory = units::bytes(*bytes);
            format!("thr= transfers of bpt= blocks need {memory} of memory, more than 1 GiB: reduce one of them\n")
        }
        SgUsage::MmapTwice => "can only use mmap flag in iflag= or oflag=, not both\n".to_owned(),
        SgUsage::LimitsOfShortCommands => "cdl= needs commands of 16 bytes: omit cdbsz=, or use cdbsz=16\n".to_owned(),
        SgUsage::VerifyWith(word) => format!("--verify writes nothing and contradicts {word}: omit one of them\n"),
        SgUsage::VerifyWhat => "--verify needs something to compare with: give of=OFILE\n".to_owned(),
    };
    text.into_bytes()
}

/// Why the number of blocks is unknown.
pub fn count_refusal(refusal: &CountRefusal, names: [&[u8]; 2], block_bytes: u64) -> Vec<u8> {
    let first = match refusal {
        CountRefusal::BlockSize(side, own) => [
            b"logical block size on ",
            names[side.index()],
            format!(" confusion: bs={block_bytes}, device claims={own}; give bs={own}\n").as_bytes(),
        ]
        .concat(),
        CountRefusal::Endless => Vec::new(),
    };
    [&first[..], b"Couldn't calculate count, please give one\n"].concat()
}

/// Why a flag is not supported, and what to write instead.
pub fn refusal(refusal: &Refusal, program: &[u8], names: [&[u8]; 2]) -> Vec<u8> {
    let Refusal { side, word, because, instead } = refusal;
    let about: &[u8] = side.map_or(b"", |side| names[side.index()]);
    let on: &[u8] = if side.is_some() { b" on " } else { b"" };
    let rest = format!(": {because}; {instead}\n");
    [program, b": cannot honour ", word.as_bytes(), on, about, rest.as_bytes()].concat()
}

/// The failure of the side named `name`, without a newline. `at` is the block concerned, as far as there is
/// one.
pub(super) fn complaint(side: Side, complaint: &Diagnostic, name: &[u8], at: u64) -> Vec<u8> {
    let about = |what: &str, error: &io::Error| [what.as_bytes(), name, b": ", &strerror(error)].concat();
    let source = side == Side::Source;
    match complaint {
        Diagnostic::Open(error) => {
            let towards = if source { " for reading: " } else { " for writing: " };
            [b"could not open ", name, towards.as_bytes(), &strerror(error)].concat()
        }
        Diagnostic::Busy(error) | Diagnostic::CommandsOnly(error) => error_text::refused(error),
        Diagnostic::SetFlags(error) => about("could not set flags on ", error),
        Diagnostic::Read(error) => [format!("reading, skip={at} : ").as_bytes(), &reason(error)].concat(),
        Diagnostic::Write { error, .. } => [format!("writing, seek={at} : ").as_bytes(), &reason(error)].concat(),
        Diagnostic::Skip(error) => {
            let what = if source { "couldn't skip" } else { "couldn't seek" };
            about(&format!("{what} to required position on "), error)
        }
        Diagnostic::SkipTooFar => [b"skip= is beyond the end of ", name, b": nothing is copied"].concat(),
        Diagnostic::PartialRead(bytes) => format!("a read returned only {bytes} bytes").into_bytes(),
        Diagnostic::Truncate(bytes, error) => about(&format!("could not set the length to {bytes} bytes of "), error),
        Diagnostic::TooLong(blocks) => format!("seek={blocks} exceeds the maximum file size").into_bytes(),
        Diagnostic::Sync(_, error) => about("could not flush ", error),
        Diagnostic::Discard(error) => about("could not evict the page cache of ", error),
        Diagnostic::Close(error) => about("could not close ", error),
        Diagnostic::Memory(bytes) => {
            format!("not enough memory for transfers of blocks of {bytes} bytes: reduce bpt=").into_bytes()
        }
        Diagnostic::Careful(what) => careful(what, name),
    }
}

/// The message, and the advice if the disk's error has one.
fn reason(error: &io::Error) -> Vec<u8> {
    let advice = DeviceError::of(error).map_or("", |device_failure| device_failure.advice);
    let between = if advice.is_empty() { "" } else { ". " };
    [&strerror(error), between.as_bytes(), advice.as_bytes()].concat()
}

/// Why a side cannot be copied by commands as requested, in one line.
pub fn command_refusal(refusal: &CommandRefusal, program: &[u8], names: [&[u8]; 2], block_bytes: u64) -> Vec<u8> {
    use CommandRefusal::{Beyond, BlockSize, NoNode, NoPlace, OtherCommands, TwoWays, Unnameable, WriteProtected};
    let (side, words) = match refusal {
        NoNode(side) => {
            (*side, "accepts no SCSI commands: it has no SCSI generic node (modprobe sg); omit sgio".to_owned())
        }
        OtherCommands(side) => (
            *side,
            "accepts NVMe commands, but this program sends SCSI commands: omit sgio, or use haul copy".to_owned(),
        ),
        BlockSize(side, own) => {
            (*side, format!("has logical blocks of {own} bytes, but bs={block_bytes} is given; use bs={own}"))
        }
        Beyond(side, blocks, end) => {
            let place = if *side == Side::Source { "skip" } else { "seek" };
            (*side, format!("has {blocks} blocks, and {place}= and count= end at {end}: nothing was copied"))
        }
        Unnameable(side, bytes, lba) => {
            (*side, format!("needs LBA {lba}, which commands of cdbsz={bytes} cannot address; omit cdbsz="))
        }
        NoPlace(side, word) => {
            let words = "which commands of that cdbsz= do not support; omit one of them";
            (*side, format!("is copied with {word}, {words}"))
        }
        WriteProtected => {
            (Side::Dest, "is not writable: remove its write protection, or check its permissions (ls -l)".to_owned())
        }
        TwoWays => {
            let words = "is the disk of IFILE, with SCSI commands on one side only: the sides would not see each \
                other's data; name both by the node, or both by the block device";
            (Side::Dest, words.to_owned())
        }
    };
    [program, b": ", names[side.index()], b" ", words.as_bytes(), b"\n"].concat()
}

/// The error of a disk that does not respond, or of a device that is not a disk.
pub fn disk_failure(error: &Error, program: &[u8]) -> Vec<u8> {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    let advice = if error.advice.is_empty() { String::new() } else { format!(". {}", error.advice) };
    [program, format!(": {error}{cause}{advice}\n").as_bytes()].concat()
}

/// The same for failures for which dd has no message.
pub(crate) fn careful(what: &ExtraDiagnostic, name: &[u8]) -> Vec<u8> {
    match what {
        ExtraDiagnostic::Locked(error) => {
            [b"flock(LOCK_EX | LOCK_NB) on ", name, b" failed: ", &strerror(error)].concat()
        }
        ExtraDiagnostic::Unreadable { record, error, unfetched } => {
            let zeros = format!(" block {record}, zeros instead: ");
            let mut text = [b"cannot read ", name, zeros.as_bytes(), &strerror(error)].concat();
            if let Some(why) = unfetched {
                text.extend([b"; READ LONG: ", &strerror(why)[..]].concat());
            }
            text
        }
        ExtraDiagnostic::Fetched(record, error) => {
            let fetched = format!(" block {record}, what READ LONG fetched instead: ");
            [b"cannot read ", name, fetched.as_bytes(), &strerror(error)].concat()
        }
        ExtraDiagnostic::ReadToCompare(error) => {
            [b"VERIFY by ", name, b": ", &strerror(error), b"; haul reads and compares its blocks instead"].concat()
        }
        ExtraDiagnostic::NotShared(error) => {
            [b"no shared memory from the driver of ", name, b": ", &strerror(error), b"; it copies instead"].concat()
        }
        ExtraDiagnostic::TooManyBad(most) => {
            [b"more than ", format!("{most} consecutive bad blocks on ").as_bytes(), name].concat()
        }
        ExtraDiagnostic::Unwritable(block, error) => {
            [b"cannot write ", name, format!(" block {block}, skipped: ").as_bytes(), &strerror(error)].concat()
        }
        ExtraDiagnostic::Differs { record, byte } => {
            [b"miscompare on ", name, format!(" block {record}, byte {byte} of it").as_bytes()].concat()
        }
        ExtraDiagnostic::DestEnds(block) => {
            [b"miscompare on ", name, format!(": it ends in block {block}").as_bytes()].concat()
        }
        ExtraDiagnostic::WrongAddress { record, byte, found } => {
            let text = format!(" block {record} holds 0x{found:08x} at byte {byte}, not its address");
            [format!("chkaddr failure at addr=0x{:x}: ", *record as u32).as_bytes(), name, text.as_bytes()].concat()
        }
        ExtraDiagnostic::Compare(error) => [b"reading ", name, b" to compare with: ", &strerror(error)].concat(),
        ExtraDiagnostic::Second(error) => [b"cannot write to of2=: ".as_slice(), &strerror(error)].concat(),
    }
}
