//! What a disk's commands cost without the medium, for programs.
use crate::apps::measuring::json::profile::{CommandReport, FitReport, command, line};
use crate::measure::Commands;
use serde::Serialize;

/// What a disk's commands cost without the medium.
#[derive(Clone, Debug, Serialize)]
pub struct CommandsReport {
    /// Median time of a READ of no blocks; `null`: the disk has none.
    pub empty_read_s: Option<f64>,
    /// Bytes of the disk's own buffer; `null`: it gives none away.
    pub buffer_bytes: Option<u32>,
    /// What READ BUFFER of each size costs.
    pub read_buffer: Vec<CommandReport>,
    /// The line through these.
    pub read_buffer_fit: Option<FitReport>,
    /// What the disk did not do, in its words.
    pub refused: Vec<String>,
}

pub(crate) fn commands(found: &Commands) -> CommandsReport {
    CommandsReport {
        empty_read_s: found.empty_s,
        buffer_bytes: found.buffer_bytes,
        read_buffer: found.buffer.iter().map(command).collect(),
        read_buffer_fit: found.buffer_fit.map(line),
        refused: found.refused.clone(),
    }
}
