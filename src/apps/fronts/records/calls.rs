//! The calls that transfer bytes of one side: of a descriptor, or of a disk by passthrough commands.
use super::opened::{DevicePosition, Opened, SideKind};
use crate::core::{DeviceCounts, RecordDevice};
use crate::sys;
use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Opened {
    /// A disk of `size` bytes in logical blocks of `block_bytes`, whose records are transferred by passthrough
    /// commands.
    pub fn by_commands(device: Arc<dyn RecordDevice>, size: u64, block_bytes: u32) -> Opened {
        Opened {
            fd: None,
            standing: Some(DevicePosition { device, at: 0.into(), size }),
            sort: SideKind::Commands,
            size: Some(size),
            offset: Some(0),
            flags: OFlags::empty(),
            logical_block_bytes: Some(block_bytes),
        }
    }

    /// The disk, if it is reached by passthrough commands.
    pub(super) fn device(&self) -> Option<&Arc<dyn RecordDevice>> {
        self.standing.as_ref().map(|standing| &standing.device)
    }

    /// The counters of the disk, if it is reached by passthrough commands.
    pub fn device_counts(&self) -> Option<DeviceCounts> {
        self.device().map(|device| device.counts())
    }

    /// Reads from its current offset; 0 at the end.
    pub(super) fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(standing) = &self.standing else {
            let fd = self.fd()?;
            return sys::retry(|| rustix::io::read(fd, &mut *bytes));
        };
        match standing.reach(bytes.len()) {
            (0, _) => Ok(0),
            (len, at) => standing.moved(standing.device.read_at(&mut bytes[..len], at)),
        }
    }

    /// Writes to its current offset.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let Some(standing) = &self.standing else {
            let fd = self.fd()?;
            return sys::retry(|| rustix::io::write(fd, bytes));
        };
        match standing.reach(bytes.len()) {
            (0, _) => Err(Errno::NOSPC.into()),
            (len, at) => standing.moved(standing.device.write_at(&bytes[..len], at)),
        }
    }

    /// Writes all bytes at `offset`; the current offset does not change.
    pub(super) fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match &self.standing {
                Some(standing) => standing.device.write_at(bytes, offset),
                None => {
                    let fd = self.fd()?;
                    sys::retry(|| rustix::io::pwrite(fd, bytes, offset))
                }
            }?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[written..];
            offset += written as u64;
        }
        Ok(())
    }

    /// Changes the current offset, and returns it.
    ///
    /// # Errors
    /// Those of `lseek(2)`.
    pub fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        let Some(standing) = &self.standing else { return Ok(rustix::fs::seek(self.fd()?, to)?) };
        let at = standing.at.load(Relaxed);
        let place = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => at.checked_add_signed(by),
            _ => None,
        };
        let place = place.ok_or(Errno::INVAL)?;
        standing.at.store(place, Relaxed);
        Ok(place)
    }

    /// The current offset.
    ///
    /// # Errors
    /// Those of `lseek(2)`: ESPIPE if the file has no offsets.
    pub fn position(&self) -> io::Result<u64> {
        match &self.standing {
            Some(standing) => Ok(standing.at.load(Relaxed)),
            None => Ok(rustix::fs::tell(self.fd()?)?),
        }
    }
}
