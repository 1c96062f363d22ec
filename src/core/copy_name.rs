//! The name by which one disk identifies another as the source of a copy command.

/// Maximum bytes of a name: the space in a descriptor of EXTENDED COPY.
const NAME_BYTES_MAX: usize = 20;

/// Identifies a SCSI logical unit to a copy manager: a binary designator from VPD page 83h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyName {
    /// Designator type: 3 for NAA, 2 for EUI.
    kind: u8,
    len: u8,
    bytes: [u8; NAME_BYTES_MAX],
}

impl CopyName {
    /// A designator of type `kind`, 0 to 15; `None` if it is empty or longer than 20 bytes.
    pub fn new(kind: u8, bytes: &[u8]) -> Option<CopyName> {
        if bytes.is_empty() || bytes.len() > NAME_BYTES_MAX {
            return None;
        }
        let mut name = CopyName { kind: kind & 0x0f, len: bytes.len() as u8, bytes: [0; NAME_BYTES_MAX] };
        name.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(name)
    }

    /// Designator type, 0 to 15.
    pub fn kind(&self) -> u8 {
        self.kind
    }

    /// Its bytes, 1 to 20.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}
