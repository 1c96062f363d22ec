//! The record files of a copy by many workers: the plan, and what each worker records in the shared state.
mod attempt;
mod lines_of_record;
mod one_line;
mod plan_file;
mod shard_blocks;
mod shard_done;

pub use attempt::{AttemptRecord, WorkerIdentity};
#[cfg(test)]
pub(crate) use plan_file::tests::plan as example_plan;
pub use plan_file::{FleetDigest, FleetPlan, FleetSide, FleetUpload, FleetZeros};
pub use shard_blocks::ShardBlocks;
pub use shard_done::ShardDone;
