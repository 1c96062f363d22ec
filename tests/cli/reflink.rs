//! Sharing extents instead of copying, on a file system that supports it.
use crate::support::{LoopDevice, Mount, cmp, has, haul, is_root, memory_dir, noise, skip, stderr, write_noise};
use serde_json::Value;
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;

/// A mounted xfs in memory; `None`, with a message, if it is not available. Dropped in the order of the fields.
struct Xfs {
    _mount: Mount,
    _device: LoopDevice,
}

fn xfs(dir: &Path, at: &Path) -> Option<Xfs> {
    if !is_root() || !has("mkfs.xfs") {
        skip("a file system that shares extents needs root and mkfs.xfs");
        return None;
    }
    let disk = dir.join("disk");
    fs::File::create(&disk).and_then(|file| file.set_len(400 << 20)).expect("the file can be written");
    let device = LoopDevice::over(&disk)?;
    let made = std::process::Command::new("mkfs.xfs").arg("-q").arg(device.path()).status().expect("it is installed");
    assert!(made.success());
    fs::create_dir(at).expect("the test directory is writable");
    Some(Xfs { _mount: Mount::device(at, device.path())?, _device: device })
}

/// Copies and returns the report.
#[track_caller]
fn copy(options: &[&str], source: &Path, dest: &Path) -> Value {
    let assert = haul().args(["copy", "--json"]).args(options).args([source, dest]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON")
}

#[test]
fn a_file_is_reflinked_where_the_file_system_supports_it_and_copied_elsewhere() {
    let dir = memory_dir();
    let at = dir.path().join("at");
    let Some(_xfs) = xfs(dir.path(), &at) else { return };
    let (source, dest) = (at.join("source"), at.join("dest"));
    let size = 8 * MIB + 123;
    write_noise(&source, size, 151);
    fs::write(&dest, noise(9 * MIB, 152)).expect("there is enough space");

    let shared = copy(&[], &source, &dest);
    assert_eq!((&shared["engine"], &shared["bytes"]["shared_bytes"]), (&"reflink".into(), &size.into()), "{shared:#}");
    cmp(&source, &dest);
    // Only present data is shared, not later changes.
    fs::write(&source, noise(size, 153)).expect("there is enough space");
    assert!(fs::read(&dest).expect("it exists") == noise(size, 151), "the copy changed with its source");

    let copied = copy(&["--reflink", "never"], &source, &dest);
    assert_eq!((&copied["bytes"]["shared_bytes"], &copied["bytes"]["written_bytes"]), (&0.into(), &size.into()));
    cmp(&source, &dest);

    let elsewhere = dir.path().join("elsewhere");
    let copied = copy(&["--reflink", "auto"], &source, &elsewhere);
    assert_eq!(copied["bytes"]["written_bytes"], size, "{copied:#}");
    cmp(&source, &elsewhere);
}

#[test]
fn a_range_reflinks_only_that_range() {
    let dir = memory_dir();
    let at = dir.path().join("at");
    let Some(_xfs) = xfs(dir.path(), &at) else { return };
    let (source, dest, expected) = (at.join("source"), at.join("dest"), dir.path().join("expected"));
    let from = write_noise(&source, 8 * MIB, 154);
    let mut model = write_noise(&dest, 8 * MIB, 155);
    let options = ["--reflink", "always", "--skip", "1M", "--seek", "3M", "--count", "2M"];
    let shared = copy(&options, &source, &dest);
    assert_eq!(shared["bytes"]["shared_bytes"], 2 * MIB, "{shared:#}");
    model[3 * MIB..5 * MIB].copy_from_slice(&from[MIB..3 * MIB]);
    fs::write(&expected, &model).expect("the file can be written");
    cmp(&expected, &dest);
}

#[test]
fn reflink_always_is_refused_where_extents_cannot_be_shared() {
    let dir = memory_dir();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 156);
    let messages = stderr(&haul().args(["copy", "--reflink", "always"]).args([&source, &dest]).assert().code(1));
    assert!(messages.contains("--reflink always") && messages.contains("cannot share extents"), "{messages}");
    assert!(!dest.exists(), "it was created anyway");
}
