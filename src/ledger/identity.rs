//! Who a side is, as a record file remembers it.
use super::Mismatch;
use crate::core::{EndpointKind, Facts, Side};
use serde::{Deserialize, Serialize};

/// Who a side was, in words that survive a restart of the machine: no device numbers, no descriptors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideIdentity {
    /// Its path, every symbolic link resolved; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What it is: `file`, `block device`, `pipe`, …, as in [`EndpointKind::name`].
    pub kind: String,
    /// Where the copy begins on it, in bytes.
    pub offset_bytes: u64,
    /// Bytes in it; `None` for a stream, and for a file that does not exist yet.
    pub size_bytes: Option<u64>,
    /// Smallest addressable unit; 1 where bytes are.
    pub logical_block_bytes: u32,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name, EUI or UUID.
    pub wwn: Option<String>,
}

impl SideIdentity {
    /// Who the side with these facts is, of which the copy begins at `offset_bytes`.
    pub fn of(facts: &Facts, offset_bytes: u64) -> Self {
        SideIdentity {
            path: facts.path.to_string_lossy().into_owned(),
            kind: facts.kind.name().to_owned(),
            offset_bytes,
            size_bytes: facts.size,
            logical_block_bytes: facts.logical_block_bytes,
            model: facts.identity.model.clone(),
            serial: facts.identity.serial.clone(),
            wwn: facts.identity.wwn.clone(),
        }
    }

    /// What of `now` is not as it was, but for its size, which may rightly change.
    ///
    /// A device that says who it is may have come back under another path. One that does not, and a file, is known by
    /// its path alone.
    pub fn mismatches(&self, side: Side, now: &SideIdentity) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let names_itself = self.serial.is_some() || self.wwn.is_some();
        if !names_itself && self.path != now.path {
            found.push(Mismatch::Path { side, then: self.path.clone(), now: now.path.clone() });
        }
        if self.kind != now.kind {
            found.push(Mismatch::Kind { side, then: self.kind.clone(), now: now.kind.clone() });
        }
        if self.model != now.model {
            found.push(Mismatch::Model { side, then: self.model.clone(), now: now.model.clone() });
        }
        if self.serial != now.serial {
            found.push(Mismatch::Serial { side, then: self.serial.clone(), now: now.serial.clone() });
        }
        if self.wwn != now.wwn {
            found.push(Mismatch::Wwn { side, then: self.wwn.clone(), now: now.wwn.clone() });
        }
        let (then, later) = (self.logical_block_bytes, now.logical_block_bytes);
        if then != later {
            found.push(Mismatch::LogicalBlock { side, then, now: later });
        }
        if self.offset_bytes != now.offset_bytes {
            found.push(Mismatch::Offset { side, then: self.offset_bytes, now: now.offset_bytes });
        }
        found
    }

    /// It is a regular file, whose size may change.
    pub fn is_file(&self) -> bool {
        self.kind == EndpointKind::File.name()
    }
}
