//! The words every room shares: what a side can do, what a block is on its way, what was decided, what came of it.
//!
//! This room must not know any other room: no path is opened here, no engine is named, nothing is printed.
mod block_digest;
mod buffer;
pub mod charsets;
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
mod locked;
mod machine;
mod mailbox;
mod on_error;
mod outcome;
mod passthrough;
mod pattern_use;
mod plan;
mod plan_side;
mod queue;
mod read_back;
mod record_counts;
mod record_device;
mod records;
mod request;
mod saved;
mod schedule;
pub mod schedules;
mod series;
mod several;
mod sg;
pub mod stages;
mod stop;
mod tally;

pub use block_digest::BlockDigest;
pub use buffer::{Arena, Buffer, PAGE_BYTES};
pub use computed::{Maker, PatternChecker};
pub use copy_name::CopyName;
pub use damage::{Conclusion, DAMAGED_RUNS_MAX, Damage, DamageKind, DamagedRun};
pub use decision::{Decision, PlanNotes, Reason};
pub use device::{Device, DevicePartition, WaitingUndo};
pub use device_error::DeviceError;
pub use differences::{DIFFERING_RUNS_MAX, Differences};
pub use digested_block::{BlockDigests, DigestedBlock};
pub use endpoint::{Change, Endpoint, OnRing};
pub use error::{Error, Kind, Result};
pub use estimate::{Bound, Estimate, WriteRate};
pub use event::{Event, Observer, Phase, Silent};
pub use extent::{Extent, Run, RunKind};
pub use extent_set::ExtentSet;
pub use facts::{
    CallStyle, DirectAlignment, EndpointKind, Facts, FileId, Ground, Identity, InUse, Order, Partition, QueueLimits,
};
pub use hash_kind::HashKind;
pub use host::Host;
pub use keeper::{CheckpointPlan, CheckpointSink};
pub use locked::locked;
pub use machine::Machine;
pub use mailbox::Mailbox;
pub use on_error::{OnError, Unread, is_of_medium, is_of_place};
pub use outcome::{Digest, Ended, Kept, Latency, Outcome, Pace, SideReport, Totals, Usage};
pub use passthrough::{CommandSet, CommandWishes, Passthrough, Through, Transfers};
pub use pattern_use::{PatternAct, PatternUse};
pub use plan::{DeviceCopy, Direction, EngineKind, Plan, Route, Tuning, WriteOrder};
pub use plan_side::{Access, Cache, Existing, PlanSide, Zeros};
pub use queue::{Completion, Queue, Ready};
pub use read_back::{Portion, ReadBack, Verified};
pub use record_counts::{RecordCounts, RecordTally};
pub use record_device::{DeviceCounts, RecordDevice};
pub use records::{
    Amount, Careful, DestWords, Diagnostic, Durable, ErrorPolicy, Framing, FramingKind, OpenWords, Pattern,
    RecordListener, RecordPlan, RecordSide, Telling,
};
pub use request::{Op, Request, Side};
pub use saved::SavedPace;
pub use schedule::{Next, Schedule};
pub use series::{Moment, Series};
pub use several::{DestOutcome, DestState, DestTally, PlanDest};
pub use sg::{ScsiOptions, ScsiWishes, SgFront, SgPlan};
pub use stop::Stop;
pub use tally::{Tally, Watched};
