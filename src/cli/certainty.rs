//! Options about knowing what arrived.
use super::words;
use crate::core::Portion;
use crate::plan::Delta;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// Digests of blocks, and what they are held against.
#[derive(Debug, Args)]
pub(crate) struct CertaintyArguments {
    /// Read the dest back and compare it
    ///
    /// When all is written and flushed, read the dest back, past every cache, and compare it with digests kept from
    /// the copy: the source is not read a second time. A block that differs is read again; if it still differs it is
    /// written once more from the source and checked again, and the report says so. Status 1 if anything is wrong.
    /// --verify=sample:1% reads back so much of it, in blocks spread over the whole. With --also each dest is read back
    /// and has its verdict; with --resume what earlier runs copied is read from the source once more. While the copy
    /// waits for its source, a fixed disk without a head is read back 1 GiB behind the writer, and at the end only the
    /// rest and a sample; --verify=afterwards reads nothing before everything is written.
    ///
    /// Each block is also fingerprinted when it has been read and again when it has been written: where its bytes
    /// changed in memory in between, the copy ends with status 1. A pipe cannot be read back: there this is all, and
    /// it does not say what the program behind the pipe received.
    #[arg(long, value_name = "PART", value_parser = words::portion, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all", help_heading = "Certainty")]
    pub(crate) verify: Option<Portion>,

    /// Write only what differs on the dest
    ///
    /// Read the dest beside the source, and write only what differs, in pieces of 64 KiB: for a dest that is nearly
    /// right already. A file is neither emptied first nor written anew. The report says how much was written.
    /// --delta=MANIFEST does not read the dest: it believes the manifest of the copy that was made to it last, after a
    /// look at some of its blocks, reads the source, writes the blocks whose digests are others, and brings the
    /// manifest up to date. It is for a dest that nothing else writes to: a file system that was mounted has changed.
    #[arg(long, value_name = "MANIFEST", value_parser = words::delta, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", value_hint = ValueHint::FilePath, help_heading = "Certainty")]
    pub(crate) delta: Option<Delta>,

    /// Write digests of what was copied to FILE
    ///
    /// Write a manifest beside the copy: who both sides are, the BLAKE3 digest of each block, and that of the whole.
    /// It gets its name when the copy is complete; what is there already is never replaced. haul verify --manifest FILE
    /// DST compares with it, without the source.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Certainty")]
    pub(crate) manifest: Option<OsString>,

    /// Bytes of a digested block; default: 4M
    ///
    /// Bytes of a block of --manifest and --verify: a power of two from 64K to 1G.
    #[arg(long, value_name = "SIZE", value_parser = words::manifest_block, allow_hyphen_values = true)]
    #[arg(help_heading = "Certainty")]
    pub(crate) manifest_block: Option<u64>,
}
