//! Differences between a record file and the present sides.
use crate::core::{Extent, Side, byte_count};
use std::fmt;

/// A property that has changed since the record file was begun: `then` and `now`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "side, then and now mean the same everywhere")]
pub enum Mismatch {
    /// Another path, of a side without serial number and WWN.
    Path { side: Side, then: String, now: String },
    /// Another kind: a file instead of a block device.
    Kind { side: Side, then: String, now: String },
    /// Another model.
    Model { side: Side, then: Option<String>, now: Option<String> },
    /// Another serial number.
    Serial { side: Side, then: Option<String>, now: Option<String> },
    /// Another world wide name.
    Wwn { side: Side, then: Option<String>, now: Option<String> },
    /// Another entity tag, or time of the last change, of a resource of a web server.
    Version { side: Side, then: Option<String>, now: Option<String> },
    /// Another logical block size, in bytes.
    LogicalBlock { side: Side, then: u32, now: u32 },
    /// Another size, in bytes; for a dest file, without `then`, one that is too short for its durable data.
    Size { side: Side, then: Option<u64>, now: Option<u64> },
    /// The copy begins at another offset on that side, in bytes.
    Offset { side: Side, then: u64, now: u64 },
    /// The copy has another length, in bytes.
    Len { then: Option<u64>, now: Option<u64> },
    /// The copy has other ranges, or is one run of bytes instead of ranges.
    Ranges,
    /// A sample differs; the offset is that on the side.
    Content { side: Side, extent: Extent },
    /// A destination file was written to after the copy ended: its modification time and its size in bytes.
    Written { then: (String, u64), now: (String, u64) },
    /// A sample cannot be read.
    Unreadable { side: Side, extent: Extent },
}

/// A clause: the property, its former value and its present value.
impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_not_reported = |text: &Option<String>| text.clone().unwrap_or_else(|| "not reported".to_owned());
        let bytes = |number: &Option<u64>| number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        match self {
            Mismatch::Path { side, then, now } => write!(out, "{} was {then} and is {now}", side.name()),
            Mismatch::Kind { side, then, now } => write!(out, "{} was a {then} and is a {now}", side.name()),
            Mismatch::Model { side, then, now } => {
                changed(out, *side, "model", &or_not_reported(then), &or_not_reported(now))
            }
            Mismatch::Serial { side, then, now } => {
                changed(out, *side, "serial number", &or_not_reported(then), &or_not_reported(now))
            }
            Mismatch::Wwn { side, then, now } => {
                changed(out, *side, "world wide name", &or_not_reported(then), &or_not_reported(now))
            }
            Mismatch::Version { side, then, now } => {
                changed(out, *side, "ETag or Last-Modified", &or_not_reported(then), &or_not_reported(now))
            }
            Mismatch::LogicalBlock { side, then, now } => {
                changed(out, *side, "logical block size", &then.to_string(), &now.to_string())
            }
            // The destination is a file that did not exist before.
            Mismatch::Size { side: Side::Dest, then: None, now } => {
                write!(
                    out,
                    "the destination has {}, fewer than the journal lists as durable",
                    byte_count(now.unwrap_or(0))
                )
            }
            Mismatch::Size { side, then, now } => changed(out, *side, "size in bytes", &bytes(then), &bytes(now)),
            Mismatch::Offset { side, then, now } => {
                changed(out, *side, "first byte", &then.to_string(), &now.to_string())
            }
            Mismatch::Len { then, now } => {
                write!(out, "the length of the copy changed from {} to {} bytes", bytes(then), bytes(now))
            }
            Mismatch::Ranges => write!(out, "it is for other ranges"),
            Mismatch::Written { then: (then, bytes_then), now: (now, bytes_now) } => write!(
                out,
                "another program modified the destination: its modification time was {then} and is {now}, its size \
                 was {bytes_then} bytes and is {bytes_now}"
            ),
            Mismatch::Unreadable { side, extent: Extent { offset, len } } => {
                write!(out, "cannot read {} of the {} at byte {offset}", byte_count(*len), side.name())
            }
            Mismatch::Content { side: Side::Source, extent: Extent { offset, len } } => {
                write!(out, "{} of the source at byte {offset} changed", byte_count(*len))
            }
            Mismatch::Content { side: Side::Dest, extent: Extent { offset, len } } => {
                write!(
                    out,
                    "{} of the destination at byte {offset} {} the source",
                    byte_count(*len),
                    if *len == 1 { "no longer matches" } else { "no longer match" }
                )
            }
        }
    }
}

fn changed(out: &mut fmt::Formatter<'_>, side: Side, what: &str, then: &str, now: &str) -> fmt::Result {
    write!(out, "{} of the {} was {then} and is {now}", what, side.name())
}
