//! Options for verifying the copied data.
use super::words;
use crate::core::Portion;
use crate::plan::Delta;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// Digests of blocks, and what they are compared with.
#[derive(Debug, Args)]
pub(crate) struct CertaintyArguments {
    /// Read the destination back and compare it
    ///
    /// After everything is written and flushed, read the destination back, bypassing every cache, and compare it with
    /// digests computed during the copy; the source is not read again. A block that differs is read again; if it still
    /// differs, haul rewrites it from the source, checks it again and reports it. The exit status is 1 if any block is
    /// wrong. --verify=sample:1% reads back 1 % in blocks spread over the whole destination. With --also each
    /// destination is read back and has its own verdict; with --resume haul reads again from the source what earlier
    /// runs copied. While the copy waits for its source, haul reads back SSDs that are not removable 1 GiB behind the
    /// writer, and at the end only the rest and a sample; --verify=afterwards reads nothing before everything is
    /// written.
    ///
    /// haul also computes a fingerprint of each block after reading and after writing: if the data changed in memory in
    /// between, the copy ends with status 1. A pipe cannot be read back: there this is the only check, and it does not
    /// cover what the receiving program received.
    #[arg(long, value_name = "PART", value_parser = words::portion, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all", help_heading = "Certainty")]
    pub(crate) verify: Option<Portion>,

    /// Write only blocks that differ
    ///
    /// Read the destination along with the source, and write only what differs, in pieces of 64 KiB: for a destination
    /// that is mostly up to date. haul measures both during the copy: where changes are so dense that writing whole
    /// blocks is faster, it writes them without reading the destination. An existing file is not emptied first. The
    /// report shows how much was written, and how much of it without comparison.
    /// --delta=MANIFEST does not read the destination: it uses the manifest of the last copy to it, after checking some
    /// of its blocks, reads the source, writes the blocks with different digests, and updates the manifest. Use it only
    /// if nothing else writes to the destination: mounting a file system changes it.
    #[arg(long, value_name = "MANIFEST", value_parser = words::delta, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", value_hint = ValueHint::FilePath, help_heading = "Certainty")]
    pub(crate) delta: Option<Delta>,

    /// Write digests of the copied data to FILE
    ///
    /// Write a manifest during the copy: the identity of both sides, the BLAKE3 digest of each block, and the digest of
    /// all data. It gets its name when the copy is complete; an existing file is not replaced. haul verify --manifest
    /// FILE DST compares with it without the source.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Certainty")]
    pub(crate) manifest: Option<OsString>,

    /// Block size of digests; default: 4M
    ///
    /// Block size of --manifest and --verify: a power of two from 64K to 1G.
    #[arg(long, value_name = "SIZE", value_parser = words::manifest_block, allow_hyphen_values = true)]
    #[arg(help_heading = "Certainty", hide_short_help = true)]
    pub(crate) manifest_block: Option<u64>,
}
