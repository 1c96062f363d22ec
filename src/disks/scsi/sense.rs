//! Parsing of sense data in both formats (SPC-5, 4.4).
use super::sense_words::{asc_words, key_words};
use std::fmt;

/// Sense keys that haul distinguishes.
pub mod key {
    /// NO SENSE.
    pub const NO_SENSE: u8 = 0;
    /// RECOVERED ERROR.
    pub const RECOVERED: u8 = 1;
    /// NOT READY.
    pub const NOT_READY: u8 = 2;
    /// MEDIUM ERROR.
    pub const MEDIUM: u8 = 3;
    /// HARDWARE ERROR.
    pub const HARDWARE: u8 = 4;
    /// ILLEGAL REQUEST.
    pub const ILLEGAL_REQUEST: u8 = 5;
    /// UNIT ATTENTION: an event that must be reported before the next command.
    pub const UNIT_ATTENTION: u8 = 6;
    /// DATA PROTECT.
    pub const DATA_PROTECT: u8 = 7;
    /// BLANK CHECK: the block was never written.
    pub const BLANK_CHECK: u8 = 8;
    /// COPY ABORTED: a copy manager could not start or complete a copy.
    pub const COPY_ABORTED: u8 = 10;
    /// ABORTED COMMAND: a retry may succeed.
    pub const ABORTED: u8 = 11;
}

/// Parsed sense data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sense {
    /// Sense key, [`key`].
    pub key: u8,
    /// Additional sense code.
    pub asc: u8,
    /// Its qualifier.
    pub ascq: u8,
    /// Whether it concerns an earlier command; the current one was not executed.
    pub deferred: bool,
    /// The INFORMATION field, for a disk the LBA of the first bad block; `None` if it is not valid.
    pub information: Option<u64>,
}

impl Sense {
    /// Parses sense data of any length; `None` if it is not sense data.
    pub fn parse(bytes: &[u8]) -> Option<Sense> {
        match bytes.first()? & 0x7f {
            0x70 | 0x71 => Some(fixed(bytes)),
            0x72 | 0x73 => Some(described(bytes)),
            _ => None,
        }
    }
}

fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Fixed format. Fields past the received or reported length count as 0.
fn fixed(bytes: &[u8]) -> Sense {
    let len = 8 + usize::from(byte(bytes, 7));
    let bytes = &bytes[..bytes.len().min(len)];
    let information = bytes.get(3..7).and_then(|field| Some(u64::from(u32::from_be_bytes(field.try_into().ok()?))));
    Sense {
        key: byte(bytes, 2) & 0x0f,
        asc: byte(bytes, 12),
        ascq: byte(bytes, 13),
        deferred: byte(bytes, 0) & 0x7f == 0x71,
        information: information.filter(|_| byte(bytes, 0) & 0x80 != 0),
    }
}

/// Descriptor format; the descriptor of type 0 is the INFORMATION field.
fn described(bytes: &[u8]) -> Sense {
    let mut information = None;
    let end = bytes.len().min(8 + usize::from(byte(bytes, 7)));
    let mut at = 8;
    while at + 2 <= end {
        let len = 2 + usize::from(bytes[at + 1]);
        let descriptor = &bytes[at..end.min(at + len)];
        if descriptor[0] == 0 && byte(descriptor, 2) & 0x80 != 0 {
            information = descriptor.get(4..12).and_then(|field| Some(u64::from_be_bytes(field.try_into().ok()?)));
        }
        at += len;
    }
    Sense {
        key: byte(bytes, 1) & 0x0f,
        asc: byte(bytes, 2),
        ascq: byte(bytes, 3),
        deferred: byte(bytes, 0) & 0x7f == 0x73,
        information,
    }
}

impl fmt::Display for Sense {
    /// Formats as `medium error: unrecovered read error (sense 3/11/00)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sense { key, asc, ascq, .. } = *self;
        out.write_str(key_words(key))?;
        if let Some(words) = asc_words(asc, ascq) {
            write!(out, ": {words}")?;
        }
        write!(out, " (sense {key:x}/{asc:02x}/{ascq:02x})")?;
        if self.deferred { out.write_str(", deferred from an earlier command") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sense data of scsi_debug for its bad block 0x1234.
    const FIXED: [u8; 18] = [0xf0, 0, 3, 0, 0, 0x12, 0x34, 10, 0, 0, 0, 0, 0x11, 0, 0, 0x80, 0x12, 0x34];

    #[test]
    fn fixed_sense_data_have_key_code_and_block() {
        let sense = Sense::parse(&FIXED).unwrap();
        let wanted = Sense { key: 3, asc: 0x11, ascq: 0, deferred: false, information: Some(0x1234) };
        assert_eq!(sense, wanted);
        assert_eq!(sense.to_string(), "medium error: unrecovered read error (sense 3/11/00)");
    }

    #[test]
    fn information_without_the_valid_bit_is_ignored() {
        let mut bytes = FIXED;
        bytes[0] = 0x70;
        assert_eq!(Sense::parse(&bytes).unwrap().information, None);
        bytes[0] = 0x71;
        assert!(Sense::parse(&bytes).unwrap().deferred);
    }

    #[test]
    fn descriptors_are_searched_for_the_block() {
        let head = [0x72, 3, 0x11, 0x01, 0, 0, 0];
        let sense_key_specific = [2, 6, 0, 0, 0x80, 0, 0, 0];
        let information = [0, 10, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 9];
        let bytes = [&head[..], &[20], &sense_key_specific, &information].concat();
        let sense = Sense::parse(&bytes).unwrap();
        assert_eq!((sense.key, sense.asc, sense.ascq), (3, 0x11, 1));
        assert_eq!(sense.information, Some(0x1_0000_0009));
        // A truncated descriptor, or one with a wrong length, is ignored.
        assert_eq!(Sense::parse(&bytes[..27]).unwrap().information, None);
        let short = [&head[..], &[8], &sense_key_specific, &information].concat();
        assert_eq!(Sense::parse(&short).unwrap().information, None);
    }

    #[test]
    fn invalid_sense_data_are_rejected() {
        for bytes in [&[][..], &[0], &[0x7f, 1, 2], &[0x6f; 18]] {
            assert_eq!(Sense::parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn an_unknown_code_is_printed_as_a_number() {
        let sense = Sense { key: 9, asc: 0x80, ascq: 0xfe, deferred: true, information: None };
        assert_eq!(sense.to_string(), "vendor specific (sense 9/80/fe), deferred from an earlier command");
    }

    proptest! {
        #[test]
        fn no_sense_data_makes_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0u8..5) {
            if let (Some(first), 1..) = (bytes.first_mut(), kind) {
                *first = 0x6f + kind;
            }
            if let Some(sense) = Sense::parse(&bytes) {
                prop_assert!(sense.to_string().contains("(sense "));
            }
        }
    }
}
