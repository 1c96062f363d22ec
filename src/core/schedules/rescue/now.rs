//! The input of the phases.
use crate::core::rescue::{RescuePlan, RescueState};

/// What is known when the next read is chosen.
pub(super) struct Now<'a> {
    pub(super) plan: &'a RescuePlan,
    pub(super) state: &'a mut RescueState,
}
