//! Options about the method that several commands share.
use super::words::{self, EngineChoice};
use crate::plan::{PassthroughMode, When};
use clap::Args;

/// How sides are accessed.
#[derive(Debug, Args)]
pub(crate) struct ReachArguments {
    /// Direct I/O: auto, always, never
    ///
    /// Whether to use direct I/O. auto: on block devices, and on files where the file system supports it and it is
    /// faster. Otherwise I/O is buffered, and haul evicts what it copies from the page cache.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) direct: When,

    /// SCSI/NVMe passthrough: source, destination, both
    ///
    /// Send SCSI or NVMe commands to disks, bypassing the block layer, through their passthrough node (/dev/sgN,
    /// /dev/ngXnY): errors then carry the device's error codes. Without a value, on every side that has such a node. A
    /// partition keeps its offset, haul still refuses mounted devices, and it writes back and evicts the page cache of
    /// the block device before and after. A node given as SRC or DST needs no option.
    #[arg(long, value_name = "SIDE", value_parser = words::passes(), num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "possible", hide_possible_values = true, help_heading = "Method")]
    pub(crate) passthrough: Option<PassthroughMode>,

    /// Timeout of passthrough commands in seconds
    ///
    /// Timeout in seconds after which the kernel aborts a command of --passthrough, 60 by default. The error recovery
    /// of the kernel takes additional time.
    #[arg(long, value_name = "S", value_parser = words::command_timeout, help_heading = "Method")]
    pub(crate) command_timeout: Option<u32>,
}

/// How many requests are kept in flight, how, and of which size.
#[derive(Debug, Args)]
pub(crate) struct PaceArguments {
    /// auto, ring (io_uring), threads, sync
    ///
    /// How to keep requests in flight. ring: one io_uring. threads: helper threads, where io_uring is forbidden. sync:
    /// one block at a time, for comparison. auto: ring, otherwise threads. The result is the same.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) engine: EngineChoice,

    /// Bytes per request; default: auto-tuned
    ///
    /// Bytes per request, up to 64M. By default the copy starts with a size suited to the devices and tries others
    /// during the copy. The queue depth of each side is auto-tuned in any case. Direct I/O needs a multiple of the
    /// logical block size.
    #[arg(long, short = 'b', value_name = "SIZE", value_parser = words::block, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    pub(crate) block_size: Option<u32>,

    /// Blocks in flight; default: auto-tuned
    ///
    /// Total blocks in flight on both sides, 1 to 1024. Memory use is about block size times depth. This option
    /// disables auto-tuning. By default each side starts with 2 requests, more on NVMe and networks, and haul doubles
    /// the number as long as that raises throughput.
    #[arg(long, value_name = "N", value_parser = words::depth, allow_hyphen_values = true, help_heading = "Method")]
    pub(crate) depth: Option<u32>,
}
