//! The arguments of `haul status` and `haul finish`.
use super::{finishing, status};
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::fleet::options::{FinishOptions, StatusOptions};
use crate::cli::help::{ENVIRONMENT, FILES};
use crate::cli::words::address;
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

const STATUS_EXAMPLES: &str = include_str!("help/status-examples.txt");
const STATUS_EXIT: &str = include_str!("help/status-exit.txt");
const FINISH_EXAMPLES: &str = include_str!("help/finish-examples.txt");
const FINISH_EXIT: &str = include_str!("help/finish-exit.txt");
const SEE_ALSO: &str =
    "# SEE ALSO\nhaul(1), haul-plan(1), haul-copy(1), haul-finish(1), haul-status(1), haul-fleet(7)\n";

/// Show how far a copy by many machines is
///
/// Show which shards of a plan are done, which are copied where and how fast, which failed, and the time left. It only
/// reads the shared state, so anyone who may read that can run it anywhere, at any time.
#[derive(Debug, Parser)]
#[command(name = "status")]
pub(crate) struct StatusArguments {
    /// The plan: a file, or the address of plan.json in a bucket
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: OsString,

    /// Show it again and again, until all shards are done
    #[arg(long, conflicts_with = "json")]
    watch: bool,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// Write the status as an HTML page to FILE
    ///
    /// Write a page with the shards by place and over time, the hosts, and the attempts; with --watch, again with each
    /// look. Only an older page or an empty file is replaced.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
}

impl Words for StatusArguments {
    type Options = StatusOptions;

    const PAGE: &'static [&'static str] = &[STATUS_EXIT, ENVIRONMENT, FILES, STATUS_EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<StatusOptions, UsageError> {
        let StatusArguments { watch, json, report, .. } = self;
        Ok(StatusOptions { plan: address("PLAN", self.plan)?, watch, json, report })
    }

    fn run(asked: &StatusOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        status::show(asked, call)
    }

    fn json_report(asked: &StatusOptions) -> Option<&'static str> {
        asked.json.then_some("fleet")
    }
}

/// Complete a copy by many machines
///
/// When every shard is done, make the destination what it is to be: join the parts of an object, or give a file its
/// name. No data is read or copied. If shards are missing, nothing changes, and haul prints the commands that copy
/// them. If the plan has a digest (haul plan --hash, --manifest), haul merges what the workers recorded and prints it;
/// it equals that of b3sum. haul waits for workers that have not recorded their end, for as long as they give signs of
/// life.
#[derive(Debug, Parser)]
#[command(name = "finish")]
pub(crate) struct FinishArguments {
    /// The plan: a file, or the address of plan.json in a bucket
    #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
    plan: OsString,

    /// Abort the job: discard the unfinished destination
    ///
    /// Abort the job: workers stop at their next sign of life, and the temporary file or the upload is discarded. Data
    /// that was written to a device or an export stays there. haul asks on a terminal; otherwise --yes is required.
    #[arg(long)]
    abort: bool,

    /// With --abort: do not ask
    #[arg(long, short = 'y', requires = "abort")]
    yes: bool,

    /// Write a manifest of the whole to FILE
    ///
    /// Write a manifest from the digests that the workers recorded; the plan was made with haul plan --manifest. It is
    /// that of haul copy --manifest. An existing file is not replaced.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "abort")]
    manifest: Option<OsString>,

    /// Print one JSON document
    #[arg(long, conflicts_with = "abort")]
    json: bool,
}

impl Words for FinishArguments {
    type Options = FinishOptions;

    const PAGE: &'static [&'static str] = &[FINISH_EXIT, ENVIRONMENT, FILES, FINISH_EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<FinishOptions, UsageError> {
        let plan = address("PLAN", self.plan)?;
        let manifest = self.manifest.map(|path| address("--manifest", path)).transpose()?;
        Ok(FinishOptions { plan, manifest, abort: self.abort, yes: self.yes, json: self.json })
    }

    fn run(asked: &FinishOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        if asked.abort { finishing::abort(asked, call.out) } else { finishing::finish(asked, call.out) }
    }

    fn json_report(asked: &FinishOptions) -> Option<&'static str> {
        asked.json.then_some("fleet")
    }
}
