//! The lines of a manifest after the first.
use crate::core::{BlockDigest, Extent, Side, byte_count};
use crate::ledger::FaultKind;
use serde::Deserialize;

/// One line about bytes of the copy. Offsets count from the first byte of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A block, which begins at a multiple of the block length and has that length unless it is the last.
    Block {
        /// Its bytes.
        extent: Extent,
        /// Its digest; unreadable bytes are digested as zeros.
        digest: BlockDigest,
    },
    /// Blocks that consist of zeros, any number of them; the run ends at the end of a block or of the copy.
    Zeros(Extent),
    /// Bytes that could not be read: the copy has zeros there instead. At any offset and of any length, in
    /// addition to what other lines record about these bytes.
    Unread(Extent),
    /// A range of that side, if it is a copy of ranges: in order, the ranges contain the bytes of the copy.
    Range(Side, Extent),
}

impl Entry {
    /// The bytes that the line describes: for a range, those of its side.
    pub fn extent(&self) -> Extent {
        match *self {
            Entry::Block { extent, .. } | Entry::Zeros(extent) | Entry::Unread(extent) | Entry::Range(_, extent) => {
                extent
            }
        }
    }

    /// The line as JSON, not yet sealed. Formatted by hand, because there may be millions; nothing in it needs
    /// escaping.
    pub(super) fn to_json(self) -> String {
        let Extent { offset, len } = self.extent();
        let rest = match self {
            Entry::Block { digest, .. } => format!("\"digest\":\"{digest}\""),
            Entry::Zeros(_) => "\"zero\":true".to_owned(),
            Entry::Unread(_) => "\"unread\":true".to_owned(),
            Entry::Range(side, _) => format!("\"range_of\":\"{}\"", side.key()),
        };
        format!("{{\"offset_bytes\":{offset},\"len_bytes\":{len},{rest}}}")
    }
}

/// The contents of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastLine {
    /// Lines between the first and this one.
    pub lines: u64,
    /// Length of the copy, in bytes.
    pub len_bytes: u64,
    /// The digest of all bytes of the copy in order, including zeros, by the head's algorithm; `None` if it was
    /// not computed, as for a resumed copy.
    pub whole: Option<BlockDigest>,
}

impl LastLine {
    /// The line as JSON, not yet sealed.
    pub(super) fn to_json(self) -> String {
        let whole = self.whole.map_or("null".to_owned(), |digest| format!("\"{digest}\""));
        format!("{{\"lines\":{},\"len_bytes\":{},\"whole\":{whole}}}", self.lines, self.len_bytes)
    }
}

/// A line other than the first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Entry(Entry),
    Closing(LastLine),
}

/// Every field of a line. Unknown fields are ignored, because a later haul may add some.
#[derive(Deserialize)]
struct Fields {
    offset_bytes: Option<u64>,
    len_bytes: u64,
    digest: Option<BlockDigest>,
    #[serde(default)]
    zero: bool,
    #[serde(default)]
    unread: bool,
    range_of: Option<String>,
    lines: Option<u64>,
    whole: Option<BlockDigest>,
}

impl Body {
    /// Parses a line whose checksum matches.
    pub(super) fn parse(line: &[u8]) -> Result<Self, FaultKind> {
        let fields: Fields = serde_json::from_slice(line).map_err(|error| FaultKind::Invalid(error.to_string()))?;
        let len = fields.len_bytes;
        let Some(offset) = fields.offset_bytes else {
            let lines = fields.lines.ok_or_else(|| FaultKind::Invalid("neither an extent nor the end".into()))?;
            return Ok(Body::Closing(LastLine { lines, len_bytes: len, whole: fields.whole }));
        };
        if offset.checked_add(len).is_none() {
            return Err(FaultKind::Invalid(format!(
                "{} at byte {offset} beyond the last possible byte",
                byte_count(len)
            )));
        }
        let extent = Extent::new(offset, len);
        let side = fields.range_of.map(|name| Side::BOTH.into_iter().find(|side| side.key() == name));
        Ok(Body::Entry(match (fields.digest, fields.zero, fields.unread, side) {
            (Some(digest), false, false, None) => Entry::Block { extent, digest },
            (None, true, false, None) => Entry::Zeros(extent),
            (None, false, true, None) => Entry::Unread(extent),
            (None, false, false, Some(Some(side))) => Entry::Range(side, extent),
            _ => return Err(FaultKind::Invalid("an extent has a digest, or is zero, unread or a range".into())),
        }))
    }
}
