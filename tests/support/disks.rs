//! Loop devices and mounts, released when they go out of scope, also when a test fails.
use super::abilities::{admin, is_root, skip};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// A loop device over a file.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    backing: PathBuf,
    /// What [`identity`] returned for it.
    file: String,
}

impl LoopDevice {
    /// A loop device over the file `backing`, with direct I/O if available. `None`, with a message, without loop
    /// devices.
    pub fn over(backing: &Path) -> Option<Self> {
        Self::with(backing, &["--direct-io=on"]).or_else(|| Self::with(backing, &[])).or_else(|| {
            skip("loop devices need root and a kernel that has them");
            None
        })
    }

    /// The same with sectors of `bytes`.
    pub fn with_sectors(backing: &Path, bytes: u32) -> Option<Self> {
        Self::with(backing, &["--sector-size", &bytes.to_string()]).or_else(|| {
            skip(&format!("no loop device with sectors of {bytes} bytes could be had"));
            None
        })
    }

    /// The same, set read-only.
    pub fn read_only(backing: &Path) -> Option<Self> {
        Self::with(backing, &["--read-only"]).or_else(|| {
            skip("loop devices need root and a kernel that has them");
            None
        })
    }

    /// The same with a device for each partition.
    pub fn with_partitions(backing: &Path) -> Option<Self> {
        let device = Self::with(backing, &["--partscan"]).or_else(|| {
            skip("loop devices need root and a kernel that has them");
            None
        })?;
        if !device.partition(1).exists() {
            // A kernel that does not read partition tables gets them from partx.
            admin("partx", &["--add", &device.path.to_string_lossy()]).ok()?;
        }
        Some(device)
    }

    /// Waits until no process has it open exclusively: the kernel closes the ring of a killed program, and its
    /// disks, shortly after the program ended.
    pub fn wait_until_free(&self) {
        let claim = || rustix::fs::open(&self.path, rustix::fs::OFlags::EXCL, rustix::fs::Mode::empty());
        while claim().is_err() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// The node of partition `number`, which may not exist.
    pub fn partition(&self, number: u32) -> PathBuf {
        format!("{}p{number}", self.path.display()).into()
    }

    fn with(backing: &Path, options: &[&str]) -> Option<Self> {
        if !is_root() {
            return None;
        }
        let file = backing.to_str().expect("paths of test directories are UTF-8");
        let held_before = loop_devices_over(backing);
        let output = admin("losetup", &[options, &["--find", "--show", file]].concat()).ok()?;
        if !output.status.success() {
            // It may have failed to set an option of a device that it is now detaching.
            wait_until_released(backing, held_before);
            return None;
        }
        let name = String::from_utf8(output.stdout).expect("losetup prints a name");
        let name = name.trim();
        // A wrong name could be a disk of the machine.
        assert!(name.starts_with("/dev/loop"), "{name:?}");
        let file = identity(backing);
        let device = LoopDevice { path: name.into(), backing: backing.to_owned(), file };
        assert!(device.is_attached(), "{device:?} would stay behind");
        Some(device)
    }

    /// Attaches another file under the same name, as when a stick is replaced. Waits if another test took the name
    /// meanwhile; `None`, with a message, if that test keeps it.
    pub fn replace(&mut self, other: &Path) -> Option<()> {
        let (name, file) =
            (self.path.to_string_lossy().into_owned(), other.to_str().expect("paths of test directories are UTF-8"));
        let held_before = loop_devices_over(&self.backing).max(1);
        admin("losetup", &["--detach", &name]).ok()?;
        wait_until_released(&self.backing, held_before - 1);
        if let Err(reason) = retry(|| succeeds("losetup", &[&name, file])) {
            skip(&format!("{name} was taken: {reason}"));
            return None;
        }
        (self.backing, self.file) = (other.to_owned(), identity(other));
        Some(())
    }

    /// Whether the device still has this file, which may have been renamed: after a failed [`LoopDevice::replace`] the
    /// device belongs to another test.
    fn is_attached(&self) -> bool {
        let fields = ["--noheadings", "--output", "BACK-MAJ:MIN,BACK-INO"];
        let output = admin("losetup", &[&fields[..], &[&*self.path.to_string_lossy()]].concat());
        let printed = String::from_utf8(output.map_or(Vec::new(), |output| output.stdout)).unwrap_or_default();
        printed.split_whitespace().eq(self.file.split(' '))
    }

    /// `/dev/loopN`.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for LoopDevice {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<std::ffi::OsStr> for LoopDevice {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.path.as_ref()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if !self.is_attached() {
            return;
        }
        let name = self.path.to_string_lossy();
        let held_before = loop_devices_over(&self.backing).max(1);
        let detached = admin("losetup", &["--detach", &name]);
        if !detached.as_ref().is_ok_and(|output| output.status.success()) {
            skip(&format!("could not detach {name}: {detached:?}"));
            return;
        }
        wait_until_released(&self.backing, held_before - 1);
    }
}

/// The device and inode of a file, in the format of losetup.
fn identity(file: &Path) -> String {
    let file = std::fs::metadata(file).expect("the file exists");
    format!("{}:{} {}", rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()), file.ino())
}

/// The number of loop devices over the file `backing`.
fn loop_devices_over(backing: &Path) -> usize {
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices.filter_map(|device| backing_of(&device.path())).filter(|name| name == backing).count()
}

/// The file of the loop device with this directory in sysfs; `None`: it has none, or is another kind of device.
fn backing_of(sysfs: &Path) -> Option<PathBuf> {
    let file = std::fs::read_to_string(sysfs.join("loop/backing_file")).ok()?;
    // The kernel appends "(deleted)" to the name of a removed file.
    Some(file.trim_end().trim_end_matches(" (deleted)").into())
}

/// Runs an administration tool; the error contains its message.
fn succeeds(tool: &str, arguments: &[&str]) -> Result<(), String> {
    match admin(tool, arguments) {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(complaint(&output)),
        Err(error) => Err(error.to_string()),
    }
}

/// Retries for up to a minute if a device is busy: a program that another test is just starting holds copies of all
/// descriptors for a moment, and a loop device may belong to another test while that runs.
fn retry(attempt: impl Fn() -> Result<(), String>) -> Result<(), String> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match attempt() {
            Err(reason) if reason.contains("busy") && Instant::now() < until && !thread::panicking() => {
                thread::sleep(Duration::from_millis(10));
            }
            ended => return ended,
        }
    }
}

/// Waits until no more than `count` loop devices are over `backing`: the kernel detaches a device when no process
/// has it open, and another test that is just starting a program, or the system's device manager, may hold it for a
/// moment. Until then haul would correctly report that the file is in use.
fn wait_until_released(backing: &Path, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    while loop_devices_over(backing) > count && !thread::panicking() {
        assert!(Instant::now() < until, "a loop device stayed on {} for a minute", backing.display());
        thread::sleep(Duration::from_millis(2));
    }
}

/// A mounted file system.
pub struct Mount {
    at: PathBuf,
}

impl Mount {
    /// A file system of `size_bytes` in memory.
    pub fn tmpfs(at: &Path, size_bytes: u64) -> Option<Self> {
        Self::attach(at, &["-t", "tmpfs", "-o", &format!("size={size_bytes}"), "tmpfs"])
    }

    /// A file system in memory without a size limit.
    pub fn ramfs(at: &Path) -> Option<Self> {
        Self::attach(at, &["-t", "ramfs", "ramfs"])
    }

    /// The file system on `device`.
    pub fn device(at: &Path, device: &Path) -> Option<Self> {
        Self::attach(at, &[device.to_str().expect("device names are UTF-8")])
    }

    fn attach(at: &Path, arguments: &[&str]) -> Option<Self> {
        if !is_root() {
            skip("mounting needs root");
            return None;
        }
        let place = at.to_str().expect("paths of test directories are UTF-8");
        match succeeds("mount", &[arguments, &[place]].concat()) {
            Ok(()) => Some(Mount { at: at.to_owned() }),
            Err(reason) => {
                skip(&format!("mount {arguments:?}: {reason}"));
                None
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let place = self.at.to_string_lossy();
        if let Err(reason) = retry(|| succeeds("umount", &[&place])) {
            skip(&format!("could not unmount {place}: {reason}"));
        }
    }
}
