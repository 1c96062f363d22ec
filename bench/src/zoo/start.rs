//! The initial limits of a copy, from what the kernel reports about the disks: as in haul's plan.
use super::spec::{Pair, Spec};
use haul::core::Tuning;
use haul::engine::valves::{Bursts, Limits, Start};

/// Bytes of all blocks.
pub(super) const POOL_BYTES: u64 = 32 << 20;
/// Requests in flight if the disk is known to be behind a network.
const NETWORK_IN_FLIGHT: u32 = 8;
/// Bytes in flight on an NVMe disk.
const NVME_IN_FLIGHT_BYTES: u32 = 16 << 20;

/// At most four of the largest requests of both sides.
pub(super) fn largest_block(pair: &Pair, wanted_bytes: u32) -> u32 {
    pair.disks.iter().map(|disk| disk.part_bytes_max as u32 * 4).fold(wanted_bytes, u32::min)
}

/// The transport is not modelled: it is derived from properties that only such disks have.
fn is_nvme(disk: &Spec) -> bool {
    disk.tags > 1000
}

fn is_network(disk: &Spec) -> bool {
    disk.tags == 128 && disk.path_s > 2e-4
}

/// A rotational disk with several commands may serve the parts of two requests in any order, and lose rotations.
fn is_mixed_up(disk: &Spec) -> bool {
    disk.reported_rotational && disk.tags > 1
}

/// The initial limits of a copy of `len` bytes.
pub(super) fn of(pair: &Pair, len: u64) -> Start {
    let both_nvme = pair.disks.iter().all(is_nvme);
    let block_bytes = largest_block(pair, if both_nvme { 512 << 10 } else { 1 << 20 });
    let block_bytes = pair
        .disks
        .iter()
        .filter(|disk| is_mixed_up(disk))
        .fold(block_bytes, |block_bytes, disk| block_bytes.min(disk.part_bytes_max as u32));
    let in_flight = pair.disks.each_ref().map(|disk| match () {
        () if is_nvme(disk) => NVME_IN_FLIGHT_BYTES / block_bytes,
        () if is_network(disk) => NETWORK_IN_FLIGHT,
        () => 2,
    });
    let tuning = Tuning {
        limits: Limits { block_bytes, in_flight, bursts: false },
        pool_bytes: POOL_BYTES as u32,
        block_bytes_min: 128 << 10,
        block_bytes_max: 4 << 20,
        in_flight_max: 128,
        adaptive: true,
        tuned: false,
        bursts: if pair.one_known { Bursts::Try } else { Bursts::Never },
    };
    Start { tuning, len: Some(len), rotational: pair.disks.each_ref().map(|disk| disk.reported_rotational) }
}
