//! What sg_dd, sgp_dd and sgm_dd refuse to write, before anything is created or changed.
use crate::sg::{FRONTS, haul_as, read, sg_dd};
use crate::support::{LoopDevice, Mount, has, haul_path, memory_dir, noise};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

#[test]
fn a_refused_of2_creates_and_changes_nothing() {
    let dir = memory_dir();
    fs::write(dir.path().join("in"), noise(1024, 9)).expect("the file can be written");
    let mut first = Command::new(haul_path());
    first.args(["dd", "of=busy", "bs=64k", "status=none"]).current_dir(dir.path()).stdin(Stdio::piped());
    let mut first = first.spawn().expect("it can be run");
    let mut feed = first.stdin.take().expect("it is a pipe");
    // More than a pipe holds: it has begun to read, so it has its lock.
    feed.write_all(&noise(2 * MIB, 3)).expect("it reads");
    fs::write(dir.path().join("old"), "as it was").expect("the file can be written");
    for words in ["of=new of2=busy", "of=new of2=busy seek=3", "of=new of2=busy oflag=excl", "of=old of2=busy"] {
        sg_dd(&format!("if=in {words}"), dir.path()).assert_ended(90, &["haul (PID", "Wait"]);
        assert!(!dir.path().join("new").exists(), "{words}");
    }
    assert_eq!(read(dir.path(), "old"), b"as it was");
    drop(feed);
    assert!(first.wait().expect("it is a child of this process").success());
    sg_dd("if=in of=new of2=nowhere/second", dir.path()).assert_ended(99, &["cannot write to of2="]);
    assert!(!dir.path().join("new").exists());
    sg_dd("if=in of=new of2=busy", dir.path()).assert_ended(0, &["2+0 records out"]);
    assert_eq!(read(dir.path(), "new"), read(dir.path(), "in"));
}

#[test]
fn a_device_in_use_is_refused_without_force() {
    let dir = memory_dir();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("in"), noise(1024, 8)).expect("the file can be written");
    fs::write(path("image"), vec![0; 8 * MIB]).expect("the file can be written");
    let Some(disk) = LoopDevice::over(&path("image")) else { return };
    if !has("mkfs.ext4") {
        return;
    }
    assert!(Command::new("mkfs.ext4").arg("-q").arg(disk.path()).status().expect("it exists").success());
    fs::create_dir(path("at")).expect("the test directory is writable");
    let Some(mount) = Mount::device(&path("at"), disk.path()) else { return };
    let before = read(dir.path(), "image");
    let of = format!("of={}", disk.path().display());
    // ext4 does not use its first KiB.
    for (front, status) in FRONTS.into_iter().zip([15, 66, 66]) {
        let messages = ["is mounted at", "umount", "oflag=force"];
        haul_as(front, &format!("if=in {of} count=2 bs=512"), dir.path()).assert_ended(status, &messages);
        haul_as(front, &format!("if=in {of} count=2 bs=512 --dry-run"), dir.path()).assert_ended(status, &messages);
    }
    let second = of.replace("of=", "of2=");
    sg_dd(&format!("if=in of=new {second} count=2"), dir.path()).assert_ended(15, &["is mounted at"]);
    assert!(!path("new").exists());
    let mut redirected = Command::new(haul_path());
    redirected.args(["sg_dd", "if=in", "count=2"]).current_dir(dir.path());
    redirected.stdout(fs::OpenOptions::new().write(true).open(disk.path()).expect("root may write to it"));
    assert_eq!(redirected.output().expect("it can be run").status.code(), Some(15));
    assert!(read(dir.path(), "image")[..1024] == before[..1024], "it was written to");
    sg_dd(&format!("if=in {of} count=2 -x"), dir.path()).assert_ended(14, &["miscompare"]);
    for front in FRONTS {
        haul_as(front, &format!("if=in {of} count=2 bs=512 oflag=force"), dir.path())
            .assert_ended(0, &["2+0 records out"]);
    }
    assert!(read(Path::new("/"), &disk.path().display().to_string())[..1024] == noise(1024, 8));
    drop(mount);
    let Some(above) = LoopDevice::over(disk.path()) else { return };
    sg_dd(&format!("if=in {of} count=2"), dir.path()).assert_ended(15, &["is held by loop", "losetup -d"]);
    drop(above);
    sg_dd(&format!("if=in {of} count=2"), dir.path()).assert_ended(0, &["2+0 records out"]);
}
