//! Tests remove what killed tests left; and directories that another process still uses.
use crate::support::{FailingDisk, Fails, LoopDevice, Mount, ScratchDir, memory_dir, scratch};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Whether a loop device is over a file below `dir`, or something is mounted there.
fn is_used(dir: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut files = devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there are mounts");
    let dir = dir.to_str().expect("paths of test directories are UTF-8");
    files.any(|file| file.contains(dir)) || mounts.contains(dir)
}

#[test]
fn directories_of_killed_tests_are_removed_with_their_loop_devices_and_mounts() {
    let above = scratch();
    let [killed, alive, foreign] =
        ["haul-1-killed.locked", "haul-1-alive.locked", "haul-1-foreign"].map(|name| above.path().join(name));
    for directory in [&killed, &alive, &foreign] {
        fs::create_dir_all(directory.join("mount")).expect("the test directory is writable");
        fs::write(directory.join("file"), [0; 1 << 20]).expect("the file can be written");
    }
    let lock = File::open(&alive).expect("it exists");
    flock(&lock, FlockOperation::LockExclusive).expect("no other process has it");
    // Without root they are not available, so there is nothing to remove.
    std::mem::forget(LoopDevice::over(&killed.join("file")));
    std::mem::forget(Mount::tmpfs(&killed.join("mount"), 1 << 20));
    let new = ScratchDir::below(above.path()).expect("the test directory is writable");
    assert!(!killed.exists(), "of tests that were killed");
    // The kernel detaches a loop device when no process has it open, and other tests open all devices.
    let until = Instant::now() + Duration::from_secs(60);
    while is_used(&killed) {
        assert!(Instant::now() < until, "a loop device or a mount of a killed test stays");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(alive.join("file").exists() && foreign.join("file").exists() && new.path().exists());
    drop(lock);
}

#[test]
fn a_failing_disk_is_removed_while_another_mount_namespace_still_has_it() {
    let dir = memory_dir();
    let backing = dir.path().join("backing");
    fs::write(&backing, [0; 4096]).expect("the directory in memory is writable");
    let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, 4096..4097) else { return };
    let mut beside = Command::new("unshare");
    beside.args(["--mount", "--propagation", "private", "sh", "-c", "echo there; read end"]);
    let mut beside = beside.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux is installed");
    let mut messages = String::new();
    BufReader::new(beside.stdout.as_mut().expect("it is piped")).read_line(&mut messages).expect("it is UTF-8");
    assert_eq!(messages, "there\n");
    let mounted_at = disk.path();
    drop(disk);
    assert!(!mounted_at.exists() && beside.try_wait().expect("it is a child of this process").is_none());
    drop(beside.stdin.take());
    beside.wait().expect("it is a child of this process");
}
