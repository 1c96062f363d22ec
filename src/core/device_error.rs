//! Errors that a device itself reports.
use super::Kind;
use std::{error, fmt, io};

/// An error that the device itself reported. It is wrapped in an [`io::Error`], which then has no errno.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// The kind of failure.
    pub kind: Kind,
    /// The error in the terms of the device's standard: `medium error: unrecovered read error (3/11/00), LBA 4660`.
    pub words: String,
    /// Offset on this side of the first byte in error; `None` if the device reported none.
    pub offset: Option<u64>,
    /// The error concerns the requested blocks, not the whole device: other blocks may be readable.
    pub of_medium: bool,
    /// Suggested next step, a full sentence; may be empty.
    pub advice: &'static str,
    /// Sense key, additional sense code and qualifier, if a SCSI disk reported them.
    pub sense: Option<[u8; 3]>,
}

impl DeviceError {
    /// The device's error that `error` wraps, if any.
    pub fn of(error: &io::Error) -> Option<&DeviceError> {
        error.get_ref()?.downcast_ref()
    }

    /// Whether a compare command found a difference.
    pub fn is_miscompare(&self) -> bool {
        matches!(self.sense, Some([0xe, ..]))
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.words)
    }
}

impl error::Error for DeviceError {}

impl From<DeviceError> for io::Error {
    fn from(error: DeviceError) -> Self {
        io::Error::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_device_keeps_its_codes_and_errno() {
        let device_failure = DeviceError {
            kind: Kind::Io,
            words: "medium error".to_owned(),
            offset: Some(512),
            of_medium: true,
            advice: "",
            sense: Some([3, 0x11, 0]),
        };
        assert!(!device_failure.is_miscompare());
        let error = io::Error::from(device_failure.clone());
        assert_eq!(DeviceError::of(&error), Some(&device_failure));
        assert_eq!((error.to_string().as_str(), error.raw_os_error()), ("medium error", None));
        assert_eq!(DeviceError::of(&io::Error::from_raw_os_error(libc::EIO)), None);
    }
}
