//! Loop devices and mounts, given back when they go out of scope, also when a test fails.
use super::abilities::{is_root, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// Runs an administration tool; they live in directories that are not on everybody's PATH.
fn admin(tool: &str, arguments: &[&str]) -> std::io::Result<Output> {
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new(tool).args(arguments).env("PATH", format!("/usr/sbin:/sbin:/usr/bin:/bin:{path}")).output()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// A loop device over a file.
pub struct LoopDevice {
    path: PathBuf,
    backing: PathBuf,
}

impl LoopDevice {
    /// A disk that is the file `backing`, past the page cache where that works. `None`, said aloud, where loop devices
    /// cannot be had.
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
            // A kernel that reads no partition tables is told of them by somebody who does.
            admin("partx", &["--add", &device.path.to_string_lossy()]).ok()?;
        }
        Some(device)
    }

    /// Waits until nobody has it open for himself: the kernel closes the ring of a program that was killed, and the
    /// disks with it, a little after the program is gone.
    pub fn wait_until_free(&self) {
        let claim = || rustix::fs::open(&self.path, rustix::fs::OFlags::EXCL, rustix::fs::Mode::empty());
        while claim().is_err() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// The node of partition `number`, which may not be there.
    pub fn partition(&self, number: u32) -> PathBuf {
        format!("{}p{number}", self.path.display()).into()
    }

    fn with(backing: &Path, options: &[&str]) -> Option<Self> {
        if !is_root() {
            return None;
        }
        let file = backing.to_str().expect("scratch names are text");
        let held_before = loop_devices_over(backing);
        let output = admin("losetup", &[options, &["--find", "--show", file]].concat()).ok()?;
        if !output.status.success() {
            // It may have failed at an option of a device that it made and is giving back.
            wait_until_released(backing, held_before);
            return None;
        }
        let name = String::from_utf8(output.stdout).expect("losetup prints a name");
        // In any case of doubt no device at all: a wrong name would be somebody's disk.
        let name = name.trim();
        name.starts_with("/dev/loop").then(|| LoopDevice { path: name.into(), backing: backing.to_owned() })
    }

    /// Another file under the same name: as a stick that is pulled out, and another that is plugged in. `None`, said
    /// aloud, where somebody else took the name in between.
    pub fn replace(&mut self, other: &Path) -> Option<()> {
        let (name, file) = (self.path.to_string_lossy().into_owned(), other.to_str().expect("scratch names are text"));
        let held_before = loop_devices_over(&self.backing).max(1);
        admin("losetup", &["--detach", &name]).ok()?;
        wait_until_released(&self.backing, held_before - 1);
        let attached = admin("losetup", &[&name, file]).ok()?;
        if !attached.status.success() {
            skip(&format!("{name} was taken: {}", complaint(&attached)));
            return None;
        }
        self.backing = other.to_owned();
        Some(())
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

/// How many loop devices are over the file `backing`.
fn loop_devices_over(backing: &Path) -> usize {
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).ok());
    // The kernel adds a word to the name of a file that is gone.
    let names = files.map(|file| PathBuf::from(file.trim_end().trim_end_matches(" (deleted)")));
    names.filter(|name| name == backing).count()
}

/// Waits until no more than `count` loop devices are over `backing`: the kernel detaches a device once nobody has it
/// open, and another test that is just starting a program, or the system's device manager, may hold it for a moment.
/// Until then haul would rightly say that the file is in use.
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

    /// What is on `device`.
    pub fn device(at: &Path, device: &Path) -> Option<Self> {
        Self::attach(at, &[device.to_str().expect("device names are text")])
    }

    fn attach(at: &Path, arguments: &[&str]) -> Option<Self> {
        if !is_root() {
            skip("mounting needs root");
            return None;
        }
        let place = at.to_str().expect("scratch names are text");
        match admin("mount", &[arguments, &[place]].concat()) {
            Ok(output) if output.status.success() => Some(Mount { at: at.to_owned() }),
            Ok(output) => {
                skip(&format!("mount {arguments:?}: {}", complaint(&output)));
                None
            }
            Err(error) => {
                skip(&format!("mount: {error}"));
                None
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let place = self.at.to_string_lossy();
        let unmounted = admin("umount", &[&place]);
        if !unmounted.as_ref().is_ok_and(|output| output.status.success()) {
            skip(&format!("could not unmount {place}: {unmounted:?}"));
        }
    }
}
