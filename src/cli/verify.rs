//! `haul verify` as clap sees it, and as [`Options`].
use super::copy::address;
use super::words::{self, EngineChoice};
use crate::plan::{Options, Passes, ProgressStyle, When};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// The words behind `haul verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 equal, 1 different or not readable, 2 usage. See --help for every option in full."
)]
pub(super) struct VerifyArguments {
    /// Source: block device, file, pipe, - for standard input, /dev/zero
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Dest: block device or file; it is only read
    #[arg(value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: OsString,

    /// Begin this far into the source
    ///
    /// Begin at this byte of the source. A pipe has no offsets: it cannot be skipped.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    skip: Option<u64>,

    /// Begin this far into the dest
    ///
    /// Begin at this byte of the dest. With --skip, --seek or --count only that range has to be equal: that one file is
    /// longer than the other is no difference then.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Compare this many bytes, not all
    ///
    /// Compare this many bytes instead of everything up to the end of the source. More than the source has is an error.
    #[arg(long, value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true, help_heading = "Range")]
    count: Option<u64>,

    /// Show the plan, read nothing
    ///
    /// Show the whole plan with the reason of each choice, and an estimate from a few short probing reads.
    #[arg(long, short = 'n', help_heading = "Method")]
    dry_run: bool,

    /// Direct I/O: auto, always, never
    ///
    /// Whether to pass the page cache by. auto: on block devices, and on files where the file system can and it pays.
    /// With always, what is compared is what the medium gives, not what memory holds.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    direct: When,

    /// By the disk's own commands: source, dest, both
    ///
    /// Reach disks by SCSI or NVMe commands of their own, past the block layer, through the node that takes them
    /// (/dev/sgN, /dev/ngXnY): what is wrong is then told in the disk's own words. Without a value, every side that has
    /// such a node. A partition keeps to its place, what is mounted is refused all the same, and the page cache of the
    /// block device is written back and dropped before and after. A node that is named as SRC or DST needs no option.
    #[arg(long, value_name = "SIDE", value_parser = words::passes(), num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "possible", hide_possible_values = true, help_heading = "Method")]
    passthrough: Option<Passes>,

    /// Seconds until such a command is given up
    ///
    /// Seconds after which the kernel gives up a command of --passthrough, 60 by default. It then tries to bring the
    /// disk to its senses, which takes some time of its own.
    #[arg(long, value_name = "S", value_parser = words::command_timeout, help_heading = "Method")]
    command_timeout: Option<u32>,

    /// auto, ring (io_uring), threads, sync
    ///
    /// How requests are kept in flight. ring: one io_uring. threads: helper threads, for where io_uring is forbidden.
    /// sync: one block at a time. auto: ring, else threads. All find the same.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    engine: EngineChoice,

    /// Bytes per request; default: found out
    ///
    /// Bytes per request, up to 64M. By default haul begins with a size that suits the devices and looks for a better
    /// one during the first seconds. Direct I/O needs a multiple of the logical block size.
    #[arg(long, value_name = "SIZE", value_parser = words::block, allow_hyphen_values = true, help_heading = "Method")]
    block_size: Option<u32>,

    /// Blocks in flight; default: found out
    ///
    /// Blocks in flight, both sides together, 2 to 1024. Memory in use is about block size times depth.
    #[arg(long, value_name = "N", value_parser = words::depth, allow_hyphen_values = true, help_heading = "Method")]
    depth: Option<u32>,

    /// Compare no more than this many bytes a second
    ///
    /// Read no more than this many bytes a second from each side: --limit 50M.
    #[arg(long, value_name = "RATE", value_parser = words::rate, allow_hyphen_values = true, help_heading = "Method")]
    limit: Option<u64>,

    /// auto, bar, plain, json, none
    ///
    /// How progress is shown on standard error. auto: a bar on a terminal, a line now and then elsewhere. SIGUSR1
    /// prints a line at any time, whatever the style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true, help_heading = "Output")]
    progress: ProgressStyle,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, with every run of sectors that differs, or with --dry-run the plan, as one JSON document on
    /// standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl VerifyArguments {
    /// The options that these words mean, or why they cannot be meant.
    pub(super) fn settle(self) -> Result<Options, (ErrorKind, String)> {
        Ok(Options {
            source: address("SRC", self.source)?,
            dest: address("DST", self.dest)?,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            engine: self.engine,
            block_bytes: self.block_size,
            depth: self.depth,
            direct: self.direct,
            passthrough: self.passthrough.unwrap_or_default(),
            command_timeout_s: self.command_timeout,
            limit_bytes_per_s: self.limit,
            dry_run: self.dry_run,
            progress: self.progress,
            json: self.json,
            ..Options::default()
        })
    }
}
