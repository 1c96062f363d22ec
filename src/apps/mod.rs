//! The commands: each has its arguments and a short recipe, or is a feature in a separate directory. The only
//! room that connects others.
//!
//! It must not know how anything is done: what is longer than a recipe belongs to another room.
#![forbid(unsafe_code)]
mod advice;
mod brief;
mod command;
mod commands;
mod config;
mod console;
mod copy;
mod defaults;
mod definition;
mod details;
mod exit;
mod fleet;
pub mod fronts;
mod generate;
mod journal;
mod list;
mod manifest;
mod map;
pub mod measuring;
mod not_started;
mod other_names;
mod page;
pub mod pattern;
mod ranges;
mod rescue;
mod run_report;
mod servers;
mod signals;
mod stack;
mod verify;

pub use commands::run;
pub use exit::{Exit, die_by};
