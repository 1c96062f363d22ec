//! What no longer fits between a paper and the sides as they are now.
use crate::contract::{Extent, Side};

/// One thing that is not as it was when the paper was begun: `then` and `now`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "side, then and now mean the same everywhere")]
pub enum Misfit {
    /// Another path, of a side that does not say who it is.
    Path { side: Side, then: String, now: String },
    /// Another kind of thing: a file where a block device was.
    Kind { side: Side, then: String, now: String },
    /// Another model.
    Model { side: Side, then: Option<String>, now: Option<String> },
    /// Another serial number.
    Serial { side: Side, then: Option<String>, now: Option<String> },
    /// Another world wide name.
    Wwn { side: Side, then: Option<String>, now: Option<String> },
    /// Another logical block size, in bytes.
    LogicalBlock { side: Side, then: u32, now: u32 },
    /// Another size, in bytes; of a dest file, one that is too short for what is durable on it.
    Size { side: Side, then: Option<u64>, now: Option<u64> },
    /// The copy is to begin elsewhere on that side, in bytes.
    Offset { side: Side, then: u64, now: u64 },
    /// The copy is to have another length, in bytes.
    Len { then: Option<u64>, now: Option<u64> },
    /// Other bytes, or none that can be read, in a place that was sampled; the offset is that on the side.
    Content { side: Side, extent: Extent },
}
