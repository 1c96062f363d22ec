//! The result of one transfer of a request: found out once, where it completes.
use super::{DeviceError, Error, Facts, Kind, Op, Side, WritebackError, is_of_medium};
use std::io;

/// The result of one transfer of a request.
#[derive(Debug)]
pub enum Transferred {
    /// So many bytes were moved: fewer than asked is not an error, 0 for a read is the end of the source.
    Moved(u32),
    /// Nothing has happened. The same request is to be submitted again; its endpoint may then need it another way.
    Retry,
    /// It failed.
    Failed(RequestError),
}

impl Transferred {
    /// Classifies what a transfer gave, `None` for nothing that has happened. `diagnose` is asked of a failure alone.
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
            // A signal, or no memory for the request just then.
            Some(libc::EINTR | libc::EAGAIN) => Transferred::Retry,
            _ => Transferred::Failed(RequestError::new(error, diagnose)),
        }
    }
}

/// Why a request failed.
#[derive(Debug)]
pub struct RequestError {
    /// What the endpoint takes it for.
    pub kind: Kind,
    /// The error of the kernel or the device.
    pub source: io::Error,
    /// It is about bytes that were written earlier: they got no further than the page cache, and the kernel does not
    /// say which they are.
    pub is_of_writeback: bool,
}

impl RequestError {
    pub(super) fn new(source: io::Error, diagnose: impl FnOnce(&io::Error) -> Kind) -> Self {
        let (source, is_of_writeback) = WritebackError::unmark(source);
        // What an endpoint was requested to give up is the same for all of them.
        let cancelled = source.raw_os_error() == Some(libc::ECANCELED);
        RequestError { kind: if cancelled { Kind::Cancelled } else { diagnose(&source) }, source, is_of_writeback }
    }

    /// The device's own error, where it did.
    pub fn device(&self) -> Option<&DeviceError> {
        DeviceError::of(&self.source)
    }

    /// The byte that the device blames, counted on its side.
    pub fn blamed(&self) -> Option<u64> {
        self.device()?.offset
    }

    /// A call was made, and the kernel gave it a number: neither the device's own words nor a failure of haul.
    pub fn is_of_kernel(&self) -> bool {
        self.source.raw_os_error().is_some()
    }

    /// The block layer merges neighbours and fails them together: the request itself may be fine.
    pub fn may_be_a_neighbours(&self) -> bool {
        // What has no number did not come from the block layer.
        self.kind == Kind::Io && self.is_of_kernel() && !self.is_of_writeback
    }

    /// It says something about the place, so that another may be fine. A device that has disappeared, a call that made
    /// no sense and a lack of memory are none of it.
    pub fn is_of_place(&self) -> bool {
        // A disk that gave up after its time; file systems about checksums and structures that do not fit.
        let others = [libc::ETIMEDOUT, libc::EBADMSG, libc::EUCLEAN];
        let is_other = self.source.raw_os_error().is_some_and(|errno| others.contains(&errno));
        self.kind == Kind::Io && !self.is_of_writeback && (is_other || is_of_medium(&self.source))
    }

    /// The failure in words, of `op` at `offset` or where the device puts the blame, on this side of the copy.
    pub fn into_error(self, facts: &Facts, op: Op, side: Side, offset: u64) -> Error {
        if self.is_of_writeback {
            return Error::of_writeback(self.kind, side, &facts.address, self.source);
        }
        let (place, advice) = (self.blamed().unwrap_or(offset), self.device().map_or("", |said| said.advice));
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
    fn a_signal_and_a_lack_of_memory_are_no_failures() {
        assert!([libc::EINTR, libc::EAGAIN].into_iter().all(|errno| matches!(of(errno), Transferred::Retry)));
        assert!(matches!(Transferred::of(Ok(None), |_| Kind::Io), Transferred::Retry));
        assert!(matches!(Transferred::of(Ok(Some(7)), |_| Kind::Io), Transferred::Moved(7)));
        assert!(matches!(of(libc::EIO), Transferred::Failed(RequestError { kind: Kind::Io, .. })));
    }

    #[test]
    fn what_was_cancelled_is_so_whatever_its_endpoint_takes_it_for() {
        assert!(matches!(of(libc::ECANCELED), Transferred::Failed(RequestError { kind: Kind::Cancelled, .. })));
    }

    #[test]
    fn a_failed_writeback_names_no_place_and_is_not_tried_again() {
        let marked = WritebackError::mark(io::Error::from_raw_os_error(libc::EIO));
        let error = RequestError::new(marked, |said| {
            assert_eq!(said.raw_os_error(), Some(libc::EIO));
            Kind::Io
        });
        assert!(!error.may_be_a_neighbours() && !error.is_of_place());
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
    fn only_what_the_medium_or_the_device_says_of_a_place_is_read_around() {
        let is_of_place = |kind, source| RequestError { kind, source, is_of_writeback: false }.is_of_place();
        let of = |errno| is_of_place(Kind::Io, io::Error::from_raw_os_error(errno));
        assert!([libc::EIO, libc::ENODATA, libc::EILSEQ, libc::ETIMEDOUT].into_iter().all(of));
        assert!(![libc::EINVAL, libc::ENOTCONN, libc::ENOMEM, libc::ENXIO, libc::ENOLINK].into_iter().any(of));
        assert!(!is_of_place(Kind::Gone, io::Error::from_raw_os_error(libc::EIO)));
        assert!(!is_of_place(Kind::Io, io::ErrorKind::UnexpectedEof.into()));
        let words = "medium error".to_owned();
        let said = DeviceError { kind: Kind::Io, words, offset: None, of_medium: true, advice: "", sense: None };
        assert!(is_of_place(Kind::Io, said.clone().into()));
        assert!(!is_of_place(Kind::Io, DeviceError { of_medium: false, ..said }.into()));
    }
}
