//! Block maps that haul writes from manifests, and copies by maps that are resumed.
use crate::support::{
    LoopDevice, Running, cmp, cmp_ranges, copied_bytes, filled, has, haul, name, noise, scratch, skip,
};
use crate::support::{in_one_line, stderr};
use libc::SIGINT;
use rustix::process::Signal;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

/// No whole number of blocks of 4096 bytes.
const IMAGE_BYTES: usize = 5 * MIB + 1536;

/// Data, zeros, data.
fn image(path: &Path) {
    let file = File::create(path).unwrap();
    file.set_len(IMAGE_BYTES as u64).unwrap();
    file.write_all_at(&noise(MIB, 1), 0).unwrap();
    file.write_all_at(&noise(IMAGE_BYTES - 3 * MIB, 2), 3 * MIB as u64).unwrap();
}

/// A manifest of the image in blocks of 1 MiB.
fn manifest(dir: &Path, image: &Path, options: &[&str]) -> PathBuf {
    let path = dir.join("manifest");
    let _ = fs::remove_file(&path);
    let all = ["copy", "-q", "--yes", "--manifest-block", "1M", "--manifest", name(&path), name(image), "/dev/null"];
    haul().args(all).args(options).assert().success();
    path
}

fn export(manifest: &Path, image: &Path, bmap: &Path, options: &[&str]) -> assert_cmd::assert::Assert {
    haul().args(["manifest", "export", "--bmap", name(bmap), name(manifest), name(image)]).args(options).assert()
}

#[test]
fn a_map_of_a_manifest_is_used_by_bmaptool_and_haul() {
    if !has("bmaptool") {
        return skip("bmaptool is not installed");
    }
    let dir = scratch();
    let (source, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.bmap"));
    image(&source);
    let backing = dir.path().join("disk");
    filled(&backing, 8 * MIB, 0xa5);
    let Some(device) = LoopDevice::over(&backing) else { return };
    let manifest = manifest(dir.path(), &source, &[]);
    for omits in [false, true] {
        let _ = fs::remove_file(&bmap);
        export(&manifest, &source, &bmap, if omits { &["--omit-zeros"] } else { &[] }).success();
        let mut by_bmaptool = Command::new("bmaptool");
        by_bmaptool.args(["-q", "copy", "--bmap", name(&bmap)]);
        let mut by_haul = Command::new(crate::support::haul_path());
        by_haul.args(["copy", "-q", "--yes", "--no-journal"]);
        for mut command in [by_bmaptool, by_haul] {
            assert!(command.arg(&source).arg(device.path()).status().unwrap().success(), "{command:?}");
            cmp_ranges(&source, 0, device.path(), 0, MIB as u64);
            cmp_ranges(&source, 3 * MIB as u64, device.path(), 3 * MIB as u64, (IMAGE_BYTES - 3 * MIB) as u64);
            let between = fs::read(device.path()).unwrap()[MIB];
            assert_eq!(between, if omits { 0xa5 } else { 0 }, "{command:?}");
            fs::write(device.path(), vec![0xa5; 8 * MIB]).unwrap();
        }
    }
    // A map that exists is kept.
    let messages = stderr(&export(&manifest, &source, &bmap, &[]).code(1));
    assert!(messages.contains("disk.bmap"), "{messages}");
}

#[test]
fn a_manifest_from_which_no_map_is_possible_is_refused_in_words() {
    let dir = scratch();
    let (source, bmap) = (dir.path().join("disk.img"), dir.path().join("disk.bmap"));
    image(&source);
    let whole = manifest(dir.path(), &source, &[]);
    let other = dir.path().join("other.img");
    fs::copy(&source, &other).unwrap();
    File::options().write(true).open(&other).unwrap().write_all_at(&[1], 2 * MIB as u64).unwrap();
    let messages = stderr(&export(&whole, &other, &bmap, &[]).code(1));
    assert!(messages.contains("is not the image of the manifest"), "{messages}");
    let part = manifest(dir.path(), &source, &["--count", "2M"]);
    let messages = stderr(&export(&part, &source, &bmap, &[]).code(2));
    assert!(messages.contains("a copy of a part"), "{messages}");
    assert!(!bmap.exists());
}

/// A copy by a map that a signal ends after its first megabyte.
fn interrupted(dir: &Path) -> Option<(PathBuf, LoopDevice)> {
    let (source, bmap) = (dir.join("disk.img"), dir.join("disk.bmap"));
    image(&source);
    let manifest = manifest(dir, &source, &[]);
    export(&manifest, &source, &bmap, &["--omit-zeros"]).success();
    let backing = dir.join("disk");
    filled(&backing, 8 * MIB, 0xa5);
    let device = LoopDevice::over(&backing)?;
    let slow = ["copy", "--yes", "--limit", "2M", "--block-size", "64K", "--progress", "json", "--checkpoint", "0.2"];
    let sides = [name(&source), name(device.path())];
    let mut copy = Running::start(&[&slow[..], &sides].concat(), Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > MIB as u64 + 100_000));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    Some((source, device))
}

#[test]
fn an_interrupted_copy_by_a_map_is_resumed_and_all_its_ranges_are_checked() {
    let dir = scratch();
    let Some((source, device)) = interrupted(dir.path()) else { return };
    let resume = ["copy", "--yes", "--resume", "-v", name(&source), name(device.path())];
    let messages = in_one_line(stderr(&haul().args(resume).assert().success()));
    assert!(messages.contains("already copied by earlier runs"), "{messages}");
    assert!(messages.contains("ranges of source") && messages.contains("match their sha256 checksums"), "{messages}");
    cmp_ranges(&source, 0, device.path(), 0, MIB as u64);
    cmp_ranges(&source, 3 * MIB as u64, device.path(), 3 * MIB as u64, (IMAGE_BYTES - 3 * MIB) as u64);
    assert_eq!(fs::read(device.path()).unwrap()[2 * MIB], 0xa5, "between the ranges");
    haul().args(resume).assert().code(3);
}

#[test]
fn a_damaged_range_that_was_copied_before_ends_the_resumed_copy_and_its_journal() {
    let dir = scratch();
    let Some((source, device)) = interrupted(dir.path()) else { return };
    let good = dir.path().join("good");
    fs::copy(&source, &good).unwrap();
    // Below any sample of the source.
    File::options().write(true).open(&source).unwrap().write_all_at(&[0], 3).unwrap();
    File::options().write(true).open(&source).unwrap().write_all_at(&[1], 4).unwrap();
    let resume = ["copy", "--yes", "--resume", name(&source), name(device.path())];
    let failed = haul().args(resume).assert().failure();
    let messages = stderr(&failed);
    if failed.get_output().status.code() == Some(1) {
        assert!(messages.contains("is damaged: bytes 0 to"), "{messages}");
        // The right image again: what was copied of the damaged one must not count.
        fs::write(&source, fs::read(&good).unwrap()).unwrap();
        haul().args(resume).assert().code(3);
    } else {
        assert!(messages.contains("changed") || messages.contains("differ"), "{messages}");
        fs::write(&source, fs::read(&good).unwrap()).unwrap();
    }
    haul().args(["copy", "-q", "--yes", "--restart", name(&source), name(device.path())]).assert().success();
    cmp(&source, &good);
    cmp_ranges(&source, 0, device.path(), 0, MIB as u64);
}
