//! The properties of an export of a block device server.

/// The properties of an NBD export, as negotiated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// The server's description of the export.
    pub description: Option<String>,
    /// Version of TLS of the connections; `None`: they are not encrypted.
    pub tls: Option<String>,
    /// The export is read-only.
    pub read_only: bool,
    /// It can flush: make written data durable (NBD_CMD_FLUSH).
    pub flush: bool,
    /// It supports durable writes (NBD_CMD_FLAG_FUA).
    pub fua: bool,
    /// It supports discarding blocks (NBD_CMD_TRIM).
    pub trim: bool,
    /// It can zero extents without receiving data (NBD_CMD_WRITE_ZEROES).
    pub write_zeroes: bool,
    /// It reports an error if zeroing would not be faster than writing (NBD_CMD_FLAG_FAST_ZERO).
    pub fast_zero: bool,
    /// All connections share one cache: a flush on one covers writes on all (NBD_FLAG_CAN_MULTI_CONN).
    pub multi_conn: bool,
    /// Replies are structured: split into several parts, with error messages.
    pub structured_replies: bool,
    /// It reports which extents read as zeros (metadata context base:allocation).
    pub base_allocation: bool,
    /// Minimum size and alignment of requests, in bytes; 1 if the server reports none.
    pub block_min_bytes: u32,
    /// Preferred size and alignment of requests, in bytes; `None` if the server reports none.
    pub block_preferred_bytes: Option<u32>,
    /// Maximum size of a request, in bytes.
    pub block_max_bytes: u32,
}
