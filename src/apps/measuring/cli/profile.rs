//! The arguments of `haul profile`, and their conversion to [`ProfileOptions`].
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::measuring::cli::random::RandomArguments;
use crate::apps::measuring::cli::tune::TableArguments;
use crate::apps::measuring::cli::write::WriteArguments;
use crate::apps::measuring::plan::{ProfileOptions, TableStyle, TimingFrom};
use crate::cli::help;
use crate::cli::words::address;
use crate::cli::words::{self, EngineChoice};
use crate::core::OwnBuffer;
use crate::measure::BufferOptions;
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::time::Duration;

/// Measure a disk: rate by position, latency of commands
///
/// Read PATH at positions from its first byte to its last, then with single commands from 512 bytes to 16 MiB, then
/// with direct, buffered and memory-mapped I/O. The report shows the rate at each position and the resulting time to
/// read everything; the fixed latency of a command, and the quality of that linear fit; CPU time and page cache use of
/// each read method; and the system impact: how much of a cached test file is evicted, and how long a program takes to
/// start.
///
/// haul writes nothing without --write, and leaves the page cache unchanged.
#[derive(Debug, Parser)]
#[command(name = "profile")]
#[command(after_help = "Exit status: 0 measured, 1 not readable, 2 usage, 3 refused.")]
#[command(after_long_help = help::text(&[super::PROFILE_EXAMPLES, super::STATUS, super::FILES]))]
pub(crate) struct ProfileArguments {
    /// Device to measure: block device, node (/dev/sg0) or file; only read without --write
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: OsString,

    /// Only the rate at the start: 3 s, three times
    ///
    /// Read continuously from the start with direct I/O for 3 seconds, three times, and report the median on one line,
    /// as hdparm -t does. --time sets the duration of each run.
    #[arg(long, conflicts_with_all = ["positions", "report", "write"], help_heading = "Method")]
    timing: bool,

    /// With --timing: start at this byte offset
    ///
    /// With --timing: start reading at this byte offset instead of 0, as hdparm --offset: --offset 500G.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, requires = "timing", help_heading = "Method")]
    offset: Option<u64>,

    /// With --timing: start at the position of this number
    ///
    /// With --timing: start reading at the position of this number, 1 to 20, as numbered in the table of a profile with
    /// its 20 positions.
    #[arg(long, value_name = "N", value_parser = words::place, requires = "timing", help_heading = "Method")]
    #[arg(conflicts_with = "offset")]
    place: Option<u32>,
    /// Only READ BUFFER of a disk, without medium access
    ///
    /// Read the buffer of the disk repeatedly with READ BUFFER for about 10 seconds, with each size and in three ways:
    /// with the data left in the memory of the driver, directly into user memory (where allow_dio of the driver is 1),
    /// and copied by the driver. The report shows the latency of a command, the rate, the CPU share, the linear fit of
    /// the latencies, and the result of the formula of the author of sg_rbuf. PATH is the SCSI generic node of the disk
    /// (/dev/sg0).
    #[arg(long, help_heading = "Method")]
    #[arg(conflicts_with_all = ["timing", "positions", "sustained", "report", "write"])]
    read_buffer: bool,

    /// With --read-buffer: bytes per command, such as 4K,64K
    ///
    /// Bytes per READ BUFFER, one size or several separated by commas, instead of powers of two up to the whole buffer.
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = words::buffer_size)]
    #[arg(requires = "read_buffer", help_heading = "Method")]
    buffer_sizes: Vec<u32>,

    /// With --read-buffer: the echo buffer instead
    ///
    /// Read the echo buffer of the disk, which exists for link tests, instead of the data buffer. Most disks return
    /// nothing from it before something is written to it.
    #[arg(long, requires = "read_buffer", help_heading = "Method")]
    echo_buffer: bool,

    /// Positions at which to measure the rate; default 20
    ///
    /// Positions at which to measure the rate, from the first byte to the last: 5 to 200.
    #[arg(long, value_name = "N", value_parser = words::positions, help_heading = "Method")]
    positions: Option<u32>,

    /// Only the sustained write rate: write BYTES continuously
    ///
    /// Write BYTES continuously, and report each steady rate and where it changed, for example when a write cache ran
    /// out or the drive throttled; the temperature of the drive, where the kernel reports it (NVMe, drivetemp),
    /// distinguishes these. The measurement ends early when the rate has fallen and been stable for as long as
    /// everything before, and after --time if given. On a device the same places are overwritten repeatedly, so a flash
    /// drive may look faster than it is; --destroy overwrites the whole device, and a new file uses up to half of the
    /// free space.
    #[arg(long, value_name = "BYTES", value_parser = words::sustained, requires = "write", help_heading = "Method")]
    #[arg(conflicts_with = "positions")]
    sustained: Option<u64>,

    /// Approximate duration; default 30 s
    ///
    /// Approximate duration of the measurement, in seconds, or with suffix m or h: 90, 5m. --sustained ends then at the
    /// latest, and has no time limit without it.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Method")]
    time: Option<Duration>,

    /// auto, ring (io_uring), threads, sync
    ///
    /// How to keep requests in flight, as for haul copy.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    engine: EngineChoice,

    #[command(flatten)]
    random: RandomArguments,

    #[command(flatten)]
    write: WriteArguments,

    #[command(flatten)]
    table: TableArguments,
}

impl Words for ProfileArguments {
    type Options = ProfileOptions;

    const PAGE: &'static [&'static str] = super::PROFILE_PAGE;

    fn into_options(self) -> Result<ProfileOptions, UsageError> {
        Ok(ProfileOptions {
            path: address("PATH", self.path)?,
            timing: self.timing,
            from: self.offset.map(TimingFrom::Byte).or(self.place.map(TimingFrom::Place)).unwrap_or_default(),
            read_buffer: self.read_buffer.then_some(BufferOptions {
                which: if self.echo_buffer { OwnBuffer::Echo } else { OwnBuffer::Data },
                sizes: self.buffer_sizes,
            }),
            positions: self.positions,
            sustained_bytes: self.sustained,
            write: self.write.into_options(false),
            time: self.time,
            engine: self.engine,
            random: self.random.into_options(),
            style: self.table.style(),
            label: self.table.label,
            report: self.table.report,
        })
    }

    fn run(options: &ProfileOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        crate::apps::measuring::profile::profile(options, call.words, call.out)
    }

    fn json_report(options: &ProfileOptions) -> Option<&'static str> {
        (options.style == TableStyle::Json).then_some("profile")
    }
}
