//! Makes the choices that the options leave open, one file for each.
mod access;
mod end;
mod engine;
mod holes;
mod journal;
mod order;
mod pace;

pub(super) use access::{AccessPair, access, alignment, buffered, mostly_cached, with_existing};
pub(super) use end::{DestPreparation, end, written};
pub(super) use engine::{Engines, device_copy, engine};
pub(super) use holes::{Holes, holes};
pub(super) use journal::journal;
pub(super) use order::{OneGround, one_ground, order};
pub(super) use pace::pace;
