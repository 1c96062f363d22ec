//! haul, a block copier for Linux.
//!
//! Data flows one way through five values: Options → Facts → Plan → Outcome → Report.
//!
//! ```text
//!  words        facts                 decision                 motion                     words
//!  cli ──Options──▶                ┌─▶ plan ──Plan──▶ engine ──Outcome──▶ report ──▶ terminal, JSON
//!        probe ──Facts(source,dest)┘                   │  ▲
//!                                     disks::open_* ──┘  └── schedule (which extent next)
//!                                                      └──▶ Tally (polled)  Event (sent) ──▶ progress
//! ```
//!
//! The library never prints outside the room `report` and never ends the process.
pub mod apps;
pub mod cli;
pub mod core;
pub mod disks;
pub mod engine;
pub mod files;
pub mod hold;
mod job;
pub mod ledger;
pub mod measure;
pub mod plan;
pub mod report;
pub mod sys;
