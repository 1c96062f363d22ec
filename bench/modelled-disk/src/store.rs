//! The data of a modelled disk, in an ordinary file, and that in its volatile cache.
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FallocateFlags, fallocate};

use crate::damage::Damage;
use crate::parameters::{Extent, Parameters};
use crate::volatile::{SECTOR_BYTES, Volatile};

/// The open file. Every call may be made from any thread.
pub struct Store {
    file: File,
    size_bytes: u64,
    /// `None`: every write is on the medium at once.
    volatile: Option<Mutex<Volatile>>,
    /// `None`: no damage.
    damage: Option<Damage>,
}

impl Store {
    /// Opens `path`; creates it, or extends it without writing, to the size of the disk.
    ///
    /// # Errors
    /// Those of opening a file and of setting its length.
    pub fn open(path: &Path, parameters: &Parameters) -> io::Result<Store> {
        let size_bytes = parameters.size_bytes;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < size_bytes {
            file.set_len(size_bytes)?;
        }
        let percent = parameters.volatile_percent;
        let volatile = (percent > 0).then(|| Mutex::new(Volatile::new(percent, parameters.volatile_seed)));
        Ok(Store { file, size_bytes, volatile, damage: Damage::new(parameters) })
    }

    /// Fills `bytes` from `offset`, including data in the cache.
    ///
    /// # Errors
    /// Those of pread.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_rightly(bytes, offset)?;
        if let Some(damage) = &self.damage {
            damage.misread(bytes, offset);
        }
        Ok(())
    }

    fn read_rightly(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(volatile) = self.volatile() else { return self.file.read_exact_at(bytes, offset) };
        self.file.read_exact_at(bytes, offset)?;
        for (number, within, of_bytes) in sectors(offset, bytes.len()) {
            if let Some(sector) = volatile.get(number) {
                bytes[of_bytes].copy_from_slice(&sector[within]);
            }
        }
        Ok(())
    }

    /// Writes `bytes` at `offset`, with the disk's damage.
    ///
    /// # Errors
    /// Those of pwrite; ENOSPC if the file system is full.
    pub fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let Some(damage) = &self.damage else { return self.write_rightly(bytes, offset) };
        let mut bytes = bytes.to_vec();
        damage.flip(&mut bytes, offset);
        damage.pieces(Extent { offset, len: bytes.len() as u64 }).into_iter().try_for_each(|piece| {
            let start = (piece.asked.offset - offset) as usize;
            self.write_rightly(&bytes[start..start + piece.asked.len as usize], piece.lands_at)
        })
    }

    fn write_rightly(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let Some(mut volatile) = self.volatile() else { return self.file.write_all_at(bytes, offset) };
        for (number, within, of_bytes) in sectors(offset, bytes.len()) {
            let mut sector = [0; SECTOR_BYTES];
            if within.len() < SECTOR_BYTES {
                match volatile.get(number) {
                    Some(waiting) => sector = *waiting,
                    None => self.file.read_exact_at(self.whole(number, &mut sector), start(number))?,
                }
            }
            sector[within].copy_from_slice(&bytes[of_bytes]);
            if let Some(mut sector) = volatile.take(number, sector) {
                self.file.write_all_at(self.whole(number, &mut sector), start(number))?;
            }
        }
        Ok(())
    }

    /// Makes `extent` read as zeros, as a hole.
    ///
    /// # Errors
    /// EOPNOTSUPP if the file system does not support holes.
    pub fn zero(&self, extent: Extent) -> io::Result<()> {
        if self.volatile.is_some() || self.damage.is_some() {
            return self.write(&vec![0; extent.len as usize], extent.offset);
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.file, flags, extent.offset, extent.len)?)
    }

    /// Writes the cache to the medium.
    ///
    /// # Errors
    /// Those of pwrite.
    pub fn flush(&self) -> io::Result<()> {
        let Some(mut volatile) = self.volatile() else { return Ok(()) };
        for (number, mut sector) in volatile.drain() {
            self.file.write_all_at(self.whole(number, &mut sector), start(number))?;
        }
        Ok(())
    }

    fn volatile(&self) -> Option<MutexGuard<'_, Volatile>> {
        self.volatile.as_ref().map(|volatile| volatile.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The existing part of sector `number`: the last one may be partial.
    fn whole<'a>(&self, number: u64, sector: &'a mut [u8; SECTOR_BYTES]) -> &'a mut [u8] {
        let left = self.size_bytes.saturating_sub(start(number)).min(SECTOR_BYTES as u64);
        &mut sector[..left as usize]
    }
}

fn start(number: u64) -> u64 {
    number * SECTOR_BYTES as u64
}

/// The sectors that `len` bytes at `offset` touch: number, the bytes in the sector, and the bytes of those `len`.
fn sectors(offset: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let size = SECTOR_BYTES as u64;
    let end = offset + len as u64;
    (offset / size..end.div_ceil(size)).map(move |number| {
        let (from, to) = (start(number).max(offset), (start(number) + size).min(end));
        let within = (from - start(number)) as usize..(to - start(number)) as usize;
        (number, within, (from - offset) as usize..(to - offset) as usize)
    })
}
