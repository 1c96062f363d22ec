//! The arguments of `haul plan`.
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::fleet::emit::{FleetEngine, JobWish};
use crate::apps::fleet::options::PlanOptions;
use crate::apps::fleet::planning;
use crate::cli::defaults::Defaults;
use crate::cli::expect;
use crate::cli::help::{self, ENVIRONMENT, EXIT_STATUS, FILES, SIZES};
use crate::cli::on_error;
use crate::cli::words::{self, LimitChoice, address};
use crate::core::{BlockHash, HashKind, OnError, Portion};
use crate::job::fleet::planning::{FleetWish, Sizing};
use crate::ledger::fleet::FleetDigest;
use crate::plan::{Expectation, Options, When};
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::time::Duration;

const EXAMPLES: &str = include_str!("help/plan-examples.txt");
const STATE: &str = include_str!("help/state.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), haul-status(1), haul-finish(1), haul-fleet(7)\n";

/// The properties of one `--expect`. An alias, so that clap treats it as one value.
type Expectations = Vec<Expectation>;

/// Divide a copy among many machines
///
/// Examine SRC and DST as haul copy does, divide the copy into shards, prepare DST, and print the plan on standard
/// output. Any number of workers then copy the shards, in any order, on any machine that reaches both sides and the
/// shared state, more than once where one fails. The plan never changes, and contains no credentials.
///
/// haul asks before a device or an export is overwritten; the workers do not ask.
#[derive(Debug, Parser)]
#[command(name = "plan")]
#[command(after_long_help = help::text(&[EXAMPLES, STATE, SIZES, EXIT_STATUS]))]
pub(crate) struct PlanArguments {
    /// Source: block device, file, NBD export, HTTP(S) address, object
    ///
    /// Source: block device, file, NBD export, HTTP(S) address with ranges, or object. Every worker opens it by the
    /// same address, and refuses to copy from a source that is not the same or has changed. With --emit: the plan.
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Destination: block device, file, NBD export, object
    ///
    /// Destination: block device, NBD export, or a file or object that haul plan prepares. A file must not exist: it is
    /// created with its full size under a temporary name beside it, and haul finish renames it. An object becomes
    /// visible with haul finish.
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath, required_unless_present = "emit")]
    dest: Option<OsString>,

    /// Print the job that copies a plan: slurm, kubernetes, aws-batch, ray, parallel
    ///
    /// Print the job by which a scheduler copies the shards of a plan, instead of dividing a copy: haul plan --emit
    /// slurm plan.json. For slurm, aws-batch and parallel it is a shell script, for kubernetes a manifest, for ray a
    /// Python program. It runs a shard again that ended with status 1, up to 3 times, and never one that ended with 2
    /// or 3.
    #[arg(long, value_name = "ENGINE", value_enum, hide_possible_values = true, help_heading = "Jobs")]
    #[arg(conflicts_with_all = [
        "destination", "shard_size", "shards", "state", "lease", "skip", "seek", "count", "yes", "expect", "dry_run",
        "restart", "verify", "hash", "manifest", "manifest_block", "on_error", "sparse", "limit",
    ])]
    emit: Option<FleetEngine>,

    /// Most shards that the job copies at a time [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "emit")]
    #[arg(help_heading = "Jobs")]
    workers: Option<u64>,

    /// Container image of the job, whose entry point is haul [default: haul]
    #[arg(long, value_name = "IMAGE", requires = "emit", help_heading = "Jobs")]
    image: Option<String>,

    /// Size of each shard
    ///
    /// Size of each shard but the last; rounded up to a multiple of 64 KiB and of the parts of an object. Default: 64G.
    #[arg(long, value_name = "SIZE", value_parser = words::amount, conflicts_with = "shards", help_heading = "Shards")]
    shard_size: Option<u64>,

    /// Number of shards
    ///
    /// Number of shards; there are fewer where rounding up their size leaves none for the last.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    #[arg(help_heading = "Shards")]
    shards: Option<u64>,

    /// Place of the shared state
    ///
    /// Place of the state that all workers share: a directory, or the beginning of the keys of a bucket, such as
    /// s3://vault/jobs/big. Default: DST.haul-state beside a file or object. Required for devices and exports.
    #[arg(long, value_name = "PLACE", value_hint = ValueHint::AnyPath, help_heading = "Shards")]
    state: Option<OsString>,

    /// Time without a sign of life after which a worker counts as dead
    ///
    /// A worker writes a sign of life four times in this time. Another worker takes its shard when it has seen none for
    /// all of it; a worker that cannot write one for two thirds of it stops. From 1 s to 24 h. Default: 90s.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Shards")]
    lease: Option<Duration>,

    /// Start at this offset of the source
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    skip: Option<u64>,

    /// Start at this offset of the destination
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Copy only this many bytes
    #[arg(long, short = 'c', value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    #[arg(help_heading = "Range")]
    count: Option<u64>,

    /// Overwrite a device without asking
    #[arg(long, short = 'y', help_heading = "Safety")]
    yes: bool,

    /// Refuse unless DST has this serial, model, wwn, size
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, help_heading = "Safety")]
    expect: Vec<Expectations>,

    /// Show the plan, write nothing
    #[arg(long, short = 'n', help_heading = "Safety")]
    dry_run: bool,

    /// Discard an unfinished copy to DST
    #[arg(long, help_heading = "Safety")]
    restart: bool,

    /// Have each worker read its shard back and compare it
    #[arg(long, help_heading = "Safety")]
    verify: bool,

    /// Digest of all data: blake3
    ///
    /// Have the workers compute the digest of all data, which haul finish prints: the same as b3sum prints for the
    /// source. Each worker records values of its shard, so that nothing is read a second time. Only BLAKE3 can be
    /// computed in parts.
    #[arg(long, value_name = "HASH", value_parser = words::fleet_hash, help_heading = "Safety")]
    hash: Option<HashKind>,

    /// Record the digest of each block, for haul finish --manifest
    ///
    /// Have each worker record the digests of its blocks in the shared state, with each checkpoint, so that haul finish
    /// --manifest FILE writes a manifest of the whole. Includes --hash blake3.
    #[arg(long, help_heading = "Safety")]
    manifest: bool,

    /// Block size of digests; default: 4M
    ///
    /// Block size of --hash and --manifest, a power of two from 64K to 1G. Shards are a multiple of it.
    #[arg(long, value_name = "SIZE", value_parser = words::manifest_block, allow_hyphen_values = true)]
    #[arg(help_heading = "Safety", hide_short_help = true)]
    manifest_block: Option<u64>,

    /// On unreadable sectors: stop, skip, retry:N
    #[arg(long, value_name = "HOW", value_parser = on_error::parse, default_value = "stop", help_heading = "Safety")]
    #[arg(hide_default_value = true)]
    on_error: OnError,

    /// Zeros and holes: auto, always, never
    ///
    /// How workers handle zeros, as haul copy --sparse does.
    #[arg(long, value_name = "WHEN", value_parser = words::when(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    sparse: When,

    /// Limit the rate of each worker in bytes per second
    #[arg(long, short = 'l', value_name = "RATE", value_parser = words::limit, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    limit: Option<LimitChoice>,

    /// With --dry-run: print the plan as JSON
    #[arg(long, requires = "dry_run", help_heading = "Output")]
    json: bool,
}

/// Bytes of a shard by default.
const SHARD_BYTES: u64 = 64 << 30;

/// Block size of digests by default.
const DIGEST_BLOCK_BYTES: u64 = 4 << 20;

/// Lease by default.
const LEASE: Duration = Duration::from_secs(90);

impl Words for PlanArguments {
    type Options = PlanOptions;

    const PAGE: &'static [&'static str] = &[STATE, SIZES, EXIT_STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn with_defaults(mut self, defaults: &Defaults) -> Self {
        self.limit.get_or_insert(defaults.limit);
        self
    }

    fn into_options(self) -> Result<PlanOptions, UsageError> {
        let source = address("SRC", self.source)?;
        if let Some(engine) = self.emit {
            let image = self.image.unwrap_or_else(|| "haul".to_owned());
            return Ok(PlanOptions::Emit(source, JobWish { engine, workers: self.workers, image }));
        }
        let sizing = match self.shards {
            Some(count) => Sizing::Shards(count),
            None => Sizing::ShardBytes(self.shard_size.unwrap_or(SHARD_BYTES)),
        };
        let state = self.state.map(|state| address("--state", state)).transpose()?;
        let digest = (self.hash.is_some() || self.manifest).then(|| FleetDigest {
            algorithm: BlockHash::Blake3Tree,
            block_bytes: self.manifest_block.unwrap_or(DIGEST_BLOCK_BYTES),
            manifest: self.manifest,
        });
        let wish = FleetWish { sizing, state, lease: self.lease.unwrap_or(LEASE), digest };
        let options = Options {
            source,
            dest: address("DST", self.dest.unwrap_or_default())?,
            skip_bytes: self.skip,
            seek_bytes: self.seek,
            count_bytes: self.count,
            yes: self.yes,
            expect: self.expect.concat(),
            dry_run: self.dry_run,
            restart: self.restart,
            verify: self.verify.then_some(Portion::Afterwards),
            on_error: self.on_error,
            sparse: self.sparse,
            limit_bytes_per_s: self.limit.flatten(),
            json: self.json,
            ..Options::default()
        };
        Ok(PlanOptions::Divide(Box::new(options), wish))
    }

    fn run(asked: &PlanOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        planning::plan(asked, call)
    }
}
