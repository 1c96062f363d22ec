//! Constants and errors of the NBD protocol.
use crate::core::{DeviceError, Kind};
use std::io;

/// The first 8 bytes from the server: `NBDMAGIC`.
pub(super) const SERVER_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Fixed newstyle negotiation: `IHAVEOPT`.
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Oldstyle negotiation, by servers from before 2010.
pub(super) const OLDSTYLE_MAGIC: u64 = 0x0000_4202_8186_1253;
/// Magic of a reply to an option.
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Magic of a request.
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Magic of a simple reply.
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
/// Magic of a part (chunk) of a structured reply.
pub(super) const PART_MAGIC: u32 = 0x668e_33ef;

/// Length of a request header, in bytes.
pub(super) const REQUEST_BYTES: usize = 28;

/// Handshake flag: options can be refused without ending the connection. The client sends it, too.
pub(super) const FIXED_NEWSTYLE: u32 = 1;
/// Handshake flag: omit the padding with zeros.
pub(super) const NO_ZEROES: u32 = 2;

/// Options.
pub(super) mod option {
    pub(in crate::disks::nbd) const ABORT: u32 = 2;
    pub(in crate::disks::nbd) const STARTTLS: u32 = 5;
    pub(in crate::disks::nbd) const GO: u32 = 7;
    pub(in crate::disks::nbd) const STRUCTURED_REPLY: u32 = 8;
    pub(in crate::disks::nbd) const SET_META_CONTEXT: u32 = 10;
}

/// Replies to options.
pub(super) mod reply {
    pub(in crate::disks::nbd) const ACK: u32 = 1;
    pub(in crate::disks::nbd) const INFO: u32 = 3;
    pub(in crate::disks::nbd) const META_CONTEXT: u32 = 4;
    /// This bit is set in all error types.
    pub(in crate::disks::nbd) const ERROR: u32 = 1 << 31;
    pub(in crate::disks::nbd) const UNSUPPORTED: u32 = ERROR | 1;
    pub(in crate::disks::nbd) const POLICY: u32 = ERROR | 2;
    pub(in crate::disks::nbd) const TLS_REQUIRED: u32 = ERROR | 5;
    pub(in crate::disks::nbd) const UNKNOWN: u32 = ERROR | 6;
    pub(in crate::disks::nbd) const SHUTDOWN: u32 = ERROR | 7;
}

/// Information types of an export.
pub(super) mod info {
    pub(in crate::disks::nbd) const EXPORT: u16 = 0;
    pub(in crate::disks::nbd) const DESCRIPTION: u16 = 2;
    pub(in crate::disks::nbd) const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags: the capabilities of an export.
pub(super) mod can {
    pub(in crate::disks::nbd) const READ_ONLY: u16 = 1 << 1;
    pub(in crate::disks::nbd) const FLUSH: u16 = 1 << 2;
    pub(in crate::disks::nbd) const FUA: u16 = 1 << 3;
    pub(in crate::disks::nbd) const ROTATIONAL: u16 = 1 << 4;
    pub(in crate::disks::nbd) const TRIM: u16 = 1 << 5;
    pub(in crate::disks::nbd) const WRITE_ZEROES: u16 = 1 << 6;
    pub(in crate::disks::nbd) const MULTI_CONN: u16 = 1 << 8;
    pub(in crate::disks::nbd) const FAST_ZERO: u16 = 1 << 11;
}

/// Types of parts of a structured reply.
pub(super) mod part {
    pub(in crate::disks::nbd) const NONE: u16 = 0;
    pub(in crate::disks::nbd) const OFFSET_DATA: u16 = 1;
    pub(in crate::disks::nbd) const OFFSET_HOLE: u16 = 2;
    pub(in crate::disks::nbd) const BLOCK_STATUS: u16 = 5;
    /// This bit is set in all error types.
    pub(in crate::disks::nbd) const ERROR: u16 = 1 << 15;
    pub(in crate::disks::nbd) const ERROR_OFFSET: u16 = ERROR | 2;
    /// Flag of the last part of a reply.
    pub(in crate::disks::nbd) const DONE: u16 = 1;
}

/// Name of the metadata context that reports zeros.
pub(super) const BASE_ALLOCATION: &str = "base:allocation";
/// Status flag of [`BASE_ALLOCATION`]: the extent reads as zeros. A hole without this flag may have any content.
pub(super) const STATUS_ZERO: u32 = 2;

/// Command flag: make the data durable before the reply.
pub(super) const FLAG_FUA: u16 = 1;

/// Command flag of Write Zeroes: fail with ENOTSUP if it would not be faster than writing.
pub(super) const FLAG_FAST_ZERO: u16 = 1 << 4;

/// Number of the disconnect command.
pub(super) const DISCONNECT: u8 = 2;

/// Maximum request length if the server reports none; all servers support it.
pub(super) const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// An error of the server or the connection.
pub(super) fn failure(kind: Kind, words: impl Into<String>, advice: &'static str) -> io::Error {
    DeviceError { kind, words: words.into(), offset: None, of_medium: false, advice, sense: None }.into()
}

/// A protocol violation: the rest of the stream cannot be parsed.
pub(super) fn malformed(what: &str) -> io::Error {
    failure(Kind::Io, format!("the NBD server broke the protocol: {what}"), "")
}

/// Error `number` of the server, with its message and the offset of the first byte in error.
pub(super) fn of_server(number: u32, words: &str, offset: Option<u64>) -> io::Error {
    let (kind, name, advice) = match number {
        1 => (Kind::Io, "operation not permitted", ""),
        5 => (Kind::Io, "input/output error", ""),
        12 => (Kind::Io, "out of memory", ""),
        22 => (Kind::Io, "invalid request", ""),
        28 => (Kind::NoSpace, "no space left", ""),
        75 => (Kind::Io, "request too large", ""),
        95 => (Kind::Unsupported, "operation not supported", ""),
        108 => (Kind::Disconnected, "the server is shutting down", "Start the server again."),
        _ => (Kind::Io, "unknown error", ""),
    };
    let messages: String =
        words.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(200).collect();
    let messages = if messages.trim().is_empty() { String::new() } else { format!(": {}", messages.trim()) };
    let words = format!("the NBD server reports error {number} ({name}){messages}");
    DeviceError { kind, words, offset, of_medium: number == 5, advice, sense: None }.into()
}

/// The connection ended because of `why`.
pub(super) fn disconnected(why: &str) -> io::Error {
    let advice = "Check the server and the network between.";
    failure(Kind::Disconnected, format!("the connection to the NBD server was lost: {why}"), advice)
}

/// Classifies an error.
pub(super) fn kind_of(error: &io::Error) -> Kind {
    match DeviceError::of(error) {
        Some(error) => error.kind,
        None if error.raw_os_error() == Some(libc::ENOSPC) => Kind::NoSpace,
        None if error.kind() == io::ErrorKind::UnexpectedEof => Kind::EndedEarly,
        None => Kind::Io,
    }
}

/// Whether the server does not support the command or this use of it.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    kind_of(error) == Kind::Unsupported
}

/// The error message, without the errno that Rust appends.
pub(super) fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Parses big-endian numbers from the start of a reply.
pub(super) struct Numbers<'a>(pub(super) &'a [u8]);

impl<'a> Numbers<'a> {
    /// The next `count` bytes; `None` if fewer are left.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next two bytes.
    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// The next four bytes.
    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next eight bytes.
    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }
}
