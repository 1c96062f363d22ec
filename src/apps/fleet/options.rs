//! What the commands of this feature are to do.
use super::emit::JobWish;
use crate::job::fleet::planning::FleetWish;
use crate::plan::Options;
use std::path::PathBuf;

/// What `haul plan` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanOptions {
    /// Divide this copy.
    Divide(Box<Options>, FleetWish),
    /// Print the job for an engine that copies the plan of this address.
    Emit(String, JobWish),
}

/// What `haul status` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatusOptions {
    pub(super) plan: String,
    pub(super) watch: bool,
    pub(super) json: bool,
    pub(super) report: Option<PathBuf>,
}

/// What `haul finish` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FinishOptions {
    pub(super) plan: String,
    pub(super) manifest: Option<String>,
    pub(super) abort: bool,
    pub(super) yes: bool,
    pub(super) json: bool,
}
