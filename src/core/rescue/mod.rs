//! Rescues: the status of each part of a failing source, in the terms of GNU ddrescue.
mod map;
mod state;
mod status;

pub use map::RescueMap;
pub use state::{RescuePlan, RescueState, RescueStopped, SharedRescue};
pub use status::{RescueStatus, Status, StatusBlock};
