use crate::core::Differences;
use serde::Serialize;

/// Where two sides are not the same. Offsets count from the first byte of what was compared.
#[derive(Clone, Debug, Serialize)]
pub struct DifferencesReport {
    /// Nothing differs in what was compared.
    pub equal: bool,
    /// Bytes that differ.
    pub differing_bytes: u64,
    /// The first byte that differs.
    pub first_offset_bytes: Option<u64>,
    /// Runs of sectors in which bytes differ.
    pub runs: Vec<RunReport>,
    /// There were more runs than are listed; their bytes are counted.
    pub runs_unlisted: bool,
    /// The side that ended before the other.
    pub shorter: Option<ShorterReport>,
}

/// A run of sectors.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
}

/// A side that ended before the other.
#[derive(Clone, Debug, Serialize)]
pub struct ShorterReport {
    /// `source` or `dest`.
    pub side: &'static str,
    /// What it lacks; `null` where that is not known.
    pub lacks_bytes: Option<u64>,
}

impl From<&Differences> for DifferencesReport {
    fn from(differences: &Differences) -> Self {
        DifferencesReport {
            equal: differences.is_empty(),
            differing_bytes: differences.bytes,
            first_offset_bytes: differences.first,
            runs: differences
                .runs
                .iter()
                .map(|run| RunReport { offset_bytes: run.offset, len_bytes: run.len })
                .collect(),
            runs_unlisted: differences.unlisted,
            shorter: differences.shorter.map(|(side, lacks_bytes)| ShorterReport { side: side.name(), lacks_bytes }),
        }
    }
}
