//! The result of one transfer of a request, classified once, on completion.
use super::{DeviceError, Error, Facts, Kind, Op, Side, WritebackError, is_of_medium};
use std::io;

/// The result of one transfer of a request.
#[derive(Debug)]
pub enum Transferred {
    /// This many bytes were transferred. Fewer than requested is not an error; 0 for a read is the end of the source.
    Moved(u32),
    /// Nothing has happened. The same request is to be submitted again; its endpoint may then use another method.
    Retry,
    /// The transfer failed.
    Failed(RequestError),
}

impl Transferred {
    /// Classifies the result of a transfer; `Ok(None)` means that nothing has happened. `diagnose` is called only for
    /// failures.
    #[inline]
    pub fn of(result: io::Result<Option<u32>>, diagnose: impl FnOnce(&io::Error) -> Kind) -> Self {
        match result {
            Ok(moved) => moved.map_or(Transferred::Retry, Transferred::Moved),
            Err(error) => Transferred::failed(error, diagnose),
        }
    }

    #[cold]
    fn failed(error: io::Error, diagnose: impl FnOnce(&io::Error) -> Kind) -> Self {
        match error.raw_os_error() {
            // Interrupted by a signal, or the kernel had no memory for the request at that moment.
            Some(libc::EINTR | libc::EAGAIN) => Transferred::Retry,
            _ => Transferred::Failed(RequestError::new(error, diagnose)),
        }
    }
}

/// Why a request failed.
#[derive(Debug)]
pub struct RequestError {
    /// The kind of failure, as classified by the endpoint.
    pub kind: Kind,
    /// The error of the kernel or the device.
    pub source: io::Error,
    /// Whether the error concerns earlier writes: they were lost in writeback, and the kernel does not report their
    /// offsets.
    pub is_of_writeback: bool,
}

impl RequestError {
    pub(super) fn new(source: io::Error, diagnose: impl FnOnce(&io::Error) -> Kind) -> Self {
        let (source, is_of_writeback) = WritebackError::unmark(source);
        // A cancelled request returns the same error on every endpoint.
        let cancelled = source.raw_os_error() == Some(libc::ECANCELED);
        RequestError { kind: if cancelled { Kind::Cancelled } else { diagnose(&source) }, source, is_of_writeback }
    }

    /// The error that the device itself reported, if any.
    pub fn device(&self) -> Option<&DeviceError> {
        DeviceError::of(&self.source)
    }

    /// Offset of the byte in error, if the device reported it; it counts on this side.
    pub fn error_offset(&self) -> Option<u64> {
        self.device()?.offset
    }

    /// Whether a system call failed with an errno, as opposed to an error of the device or of haul itself.
    pub fn is_of_kernel(&self) -> bool {
        self.source.raw_os_error().is_some()
    }

    /// Whether another request may be the cause: the block layer merges adjacent requests and fails them together.
    pub fn may_be_merged(&self) -> bool {
        // Errors without an errno do not come from the block layer.
        self.kind == Kind::Io && self.is_of_kernel() && !self.is_of_writeback
    }

    /// Whether the failure depends on the offset, so that others may succeed. Failures from a removed device, an
    /// invalid call or a lack of memory do not.
    pub fn depends_on_offset(&self) -> bool {
        // Timeouts of the disk, and checksum or structure errors of file systems.
        let others = [libc::ETIMEDOUT, libc::EBADMSG, libc::EUCLEAN];
        let is_other = self.source.raw_os_error().is_some_and(|errno| others.contains(&errno));
        self.kind == Kind::Io && !self.is_of_writeback && (is_other || is_of_medium(&self.source))
    }

    /// The full error of `op` at `offset`, or at the offset that the device reported, on this side of the copy.
    pub fn into_error(self, facts: &Facts, op: Op, side: Side, offset: u64) -> Error {
        if self.is_of_writeback {
            return Error::of_writeback(self.kind, side, &facts.address, self.source);
        }
        let (place, advice) =
            (self.error_offset().unwrap_or(offset), self.device().map_or("", |device_failure| device_failure.advice));
        Error::of_request(self.kind, op, side, &facts.address, place, self.source)
            .in_sectors_of(facts.logical_block_bytes)
            .advise(advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: i32) -> Transferred {
        Transferred::of(Err(io::Error::from_raw_os_error(errno)), |_| Kind::Io)
    }

    #[test]
    fn a_signal_and_a_lack_of_memory_are_not_failures() {
        assert!([libc::EINTR, libc::EAGAIN].into_iter().all(|errno| matches!(of(errno), Transferred::Retry)));
        assert!(matches!(Transferred::of(Ok(None), |_| Kind::Io), Transferred::Retry));
        assert!(matches!(Transferred::of(Ok(Some(7)), |_| Kind::Io), Transferred::Moved(7)));
        assert!(matches!(of(libc::EIO), Transferred::Failed(RequestError { kind: Kind::Io, .. })));
    }

    #[test]
    fn a_cancelled_request_is_cancelled_for_every_endpoint() {
        assert!(matches!(of(libc::ECANCELED), Transferred::Failed(RequestError { kind: Kind::Cancelled, .. })));
    }

    #[test]
    fn a_failed_writeback_names_no_offset_and_is_not_retried() {
        let marked = WritebackError::mark(io::Error::from_raw_os_error(libc::EIO));
        let error = RequestError::new(marked, |device_failure| {
            assert_eq!(device_failure.raw_os_error(), Some(libc::EIO));
            Kind::Io
        });
        assert!(!error.may_be_merged() && !error.depends_on_offset());
        let facts = Facts { logical_block_bytes: 512, ..Facts::new("/dev/sdb", crate::core::EndpointKind::Block) };
        let error = error.into_error(&facts, Op::Write, Side::Dest, 8192);
        assert_eq!((error.offset, error.sector_bytes), (None, 1));
        assert_eq!(
            error.to_string(),
            "cannot write destination /dev/sdb: writeback of earlier data failed, and \
             the kernel does not report which bytes"
        );
        assert_eq!(error.source.and_then(|source| source.raw_os_error()), Some(libc::EIO));
    }

    #[test]
    fn only_errors_of_medium_or_device_with_an_offset_are_read_around() {
        let depends_on_offset =
            |kind, source| RequestError { kind, source, is_of_writeback: false }.depends_on_offset();
        let of = |errno| depends_on_offset(Kind::Io, io::Error::from_raw_os_error(errno));
        assert!([libc::EIO, libc::ENODATA, libc::EILSEQ, libc::ETIMEDOUT].into_iter().all(of));
        assert!(![libc::EINVAL, libc::ENOTCONN, libc::ENOMEM, libc::ENXIO, libc::ENOLINK].into_iter().any(of));
        assert!(!depends_on_offset(Kind::Disconnected, io::Error::from_raw_os_error(libc::EIO)));
        assert!(!depends_on_offset(Kind::Io, io::ErrorKind::UnexpectedEof.into()));
        let words = "medium error".to_owned();
        let device_failure =
            DeviceError { kind: Kind::Io, words, offset: None, of_medium: true, advice: "", sense: None };
        assert!(depends_on_offset(Kind::Io, device_failure.clone().into()));
        assert!(!depends_on_offset(Kind::Io, DeviceError { of_medium: false, ..device_failure }.into()));
    }
}
