//! What the commands of this feature are to do.
use crate::job::fleet::planning::FleetWish;
use crate::plan::Options;

/// What `haul plan` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanOptions {
    /// The copy as one.
    pub(super) options: Options,
    pub(super) wish: FleetWish,
}
