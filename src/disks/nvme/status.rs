//! The status field of a completion: what a drive says of a command, in words.
use crate::core::Kind;

/// The status field without its phase bit, as the kernel hands it on: code, type of code, and the flags above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status(pub(super) u16);

/// What a failed command means for the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusClass {
    /// A block of the range is bad: which one is worth finding out.
    Medium,
    /// It is about to be ready: wait a little.
    NotReady,
    /// The namespace is no longer there.
    Gone,
    /// No space left, on a drive that promises more than it has.
    Full,
    /// Writing is forbidden.
    Protected,
    /// Something else.
    Other,
}

/// Do not retry: the same command would fail in the same way.
const DNR: u16 = 1 << 14;

/// Generic codes (type 0) and their words, of the base and of the NVM command set specification.
const GENERIC: &[(u8, &str)] = &[
    (0x01, "invalid command opcode"),
    (0x02, "invalid field in command"),
    (0x03, "command identifier conflict"),
    (0x04, "data transfer error"),
    (0x05, "commands aborted for loss of power"),
    (0x06, "internal error"),
    (0x07, "command abort requested"),
    (0x08, "command aborted: its queue was deleted"),
    (0x09, "command aborted: the other half of a fused command failed"),
    (0x0a, "command aborted: the other half of a fused command is missing"),
    (0x0b, "invalid namespace or format"),
    (0x0c, "command sequence error"),
    (0x12, "invalid use of controller memory buffer"),
    (0x13, "PRP offset invalid"),
    (0x14, "atomic write unit exceeded"),
    (0x15, "operation denied: the drive is locked"),
    (0x1c, "command aborted: sanitizing failed"),
    (0x1d, "sanitize in progress"),
    (0x20, "namespace is write protected"),
    (0x21, "command interrupted"),
    (0x22, "transient transport error"),
    (0x24, "admin command media not ready"),
    (0x80, "LBA out of range"),
    (0x81, "capacity exceeded"),
    (0x82, "namespace not ready"),
    (0x83, "reservation conflict"),
    (0x84, "format in progress"),
];

/// Codes of this command (type 1).
const SPECIFIC: &[(u8, &str)] = &[
    (0x80, "conflicting attributes"),
    (0x81, "invalid protection information"),
    (0x82, "attempted write to read-only range"),
    (0x83, "command size limit exceeded"),
];

/// Codes of the medium and of data integrity (type 2).
const MEDIUM: &[(u8, &str)] = &[
    (0x80, "write fault"),
    (0x81, "unrecovered read error"),
    (0x82, "end-to-end guard check error"),
    (0x83, "end-to-end application tag check error"),
    (0x84, "end-to-end reference tag check error"),
    (0x85, "compare failure"),
    (0x86, "access denied: the range is locked"),
    (0x87, "deallocated or unwritten logical block"),
    (0x88, "end-to-end storage tag check error"),
];

/// Codes of the path to the drive (type 3); the kernel makes some of them up itself.
const PATH: &[(u8, &str)] = &[
    (0x00, "internal path error"),
    (0x01, "asymmetric access: persistent loss"),
    (0x02, "asymmetric access: inaccessible"),
    (0x03, "asymmetric access: in transition"),
    (0x60, "controller pathing error"),
    (0x70, "host pathing error"),
    (0x71, "command aborted by the host"),
];

impl Status {
    fn code(self) -> u8 {
        self.0 as u8
    }

    fn of_type(self) -> u8 {
        (self.0 >> 8 & 7) as u8
    }

    /// The drive says that the same command would fail again.
    pub(super) fn is_final(self) -> bool {
        self.0 & DNR != 0
    }

    /// The drive does not do such a command, or not so: nothing has happened.
    pub(super) fn is_refusal(self) -> bool {
        matches!((self.of_type(), self.code()), (0, 0x01 | 0x02) | (1, 0x83))
    }

    /// What it means for the copy.
    pub(super) fn meaning(self) -> StatusClass {
        match (self.of_type(), self.code()) {
            (2, 0x86) => StatusClass::Protected,
            // Deallocated blocks that refuse to be read are as unreadable as bad ones.
            (2, _) => StatusClass::Medium,
            (0, 0x82 | 0x84 | 0x1d | 0x24) | (3, 0x03) => StatusClass::NotReady,
            (0, 0x0b) => StatusClass::Gone,
            (0, 0x81) => StatusClass::Full,
            (0, 0x20) | (1, 0x82) => StatusClass::Protected,
            _ => StatusClass::Other,
        }
    }

    /// `unrecovered read error (NVMe status 2/81)`: type and code in hexadecimal, as the specification's tables have
    /// them.
    pub(super) fn words(self) -> String {
        let (of_type, code) = (self.of_type(), self.code());
        let (table, unknown) = match of_type {
            0 => (GENERIC, "unknown error"),
            1 => (SPECIFIC, "unknown command specific error"),
            2 => (MEDIUM, "unknown medium error"),
            3 => (PATH, "unknown path error"),
            _ => (&[] as &[_], "vendor specific error"),
        };
        let words = table.iter().find(|(of, _)| *of == code).map_or(unknown, |(_, words)| words);
        format!("{words} (NVMe status {of_type:x}/{code:02x})")
    }
}

impl StatusClass {
    /// What sort of failure it is.
    pub(super) fn kind(self) -> Kind {
        match self {
            StatusClass::Gone => Kind::Gone,
            StatusClass::Full => Kind::NoSpace,
            StatusClass::Medium | StatusClass::NotReady | StatusClass::Protected | StatusClass::Other => Kind::Io,
        }
    }

    /// What to do next; empty where nothing helps.
    pub(super) fn advice(self) -> &'static str {
        match self {
            StatusClass::NotReady => "Wait until it is ready, then continue: a format or a sanitize may take hours.",
            StatusClass::Protected => {
                "Remove the write protection ('nvme get-feature -f 0x84' shows it, sedutil unlocks a locked range)."
            }
            StatusClass::Gone => "'haul list' shows the available drives.",
            StatusClass::Medium => {
                "See the logs of the drive (nvme smart-log, nvme error-log). Replace a drive with this failure."
            }
            StatusClass::Other => "See the log of the drive (nvme error-log).",
            StatusClass::Full => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_in_the_words_of_the_specification_and_by_its_numbers() {
        let table = [
            (0x0281, "unrecovered read error (NVMe status 2/81)", StatusClass::Medium, false),
            (0x4281, "unrecovered read error (NVMe status 2/81)", StatusClass::Medium, true),
            (0x0280, "write fault (NVMe status 2/80)", StatusClass::Medium, false),
            (0x4080, "LBA out of range (NVMe status 0/80)", StatusClass::Other, true),
            (0x0082, "namespace not ready (NVMe status 0/82)", StatusClass::NotReady, false),
            (0x4020, "namespace is write protected (NVMe status 0/20)", StatusClass::Protected, true),
            (0x400b, "invalid namespace or format (NVMe status 0/0b)", StatusClass::Gone, true),
            (0x4081, "capacity exceeded (NVMe status 0/81)", StatusClass::Full, true),
            (0x0371, "command aborted by the host (NVMe status 3/71)", StatusClass::Other, false),
            (0x01ff, "unknown command specific error (NVMe status 1/ff)", StatusClass::Other, false),
            (0x07c1, "vendor specific error (NVMe status 7/c1)", StatusClass::Other, false),
        ];
        for (raw, words, meaning, is_final) in table {
            let status = Status(raw);
            assert_eq!((status.words().as_str(), status.meaning(), status.is_final()), (words, meaning, is_final));
        }
    }

    #[test]
    fn no_status_leaves_without_words() {
        for raw in 1..=u16::MAX {
            assert!(Status(raw).words().contains("NVMe status"), "{raw:#x}");
        }
    }
}
