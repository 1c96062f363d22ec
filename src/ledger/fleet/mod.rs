//! The record files of a copy by many workers: the plan, and what each worker records in the shared state. Each is one
//! sealed line.
mod plan_file;

pub use plan_file::{FleetPlan, FleetSide, FleetUpload, FleetZeros};
