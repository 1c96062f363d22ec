//! Output for users and programs: plan, progress, outcome, errors and questions as text or JSON.
//!
//! This is the only room that prints, and its module `units` the only one that formats numbers.
//! It must not know how anything is opened, copied or decided: it reports the contents of Plan, Facts, Tally, Event
//! and Outcome.
#![forbid(unsafe_code)]
pub(crate) mod bars;
pub(crate) mod columns;
mod out;
pub(crate) mod printable;
pub(crate) mod style;
mod table;

pub mod config;
pub mod fleet;
pub mod json;
pub mod list;
pub mod manifest;
pub mod map;
pub mod page;
pub mod pending;
pub mod progress;
pub mod rescue;
pub mod text;
pub mod units;

pub(crate) use bars::clear as clear_bar;
pub use out::Out;
pub use progress::Progress;

#[cfg(test)]
pub(crate) mod example_devices;
#[cfg(test)]
pub(crate) mod examples;
