//! haul, a block copier for Linux.
//!
//! Data flows one way through five values: Options → Facts → Plan → Outcome → Report.
//!
//! ```text
//!  words        facts                 decision                 motion                     words
//!  cli ──Options──▶                ┌─▶ plan ──Plan──▶ engine ──Outcome──▶ report ──▶ terminal, JSON
//!        probe ──Facts(source,dest)┘                   │  ▲
//!                                     endpoint::open ──┘  └── schedule (which extent next)
//!                                                      └──▶ Tally (polled)  Event (sent) ──▶ progress
//! ```
//!
//! The library never prints outside the room `report` and never ends the process.
pub mod cli;
pub mod command;
pub mod contract;
pub mod endpoint;
pub mod engine;
pub mod files;
pub mod hold;
pub mod ledger;
pub mod measure;
pub mod plan;
pub mod probe;
pub mod records;
pub mod report;
pub mod schedule;
pub mod stage;
pub mod sys;
