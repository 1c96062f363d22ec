//! Loop devices over files.
use crate::error::{Doing, Error, Result};
use crate::process::output;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// `BLKFLSBUF` of `linux/fs.h`: writes back and evicts the page cache of a block device.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// A loop device with direct I/O on its file. The kernel detaches it when its last user, this value or another
/// process, closes it; so a killed bench leaves none.
#[derive(Debug)]
pub struct LoopDevice {
    /// `/dev/loopN`.
    pub path: PathBuf,
    /// Keeps the device in use.
    _open: File,
}

impl LoopDevice {
    /// Creates one over the whole file at `file`. It is scanned for partitions so that those that are added are
    /// removed with it.
    ///
    /// # Errors
    /// There is no free loop device, or the file system does not support direct I/O.
    pub fn new(file: &Path) -> Result<Self> {
        let made = output(&format!("losetup --find --show --direct-io=on --partscan {}", file.display()))?;
        let path = PathBuf::from(made.trim());
        let open = File::open(&path).doing(format_args!("open {}", path.display()));
        // Detaching an open device detaches it when it is closed.
        output(&format!("losetup --detach {}", path.display()))?;
        let device = Self { path, _open: open? };
        let direct = fs::read_to_string(device.sysfs("loop/dio")).unwrap_or_default();
        if direct.trim() != "1" {
            return Err(Error(format!("{} does no direct I/O on {}", device.path.display(), file.display())));
        }
        Ok(device)
    }

    /// Marks the device as rotational, which the driver cannot derive from its file.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn rotates(&self) -> Result<()> {
        fs::write(self.sysfs("queue/rotational"), "1").doing("mark a loop device as rotational")
    }

    /// Adds partition `number`; the kernel makes a device for it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add_partition(&self, number: u32, start_bytes: u64, len_bytes: u64) -> Result<PathBuf> {
        // In sectors of 512 bytes, independent of the device: addpart(8).
        let (start, len) = (start_bytes / 512, len_bytes / 512);
        output(&format!("addpart {} {number} {start} {len}", self.path.display()))?;
        let path = PathBuf::from(format!("{}p{number}", self.path.display()));
        if path.exists() { Ok(path) } else { Err(Error(format!("{} did not appear", path.display()))) }
    }

    fn sysfs(&self, attribute: &str) -> PathBuf {
        let name = self.path.file_name().expect("a device has a name").to_string_lossy();
        format!("/sys/block/{name}/{attribute}").into()
    }
}

/// Writes back and evicts the page cache of the block device at `path`.
///
/// # Errors
/// It cannot be opened or the ioctl fails.
pub fn forget_pages(path: &Path) -> Result<()> {
    let device = File::open(path).doing(format_args!("open {}", path.display()))?;
    // SAFETY: BLKFLSBUF takes no argument.
    if unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) } == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error()).doing(format_args!("flush the buffers of {}", path.display()))
}
