//! What a device itself says of a failure.
use super::Kind;
use std::{error, fmt, io};

/// A failure as the device itself reported it: travels inside an [`io::Error`], which has no number then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// What sort of failure it is.
    pub kind: Kind,
    /// In the words of its standard: `medium error: unrecovered read error (3/11/00), LBA 4660`.
    pub words: String,
    /// First byte that it blames, on this side; `None` where it names none.
    pub offset: Option<u64>,
    /// It says so of the blocks it was asked for and not of itself: others may be fine.
    pub of_medium: bool,
    /// What to do next, a full sentence; empty where nothing helps.
    pub advice: &'static str,
    /// Sense key, additional sense code and its qualifier, where a SCSI disk gave them.
    pub sense: Option<[u8; 3]>,
}

impl DeviceError {
    /// The device's error, if this error came from one.
    pub fn of(error: &io::Error) -> Option<&DeviceError> {
        error.get_ref()?.downcast_ref()
    }

    /// The device compared, and what it has differs.
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
    fn what_a_device_said_is_found_again_in_an_error_of_the_kernels_kind() {
        let said = DeviceError {
            kind: Kind::Io,
            words: "medium error".to_owned(),
            offset: Some(512),
            of_medium: true,
            advice: "",
            sense: Some([3, 0x11, 0]),
        };
        assert!(!said.is_miscompare());
        let error = io::Error::from(said.clone());
        assert_eq!(DeviceError::of(&error), Some(&said));
        assert_eq!((error.to_string().as_str(), error.raw_os_error()), ("medium error", None));
        assert_eq!(DeviceError::of(&io::Error::from_raw_os_error(libc::EIO)), None);
    }
}
