//! The request of `haul map`.
use crate::ledger::mapfile::Combination;

/// The request of `haul map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MapAction {
    Show {
        /// Its path; `-`: standard input.
        map: String,
        json: bool,
    },
    Compare {
        maps: [String; 2],
        /// Print nothing; only the exit status counts.
        quiet: bool,
    },
    Done {
        map: String,
    },
    Change {
        map: String,
        change: MapChange,
        /// The file to create; `-`: standard output.
        new: String,
    },
}

/// How a new map is made from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MapChange {
    /// By what is finished in the map at this path.
    Combine(Combination, String),
    /// Finished becomes bad, the rest finished.
    Invert,
    /// Bytes that are not listed are added.
    Complete {
        /// Size of the source; where not given, the end of the last block.
        size_bytes: Option<u64>,
    },
}
