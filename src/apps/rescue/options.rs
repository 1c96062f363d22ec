//! What the user asked for.
use crate::core::rescue::Status;
use crate::job::Care;
use crate::ledger::RescueLogKind;
use crate::plan::Options;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `haul rescue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RescueOptions {
    /// Those that a copy has too.
    pub(in crate::apps) copy: Options,
    /// The map; `None`: beside the dest.
    pub(in crate::apps) map: Option<PathBuf>,
    pub(in crate::apps) domain: Option<PathBuf>,
    pub(in crate::apps) retries: Option<u32>,
    pub(in crate::apps) reverse: bool,
    pub(in crate::apps) trim: bool,
    pub(in crate::apps) scrape: bool,
    pub(in crate::apps) try_again: bool,
    pub(in crate::apps) retrim: bool,
    /// Bytes to skip first, and at most; `None`: according to the size of the source.
    pub(in crate::apps) skip_bytes: [Option<u64>; 2],
    pub(in crate::apps) slow_bytes_per_s: Option<u64>,
    pub(in crate::apps) error_bytes_per_s_max: Option<u64>,
    pub(in crate::apps) care: Care,
    pub(in crate::apps) stop_after: Option<Duration>,
    /// What to fill, instead of a rescue.
    pub(in crate::apps) fill: Option<FillOptions>,
    /// What to log, and where.
    pub(in crate::apps) logs: Vec<(RescueLogKind, PathBuf)>,
}

/// What `--fill` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FillOptions {
    /// The statuses whose areas are filled.
    pub(in crate::apps) statuses: Vec<Status>,
    /// Whether each sector begins with its location.
    pub(in crate::apps) located: bool,
}
