//! What tests leave that are killed, which the next ones remove; and what others keep of what tests remove.
use crate::support::{FailingDisk, Fails, Folder, LoopDevice, Mount, memory_dir, scratch};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a loop device is over a file below `dir`, or something is mounted there.
fn is_used(dir: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut files = devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    let mounts = fs::read_to_string("/proc/self/mounts").expect("there are mounts");
    let dir = dir.to_str().expect("scratch names are text");
    files.any(|file| file.contains(dir)) || mounts.contains(dir)
}

#[test]
fn folders_of_tests_that_were_killed_are_removed_with_their_loop_devices_and_mounts_and_no_others() {
    let above = scratch();
    let [killed, alive, foreign] =
        ["haul-1-killed.locked", "haul-1-alive.locked", "haul-1-foreign"].map(|name| above.path().join(name));
    for folder in [&killed, &alive, &foreign] {
        fs::create_dir_all(folder.join("mount")).expect("scratch takes directories");
        fs::write(folder.join("file"), [0; 1 << 20]).expect("scratch takes files");
    }
    let lock = File::open(&alive).expect("it is there");
    flock(&lock, FlockOperation::LockExclusive).expect("nobody else has it");
    // Where there is no root, they are not to be had, and not to be removed.
    std::mem::forget(LoopDevice::over(&killed.join("file")));
    std::mem::forget(Mount::tmpfs(&killed.join("mount"), 1 << 20));
    let new = Folder::below(above.path()).expect("scratch takes directories");
    assert!(!killed.exists() && !is_used(&killed), "of tests that were killed");
    assert!(alive.join("file").exists() && foreign.join("file").exists() && new.path().exists());
    drop(lock);
}

#[test]
fn a_failing_disk_ends_while_a_mount_namespace_that_was_made_beside_it_still_has_it() {
    let dir = memory_dir();
    let backing = dir.path().join("backing");
    fs::write(&backing, [0; 4096]).expect("memory takes files");
    let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, 4096..4097) else { return };
    let mut beside = Command::new("unshare");
    beside.args(["--mount", "--propagation", "private", "sh", "-c", "echo there; read end"]);
    let mut beside = beside.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux is there");
    let mut said = String::new();
    BufReader::new(beside.stdout.as_mut().expect("it is piped")).read_line(&mut said).expect("it is text");
    assert_eq!(said, "there\n");
    let mounted_at = disk.path();
    drop(disk);
    assert!(!mounted_at.exists() && beside.try_wait().expect("it is our child").is_none());
    drop(beside.stdin.take());
    beside.wait().expect("it is our child");
}
