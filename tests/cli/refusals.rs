//! What `haul copy` refuses, without changing anything.
use crate::support;
use crate::support::write_noise;
use crate::support::{
    LoopDevice, Mount, cmp, filled, has, haul, haul_path, in_one_line, is_root, memory_dir, noise, scratch, stderr,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const REFUSED: i32 = 3;

/// Runs a copy that must be refused with status 3; returns its messages.
#[track_caller]
fn refused(options: &[&str], source: &Path, dest: &Path) -> String {
    let messages = stderr(&haul().arg("copy").args(options).args([source, dest]).assert().code(REFUSED));
    let name = dest.file_name().expect("it has a name").to_string_lossy();
    assert!(messages.contains(&*name) || messages.contains("same"), "the dest is not named in:\n{messages}");
    messages
}

/// Runs `sh -c` as an administrator; the test fails if the command does.
#[track_caller]
fn sh(script: &str, argument: &Path) {
    let script = format!("PATH=$PATH:/usr/sbin:/sbin; {script}");
    let output = Command::new("sh").args(["-ec", &script, "sh"]).arg(argument).output().expect("a shell is installed");
    assert!(output.status.success(), "{script}: {}", in_one_line(&output.stderr));
}

#[test]
fn a_disk_that_is_too_small_is_refused_before_the_first_write() {
    let dir = memory_dir();
    let (source, disk, old) = (dir.path().join("source"), dir.path().join("disk"), dir.path().join("old"));
    write_noise(&source, 2 * MIB + 1, 41);
    write_noise(&disk, 2 * MIB, 42);
    fs::copy(&disk, &old).expect("the file can be written");
    let Some(dest) = LoopDevice::over(&disk) else { return };
    refused(&["--yes"], &source, dest.path());
    cmp(&old, &dest);
    // It would fit, but not at this offset.
    refused(&["--yes", "--count", "1M", "--seek", "1048577"], &source, dest.path());
    cmp(&old, &dest);
}

#[test]
fn a_missing_path_under_dev_is_refused_and_not_created() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 4096, 43);
    for name in ["/dev/haul-no-such-disk", "/dev/disk/by-id/haul-no-such-disk"] {
        let dest = Path::new(name);
        refused(&["--yes"], &source, dest);
        assert!(!dest.exists(), "{name} was made");
    }
}

#[test]
fn a_mounted_disk_is_refused() {
    let dir = memory_dir();
    let (source, disk, at) = (dir.path().join("source"), dir.path().join("disk"), dir.path().join("at"));
    write_noise(&source, MIB, 44);
    filled(&disk, 8 * MIB, 0);
    fs::create_dir(&at).expect("the test directory is writable");
    let Some(dest) = LoopDevice::over(&disk) else { return };
    if !has("mkfs.ext4") {
        return;
    }
    sh("mkfs.ext4 -q \"$1\"", dest.path());
    let Some(mount) = Mount::device(&at, dest.path()) else { return };
    fs::write(at.join("file"), "still here").expect("a new file system is writable");
    let messages = refused(&["--yes"], &source, dest.path());
    assert!(messages.contains(at.to_str().expect("text")), "the mount point is missing:\n{messages}");
    drop(mount);
    let again = Mount::device(&at, dest.path()).expect("it was mounted before");
    assert_eq!(fs::read(at.join("file")).expect("it existed"), b"still here");
    drop(again);
    // Succeeds now that it is not in use.
    haul().args(["copy", "--yes"]).arg(&source).arg(&dest).assert().success();
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused() {
    let dir = memory_dir();
    let (source, disk, at) = (dir.path().join("source"), dir.path().join("disk"), dir.path().join("at"));
    write_noise(&source, MIB, 45);
    filled(&disk, 16 * MIB, 0);
    fs::create_dir(&at).expect("the test directory is writable");
    if !is_root() || !has("sfdisk") || !has("mkfs.ext4") {
        return support::skip("partitions need root, sfdisk and mkfs.ext4");
    }
    sh("printf '2048,\\n' | sfdisk --quiet --no-reread \"$1\"", &disk);
    let Some(dest) = LoopDevice::with_partitions(&disk) else { return };
    let part = dest.partition(1);
    if !part.exists() {
        return support::skip("this kernel or container makes no partitions of loop devices");
    }
    sh("mkfs.ext4 -q \"$1\"", &part);
    let Some(_mount) = Mount::device(&at, &part) else { return };
    refused(&["--yes"], &source, dest.path());
}

#[test]
fn a_disk_and_its_partition_are_not_copied_onto_each_other() {
    let dir = memory_dir();
    let disk = dir.path().join("disk");
    fs::write(&disk, noise(16 * MIB, 46)).expect("the file can be written");
    if !is_root() || !has("sfdisk") {
        return support::skip("partitions need root and sfdisk");
    }
    sh("printf '2048,\\n' | sfdisk --quiet --no-reread --wipe never \"$1\"", &disk);
    let Some(device) = LoopDevice::with_partitions(&disk) else { return };
    let part = device.partition(1);
    if !part.exists() {
        return support::skip("this kernel or container makes no partitions of loop devices");
    }
    fs::copy(&disk, dir.path().join("old")).expect("the file can be written");
    refused(&["--yes"], &part, device.path());
    cmp(dir.path().join("old"), &device);
}

#[test]
fn swap_space_is_refused() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, MIB, 47);
    filled(&disk, 8 * MIB, 0);
    let Some(dest) = LoopDevice::over(&disk) else { return };
    if !has("mkswap") || !has("swapon") {
        return;
    }
    sh("mkswap -q \"$1\" || mkswap \"$1\"", dest.path());
    let on = Command::new("/usr/sbin/swapon").arg(dest.path()).output();
    if !on.is_ok_and(|output| output.status.success()) {
        return support::skip("this machine does not swap on a loop device over memory");
    }
    let outcome = std::panic::catch_unwind(|| refused(&["--yes"], &source, dest.path()));
    sh("swapoff \"$1\"", dest.path());
    outcome.expect("swap space is refused");
}

#[test]
fn a_disk_beneath_a_loop_device_is_refused() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, MIB, 48);
    filled(&disk, 4 * MIB, 0xAA);
    let Some(lower) = LoopDevice::over(&disk) else { return };
    let Some(_upper) = LoopDevice::over(lower.path()) else { return };
    refused(&["--yes"], &source, lower.path());
    assert_eq!(fs::read(&disk).expect("it exists"), vec![0xAA; 4 * MIB]);
}

#[test]
fn a_file_beneath_a_loop_device_is_not_copied_onto_it_nor_it_onto_the_file() {
    let dir = memory_dir();
    let disk = dir.path().join("disk");
    let bytes = write_noise(&disk, 4 * MIB, 49);
    let Some(device) = LoopDevice::over(&disk) else { return };
    refused(&["--yes"], &disk, device.path());
    refused(&["--yes"], device.path(), &disk);
    assert!(fs::read(&disk).expect("it exists") == bytes, "the file changed");
}

#[test]
fn a_file_is_not_copied_onto_itself_under_any_name() {
    let dir = scratch();
    let (file, soft, hard) = (dir.path().join("file"), dir.path().join("soft"), dir.path().join("hard"));
    let bytes = write_noise(&file, MIB + 7, 50);
    std::os::unix::fs::symlink(&file, &soft).expect("the test directory supports links");
    fs::hard_link(&file, &hard).expect("the test directory supports links");
    let around = dir.path().join(".").join("..").join(dir.path().file_name().expect("it has a name")).join("file");
    for (from, to) in [(&file, &file), (&file, &soft), (&soft, &file), (&file, &hard), (&hard, &soft), (&file, &around)]
    {
        refused(&[], from, to);
        // A single range does not make the overlap intentional.
        refused(&["--count", "1M"], from, to);
        assert!(fs::read(&file).expect("it exists") == bytes, "{from:?} to {to:?} changed the file");
    }
}

#[test]
fn off_a_terminal_a_disk_is_overwritten_only_with_yes() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, MIB, 51);
    filled(&disk, MIB, 0xAA);
    let Some(dest) = LoopDevice::over(&disk) else { return };
    let messages = refused(&[], &source, dest.path());
    assert!(messages.contains("--yes"), "no advice in:\n{messages}");
    assert_eq!(fs::read(&disk).expect("it exists"), vec![0xAA; MIB]);
    // Input from a standard input that is not a terminal does not count as an answer.
    haul().arg("copy").arg(&source).arg(&dest).write_stdin("yes\n").assert().code(REFUSED);
    assert_eq!(fs::read(&disk).expect("it exists"), vec![0xAA; MIB]);
}

#[test]
fn a_disk_other_than_the_expected_one_is_refused() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, MIB, 52);
    filled(&disk, 2 * MIB, 0xAA);
    let Some(dest) = LoopDevice::over(&disk) else { return };
    for wrong in ["size=1M", "serial=4711", "size=2M,model=WDC"] {
        refused(&["--yes", "--expect", wrong], &source, dest.path());
        assert_eq!(fs::read(&disk).expect("it exists"), vec![0xAA; 2 * MIB], "--expect {wrong}");
    }
    haul().args(["copy", "--yes", "--expect", "size=2M"]).arg(&source).arg(&dest).assert().success();
}

#[test]
fn a_read_only_disk_is_refused() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    write_noise(&source, MIB, 53);
    filled(&disk, MIB, 0xAA);
    let Some(dest) = LoopDevice::read_only(&disk) else { return };
    let assert = haul().args(["copy", "--yes"]).arg(&source).arg(&dest).assert().failure();
    let messages = stderr(&assert);
    assert!(matches!(assert.get_output().status.code(), Some(1 | REFUSED)), "{messages}");
    assert!(messages.contains("/dev/loop"), "{messages}");
    assert_eq!(fs::read(&disk).expect("it exists"), vec![0xAA; MIB]);
}

#[test]
fn a_disk_as_redirected_standard_output_is_refused() {
    let dir = memory_dir();
    let disk = dir.path().join("disk");
    filled(&disk, MIB, 0xAA);
    let Some(device) = LoopDevice::over(&disk) else { return };
    let open = |write: bool| {
        fs::OpenOptions::new().read(!write).write(write).open(device.path()).expect("this test created it")
    };
    let run = |arguments: [&str; 2], stdin: Stdio, stdout: Stdio| {
        let mut haul = Command::new(haul_path());
        let output = haul.arg("copy").args(arguments).stdin(stdin).stdout(stdout).output().expect("it runs");
        (output.status.code(), in_one_line(&output.stderr))
    };
    let (status, messages) = run(["/dev/zero", "-"], Stdio::null(), open(true).into());
    assert_eq!(status, Some(REFUSED), "{messages}");
    assert!(messages.contains("standard output is a block device"), "{messages}");
    let new = dir.path().join("new");
    let (status, messages) = run(["-", new.to_str().expect("text")], open(false).into(), Stdio::null());
    assert_eq!(status, Some(REFUSED), "{messages}");
    assert!(!new.exists(), "it was created anyway");
    assert!(fs::read(device.path()).expect("it exists") == vec![0xAA; MIB], "it was written to");
}
