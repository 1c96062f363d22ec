//! Rescues: the status of each part of a failing source, in the terms of GNU ddrescue.
mod log;
mod map;
mod state;
mod status;

pub use log::{ReadResult, RescueLog};
pub use map::RescueMap;
pub use state::{RescuePlan, RescueState, RescueStopped, SharedRescue};
pub use status::{RescueStatus, Status, StatusBlock};
