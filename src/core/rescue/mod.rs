//! Rescues: the status of each part of a failing source, in the terms of GNU ddrescue.
mod course;
mod fill;
mod log;
mod map;
mod state;
mod status;
mod time_limits;

pub use course::{Course, CoursePoint};
pub use fill::{FILL_BYTES, FILLABLE, Fill};
pub use log::{ReadResult, RescueLog};
pub use map::RescueMap;
pub use state::{FailingHead, RescuePlan, RescueState, RescueStopped, SharedRescue, Temperature};
pub use status::{RescueStatus, Status, StatusBlock};
pub use time_limits::{ReadLimits, TimeLimits};
