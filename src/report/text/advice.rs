//! What to do next, if the error has no advice.
use crate::core::{Error, Kind, Side};
use std::io;

/// A sentence or two for the reader of the error; empty if there is no useful advice.
pub(crate) fn advice(error: &Error) -> &str {
    if error.source.as_ref().and_then(io::Error::raw_os_error) == Some(libc::EFBIG) {
        return "A limit of this process (ulimit -f) or of the file system forbids a file of that size. Raise the \
            limit, or choose another file system.";
    }
    if error.advice.is_empty() && error.offset.is_some() { of_request(error) } else { &error.advice }
}

/// Advice after a failed request, for which only the kind of error and the offset are known.
fn of_request(error: &Error) -> &'static str {
    let on_device = error.sector_bytes > 1;
    match (error.kind, error.side) {
        (Kind::Disconnected, _) => {
            "The device disappeared: it was unplugged, or the kernel took it offline (see dmesg). 'haul list' shows \
             the name under which it returns."
        }
        (Kind::NoSpace, _) if on_device => {
            "The source is longer than the device. Use a larger device. --count copies less."
        }
        (Kind::NoSpace, _) => "Free space on its file system, or choose another one.",
        (Kind::EndedEarly, _) => {
            "The source became shorter during the copy. Copy it again when no program writes to it."
        }
        (Kind::BrokenPipe, _) => "The program that read from the pipe ended before the copy.",
        (Kind::Io, Some(Side::Source)) if on_device => {
            "See the kernel log (dmesg). --on-error skip skips unreadable sectors; for a medium that degrades \
             quickly, GNU ddrescue copies the easily readable parts first."
        }
        (Kind::Io, _) => "See the kernel log (dmesg).",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Op;

    fn failed(kind: Kind, side: Side, sector_bytes: u32) -> Error {
        let error = Error::of_request(kind, Op::Read, side, "/dev/sdx", 0, io::Error::from(io::ErrorKind::Other));
        error.in_sectors_of(sector_bytes)
    }

    #[test]
    fn a_removed_device_is_reported_on_either_side() {
        for side in Side::BOTH {
            assert!(advice(&failed(Kind::Disconnected, side, 512)).starts_with("The device disappeared"));
        }
    }

    #[test]
    fn a_read_error_of_a_source_device_suggests_the_options_for_it() {
        assert!(advice(&failed(Kind::Io, Side::Source, 512)).contains("ddrescue"));
        assert!(!advice(&failed(Kind::Io, Side::Dest, 512)).contains("ddrescue"));
        assert!(!advice(&failed(Kind::Io, Side::Source, 1)).contains("ddrescue"));
    }

    #[test]
    fn an_error_with_its_own_advice_is_unchanged() {
        assert_eq!(advice(&failed(Kind::Io, Side::Source, 512).advise("Try again.")), "Try again.");
        assert_eq!(advice(&Error::new(Kind::Io, "no place in it")), "");
    }
}
