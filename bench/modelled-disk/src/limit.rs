//! The minimum time in which a disk's medium can do a job: the reference for a copy.
use crate::model::zones::span_ns;
use crate::model::{Wear, Zones};
use crate::parameters::{Extent, Parameters};

/// The direction of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// From the disk.
    Read,
    /// To the disk, until they are on its medium.
    Write,
}

/// Seconds for reading or writing `extent` in order, with commands of `command_bytes`, each of which arrives before
/// the disk is idle.
///
/// Included are the rates of the zones, the overhead of each command (hidden by a disk that reads ahead) or, if
/// commands are split, of each piece; the interface, all channels in parallel, and the cost of writing to a disk at
/// rest: a lower rate after some bytes, throttling, regular stalls. Not included are the seek to the first byte, the
/// contents of a write cache (a job ends when it is empty), faults, and the latency and distance of all commands but
/// one. A disk that throttles may be faster if it is cooled.
pub fn least_seconds(disk: &Parameters, job: Job, extent: Extent, command_bytes: u64) -> f64 {
    let mut disk = disk.scaled();
    let cut_bytes = if disk.transfer_max_bytes == 0 { u64::MAX } else { disk.transfer_max_bytes };
    let command_bytes = command_bytes.min(cut_bytes);
    let commands = extent.len.div_ceil(command_bytes.max(1));
    let channels_ns = match disk.channels {
        0 => 0,
        channels => {
            // The overheads of the channels overlap, so they delay no other command.
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
            // A disk with a write cache receives the next command while it writes the last one to the medium.
            let hidden = disk.write_cache_bytes >= command_bytes && disk.write_cache_bytes > 0;
            cable_ns.max(written_ns(&disk, extent, command_bytes, if hidden { 0 } else { disk.overhead_ns }))
        }
    };
    (ns.max(channels_ns) + disk.latency_ns + disk.distance_ns) as f64 / 1e9
}

/// The time at which the last byte of `extent` is on a medium at rest, with `overhead_ns` before each command.
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
