//! The least time in which a disk's medium can do a job: what a copy is held against.
use crate::model::zones::span_ns;
use crate::model::{Wear, Zones};
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
/// Counted are the rates of the zones, the overhead of each command (hidden by a disk that reads ahead) or, where
/// commands are cut, of each piece; the cable, all channels at work, and what writing costs a disk at rest: its
/// slow-down after so many bytes, its throttling, regular stalls. Not counted are the way to the first byte, what a
/// write cache still holds (a job ends when it is empty), faults, and the latency and distance of all commands but one.
/// A disk that throttles may be written to in less time by who keeps it cool.
pub fn least_seconds(disk: &Parameters, job: Job, extent: Extent, command_bytes: u64) -> f64 {
    let mut disk = disk.scaled();
    let cut_bytes = if disk.transfer_max_bytes == 0 { u64::MAX } else { disk.transfer_max_bytes };
    let command_bytes = command_bytes.min(cut_bytes);
    let commands = extent.len.div_ceil(command_bytes.max(1));
    let channels_ns = match disk.channels {
        0 => 0,
        channels => {
            // Each channel has its overhead to itself, and nobody waits for it.
            let overhead_ns = std::mem::take(&mut disk.overhead_ns);
            (commands * overhead_ns + span_ns(extent.len, disk.channel_bytes_per_s)) / channels
        }
    };
    let overhead_ns = commands * disk.overhead_ns;
    let cable_ns = overhead_ns + span_ns(extent.len, disk.interface_bytes_per_s);
    let ns = match job {
        Job::Read => {
            let medium_ns = Zones::new(&disk, 100).passing_ns(extent.offset, extent.len);
            let hidden = disk.read_ahead_bytes > 0;
            cable_ns.max(medium_ns + if hidden { 0 } else { overhead_ns })
        }
        Job::Write => {
            // A cached disk takes in the next command while it puts the last one on the medium.
            let hidden = disk.write_cache_bytes >= command_bytes && disk.write_cache_bytes > 0;
            cable_ns.max(written_ns(&disk, extent, command_bytes, if hidden { 0 } else { disk.overhead_ns }))
        }
    };
    (ns.max(channels_ns) + disk.latency_ns + disk.distance_ns) as f64 / 1e9
}

/// When the last of `extent` is on a medium at rest, with `overhead_ns` before each command.
fn written_ns(disk: &Parameters, extent: Extent, command_bytes: u64, overhead_ns: u64) -> u64 {
    let (mut wear, mut now_ns, mut offset) = (Wear::new(disk), 0, extent.offset);
    while offset < extent.end() {
        let len = command_bytes.max(1).min(extent.end() - offset);
        now_ns += overhead_ns;
        now_ns += wear.write(Extent { offset, len }, now_ns).ns;
        offset += len;
    }
    now_ns
}
