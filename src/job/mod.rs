//! A copy, step by step, to one destination or several: prepared → agreed → opened → copied → verified → ended.
//!
//! Each step is a type that only the step before it produces: nothing is opened for writing before the user
//! agreed, no destination before the source, and nothing is reported as complete that was to be read back and
//! was not. Questions and progress go through an [`operator::Operator`]; this room must not know which one, and
//! prints nothing.
#![forbid(unsafe_code)]
pub(crate) mod beside;
mod block_grid;
mod block_map;
mod catch_up;
mod checksum;
mod concurrent_readback;
mod digest_collector;
mod digested;
pub(crate) mod estimate;
mod finished;
pub(crate) mod fleet;
mod found_heads;
mod image;
pub(crate) mod journal;
mod journal_digests;
mod lost_server;
pub(crate) mod manifest;
mod manifest_delta;
pub(crate) mod map_export;
pub(crate) mod map_files;
mod mapfile;
mod opened;
pub(crate) mod operator;
mod prepared;
pub(crate) mod read_back;
mod read_limits;
pub(crate) mod rescue;
mod rescue_dest;
mod rescue_run;
mod returning;
pub(crate) mod saved;
pub(crate) mod session;
mod shard_digests;
mod temperature;
mod time_limit;
pub(crate) mod undo;
mod verify_dests;
mod whole_digest;

use crate::core::{EngineKind, Host};
use crate::engine;
pub(crate) use catch_up::CatchUp;
pub(crate) use finished::Finished;
pub(crate) use image::image_content;
pub(crate) use lost_server::LostServers;
pub(crate) use opened::{CopyResult, Opened, ShardKeeping};
pub(crate) use prepared::Prepared;
pub(crate) use rescue_run::Care;

/// The capabilities of this machine and this process. io_uring is probed only if a plan could use it: `engine`
/// is the one that the user requested.
pub(crate) fn host(engine: Option<EngineKind>) -> Host {
    let wanted = matches!(engine, None | Some(EngineKind::Ring));
    let ring_refused = if wanted { engine::ring_refused() } else { None };
    Host { ring_refused }
}
