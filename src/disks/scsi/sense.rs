//! What a disk says of a command that did not go well, in both formats of sense data (SPC-5, 4.4).
use super::sense_words::{asc_words, key_words};
use std::fmt;

/// Sense keys that decide what to do next.
pub mod key {
    /// Nothing is wrong.
    pub const NO_SENSE: u8 = 0;
    /// It went well, with some effort.
    pub const RECOVERED: u8 = 1;
    /// Not now, or not without a medium.
    pub const NOT_READY: u8 = 2;
    /// The medium is bad there.
    pub const MEDIUM: u8 = 3;
    /// The disk is bad.
    pub const HARDWARE: u8 = 4;
    /// The command is invalid.
    pub const ILLEGAL_REQUEST: u8 = 5;
    /// Something has happened that one should know of before the next command.
    pub const UNIT_ATTENTION: u8 = 6;
    /// May not be written.
    pub const DATA_PROTECT: u8 = 7;
    /// Nothing was ever written there.
    pub const BLANK_CHECK: u8 = 8;
    /// A copy manager could not go on, or not begin.
    pub const COPY_ABORTED: u8 = 10;
    /// Given up by the disk; may well succeed another time.
    pub const ABORTED: u8 = 11;
}

/// Sense data, decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sense {
    /// Sense key, [`key`].
    pub key: u8,
    /// Additional sense code.
    pub asc: u8,
    /// Its qualifier.
    pub ascq: u8,
    /// It is about an earlier command; the present one was not carried out.
    pub deferred: bool,
    /// The INFORMATION field, for a disk the first bad LBA; `None` where it says none.
    pub information: Option<u64>,
}

impl Sense {
    /// Decodes sense data of any length; `None` for what is no sense data.
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

/// The format with a place for everything. What lies beyond the bytes that came, or that it says it has, is 0.
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

/// The format with a list of descriptors; the one of type 0 is the INFORMATION field.
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
    /// `medium error: unrecovered read error (sense 3/11/00)`.
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

    /// What scsi_debug says of its bad block 0x1234.
    const FIXED: [u8; 18] = [0xf0, 0, 3, 0, 0, 0x12, 0x34, 10, 0, 0, 0, 0, 0x11, 0, 0, 0x80, 0x12, 0x34];

    #[test]
    fn fixed_sense_data_name_key_code_and_place() {
        let sense = Sense::parse(&FIXED).unwrap();
        let wanted = Sense { key: 3, asc: 0x11, ascq: 0, deferred: false, information: Some(0x1234) };
        assert_eq!(sense, wanted);
        assert_eq!(sense.to_string(), "medium error: unrecovered read error (sense 3/11/00)");
    }

    #[test]
    fn a_place_that_is_not_said_to_be_valid_is_none() {
        let mut bytes = FIXED;
        bytes[0] = 0x70;
        assert_eq!(Sense::parse(&bytes).unwrap().information, None);
        bytes[0] = 0x71;
        assert!(Sense::parse(&bytes).unwrap().deferred);
    }

    #[test]
    fn descriptors_are_looked_through_for_the_place() {
        let head = [0x72, 3, 0x11, 0x01, 0, 0, 0];
        let sense_key_specific = [2, 6, 0, 0, 0x80, 0, 0, 0];
        let information = [0, 10, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 9];
        let bytes = [&head[..], &[20], &sense_key_specific, &information].concat();
        let sense = Sense::parse(&bytes).unwrap();
        assert_eq!((sense.key, sense.asc, sense.ascq), (3, 0x11, 1));
        assert_eq!(sense.information, Some(0x1_0000_0009));
        // Cut short, or counted short, it does not exist.
        assert_eq!(Sense::parse(&bytes[..27]).unwrap().information, None);
        let short = [&head[..], &[8], &sense_key_specific, &information].concat();
        assert_eq!(Sense::parse(&short).unwrap().information, None);
    }

    #[test]
    fn what_is_no_sense_data_is_none() {
        for bytes in [&[][..], &[0], &[0x7f, 1, 2], &[0x6f; 18]] {
            assert_eq!(Sense::parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn an_unknown_code_is_told_by_its_number() {
        let sense = Sense { key: 9, asc: 0x80, ascq: 0xfe, deferred: true, information: None };
        assert_eq!(sense.to_string(), "vendor specific (sense 9/80/fe), deferred from an earlier command");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_parsed_and_told(mut bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0u8..5) {
            if let (Some(first), 1..) = (bytes.first_mut(), kind) {
                *first = 0x6f + kind;
            }
            if let Some(sense) = Sense::parse(&bytes) {
                prop_assert!(sense.to_string().contains("(sense "));
            }
        }
    }
}
