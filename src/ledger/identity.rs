//! The identity of a side in a record file.
use super::Mismatch;
use crate::core::{EndpointKind, Facts, Side};
use serde::{Deserialize, Serialize};

/// The identity of a side, in properties that survive a reboot: no device numbers, no descriptors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideIdentity {
    /// Its path, with symbolic links resolved; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Its kind: `file`, `block device`, `pipe`, …, as in [`EndpointKind::name`].
    pub kind: String,
    /// The offset at which the copy begins.
    pub offset_bytes: u64,
    /// Its size; `None` for a stream, and for a file that does not exist yet.
    pub size_bytes: Option<u64>,
    /// Logical block size; 1 if there is none.
    pub logical_block_bytes: u32,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name, EUI or UUID.
    pub wwn: Option<String>,
    /// What identifies the content of a resource of a web server: its entity tag, or the time of its last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl SideIdentity {
    /// The identity of the side with these facts, on which the copy begins at `offset_bytes`.
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
            version: facts.identity.version.clone(),
        }
    }

    /// The properties of `now` that have changed, except the size, which may change.
    ///
    /// A device with a serial number or WWN may have another path now. A device without, or a file, is
    /// identified only by its path.
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
        if self.version != now.version {
            found.push(Mismatch::Version { side, then: self.version.clone(), now: now.version.clone() });
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

    /// Whether it is a regular file, whose size may change.
    pub fn is_file(&self) -> bool {
        [EndpointKind::File, EndpointKind::CompressedDest].iter().any(|kind| self.kind == kind.name())
    }
}
