//! Refuses, before anything is written, what cannot be meant and what would be a mistake.
mod dest;
mod range;
mod room;
mod same;
mod through;
mod unread;
mod words;
mod worries;

pub(super) use dest::dest;
pub(super) use range::{Range, range};
pub(super) use room::room;
pub(super) use same::{ONE_NAME, Overlap, same};
pub(super) use through::through;
pub(super) use unread::unread;
pub(super) use words::words;
pub(super) use worries::worries;
