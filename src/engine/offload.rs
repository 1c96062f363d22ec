//! No data through haul: the file system shares the extents, or the device copies them.
use super::watch::Watch;
use crate::core::{DeviceCopy, DeviceError, Endpoint, Extent, Kind, OffloadSource, Plan};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The result of asking.
pub(super) enum Offloaded {
    /// The dest has the bytes.
    Done(Extent),
    /// It cannot be done here; nothing has changed.
    Refused(io::Error),
}

/// Asks the dest to take the source's extents over. The plan knows the length.
pub(super) fn reflink(plan: &Plan, ends: &[Arc<dyn Endpoint>; 2]) -> Offloaded {
    let [source, dest] = ends;
    let len = plan.len.unwrap_or(0);
    let refused = |errno| Offloaded::Refused(io::Error::from_raw_os_error(errno));
    let Some(descriptor) = source.descriptor() else { return refused(libc::EOPNOTSUPP) };
    if len == 0 {
        return Offloaded::Done(Extent::new(0, 0));
    }
    let extent = Extent::new(plan.source.offset, len);
    match dest.offload(OffloadSource::File(descriptor), extent, plan.dest.offset) {
        Ok(_) => Offloaded::Done(Extent::new(0, len)),
        Err(error) => Offloaded::Refused(error),
    }
}

/// How a copy that the device makes by itself has ended.
pub(super) struct OffloadResult {
    /// Bytes, from the first on.
    pub(super) bytes: u64,
    /// Why it ended early, if not by a signal.
    pub(super) failed: Option<io::Error>,
}

/// What is reported about a device that does not copy by itself after all; `None`: this is another failure.
pub(super) fn refusal_note(error: &io::Error) -> Option<String> {
    let said = DeviceError::of(error).filter(|said| said.kind == Kind::Unsupported);
    let why = said.map_or(String::new(), |said| format!(" ({})", said.words));
    let refused = said.is_some() || error.raw_os_error() == Some(libc::EOPNOTSUPP);
    refused.then(|| format!("the device refuses the offloaded copy{why}: haul copies the data itself"))
}

/// Lets the device copy, one command after the other: between them a stop is noticed, and the tally follows.
pub(super) fn by_device(plan: &Plan, dest: &Arc<dyn Endpoint>, watch: Watch<'_>) -> OffloadResult {
    let (mut bytes, len) = (0, plan.len.unwrap_or(0));
    let DeviceCopy { from_offset, command_bytes, from: name } =
        plan.device_copy.expect("the plan has it for this engine");
    while bytes < len && !watch.stop.is_asked() {
        let from = Extent::new(from_offset + bytes, (len - bytes).min(command_bytes.into()));
        let to_offset = plan.dest.offset + bytes;
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
    fn a_refusal_is_told_with_what_the_device_said_and_a_failure_is_none() {
        let told = |error: io::Error| refusal_note(&error);
        let plain = told(io::Error::from_raw_os_error(libc::EOPNOTSUPP)).unwrap();
        assert_eq!(plain, "the device refuses the offloaded copy: haul copies the data itself");
        let said = |kind| {
            let words = "unreachable".to_owned();
            DeviceError { kind, words, offset: None, of_medium: false, advice: "", sense: None }.into()
        };
        assert!(told(said(Kind::Unsupported)).unwrap().contains("offloaded copy (unreachable)"));
        assert_eq!(told(said(Kind::Io)), None);
        assert_eq!(told(io::Error::from_raw_os_error(libc::EIO)), None);
    }
}
