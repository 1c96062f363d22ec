//! Block devices made out of files.
use crate::error::{Doing, Error, Result};
use crate::process::output;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// `BLKFLSBUF` of `linux/fs.h`: writes back and drops what is cached of a block device.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// A loop device that does direct I/O on its file. The kernel detaches it when this value, and whoever else has it
/// open, is gone; so a killed bench leaves none behind.
#[derive(Debug)]
pub struct LoopDevice {
    /// `/dev/loopN`.
    pub path: PathBuf,
    /// The kernel counts this as a use of the device.
    _open: File,
}

impl LoopDevice {
    /// Makes one of the whole file at `file`. It is scanned for partitions so that those that are added go away with
    /// it.
    ///
    /// # Errors
    /// When there is no free loop device, or the file's file system cannot do direct I/O.
    pub fn new(file: &Path) -> Result<Self> {
        let made = output(&format!("losetup --find --show --direct-io=on --partscan {}", file.display()))?;
        let path = PathBuf::from(made.trim());
        let open = File::open(&path).doing(format_args!("open {}", path.display()));
        // Detaching a device that is open means: detach it when it no longer is.
        output(&format!("losetup --detach {}", path.display()))?;
        let device = Self { path, _open: open? };
        let direct = fs::read_to_string(device.sysfs("loop/dio")).unwrap_or_default();
        if direct.trim() != "1" {
            return Err(Error(format!("{} does no direct I/O on {}", device.path.display(), file.display())));
        }
        Ok(device)
    }

    /// Lets the device say that it has a head that moves, which the driver cannot know of its file.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn rotates(&self) -> Result<()> {
        fs::write(self.sysfs("queue/rotational"), "1").doing("mark a loop device as rotating")
    }

    /// Adds partition `number`; the kernel makes a device for it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add_partition(&self, number: u32, start_bytes: u64, len_bytes: u64) -> Result<PathBuf> {
        // Sectors of 512 bytes, whatever the device says: addpart(8).
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

/// Writes back and drops what the page cache holds of the block device at `path`.
///
/// # Errors
/// When it cannot be opened or refuses.
pub fn forget_pages(path: &Path) -> Result<()> {
    let device = File::open(path).doing(format_args!("open {}", path.display()))?;
    // SAFETY: BLKFLSBUF takes no argument.
    if unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) } == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error()).doing(format_args!("flush the buffers of {}", path.display()))
}
