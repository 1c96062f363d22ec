//! Copies without data in user space: by sharing extents in the file system, or by copy commands of the device.
use super::watch::Watch;
use crate::core::{DeviceCopy, DeviceError, Endpoint, Extent, Kind, OffloadSource, Plan};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The result of sharing extents.
pub(super) enum Offloaded {
    /// The dest has these bytes.
    Done(Extent),
    /// Not supported; nothing has changed.
    Refused(io::Error),
}

/// Makes the dest share the extents of the source. The plan must have a length.
pub(super) fn reflink(plan: &Plan, ends: &[Arc<dyn Endpoint>; 2]) -> Offloaded {
    let [source, dest] = ends;
    let len = plan.len.unwrap_or(0);
    let refused = |errno| Offloaded::Refused(io::Error::from_raw_os_error(errno));
    let Some(descriptor) = source.descriptor() else { return refused(libc::EOPNOTSUPP) };
    if len == 0 {
        return Offloaded::Done(Extent::new(0, 0));
    }
    let extent = Extent::new(plan.source.map.start(), len);
    match dest.offload(OffloadSource::File(descriptor), extent, plan.dest.map.start()) {
        Ok(_) => Offloaded::Done(Extent::new(0, len)),
        Err(error) => Offloaded::Refused(error),
    }
}

/// The result of a copy by the device.
pub(super) struct OffloadResult {
    /// Number of bytes copied, from the start.
    pub(super) bytes: u64,
    /// Why it ended early, unless a stop was requested.
    pub(super) failed: Option<io::Error>,
}

/// The note for the report if the device cannot copy internally; `None` for any other failure.
pub(super) fn refusal_note(error: &io::Error) -> Option<String> {
    let reported = DeviceError::of(error).filter(|reported| reported.kind == Kind::Unsupported);
    let why = reported.map_or(String::new(), |reported| format!(" ({})", reported.words));
    let refused = reported.is_some() || error.raw_os_error() == Some(libc::EOPNOTSUPP);
    refused.then(|| format!("the device refuses the offloaded copy{why}: haul copies the data itself"))
}

/// Copies by consecutive commands of the device. Between them it checks for stop requests and updates the tally.
pub(super) fn by_device(plan: &Plan, dest: &Arc<dyn Endpoint>, watch: Watch<'_>) -> OffloadResult {
    let (mut bytes, len) = (0, plan.len.unwrap_or(0));
    let DeviceCopy { from_offset, command_bytes, from: name } =
        plan.device_copy.expect("the plan has it for this engine");
    while bytes < len && !watch.stop.is_requested() {
        let from = Extent::new(from_offset + bytes, (len - bytes).min(command_bytes.into()));
        let to_offset = plan.dest.map.start() + bytes;
        let source = name.as_ref().map_or(OffloadSource::SameDevice, OffloadSource::Device);
        match dest.offload(source, from, to_offset) {
            Ok(moved) => bytes += moved,
            Err(error) => return OffloadResult { bytes, failed: Some(error) },
        }
        watch.tally.written_bytes.store(bytes, Relaxed);
    }
    OffloadResult { bytes, failed: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_device_error_and_a_failure_is_not_a_refusal() {
        let note = |error: io::Error| refusal_note(&error);
        let plain = note(io::Error::from_raw_os_error(libc::EOPNOTSUPP)).unwrap();
        assert_eq!(plain, "the device refuses the offloaded copy: haul copies the data itself");
        let device_failure = |kind| {
            let words = "unreachable".to_owned();
            DeviceError { kind, words, offset: None, of_medium: false, advice: "", sense: None }.into()
        };
        assert!(note(device_failure(Kind::Unsupported)).unwrap().contains("offloaded copy (unreachable)"));
        assert_eq!(note(device_failure(Kind::Io)), None);
        assert_eq!(note(io::Error::from_raw_os_error(libc::EIO)), None);
    }
}
