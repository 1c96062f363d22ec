//! JSON about the latency of commands without medium access.
use super::{costs, line};
use crate::measure::Commands;
use crate::report::json::object;
use serde::Serialize;

pub(super) fn commands(found: &Commands) -> impl Serialize {
    object! {
        empty_read_s: found.empty_s,
        buffer_bytes: found.buffer_bytes,
        read_buffer: costs(&found.buffer),
        read_buffer_fit: found.buffer_fit.map(line),
        refused: &found.refused,
    }
}
