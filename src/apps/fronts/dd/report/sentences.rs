//! dd's messages. Scripts search for them, so they have dd's wording, even where docs/style.md prescribes
//! another.
use super::Quoting;
use super::counts::human;
use crate::apps::fronts::dd::plan::{Conflict, DdUsage, DdWarning};
use crate::apps::fronts::error_text::{self, strerror};
use crate::apps::fronts::record_plan::{Diagnostic, Durable};
use crate::core::Side;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Why a command line is invalid, without the name of the program; then a suggestion, if dd has one.
pub fn usage(usage: &DdUsage, program: &[u8], quoting: Quoting) -> Vec<u8> {
    let word = |what: &str, word: &OsStr| [what.as_bytes(), b" ", &quoting.word(word.as_bytes())].concat();
    let mut text = [program, b": "].concat();
    text.extend(match usage {
        DdUsage::Operand(operand) => word("unrecognized operand", operand),
        DdUsage::Conversion(name) => word("invalid conversion:", name),
        DdUsage::InputFlag(name) => word("invalid input flag:", name),
        DdUsage::OutputFlag(name) => word("invalid output flag:", name),
        DdUsage::StatusLevel(name) => word("invalid status level:", name),
        DdUsage::Number(number) => word("invalid number:", number),
        DdUsage::Overflow(number) => {
            [word("invalid number:", number), b": Value too large for defined data type".to_vec()].concat()
        }
        DdUsage::Conflict(Conflict::Charsets) => b"cannot combine any two of {ascii,ebcdic,ibm}".to_vec(),
        DdUsage::Conflict(Conflict::Framings) => b"cannot combine block and unblock".to_vec(),
        DdUsage::Conflict(Conflict::Cases) => b"cannot combine lcase and ucase".to_vec(),
        DdUsage::Conflict(Conflict::Creation) => b"cannot combine excl and nocreat".to_vec(),
        DdUsage::Conflict(Conflict::Caches) => b"cannot combine direct and nocache".to_vec(),
        DdUsage::LongOption(option) => [b"unrecognized option '", option.as_bytes(), b"'"].concat(),
        DdUsage::Ambiguous(option) => {
            [b"option '", option.as_bytes(), b"' is ambiguous; possibilities: '--help' '--version'"].concat()
        }
        DdUsage::NoArgument(option) => format!("option '{option}' doesn't allow an argument").into_bytes(),
        DdUsage::ShortOption(letter) => [b"invalid option -- '".as_slice(), &[*letter], b"'"].concat(),
    });
    text.push(b'\n');
    if usage.refers_to_help() {
        text.extend([b"Try '", program, b" --help' for more information.\n"].concat());
    }
    text
}

/// A warning, with the name of the program.
pub fn warning(warning: DdWarning, program: &[u8], quoting: Quoting) -> Vec<u8> {
    let what = match warning {
        DdWarning::AppendTruncates => b"you probably want conv=notrunc with oflag=append".to_vec(),
        DdWarning::ZeroMultiplier => [
            b"warning: ".as_slice(),
            &quoting.word(b"0x"),
            b" is a zero multiplier; use ",
            &quoting.word(b"00x"),
            b" if that is intended",
        ]
        .concat(),
    };
    [program, b": ", &what, b"\n"].concat()
}

/// A failure of the side named `name`.
pub(super) fn complaint(side: Side, complaint: &Diagnostic, name: &[u8], dest_bytes: u64, quoting: Quoting) -> Vec<u8> {
    let path = quoting.path(name);
    let about = |what: &str, error: &io::Error| [what.as_bytes(), b" ", &path, b": ", &strerror(error)].concat();
    match complaint {
        Diagnostic::Open(error) => about("failed to open", error),
        Diagnostic::Busy(error) | Diagnostic::CommandsOnly(error) => error_text::refused(error),
        Diagnostic::SetFlags(error) => about("setting flags for", error),
        Diagnostic::Read(error) => about("error reading", error),
        Diagnostic::Write { midway: true, error } => about("writing to", error),
        Diagnostic::Write { midway: false, error } => about("error writing", error),
        Diagnostic::Skip(error) => {
            let what = if side == Side::Source { ": cannot skip: " } else { ": cannot seek: " };
            [&quoting.path_if_needed(name), what.as_bytes(), &strerror(error)].concat()
        }
        Diagnostic::SkipTooFar => {
            [&quoting.path_if_needed(name), b": cannot skip to specified offset".as_slice()].concat()
        }
        Diagnostic::PartialRead(bytes) => {
            let unit = if *bytes == 1 { "byte" } else { "bytes" };
            format!("warning: partial read ({bytes} {unit}); suggest iflag=fullblock").into_bytes()
        }
        Diagnostic::Truncate(bytes, error) => {
            about(&format!("failed to truncate to {bytes} bytes in output file"), error)
        }
        Diagnostic::TooLong(records) => {
            format!("offset too large: cannot truncate to a length of seek={records} ({dest_bytes}-byte) blocks")
                .into_bytes()
        }
        Diagnostic::Sync(Durable::Data, error) => about("fdatasync failed for", error),
        Diagnostic::Sync(Durable::All, error) => about("fsync failed for", error),
        Diagnostic::Discard(error) => about("failed to discard cache for:", error),
        Diagnostic::Close(error) => {
            about(if side == Side::Source { "closing input file" } else { "closing output file" }, error)
        }
        Diagnostic::Careful(what) => crate::apps::fronts::sg_dd::report::careful(what, name),
        Diagnostic::Memory(bytes) => {
            let which = if side == Side::Source { "input" } else { "output" };
            let size = human((*bytes).into(), 1, 1024, true);
            format!("memory exhausted by {which} buffer of size {bytes} bytes ({size})").into_bytes()
        }
    }
}
