//! The name by which one disk finds another, to copy from it.

/// Most bytes of a name: what fits into a descriptor of EXTENDED COPY.
const NAME_BYTES_MAX: usize = 20;

/// The name of a SCSI logical unit for a copy manager: a binary designator of its page 83h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyName {
    /// Type of the designator: 3 for NAA, 2 for EUI.
    kind: u8,
    len: u8,
    bytes: [u8; NAME_BYTES_MAX],
}

impl CopyName {
    /// A designator of type `kind`, 0 to 15; `None` for one of no bytes or more than 20.
    pub fn new(kind: u8, bytes: &[u8]) -> Option<CopyName> {
        if bytes.is_empty() || bytes.len() > NAME_BYTES_MAX {
            return None;
        }
        let mut name = CopyName { kind: kind & 0x0f, len: bytes.len() as u8, bytes: [0; NAME_BYTES_MAX] };
        name.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(name)
    }

    /// Type of the designator, 0 to 15.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// Its bytes, 1 to 20.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}
