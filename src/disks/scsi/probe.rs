//! Facts of a disk that is reached by SCSI commands.
use super::holes;
use super::lba_status;
use super::node::{Intent, Node};
use super::survey::Survey;
use crate::core::{
    CallStyle, CommandOptions, DeviceError, DirectAlignment, Facts, Kind, Order, Passthrough, Transfers,
};
use rustix::fs::{major, minor};
use std::io;

/// Maximum number of commands in flight per descriptor of the driver (SG_MAX_QUEUE).
pub(super) const IN_FLIGHT_MAX: u32 = 16;

/// Useful number of commands in flight on a node: as many as the device accepts, and a few that are queued. More would
/// only wait in the kernel, each with allocated and cleared memory, and be offered to the device repeatedly.
pub(super) fn most_in_flight(node: &Node) -> u32 {
    if node.options.transfers == Transfers::Shared {
        // There is only one shared buffer.
        return 1;
    }
    let number = node.number().unwrap_or(0);
    let path = format!("/sys/dev/char/{}:{}/device/queue_depth", major(number), minor(number));
    most_of(std::fs::read_to_string(path).ok().as_deref())
}

/// The same, from the device's queue depth in sysfs.
fn most_of(queue_depth: Option<&str>) -> u32 {
    let depth = queue_depth.and_then(|text| text.trim().parse::<u32>().ok());
    depth.map_or(IN_FLIGHT_MAX, |depth| depth.saturating_add(IN_WAIT).min(IN_FLIGHT_MAX))
}

/// Number of commands beyond those that the device accepts.
const IN_WAIT: u32 = 3;

/// Maximum command length for a disk without a block device, which reports no queue limits, in bytes.
const TRANSFER_BYTES_UNKNOWN: u32 = 128 << 10;

/// Maximum WRITE SAME length if the disk reports none, in blocks: the limit of its shortest form.
pub(super) const WRITE_SAME_BLOCKS: u64 = 0xffff;

/// Updates `facts` for access through `node`. Only sends commands that change nothing.
///
/// # Errors
/// The kernel's error; a [`DeviceError`] if the device is not a disk, or has changed.
pub(in crate::disks) fn probe(node: &Passthrough, facts: &mut Facts) -> io::Result<()> {
    let open = Node::open(&node.node, Intent::Reading, CommandOptions::default())?;
    if open.number()? != node.number {
        let (kind, words) = (Kind::Refused, "it changed after haul examined it".to_owned());
        return Err(DeviceError {
            kind,
            words,
            offset: None,
            of_medium: false,
            advice: "Run the command again.",
            sense: None,
        }
        .into());
    }
    let survey = Survey::take(&open, facts)?;
    let capacity = survey.capacity;
    let bytes = capacity.blocks.saturating_mul(capacity.block_bytes.into());
    match facts.size {
        None => of_disk_alone(&survey, bytes, facts),
        Some(size) if node.start.saturating_add(size) > bytes || facts.logical_block_bytes != capacity.block_bytes => {
            let words = format!(
                "its block device has {size} bytes from byte {} in blocks of {}, but the disk reports {bytes} bytes \
                 in blocks of {}",
                node.start, facts.logical_block_bytes, capacity.block_bytes
            );
            let advice = "Make the kernel rescan it: echo 1 >/sys/block/NAME/device/rescan.";
            return Err(DeviceError {
                kind: Kind::Refused,
                words,
                offset: None,
                of_medium: false,
                advice,
                sense: None,
            }
            .into());
        }
        Some(_) => {}
    }
    let block = u64::from(capacity.block_bytes);
    let queue = &mut facts.queue;
    let most = if queue.max_request_bytes > 0 { queue.max_request_bytes } else { TRANSFER_BYTES_UNKNOWN };
    let own = u64::from(survey.limits.transfer_blocks_max) * block;
    queue.max_request_bytes = if own > 0 { own.min(most.into()) as u32 } else { most };
    queue.optimal_io_bytes =
        u32::try_from(u64::from(survey.limits.transfer_blocks_optimal) * block).unwrap_or(queue.optimal_io_bytes);
    queue.requests_max = IN_FLIGHT_MAX;
    queue.write_zeroes_max_bytes =
        if survey.provisioning.unmaps_by_write_same { write_same_blocks(&survey) * block } else { 0 };
    facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: capacity.block_bytes });
    (facts.dontcache, facts.cached_bytes) = (false, None);
    facts.sparse = survey.unmapped_are_zeros() && reports_holes(&open, node.start / block);
    facts.copy_name = survey.copy_name;
    if let Some(copying) = survey.copying {
        let (most, unit) = copying.segment_bytes(capacity.block_bytes);
        (facts.queue.copy_max_bytes, facts.queue.copy_unit_bytes) = (most, unit);
    }
    facts.writable &= !survey.mode.write_protected && open.writable;
    Ok(())
}

/// Whether it reports the mapping status of the block at `lba`.
fn reports_holes(node: &Node, lba: u64) -> bool {
    holes::answer(node, lba).is_ok_and(|answer| lba_status::run_at(&answer, lba).is_some())
}

/// Maximum WRITE SAME length, in blocks.
pub(super) fn write_same_blocks(survey: &Survey) -> u64 {
    match survey.limits.write_same_blocks_max {
        0 => WRITE_SAME_BLOCKS,
        most => most.min(u32::MAX.into()),
    }
}

/// Facts of a disk without a block device, from its own data.
fn of_disk_alone(survey: &Survey, bytes: u64, facts: &mut Facts) {
    let capacity = survey.capacity;
    facts.size = Some(bytes);
    facts.logical_block_bytes = capacity.block_bytes;
    facts.physical_block_bytes = capacity.block_bytes.saturating_mul(capacity.blocks_a_physical);
    (facts.order, facts.calls) = (Order::Any, CallStyle::Waits);
    facts.queue.rotational = survey.rotational;
    facts.identity.model.clone_from(&survey.inquiry.model);
    facts.identity.serial.clone_from(&survey.serial);
    facts.identity.wwn.clone_from(&survey.wwn);
    facts.identity.transport = Some("scsi".to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_limited_to_the_device_queue_plus_a_few_waiting() {
        let table =
            [(Some("1\n"), 4), (Some("7\n"), 10), (Some("15"), 16), (Some("64\n"), 16), (None, 16), (Some("?"), 16)];
        for (device_failure, most) in table {
            assert_eq!(most_of(device_failure), most, "{device_failure:?}");
        }
    }
}
