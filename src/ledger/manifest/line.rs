//! The lines of a manifest behind the first.
use crate::core::{BlockDigest, Extent};
use crate::ledger::FaultKind;
use serde::Deserialize;

/// What one line says about the bytes of the copy. Offsets count from the first byte of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A block, which begins at a multiple of the block length and has that length unless it is the last.
    Block {
        /// The bytes.
        extent: Extent,
        /// Of these bytes; those that could not be read are digested as zeros.
        digest: BlockDigest,
    },
    /// Whole blocks that are zero, many in one line; they end at the end of a block or of the copy.
    Zeros(Extent),
    /// Bytes that could not be read: the copy has zeros there, the source had something else. Of any place and
    /// length, and besides what other lines say of these bytes.
    Unread(Extent),
}

impl Entry {
    /// The bytes it speaks of.
    pub fn extent(&self) -> Extent {
        match *self {
            Entry::Block { extent, .. } | Entry::Zeros(extent) | Entry::Unread(extent) => extent,
        }
    }

    /// The line as JSON, not yet sealed. By hand, as there may be millions; it holds nothing that needs escaping.
    pub(super) fn to_json(self) -> String {
        let Extent { offset, len } = self.extent();
        let rest = match self {
            Entry::Block { digest, .. } => format!("\"digest\":\"{digest}\""),
            Entry::Zeros(_) => "\"zero\":true".to_owned(),
            Entry::Unread(_) => "\"unread\":true".to_owned(),
        };
        format!("{{\"offset_bytes\":{offset},\"len_bytes\":{len},{rest}}}")
    }
}

/// What the last line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastLine {
    /// Lines between the first and this one.
    pub lines: u64,
    /// Bytes of the copy.
    pub len_bytes: u64,
    /// The digest of all bytes of the copy in their order, zeros and all, by the head's algorithm; `None` where it was
    /// not computed, as in a copy that was resumed.
    pub whole: Option<BlockDigest>,
}

impl LastLine {
    /// The line as JSON, not yet sealed.
    pub(super) fn to_json(self) -> String {
        let whole = self.whole.map_or("null".to_owned(), |digest| format!("\"{digest}\""));
        format!("{{\"lines\":{},\"len_bytes\":{},\"whole\":{whole}}}", self.lines, self.len_bytes)
    }
}

/// A line that is not the first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Entry(Entry),
    Closing(LastLine),
}

/// Every field that a line may have. Others are left alone: a later haul may add some.
#[derive(Deserialize)]
struct Fields {
    offset_bytes: Option<u64>,
    len_bytes: u64,
    digest: Option<BlockDigest>,
    #[serde(default)]
    zero: bool,
    #[serde(default)]
    unread: bool,
    lines: Option<u64>,
    whole: Option<BlockDigest>,
}

impl Body {
    /// What a line whose check held says.
    pub(super) fn parse(line: &[u8]) -> Result<Self, FaultKind> {
        let fields: Fields = serde_json::from_slice(line).map_err(|error| FaultKind::Senseless(error.to_string()))?;
        let len = fields.len_bytes;
        let Some(offset) = fields.offset_bytes else {
            let lines = fields.lines.ok_or_else(|| FaultKind::Senseless("neither an extent nor the end".into()))?;
            return Ok(Body::Closing(LastLine { lines, len_bytes: len, whole: fields.whole }));
        };
        if offset.checked_add(len).is_none() {
            return Err(FaultKind::Senseless(format!(
                "{len} bytes at byte {offset} are beyond the last possible byte"
            )));
        }
        let extent = Extent::new(offset, len);
        Ok(Body::Entry(match (fields.digest, fields.zero, fields.unread) {
            (Some(digest), false, false) => Entry::Block { extent, digest },
            (None, true, false) => Entry::Zeros(extent),
            (None, false, true) => Entry::Unread(extent),
            _ => return Err(FaultKind::Senseless("an extent has a digest, or is zero, or is unread".into())),
        }))
    }
}
