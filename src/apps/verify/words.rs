//! The arguments of `haul verify`, and their conversion to [`Options`].
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::not_started::report_not_started;
use crate::cli::defaults::Defaults;
use crate::cli::help::{self, ENVIRONMENT, FILES, SIZES};
use crate::cli::images::ComparedImageArguments;
use crate::cli::method::{PaceArguments, ReachArguments};
use crate::cli::on_error;
use crate::cli::ranges::RangeArguments;
use crate::cli::shown::ShownArguments;
use crate::cli::words;
use crate::cli::words::address;
use crate::core::{Error, OnError};
use crate::plan::Options;
use clap::{Parser, ValueHint};
use std::ffi::OsString;

const EXAMPLES: &str = include_str!("help/examples.txt");
const STATUS: &str = include_str!("help/status.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), haul-manifest(1), cmp(1), sha256sum(1)\n";

/// Compare two sides: what differs, and where
///
/// Read SRC and DST and report whether they are equal, and if not, where they differ. Nothing is written. DST may be
/// larger than SRC if it is a device; two files must have the same length, unless a range is given.
#[derive(Debug, Parser)]
#[command(name = "verify")]
#[command(
    after_help = "Exit status: 0 equal, 1 different or unreadable, 2 usage.",
    after_long_help = help::text(&[EXAMPLES, SIZES, STATUS])
)]
pub(crate) struct VerifyArguments {
    /// Source: block device, file, NBD export, HTTP(S) address, pipe, - for standard input, /dev/zero; omitted with
    /// --manifest
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Destination: block device, file or NBD export; haul only reads it
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath)]
    #[arg(required_unless_present = "manifest")]
    dest: Option<OsString>,

    /// Compare DST with this manifest instead of a source
    ///
    /// Compare DST, then the only operand, with the digests in the manifest FILE of a copy. Differences are reported by
    /// block. The comparison starts where the copy started, if DST is a side of that copy; --seek overrides that. Of a
    /// copy of ranges haul compares those; --ranges names others.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Method")]
    #[arg(conflicts_with_all = ["destination", "skip", "count", "source_ranges"])]
    manifest: Option<OsString>,

    /// Start at this offset of the source
    ///
    /// Start at this byte offset of the source. A pipe has no offsets and does not support it.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    skip: Option<u64>,

    /// Start at this offset of the destination
    ///
    /// Start at this byte offset of the destination. With --skip, --seek or --count only that range must be equal:
    /// different lengths of the files are then no difference.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Compare only this many bytes
    ///
    /// Compare this many bytes instead of everything up to the end of the source. A count beyond the end of the source
    /// is an error.
    #[arg(long, short = 'c', value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    #[arg(help_heading = "Range")]
    count: Option<u64>,

    #[command(flatten)]
    ranges: RangeArguments,

    #[command(flatten)]
    images: ComparedImageArguments,

    /// Show the plan, compare nothing
    ///
    /// Show the complete plan with the reason for each choice, and an estimate from a few short sample reads.
    #[arg(long, short = 'n', help_heading = "Method")]
    dry_run: bool,

    /// On unreadable sectors: stop, skip, retry:N
    ///
    /// What to do about unreadable sectors on either side. stop: end there. skip: read smaller pieces down to the
    /// logical block and compare the rest; the report lists the unreadable sectors as not compared, and the exit status
    /// is 1. retry:N: retry each such block N times, then stop, or continue with retry:N,skip.
    #[arg(long, value_name = "HOW", value_parser = on_error::parse, default_value = "stop", help_heading = "Method")]
    #[arg(hide_default_value = true)]
    on_error: OnError,

    #[command(flatten)]
    reach: ReachArguments,

    #[command(flatten)]
    pace: PaceArguments,

    #[command(flatten)]
    shown: ShownArguments,
}

impl Words for VerifyArguments {
    type Options = Options;

    const PAGE: &'static [&'static str] = &[SIZES, STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<Options, UsageError> {
        let (source, dest) = match (self.dest, &self.manifest) {
            (Some(dest), _) => (address("SRC", self.source)?, address("DST", dest)?),
            // The manifest replaces the source.
            (None, _) => (String::new(), address("DST", self.source)?),
        };
        Ok(Options {
            source,
            dest,
            manifest: self.manifest.map(|path| address("--manifest", path)).transpose()?,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            range_lists: self.ranges.into_options()?,
            decompress: self.images.decompress(),
            bmap: self.images.bmap()?,
            engine: self.pace.engine,
            block_bytes: self.pace.block_size,
            depth: self.pace.depth,
            direct: self.reach.direct,
            passthrough: self.reach.passthrough.unwrap_or_default(),
            command_timeout_s: self.reach.command_timeout,
            on_error: self.on_error,
            dry_run: self.dry_run,
            ..self.shown.options()
        })
    }

    fn with_defaults(mut self, defaults: &Defaults) -> Self {
        self.shown.take_defaults(defaults);
        self
    }

    fn refuse(options: &Options, call: &Call<'_>, error: Error) -> crate::core::Result<Exit> {
        report_not_started(Err(error), "verify", options, call.words, call.out)
    }

    fn run(options: &Options, call: &Call<'_>) -> crate::core::Result<Exit> {
        report_not_started(super::verify(options, call), "verify", options, call.words, call.out)
    }
}
