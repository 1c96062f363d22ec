//! The words every room shares: what a side can do, what a block is on its way, what was decided, what came of it.
//!
//! This room must not know any other room: no path is opened here, no engine is named, nothing is printed.
mod block_digest;
mod buffer;
mod classify;
mod computed;
mod copy_name;
mod damage;
mod decision;
mod device;
mod device_error;
mod differences;
mod digested_block;
mod endpoint;
mod error;
mod estimate;
mod event;
mod extent;
mod extent_set;
mod facts;
mod hash_kind;
mod host;
mod keeper;
mod limits;
mod locked;
mod machine;
mod mailbox;
mod on_error;
mod outcome;
mod passthrough;
mod pattern_use;
mod plan;
mod plan_side;
mod pool;
mod queue;
mod read_back;
mod record_device;
mod request;
mod saved;
mod schedule;
pub mod schedules;
mod series;
mod several;
pub mod stages;
mod stop;
mod tally;
mod transferred;
mod writeback_error;

pub use block_digest::BlockDigest;
pub use buffer::{Arena, Buffer, PAGE_BYTES};
pub use computed::{Maker, PatternChecker};
pub use copy_name::CopyName;
pub use damage::{Conclusion, DAMAGED_RUNS_MAX, Damage, DamageKind, DamagedRun};
pub use decision::{Decision, PlanNotes, Reason};
pub use device::{Device, DevicePartition, WaitingUndo};
pub use device_error::DeviceError;
pub use differences::Differences;
pub use digested_block::{BlockDigests, DigestedBlock};
pub use endpoint::{Change, Closing, Endpoint, OffloadSource, OnRing};
pub use error::{Error, Kind, Result};
pub use estimate::{Bound, Doubt, Estimate, WriteRate};
pub use event::{Event, Observer, Phase, Silent};
pub use extent::{Extent, Run, RunKind};
pub use extent_set::ExtentSet;
pub use facts::{
    CallStyle, DirectAlignment, EndpointKind, Facts, FileId, Ground, Identity, InUse, Order, Partition, QueueLimits,
};
pub use hash_kind::HashKind;
pub use host::Host;
pub use keeper::{CheckpointPlan, CheckpointSink};
pub use limits::{Bursts, Limits, Tuning};
pub use locked::locked;
pub use machine::Machine;
pub use mailbox::Mailbox;
pub use on_error::{OnError, Unread, is_of_medium};
pub use outcome::{
    Digest, Durability, Ended, Kept, Latency, MemoryCheck, Outcome, Pace, SideReport, Totals, Trial, TrialVerdict,
    Usage,
};
pub use passthrough::{CommandSet, CommandWishes, Passthrough, Through, Transfers};
pub use pattern_use::{PatternAct, PatternUse};
pub use plan::{DeviceCopy, Direction, EngineKind, Plan, Route, WriteOrder};
pub use plan_side::{Access, Cache, Existing, PlanSide, Zeros};
pub use pool::Pool;
pub use queue::{Completion, Queue, Ready};
pub use read_back::{Portion, ReadBack, Verified};
pub use record_device::{DeviceCounts, RecordDevice};
pub use request::{Op, Request, Side};
pub use saved::SavedPace;
pub use schedule::{Next, Schedule};
pub use series::{Moment, Series};
pub use several::{DestOutcome, DestState, DestTally, PlanDest};
pub use stop::Stop;
pub use tally::{Tally, Watched};
pub use transferred::{RequestError, Transferred};
pub use writeback_error::WritebackError;
