//! Options about the method that several commands share.
use super::words::{self, EngineChoice};
use crate::plan::{PassthroughMode, When};
use clap::Args;

/// How sides are reached.
#[derive(Debug, Args)]
pub(crate) struct ReachArguments {
    /// Direct I/O: auto, always, never
    ///
    /// Whether to pass the page cache by. auto: on block devices, and on files where the file system can and it pays.
    /// Otherwise I/O is buffered and leaves no trace in the page cache.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) direct: When,

    /// By the disk's own commands: source, dest, both
    ///
    /// Reach disks by SCSI or NVMe commands of their own, past the block layer, through the node that takes them
    /// (/dev/sgN, /dev/ngXnY): what is wrong is then told in the disk's own words. Without a value, every side that has
    /// such a node. A partition keeps to its place, what is mounted is refused all the same, and the page cache of the
    /// block device is written back and dropped before and after. A node that is named as SRC or DST needs no option.
    #[arg(long, value_name = "SIDE", value_parser = words::passes(), num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "possible", hide_possible_values = true, help_heading = "Method")]
    pub(crate) passthrough: Option<PassthroughMode>,

    /// Seconds until such a command is given up
    ///
    /// Seconds after which the kernel gives up a command of --passthrough, 60 by default. It then tries to bring the
    /// disk to its senses, which takes some time of its own.
    #[arg(long, value_name = "S", value_parser = words::command_timeout, help_heading = "Method")]
    pub(crate) command_timeout: Option<u32>,
}

/// How requests are kept in flight, and which.
#[derive(Debug, Args)]
pub(crate) struct PaceArguments {
    /// auto, ring (io_uring), threads, sync
    ///
    /// How requests are kept in flight. ring: one io_uring. threads: helper threads, for where io_uring is forbidden.
    /// sync: one block at a time, to compare with. auto: ring, else threads. All give the same bytes.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) engine: EngineChoice,

    /// Bytes per request; default: found out
    ///
    /// Bytes per request, up to 64M. By default the copy begins with a size that suits the devices and tries others on
    /// the way. The queue depth of each side is found all the same. Direct I/O needs a multiple of the logical block
    /// size.
    #[arg(long, short = 'b', value_name = "SIZE", value_parser = words::block, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    pub(crate) block_size: Option<u32>,

    /// Blocks in flight; default: found out
    ///
    /// Blocks in flight, both sides together, 1 to 1024. Memory in use is about block size times depth. Nothing is
    /// tried on the way then. By default each side begins with 2 requests, more on NVMe and networks, and gets twice as
    /// many for as long as that gains anything.
    #[arg(long, value_name = "N", value_parser = words::depth, allow_hyphen_values = true, help_heading = "Method")]
    pub(crate) depth: Option<u32>,
}
