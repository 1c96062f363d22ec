//! `haul copy` as clap sees it, and as [`Options`].
use crate::apps::command::{Call, Unmeant, Words};
use crate::apps::exit::Exit;
use crate::apps::unbegun::tell_unbegun;
use crate::cli::certainty::CertaintyArguments;
use crate::cli::expect;
use crate::cli::help::{self, EXIT_STATUS, SIZES};
use crate::cli::journal::JournalArguments;
use crate::cli::method::{PaceArguments, ReachArguments};
use crate::cli::on_error;
use crate::cli::shown::VerbosityArguments;
use crate::cli::words::{self, address};
use crate::core::{HashKind, OnError};
use crate::plan::{Expectation, JournalWish, Options, ProgressStyle, RangeList, When};
use clap::error::ErrorKind;
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const ENDPOINTS: &str = include_str!("help/endpoints.txt");
const EXAMPLES: &str = include_str!("help/examples.txt");
const SIGNALS: &str = include_str!("help/signals.txt");
const NOTES: &str = include_str!("help/notes.txt");

/// The man page `haul(1)`, which is about copying; `more` comes before its last section.
pub(in crate::apps) fn manual(haul: clap::Command, more: &str) -> String {
    let sections = [ENDPOINTS, SIZES, EXIT_STATUS, SIGNALS, EXAMPLES, more, NOTES];
    help::manual(haul, include_str!("manual.roff"), "copy", &sections)
}

/// What one `--expect` holds. An alias, so that clap takes it for one value.
type Expectations = Vec<Expectation>;

/// Copy a disk, a partition, a file or a stream
///
/// Copy SRC to DST: every byte, many requests at once, on the medium when the program ends with status 0.
///
/// Without options it finds its own settings: engine, direct or buffered I/O, block size and queue depth. It refuses to
/// overwrite what is in use or too small, and asks before it overwrites a device. --dry-run shows all it would do.
#[derive(Debug, Parser)]
#[command(name = "copy")]
#[command(after_help = "Sizes: bytes, 4K 1M 2G (of 1024), 5MB (of 1000), 63s (512 each), 0x1000.")]
#[command(after_long_help = help::text(&[ENDPOINTS, SIZES, EXAMPLES, EXIT_STATUS, SIGNALS]))]
pub(crate) struct CopyArguments {
    /// Source: block device, file, pipe, - for standard input
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Dest: block device, file, pipe, - for standard output
    #[arg(value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: OsString,

    /// A further dest; may be given several times
    ///
    /// Write to this dest too, with one read of the source: haul copy SRC DST --also DST2 --also DST3. Each is checked,
    /// asked for and made durable as if it were the only one. One that fails is dropped and named, and the others go
    /// on: the exit status is then 1.
    #[arg(long, value_name = "DST", value_hint = ValueHint::AnyPath, help_heading = "Destinations")]
    also: Vec<OsString>,

    /// A slow --also dest does not hold the others up
    ///
    /// With --also: a dest that is much slower than the others is left behind once the blocks in flight all wait for
    /// it. When the others have everything, what it lacks is read again and copied to it, with a report of its own.
    /// Without this the slowest dest sets the pace of all.
    #[arg(long, requires = "also", help_heading = "Destinations")]
    independent: bool,

    /// Begin this far into the source
    ///
    /// Begin to read at this byte of the source. A pipe has no offsets: it cannot be skipped.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    skip: Option<u64>,

    /// Begin this far into the dest
    ///
    /// Begin to write at this byte of the dest. With --skip, --seek or --count only the range that is written changes:
    /// a dest file that is there is neither emptied nor cut.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Copy this many bytes, not all
    ///
    /// Copy this many bytes instead of everything up to the end of the source. More than the source has is an error.
    #[arg(long, short = 'c', value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    #[arg(help_heading = "Range")]
    count: Option<u64>,

    /// Copy for this long at most
    ///
    /// End when so much time has passed since the first byte, in good order: what is in flight is finished and flushed,
    /// the report says how much was copied, and the command that copies the rest is printed. The status is then 4, for
    /// the copy is not whole; 0 where it was whole before. Reading back with --verify is only of a whole copy, and
    /// takes its own time: --time 30s, 5m, 2h.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Range")]
    time: Option<Duration>,
    /// Copy only the ranges that FILE lists
    ///
    /// Copy only these ranges, each to the same offset of the dest; no byte between them is read or written, and a dest
    /// file is neither emptied nor cut. FILE has an offset and a length in a line, or several pairs: 1M 64K, or
    /// 2048s,8s in sectors; # begins a comment. A mapfile of GNU ddrescue is taken, too, as by its --domain-mapfile:
    /// what it calls finished. Ranges may come in any order, and may not overlap or lie beyond an end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Range")]
    #[arg(conflicts_with_all = ["skip", "seek", "count", "also"])]
    ranges: Option<OsString>,

    /// What a bare number in --ranges FILE counts
    ///
    /// Numbers without a suffix in --ranges FILE count so many bytes, instead of single bytes: --ranges-unit 512 for
    /// the scatter-gather lists of ddpt, which count blocks.
    #[arg(long, value_name = "SIZE", value_parser = words::amount, requires = "ranges", help_heading = "Range")]
    #[arg(allow_hyphen_values = true, hide_short_help = true)]
    ranges_unit: Option<u64>,

    /// Overwrite a device without asking
    ///
    /// Overwrite a block device without asking. Needed where there is no terminal to confirm on: when standard input or
    /// standard error is none. What is mounted, held, swap or too small is refused all the same.
    #[arg(long, short = 'y', help_heading = "Safety")]
    yes: bool,

    /// Refuse unless DST has this serial, model, wwn, size
    ///
    /// Refuse to write unless the dest is the one that is meant. KEYS are serial=, model=, wwn= or size=, separated by
    /// commas: --expect serial=S3Z9NB0K,size=500107862016. Text has to match as a whole; write \, for a comma in it. A
    /// property that the dest does not tell is refused too.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, help_heading = "Safety")]
    expect: Vec<Expectations>,

    #[command(flatten)]
    certainty: CertaintyArguments,

    /// Show the plan, write nothing
    ///
    /// Show the whole plan with the reason of each choice, and an estimate from a few short probing reads; write
    /// nothing.
    #[arg(long, short = 'n', help_heading = "Safety")]
    dry_run: bool,

    /// Exit before the data is on the medium
    ///
    /// Exit when everything is written, before the device or file system has said that it is on the medium.
    #[arg(long, help_heading = "Safety")]
    no_flush: bool,

    /// Bad places of the source: stop, skip, retry:N
    ///
    /// What to do about a place of the source that cannot be read. stop: end there, with the exact place. skip: read
    /// around it down to the logical block, write zeros for what cannot be read and go on; the report lists it, the
    /// journal keeps it for --resume to try again, and the exit status is 1. retry:N: try each such block N times more
    /// before it counts as unreadable, then stop, or go on with retry:N,skip. A dest that cannot be written and a
    /// device that is gone always end the copy.
    #[arg(long, value_name = "HOW", value_parser = on_error::parse, default_value = "stop", help_heading = "Safety")]
    #[arg(hide_default_value = true)]
    on_error: OnError,
    #[command(flatten)]
    journal: JournalArguments,

    /// Write what could be read, for GNU ddrescue
    ///
    /// Write a mapfile of GNU ddrescue at the end, however the copy ends: what was read, what could not be, and what
    /// was not tried, in positions of SRC. ddrescue goes on with it where SRC and DST begin at the same byte. A file
    /// that is there is not replaced.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Safety")]
    mapfile: Option<OsString>,

    /// Zeros and holes: auto, always, never
    ///
    /// What becomes of zeros. auto: holes of the source are not read; they are holes in a dest file, and a block device
    /// zeroes them by itself where it can. always: blocks of zeros in data are found too. never: everything is read and
    /// written. What a device discarded is taken for zeros only where its own
    /// commands promise that it reads so.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    sparse: When,

    /// Share extents of files: auto, always, never
    ///
    /// Let both files share their extents instead of copying bytes, where the file system can, as cp does. always fails
    /// where it cannot. auto copies instead, and also when an engine, a digest or --sparse is asked for.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    reflink: When,

    #[command(flatten)]
    reach: ReachArguments,

    /// Let the device copy by itself, where it can
    ///
    /// Where both sides lie on one NVMe namespace, or on SCSI disks that copy from each other (EXTENDED COPY), and are
    /// reached by their commands, let the dest copy by itself: no byte goes through this machine. Where it cannot, the
    /// copy says so and is made as without this.
    #[arg(long, help_heading = "Method")]
    offload: bool,

    #[command(flatten)]
    pace: PaceArguments,

    /// Copy no more than this many bytes a second
    ///
    /// Copy no more than this many bytes a second: --limit 50M.
    #[arg(long, short = 'l', value_name = "RATE", value_parser = words::rate, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    limit: Option<u64>,

    /// Digest of the source: blake3, sha256, md5, xxh3
    ///
    /// Compute a digest of the source stream beside the copy, without a second read. May be given several times, or
    /// as a list: --hash sha256,xxh3. It is printed on standard output, in the form of sha256sum --tag; on standard
    /// error if DST is -.
    #[arg(long, value_name = "KIND", value_parser = words::hash(), value_delimiter = ',', help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    hash: Vec<HashKind>,

    /// auto, bar, plain, json, none
    ///
    /// How progress is shown on standard error. auto: a bar on a terminal, a line now and then elsewhere. SIGUSR1
    /// prints a line at any time, whatever the style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true, help_heading = "Output")]
    progress: ProgressStyle,

    #[command(flatten)]
    verbosity: VerbosityArguments,

    /// Do not estimate the time by a few short reads
    ///
    /// Do not read a few places of both sides before a long copy to estimate its time. That takes at most a hundredth
    /// of the copy's time and of its bytes, and five seconds; where three places cost more than that (below some 3
    /// GiB), it is not done, nor with --on-error other than stop, nor where nobody is told: with --progress none and
    /// neither --json nor --report. --dry-run does it for every copy, for two seconds at most.
    #[arg(long, help_heading = "Output")]
    no_estimate: bool,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, or with --dry-run the plan, as one JSON document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// What this run is called in its report
    ///
    /// What this run is called in its report, as `label` in JSON: to tell many of them apart.
    #[arg(long, value_name = "TEXT", help_heading = "Output", hide_short_help = true)]
    label: Option<String>,

    /// Write the report as a page with charts
    ///
    /// Write the report as one HTML page that needs nothing else: the rate of both sides over time and over position,
    /// how long requests took, which side was waited for, and what both sides and the machine are; of a copy that
    /// failed or was interrupted too. FILE must not be there, or be empty or another such page: no other file is
    /// overwritten.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "dry_run")]
    #[arg(help_heading = "Output")]
    report: Option<PathBuf>,
}

impl CopyArguments {
    fn dests(&self) -> impl Iterator<Item = &OsString> {
        std::iter::once(&self.dest).chain(&self.also)
    }
}

fn range_list(file: Option<OsString>, unit_bytes: Option<u64>) -> Result<Option<RangeList>, Unmeant> {
    let file = file.map(|file| address("--ranges", file)).transpose()?;
    Ok(file.map(|file| RangeList { file, unit_bytes: unit_bytes.unwrap_or(1) }))
}

impl Words for CopyArguments {
    type Options = Options;

    fn into_options(self) -> Result<Options, Unmeant> {
        if self.json && self.dests().any(|dest| dest == "-") {
            let what = "--json prints the report on standard output, where the data goes with '-' as DST; name a file \
                        or a pipe as DST, or use --progress json, which goes to standard error";
            return Err((ErrorKind::ArgumentConflict, what.to_owned()));
        }
        if self.source.as_encoded_bytes().starts_with(b"if=") || self.dest.as_encoded_bytes().starts_with(b"of=") {
            let what = "SRC and DST stand without dd's if= and of=; for a file of such a name write ./ before it";
            return Err((ErrorKind::InvalidValue, what.to_owned()));
        }
        let mut hashes: Vec<HashKind> = Vec::new();
        for kind in self.hash {
            if !hashes.contains(&kind) {
                hashes.push(kind);
            }
        }
        let record_files = self.journal.into_options()?;
        let range_list = range_list(self.ranges, self.ranges_unit)?;
        let journal_path =
            if let JournalWish::At(path) = &record_files.journal { Some(path.as_os_str()) } else { None };
        let files = [journal_path, self.mapfile.as_deref(), self.certainty.manifest.as_deref()];
        if self.report.as_ref().is_some_and(|report| files.contains(&Some(report.as_os_str()))) {
            let what = "--report names the same file as --journal, --mapfile or --manifest; give the page its own";
            return Err((ErrorKind::ArgumentConflict, what.to_owned()));
        }
        Ok(Options {
            source: address("SRC", self.source)?,
            dest: address("DST", self.dest)?,
            also: self.also.into_iter().map(|dest| address("--also", dest)).collect::<Result<_, _>>()?,
            independent: self.independent,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            range_list,
            ranges: None,
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
            limit_bytes_per_s: self.limit,
            time_limit: self.time,
            label: self.label,
            yes: self.yes,
            expect: self.expect.into_iter().flatten().collect(),
            dry_run: self.dry_run,
            no_estimate: self.no_estimate,
            progress: self.verbosity.progress(self.progress),
            verbosity: self.verbosity.verbosity(),
            json: self.json,
            report: self.report,
        })
    }

    fn run(options: &Options, call: &Call<'_>) -> crate::core::Result<Exit> {
        tell_unbegun(super::copy(options, call), "copy", options, call.words, call.out)
    }
}
