//! Refuses, before anything is written, what is invalid and what would be a mistake.
mod dest;
mod range;
mod ranges;
mod room;
mod same;
mod through;
mod unread;
mod words;
mod worries;

pub(crate) use dest::{dest, free};
pub(crate) use range::{Range, range};
pub(crate) use ranges::ranges;
pub(super) use room::room;
pub(super) use same::{ONE_NAME, Overlap, same};
pub(crate) use through::through;
pub(crate) use unread::unread;
pub(crate) use words::words;
pub(super) use worries::worries;
