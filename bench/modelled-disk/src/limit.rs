//! The least time in which a disk's medium can do a job: what a copy is held against.
use crate::model::Zones;
use crate::model::zones::span_ns;
use crate::parameters::{Extent, Parameters};

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// From the disk.
    Read,
    /// To the disk, until they are on its medium.
    Write,
}

/// Seconds for reading or writing `extent` in order, by commands of `command_bytes`, each of which comes in time.
///
/// Counted are the rates of the zones, the overhead of each command (hidden by a disk that reads ahead), the cable, a
/// slow-down after so many written bytes, and regular stalls. Not counted are the way to the first byte, what a write
/// cache still holds (a job ends when it is empty), faults, and the latency of all commands but one.
pub fn least_seconds(disk: &Parameters, job: Job, extent: Extent, command_bytes: u64) -> f64 {
    let disk = disk.scaled();
    let commands = extent.len.div_ceil(command_bytes.max(1));
    let overhead_ns = commands * disk.overhead_ns;
    let cable_ns = overhead_ns + span_ns(extent.len, disk.interface_bytes_per_s);
    let ns = match job {
        Job::Read => {
            let medium_ns = Zones::new(&disk, 100).passing_ns(extent.offset, extent.len);
            let hidden = disk.read_ahead_bytes > 0;
            cable_ns.max(medium_ns + if hidden { 0 } else { overhead_ns })
        }
        Job::Write => {
            let zones = Zones::new(&disk, disk.write_percent);
            let fast = if disk.slow_after_bytes > 0 { extent.len.min(disk.slow_after_bytes) } else { extent.len };
            let slow = extent.len - fast;
            let slow_ns = if slow > 0 { span_ns(slow, disk.slow_bytes_per_s) } else { 0 };
            let slow_ns = slow_ns.max(zones.passing_ns(extent.offset + fast, slow));
            let stalls = extent.len.checked_div(disk.stall_every_bytes).unwrap_or(0);
            let medium_ns = zones.passing_ns(extent.offset, fast) + slow_ns + stalls * disk.stall_ns;
            // A cached disk takes in the next command while it puts the last one on the medium.
            let hidden = disk.write_cache_bytes >= command_bytes && disk.write_cache_bytes > 0;
            cable_ns.max(medium_ns + if hidden { 0 } else { overhead_ns })
        }
    };
    (ns + disk.latency_ns) as f64 / 1e9
}
