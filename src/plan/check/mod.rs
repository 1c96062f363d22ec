//! Refuses, before anything is written, invalid and dangerous requests.
mod checksum;
mod dest;
mod object;
mod range;
mod ranges;
mod room;
mod same;
mod through;
mod unread;
mod warnings;
mod words;

use super::plan_input::PlanInput;
use crate::core::Result;
pub(crate) use dest::{dest, free};
pub(super) use object::object;
pub(crate) use range::{Range, range};
pub(crate) use ranges::ranges;
pub(super) use room::room;
pub(super) use same::{ONE_NAME, Overlap, same};
pub(crate) use through::through;
pub(crate) use unread::unread;
pub(super) use warnings::warnings;
pub(crate) use words::words;

/// What of a copy is refused because of what its sides are.
///
/// # Errors
/// As the checks.
pub(super) fn sides(asked: &PlanInput) -> Result<()> {
    ranges(asked, true)?;
    through(asked)?;
    unread(asked)?;
    dest(asked)
}
