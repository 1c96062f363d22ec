//! Options of a worker: one shard of a plan instead of source and destination.
use super::words;
use crate::plan::{ShardChoice, ShardWish};
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// Which plan and which shard.
#[derive(Debug, Args)]
pub(crate) struct ShardArguments {
    /// Copy one shard of this plan
    ///
    /// Copy one shard of the plan that haul plan wrote, instead of SRC and DST: haul copy --plan plan.json --shard
    /// 3/64. The plan has the options of the copy. PLAN is a file, or the address of plan.json in a bucket. A shard
    /// that is done ends at once with status 0, and one that another worker copies is waited for. Status 1: run the
    /// command again; 2 or 3: running it again cannot help.
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath, requires = "shard", help_heading = "Shards")]
    #[arg(conflicts_with_all = [
        "source", "destination", "also", "skip", "seek", "count", "time", "expect", "dry_run", "no_flush", "on_error",
        "mapfile", "sparse", "reflink", "offload", "limit", "hash", "verify", "delta", "manifest", "resume", "restart",
    ])]
    plan: Option<OsString>,

    /// Which shard of --plan: K/N, or auto
    ///
    /// Which shard of --plan: K of N, from 1, or auto: the number of the task in SLURM_ARRAY_TASK_ID,
    /// JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX (from 0) or PARALLEL_SEQ (from 1).
    #[arg(long, value_name = "K/N", value_parser = words::shard, requires = "plan", help_heading = "Shards")]
    #[arg(hide_short_help = true)]
    shard: Option<ShardChoice>,
}

impl ShardArguments {
    /// The shard; `None`: the whole copy.
    ///
    /// # Errors
    /// The plan is no valid address.
    pub(crate) fn wish(self) -> Result<Option<ShardWish>, (ErrorKind, String)> {
        let plan = self.plan.map(|plan| words::address("--plan", plan)).transpose()?;
        Ok(plan.zip(self.shard).map(|(plan, choice)| ShardWish { plan, choice }))
    }
}
