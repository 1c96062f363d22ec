//! haul, a block copier for Linux.
//!
//! Data flows one way through five values: Options → Facts → Plan → Outcome → Report.
//!
//! ```text
//!  words           facts                 decision            a copy, step by step        motion             words
//!  apps ──Options──▶                 ┌─▶ plan ──Decision──▶ job ──Plan──▶ engine ──Outcome──▶ report ──▶ terminal
//!          probe ──Facts(source,dest)┘                      │            │  ▲
//!                                        disks::open ◀──────┘            │  └── schedule (which extent next)
//!                                                                        └──▶ Tally (polled)  Event (sent)
//! ```
//!
//! The library never prints outside the room `report` and never ends the process. Its only interface for other
//! programs is [`run`]: all of haul by its command line. Its rooms are private, so that the compiler finds
//! unused code; the feature `internals`, which is not stable, opens them to haul's own tests and benchmarks.

pub use apps::{Exit, die_by, run};

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod apps;
#[cfg(not(feature = "internals"))]
mod apps;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod cli;
#[cfg(not(feature = "internals"))]
mod cli;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod core;
#[cfg(not(feature = "internals"))]
mod core;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod disks;
#[cfg(not(feature = "internals"))]
mod disks;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod engine;
#[cfg(not(feature = "internals"))]
mod engine;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod files;
#[cfg(not(feature = "internals"))]
mod files;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod hold;
#[cfg(not(feature = "internals"))]
mod hold;
mod job;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod ledger;
#[cfg(not(feature = "internals"))]
mod ledger;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod measure;
#[cfg(not(feature = "internals"))]
mod measure;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod plan;
#[cfg(not(feature = "internals"))]
mod plan;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod report;
#[cfg(not(feature = "internals"))]
mod report;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod sys;
#[cfg(not(feature = "internals"))]
mod sys;
