//! The error that is reported for a failed command.
use super::cdb::Cdb;
use super::node::{Data, DataTransfer, Node};
use super::sense::key;
use super::verdict::{RetryReason, host};
use crate::core::{DeviceError, Kind};
use std::io;
use std::thread;
use std::time::Duration;

/// Number of checks for a device that is being removed, and the interval between them.
const REMOVAL_CHECKS: u32 = 10;
/// See [`REMOVAL_CHECKS`].
const REMOVAL_CHECK_INTERVAL: Duration = Duration::from_millis(20);

impl Node {
    /// The error to report: if the device has disappeared, that instead of a transport error.
    pub(super) fn reported_error(&self, error: DeviceError, on_the_way: bool) -> io::Error {
        if on_the_way && self.has_disappeared() {
            return DeviceError { kind: Kind::Disconnected, ..error }.into();
        }
        // A block whose address field is unreadable is reported as out of range.
        let not_found = self.options.failing && matches!(error.sense, Some([key::ILLEGAL_REQUEST, 0x21, _]));
        DeviceError { of_medium: error.of_medium || not_found, ..error }.into()
    }

    /// The error to report when a command is not retried any more.
    pub(super) fn exhausted(&self, why: RetryReason, error: DeviceError, on_the_way: bool) -> io::Error {
        let of_medium = error.of_medium || self.options.failing && why.may_depend_on_blocks();
        self.reported_error(DeviceError { of_medium, ..error }, on_the_way)
    }

    /// Whether the device has disappeared. While it is being removed, the host adapter fails commands without a
    /// specific error, so the check is repeated for a moment.
    pub(super) fn has_disappeared(&self) -> bool {
        for _ in 0..REMOVAL_CHECKS {
            match self.exchange(
                DataTransfer::Copied,
                &Cdb::test_unit_ready(),
                &mut Data::None,
                self.timeout_ms().min(5000),
            ) {
                Ok(answer) if answer.host == host::ERROR => thread::sleep(REMOVAL_CHECK_INTERVAL),
                Ok(answer) => return answer.host == host::NO_CONNECT,
                Err(error) => return matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO)),
            }
        }
        false
    }
}
