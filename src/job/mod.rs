//! A copy, step by step, to one destination or several: prepared → agreed → opened → copied → verified → ended.
//!
//! Each step is a type that only the step before it gives: nothing is opened for writing that was not agreed to, no
//! destination before the source, and nothing is called complete that was to be read back and was not. What has to be
//! asked or shown goes through an [`operator::Operator`]: it must not know who that is, and prints nothing.
#![forbid(unsafe_code)]
pub(crate) mod beside;
mod catch_up;
mod concurrent_readback;
mod digest_collector;
mod digested;
pub(crate) mod estimate;
mod finished;
pub(crate) mod journal;
pub(crate) mod manifest;
mod manifest_delta;
mod mapfile;
mod opened;
pub(crate) mod operator;
mod prepared;
pub(crate) mod read_back;
pub(crate) mod saved;
pub(crate) mod session;
mod time_limit;
pub(crate) mod undo;
mod verify_dests;

use crate::core::{EngineKind, Host};
use crate::engine;
pub(crate) use catch_up::CatchUp;
pub(crate) use finished::Finished;
pub(crate) use opened::{CopyResult, Opened};
pub(crate) use prepared::Prepared;

/// What this machine and this process may do. The ring is asked for only where a plan could want it: `engine` is the
/// one that was asked for by name.
pub(crate) fn host(engine: Option<EngineKind>) -> Host {
    let wanted = matches!(engine, None | Some(EngineKind::Ring));
    let ring_refused = if wanted { engine::ring_refused() } else { None };
    Host { ring_refused }
}
