//! `haul profile` as clap sees it, and as [`ProfileOptions`].
use crate::apps::command::{Call, Unmeant, Words};
use crate::apps::exit::Exit;
use crate::apps::measuring::cli::random::RandomArguments;
use crate::apps::measuring::cli::tune::TableArguments;
use crate::apps::measuring::cli::write::WriteArguments;
use crate::apps::measuring::plan::{ProfileOptions, TableStyle, TimingFrom};
use crate::cli::help;
use crate::cli::words::address;
use crate::cli::words::{self, EngineChoice};
use crate::core::OwnBuffer;
use crate::measure::BufferWish;
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::time::Duration;

/// Measure a disk: rate by place, cost of a command
///
/// Read PATH at places spread from its first byte to its last, then with commands from 512 bytes to 16 MiB one at a
/// time, then past the page cache, through it, and through a mapping of it. Told are the rate at each place and how
/// long a read of all of it takes by that; the fixed latency of a command, and how well that line fits;
/// the processor time and page cache that each way of reading takes; and what a read does to the rest of the
/// system, to a file that others have in the page cache and to the time a program takes to start.
///
/// Nothing is written without --write, and the page cache is left as it was found.
#[derive(Debug, Parser)]
#[command(name = "profile")]
#[command(after_help = "Exit status: 0 measured, 1 not readable, 2 usage, 3 refused.")]
#[command(after_long_help = help::text(&[super::PROFILE_EXAMPLES, super::STATUS, super::FILES]))]
pub(crate) struct ProfileArguments {
    /// What is measured: block device, node (/dev/sg0) or file; only read without --write
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: OsString,

    /// Only the rate at the start: 3 s, three times
    ///
    /// Read on and on from the start, past the page cache, for 3 seconds, three times, and tell the median on one line,
    /// as hdparm -t does. --time says how long each of them is.
    #[arg(long, conflicts_with_all = ["positions", "report", "write"], help_heading = "Method")]
    timing: bool,

    /// With --timing: from this byte on, not from the start
    ///
    /// With --timing: read from this byte on, not from the start, as hdparm --offset: --offset 500G.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, requires = "timing", help_heading = "Method")]
    offset: Option<u64>,

    /// With --timing: from the place of this number on
    ///
    /// With --timing: read from the place of this number on, 1 to 20, as they are numbered in the table of a profile
    /// with its 20 places.
    #[arg(long, value_name = "N", value_parser = words::place, requires = "timing", help_heading = "Method")]
    #[arg(conflicts_with = "offset")]
    place: Option<u32>,
    /// Only READ BUFFER of a disk at its node: no medium
    ///
    /// Read the disk's own buffer over and over by READ BUFFER, for about 10 seconds, with each size and in three ways:
    /// with the bytes left in the driver's memory, straight into ours (where allow_dio of the driver is 1), and copied
    /// by the driver. Told are the time of a command, the rate, the share of a processor, the line through the times,
    /// and what the formula of sg_rbuf's author makes of them. PATH is the disk's SCSI generic node (/dev/sg0).
    #[arg(long, help_heading = "Method")]
    #[arg(conflicts_with_all = ["timing", "positions", "sustained", "report", "write"])]
    read_buffer: bool,

    /// With --read-buffer: bytes of a command, as 4K,64K
    ///
    /// Bytes that a READ BUFFER asks for, one size or several with commas between, instead of powers of two up to the
    /// whole buffer.
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = words::buffer_size)]
    #[arg(requires = "read_buffer", help_heading = "Method")]
    buffer_sizes: Vec<u32>,

    /// With --read-buffer: the echo buffer instead
    ///
    /// Read the disk's echo buffer, which is there for tests of the link, instead of that of its data. Most disks give
    /// nothing of it before something was written to it.
    #[arg(long, requires = "read_buffer", help_heading = "Method")]
    echo_buffer: bool,

    /// Places at which the rate is measured; default 20
    ///
    /// Places at which the rate is measured, spread from the first byte to the last: 5 to 200.
    #[arg(long, value_name = "N", value_parser = words::positions, help_heading = "Method")]
    positions: Option<u32>,

    /// Only how the rate of writing holds: BYTES on and on
    ///
    /// Write BYTES on and on, and tell each rate that held and where it changed, as when a write cache runs out or a
    /// drive throttles; the drive's temperature, where the kernel knows it (NVMe, drivetemp), tells these apart. It
    /// ends before where the rate has fallen and held for as long as all before, and after --time where that is given.
    /// A device gets the same places again and again, by which a flash drive may look faster than it is; --destroy
    /// writes over all of it, and a new file is as long as half of what is free allows.
    #[arg(long, value_name = "BYTES", value_parser = words::sustained, requires = "write", help_heading = "Method")]
    #[arg(conflicts_with = "positions")]
    sustained: Option<u64>,

    /// About how long to measure; default 30 s
    ///
    /// About how long to measure in all, in seconds, or with m or h behind it: 90, 5m. --sustained ends then at the
    /// latest, and has no such end without it.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Method")]
    time: Option<Duration>,

    /// auto, ring (io_uring), threads, sync
    ///
    /// How requests are kept in flight, as for haul copy.
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

    fn into_options(self) -> Result<ProfileOptions, Unmeant> {
        Ok(ProfileOptions {
            path: address("PATH", self.path)?,
            timing: self.timing,
            from: self.offset.map(TimingFrom::Byte).or(self.place.map(TimingFrom::Place)).unwrap_or_default(),
            read_buffer: self.read_buffer.then_some(BufferWish {
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
