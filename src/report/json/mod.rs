//! Plan, outcome and devices for programs: documented in `docs/json.md`, in the order of these structs. Names end in
//! their unit; a field without a value is `null`, never missing. Fields may be added within a schema version, never
//! renamed, and never change their meaning.
mod damage;
mod dests;
mod devices;
mod differences;
mod digest;
mod failure;
mod outcome;
mod plan;
mod unread;
mod verified;

pub use damage::{DamageReport, DamagedBlocks, DamagedRunReport, PatternReport};
pub use dests::DestReport;
pub use devices::{DevicePartitionReport, DeviceReport, DevicesReport, TunedReport, UseReport, devices};
pub use differences::{DifferencesReport, RunReport, ShorterReport};
pub use digest::DigestReport;
pub use failure::Failure;
pub use outcome::{Blocks, Bytes, Claimed, Cpu, Latencies, Rates, Report, SideOutcome, Tried, outcome};
pub use plan::{EstimateReport, PartitionReport, PlanReport, ReasonReport, SidePlan, plan};
pub use unread::UnreadReport;

pub use verified::VerifiedReport;

use serde::Serialize;

/// Version of the schema, the value of the field `schema`.
pub const SCHEMA: u32 = 1;

/// The value over several lines, the last one ended.
pub fn text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("our structs have string keys and cannot fail") + "\n"
}

/// The value on one line, ended.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our structs have string keys and cannot fail") + "\n"
}

#[cfg(test)]
mod tests;
