//! The arguments of `haul copy`, and their conversion to [`Options`].
use super::choosing::ChooseArguments;
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::not_started::report_not_started;
use crate::cli::certainty::CertaintyArguments;
use crate::cli::defaults::Defaults;
use crate::cli::expect;
use crate::cli::help::{self, ENVIRONMENT, EXIT_STATUS, FILES, SIZES};
use crate::cli::images::ImageArguments;
use crate::cli::journal::JournalArguments;
use crate::cli::method::{PaceArguments, ReachArguments};
use crate::cli::on_error;
use crate::cli::ranges::RangeArguments;
use crate::cli::shard::ShardArguments;
use crate::cli::shown::VerbosityArguments;
use crate::cli::words::{self, HashChoice, LimitChoice, address};
use crate::core::{Error, OnError};
use crate::plan::{Delta, Expectation, JournalChoice, Options, ProgressStyle, When};
use clap::error::ErrorKind;
use clap::{Parser, ValueHint};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ENDPOINTS: &str = include_str!("help/endpoints.txt");
const EXAMPLES: &str = include_str!("help/examples.txt");
const SIGNALS: &str = include_str!("help/signals.txt");
const NOTES: &str = include_str!("help/notes.txt");
const SEE_ALSO: &str = include_str!("help/see-also.txt");

/// The properties of one `--expect`. An alias, so that clap treats it as one value.
type Expectations = Vec<Expectation>;

/// Copy a disk, a partition, a file or a stream
///
/// Copy SRC to DST completely, with many requests in flight. When the program ends with status 0, all data is on the
/// medium.
///
/// By default haul chooses engine, direct or buffered I/O, block size and queue depth. It refuses to overwrite a device
/// that is in use or too small, and asks before it overwrites a device. --dry-run shows the complete plan.
#[derive(Debug, Parser)]
#[command(name = "copy")]
#[command(after_help = "Sizes: bytes, 4K 1M 2G (of 1024), 5MB (of 1000), 63s (512 each), 0x1000.")]
#[command(after_long_help = help::text(&[ENDPOINTS, SIZES, EXAMPLES, EXIT_STATUS, SIGNALS]))]
pub(crate) struct CopyArguments {
    /// Source: block device, file, pipe, - for standard input
    ///
    /// Source: block device, file, NBD export, HTTP(S) address, object, pipe, - for standard input.
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath, required_unless_present = "plan")]
    source: Option<OsString>,

    /// Destination: block device, file, pipe, - for standard output
    ///
    /// Destination: block device, file, NBD export, object, pipe, - for standard output. Without DST haul lists, on a
    /// terminal, the removable disks that are not in use, asks for the number of one, and then for confirmation, even
    /// with --yes.
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: Option<OsString>,

    /// Additional destination; may be repeated
    ///
    /// Write to this destination too, reading the source once: haul copy SRC DST --also DST2 --also DST3. Each
    /// destination is checked, confirmed and flushed like a single one. haul reports and drops a destination that fails
    /// and continues with the others; the exit status is then 1.
    #[arg(long, value_name = "DST", value_hint = ValueHint::AnyPath, help_heading = "Destinations")]
    #[arg(requires = "destination")]
    also: Vec<OsString>,

    /// Do not let a slow --also destination delay the others
    ///
    /// With --also: a destination that is much slower than the others is left behind once all blocks in flight wait for
    /// it. When the others are complete, haul reads the missing part again and copies it, with a separate report.
    /// Without this option the slowest destination sets the rate for all.
    #[arg(long, requires = "also", help_heading = "Destinations")]
    independent: bool,

    /// Start at this offset of the source
    ///
    /// Start reading at this byte offset of the source. A pipe has no offsets and does not support it.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    skip: Option<u64>,

    /// Start at this offset of the destination
    ///
    /// Start writing at this byte offset of the destination. With --skip, --seek or --count only the written range
    /// changes: an existing destination file is not truncated.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Copy only this many bytes
    ///
    /// Copy this many bytes instead of everything up to the end of the source. A count beyond the end of the source is
    /// an error.
    #[arg(long, short = 'c', value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    #[arg(help_heading = "Range")]
    count: Option<u64>,

    /// Stop after this time
    ///
    /// Stop this long after the first request: haul completes and flushes the requests in flight, reports the amount
    /// copied, and prints the command that copies the rest. An incomplete copy ends with status 4, a complete one with
    /// 0. --verify reads back only a complete copy, and its time does not count: --time 30s, 5m, 2h.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Range")]
    time: Option<Duration>,

    #[command(flatten)]
    ranges: RangeArguments,

    #[command(flatten)]
    shard: ShardArguments,

    /// Overwrite a device without asking
    ///
    /// Overwrite a block device without asking. Required when standard input or standard error is not a terminal. haul
    /// still refuses a destination that is mounted, held, used as swap or too small.
    #[arg(long, short = 'y', help_heading = "Safety")]
    yes: bool,

    /// Refuse unless DST has this serial, model, wwn, size
    ///
    /// Refuse to write unless the destination is the intended device. KEYS are serial=, model=, wwn= or size=,
    /// separated by commas: --expect serial=S3Z9NB0K,size=500107862016. Values must match completely; write \, for a
    /// comma in a value. haul also refuses a destination that does not report a given property. etag= is that of SRC on
    /// a web server.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, help_heading = "Safety")]
    expect: Vec<Expectations>,

    #[command(flatten)]
    choosing: ChooseArguments,

    #[command(flatten)]
    certainty: CertaintyArguments,

    /// Show the plan, write nothing
    ///
    /// Show the complete plan with the reason for each choice, and an estimate from a few short sample reads; write
    /// nothing.
    #[arg(long, short = 'n', help_heading = "Safety")]
    dry_run: bool,

    /// Exit before the data is on the medium
    ///
    /// Exit when everything is written, without waiting until the device or file system reports that the data is on the
    /// medium. Write errors that occur after that are not reported.
    #[arg(long, help_heading = "Safety")]
    no_flush: bool,

    /// On unreadable sectors: stop, skip, retry:N
    ///
    /// What to do about unreadable sectors of the source. stop: end there and report the exact offset. skip: read
    /// smaller pieces down to the logical block, write zeros for unreadable sectors and continue; the report lists
    /// them, the journal records them so that --resume retries them, and the exit status is 1. retry:N: retry each such
    /// block N times, then stop, or continue with retry:N,skip. A write error or a disconnected device always ends the
    /// copy.
    #[arg(long, value_name = "HOW", value_parser = on_error::parse, default_value = "stop", help_heading = "Safety")]
    #[arg(hide_default_value = true)]
    on_error: OnError,
    #[command(flatten)]
    images: ImageArguments,

    #[command(flatten)]
    journal: JournalArguments,

    /// Write a mapfile for GNU ddrescue
    ///
    /// Write a mapfile of GNU ddrescue when the copy ends, successfully or not: it lists the parts that were read,
    /// unreadable, and not tried, in offsets of SRC. ddrescue can continue from it if SRC and DST start at the same
    /// offset. An existing file is not replaced.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Safety")]
    mapfile: Option<OsString>,

    /// Zeros and holes: auto, always, never
    ///
    /// How to handle zeros. auto: skip holes of the source; they become holes in a destination file, and a block device
    /// zeroes them itself where supported. always: also detect blocks of zeros in data. never: read and write
    /// everything. haul treats discarded blocks as zeros only if the device guarantees that they read as zeros.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    sparse: When,

    /// Share extents of files: auto, always, never
    ///
    /// Share the extents of both files instead of copying data, where the file system supports it, as cp does. always:
    /// fail where it is not possible. auto: copy instead, also when an engine, a digest or --sparse is given.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    reflink: When,

    #[command(flatten)]
    reach: ReachArguments,

    /// Offload the copy to the device where supported
    ///
    /// If both sides are on one NVMe namespace, or on SCSI disks that can copy from each other (EXTENDED COPY), and use
    /// passthrough, let the destination copy the data itself, without a transfer to this machine. Where that is not
    /// supported, haul reports it and copies the data itself.
    #[arg(long, help_heading = "Method")]
    offload: bool,

    #[command(flatten)]
    pace: PaceArguments,

    /// Limit the rate in bytes per second
    ///
    /// Limit the copy to this many bytes per second: --limit 50M. none: no limit, even if one is configured.
    #[arg(long, short = 'l', value_name = "RATE", value_parser = words::limit, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    limit: Option<LimitChoice>,

    /// Digest of the source: blake3, sha256, md5, xxh3
    ///
    /// Compute a digest of the source data during the copy, without reading it twice. May be repeated or given as a
    /// list: --hash sha256,xxh3. haul prints it on standard output in the format of sha256sum --tag; on standard error
    /// if DST is -. With --resume haul reads again from the source what earlier runs copied; for BLAKE3 only what has
    /// no digest in the journal. none: no digest, even if one is configured.
    #[arg(long, value_name = "KIND", value_parser = words::hash(), value_delimiter = ',', help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    hash: Vec<HashChoice>,

    /// The digests are those of the configuration.
    #[arg(skip)]
    hashes_are_defaults: bool,

    /// auto, bar, plain, json, none
    ///
    /// Progress display on standard error. auto: a bar on a terminal, a line every few seconds otherwise. SIGUSR1
    /// prints a line at any time in any style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    progress: Option<ProgressStyle>,

    #[command(flatten)]
    verbosity: VerbosityArguments,

    /// Do not estimate the duration with sample reads
    ///
    /// Do not read a few places of both sides before a long copy to estimate its duration. The estimate takes at most 1
    /// % of the copy's time and data, and at most 5 seconds. haul omits it where three places would exceed that (below
    /// about 3 GiB), with --on-error other than stop, and with --progress none without --json or --report. --dry-run
    /// estimates every copy, for at most 2 seconds.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    no_estimate: bool,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, or with --dry-run the plan, as one JSON document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Label of this run in its report
    ///
    /// Label of this run in its report (`label` in JSON), to distinguish many runs.
    #[arg(long, value_name = "TEXT", help_heading = "Output", hide_short_help = true)]
    label: Option<String>,

    /// Write the report as a page with charts
    ///
    /// Write the report as one self-contained HTML page: the rate of both sides over time and position, request
    /// latency, bottlenecks, both sides and the machine; also of a copy that failed or was interrupted. FILE must not
    /// exist, or be empty or another haul report: haul overwrites no other file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "dry_run")]
    #[arg(help_heading = "Output")]
    report: Option<PathBuf>,
}

impl CopyArguments {
    fn dests(&self) -> impl Iterator<Item = &OsString> {
        self.dest.iter().chain(&self.also)
    }

    /// Refuses sides that contradict other words.
    fn check_sides(&self) -> Result<(), UsageError> {
        if self.json && self.dests().any(|dest| dest == "-") {
            let what = "--json prints the report on standard output, but DST '-' sends the data there; name a file or \
                a pipe as DST, or use --progress json, which prints to standard error";
            return Err((ErrorKind::ArgumentConflict, what.to_owned()));
        }
        if self.source.as_ref().is_some_and(|source| source.as_encoded_bytes().starts_with(b"if="))
            || self.dest.as_ref().is_some_and(|dest| dest.as_encoded_bytes().starts_with(b"of="))
        {
            let what = "give SRC and DST without if= and of=; for a file with such a name, prefix ./";
            return Err((ErrorKind::InvalidValue, what.to_owned()));
        }
        Ok(())
    }

    /// Whether configured digests apply. A copy that cannot have them omits them, unless the command line
    /// requests them.
    fn may_have_default_hashes(&self) -> bool {
        let by_manifest = matches!(self.certainty.delta, Some(Delta::Manifest(_)));
        self.hash.is_empty() && !self.journal.resumes() && !by_manifest && !self.offload && self.reflink != When::Always
    }
}

/// Refuses a report that would replace another file of the copy.
fn check_report(report: Option<&Path>, others: [Option<&OsStr>; 3]) -> Result<(), UsageError> {
    if report.is_some_and(|report| others.contains(&Some(report.as_os_str()))) {
        let what = "--report names the same file as --journal, --mapfile or --manifest; give it another name";
        return Err((ErrorKind::ArgumentConflict, what.to_owned()));
    }
    Ok(())
}

impl Words for CopyArguments {
    type Options = Options;

    const PAGE: &'static [&'static str] =
        &[ENDPOINTS, SIZES, SIGNALS, EXIT_STATUS, ENVIRONMENT, FILES, NOTES, EXAMPLES, SEE_ALSO];

    fn with_defaults(mut self, defaults: &Defaults) -> Self {
        self.limit.get_or_insert(defaults.limit);
        self.verbosity.take_default(&mut self.progress, defaults);
        self.choosing.max.get_or_insert(defaults.choose_max_bytes);
        if self.may_have_default_hashes() {
            self.hashes_are_defaults = true;
            self.hash = defaults.hash.iter().copied().map(Some).collect();
        }
        self
    }

    fn into_options(self) -> Result<Options, UsageError> {
        self.check_sides()?;
        let hashes =
            words::hash_kinds(self.hash).map_err(|what| (ErrorKind::InvalidValue, format!("--hash: {what}")))?;
        let record_files = self.journal.into_options()?;
        let range_lists = self.ranges.into_options()?;
        let journal = if let JournalChoice::At(path) = &record_files.journal { Some(path.as_os_str()) } else { None };
        check_report(self.report.as_deref(), [journal, self.mapfile.as_deref(), self.certainty.manifest.as_deref()])?;
        Ok(Options {
            rescue: false,
            fills: false,
            source: self.source.map(|source| address("SRC", source)).transpose()?.unwrap_or_default(),
            shard_of: self.shard.wish()?,
            is_shard: false,
            digests_from_bytes: None,
            dest: self.dest.map(|dest| address("DST", dest)).transpose()?.unwrap_or_default(),
            choose_from: self.choosing.from.unwrap_or_default(),
            choose_max_bytes: self.choosing.max,
            also: self.also.into_iter().map(|dest| address("--also", dest)).collect::<Result<_, _>>()?,
            independent: self.independent,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            range_lists,
            ranges: [None, None],
            engine: self.pace.engine,
            block_bytes: self.pace.block_size,
            depth: self.pace.depth,
            direct: self.reach.direct,
            sparse: self.sparse,
            reflink: self.reflink,
            offload: self.offload,
            passthrough: self.reach.passthrough.unwrap_or_default(),
            command_timeout_s: self.reach.command_timeout,
            no_flush: self.no_flush,
            hashes,
            hashes_are_defaults: self.hashes_are_defaults,
            mapfile: self.mapfile.map(|path| address("--mapfile", path)).transpose()?,
            on_error: self.on_error,
            journal: record_files.journal,
            resume: record_files.resume,
            restart: record_files.restart,
            checkpoint: record_files.checkpoint,
            delta: self.certainty.delta,
            verify: self.certainty.verify,
            manifest: self.certainty.manifest.map(|path| address("--manifest", path)).transpose()?,
            manifest_block_bytes: self.certainty.manifest_block,
            manifest_hash: None,
            decompress: self.images.decompress(),
            compress: self.images.compress(),
            bmap: self.images.bmap()?,
            block_map: None,
            no_checksum: self.images.no_checksum,
            checksum: self.images.checksum,
            limit_bytes_per_s: self.limit.flatten(),
            time_limit: self.time,
            label: self.label,
            yes: self.yes,
            expect: self.expect.into_iter().flatten().collect(),
            dry_run: self.dry_run,
            no_estimate: self.no_estimate,
            progress: self.verbosity.progress(self.progress.unwrap_or_default()),
            verbosity: self.verbosity.verbosity(),
            json: self.json,
            report: self.report,
        })
    }

    fn refuse(options: &Options, call: &Call<'_>, error: Error) -> crate::core::Result<Exit> {
        report_not_started(Err(error), "copy", options, call.words, call.out)
    }

    fn run(options: &Options, call: &Call<'_>) -> crate::core::Result<Exit> {
        report_not_started(super::copy(options, call), "copy", options, call.words, call.out)
    }
}
