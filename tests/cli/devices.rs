//! Copies between disks: loop devices over files in memory, compared by cmp(1).
use crate::support::{
    LoopDevice, cmp, cmp_ranges, depth_of, direct_works, engines, filled, haul, memory_dir, noise, write_noise,
};
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;

#[test]
fn a_disk_copies_to_a_disk_with_every_engine_and_cache_mode() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    // Whole sectors, but partial pages and blocks.
    let size = 9 * MIB + 3 * 512;
    write_noise(&from, size, 21);
    let Some(source) = LoopDevice::over(&from) else { return };
    for engine in engines() {
        for direct in ["auto", "always", "never"] {
            filled(&to, size, 0xAA);
            let Some(dest) = LoopDevice::over(&to) else { return };
            let options = ["copy", "--yes", "--engine", engine, "--direct", direct];
            haul().args(options).arg(&source).arg(&dest).assert().success();
            cmp(&source, &dest);
            drop(dest);
            // The files below are equal too, after the loop devices are detached.
            cmp(&from, &to);
        }
    }
}

#[test]
fn a_copy_to_a_device_that_was_not_confirmed_creates_no_files() {
    let dir = memory_dir();
    let [from, to, home] = ["from", "to", "home"].map(|name| dir.path().join(name));
    write_noise(&from, MIB, 24);
    filled(&to, MIB, 0);
    fs::create_dir(&home).expect("the directory can be created");
    let Some(dest) = LoopDevice::over(&to) else { return };
    for options in [&["copy"][..], &["copy", "--offload"], &["copy", "--dry-run"]] {
        let mut command = haul();
        command.env_remove("XDG_STATE_HOME").env("HOME", &home).args(options).arg(&from).arg(&dest);
        command.assert().code(if options.contains(&"--dry-run") { 0 } else { 3 });
        assert!(fs::read_dir(&home).expect("it exists").next().is_none(), "{options:?}");
    }
}

#[test]
fn a_disk_copies_with_every_block_size_and_queue_depth() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    let size = 5 * MIB + 512;
    write_noise(&from, size, 22);
    let Some(source) = LoopDevice::over(&from) else { return };
    for engine in engines() {
        for (block, depth) in [("512", "3"), ("4K", "64"), ("12K", "5"), ("1M", "4"), ("8M", "2")] {
            filled(&to, size, 0xAA);
            let Some(dest) = LoopDevice::over(&to) else { return };
            let options =
                ["copy", "--yes", "--engine", engine, "--block-size", block, "--depth", depth_of(engine, depth)];
            haul().args(options).arg(&source).arg(&dest).assert().success();
            cmp(&source, &dest);
        }
    }
}

#[test]
fn unaligned_ranges_leave_the_rest_of_their_sectors_unchanged() {
    let dir = memory_dir();
    let (from, to, expected) = (dir.path().join("from"), dir.path().join("to"), dir.path().join("expected"));
    let size = 4 * MIB;
    let bytes = write_noise(&from, size, 23);
    let Some(source) = LoopDevice::over(&from) else { return };
    // Skip, seek, count: equal and different offsets within a sector on both sides, within one sector, across
    // many.
    let cases =
        [(1, 1, 1), (0, 511, 2), (513, 513, 100), (7, 512, MIB + 5), (1000, 3000, MIB), (512, 1024, 700), (0, 0, 511)];
    let last = (size - 1, size - 1, 1);
    for engine in engines() {
        for (skip, seek, count) in cases.into_iter().chain([last]) {
            let mut model = noise(size, 24);
            fs::write(&to, &model).expect("the file can be written");
            model[seek..seek + count].copy_from_slice(&bytes[skip..skip + count]);
            fs::write(&expected, &model).expect("the file can be written");
            let Some(dest) = LoopDevice::over(&to) else { return };
            let numbers = [skip, seek, count].map(|number| number.to_string());
            let range = ["--skip", &numbers[0], "--seek", &numbers[1], "--count", &numbers[2]];
            let options = ["copy", "--yes", "--engine", engine];
            haul().args(options).args(range).arg(&source).arg(&dest).assert().success();
            cmp(&expected, &dest);
        }
    }
}

/// Copies a file of `size` bytes onto a larger disk and checks every byte of the disk.
fn only_the_front_changes(dir: &Path, size: usize) {
    let (source, disk, expected) = (dir.join("source"), dir.join("disk"), dir.join("expected"));
    let bytes = write_noise(&source, size, 25);
    let old = noise(size + MIB + 512, 26);
    let whole = old.len() / 512 * 512;
    let direct_always = direct_works(dir);
    for engine in engines() {
        for direct in ["auto", "always", "never"] {
            if direct == "always" && !direct_always {
                continue;
            }
            fs::write(&disk, &old[..whole]).expect("the file can be written");
            let Some(dest) = LoopDevice::over(&disk) else { return };
            let options = ["copy", "--yes", "--engine", engine, "--direct", direct];
            haul().args(options).arg(&source).arg(&dest).assert().success();
            let mut model = old[..whole].to_vec();
            model[..size].copy_from_slice(&bytes);
            fs::write(&expected, &model).expect("the file can be written");
            cmp(&expected, &dest);
        }
    }
}

#[test]
fn a_disk_is_not_changed_beyond_the_last_byte_of_the_source() {
    let dir = memory_dir();
    for size in [0, 1, 511, 513, 4095, MIB + 1, 2 * MIB + 4096 + 511] {
        only_the_front_changes(dir.path(), size);
    }
}

#[test]
fn a_disk_is_copied_to_an_image_and_the_image_to_a_disk() {
    let dir = memory_dir();
    let (from, image, to) = (dir.path().join("from"), dir.path().join("image"), dir.path().join("to"));
    let size = 3 * MIB + 512;
    write_noise(&from, size, 27);
    filled(&to, size, 0xAA);
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    haul().arg("copy").arg(&source).arg(&image).assert().success();
    cmp(&source, &image);
    haul().args(["copy", "--yes"]).arg(&image).arg(&dest).assert().success();
    cmp(&image, &dest);
}

#[test]
fn disks_with_4096_byte_sectors_accept_unaligned_ends() {
    let dir = memory_dir();
    let (source, disk, expected) = (dir.path().join("source"), dir.path().join("disk"), dir.path().join("expected"));
    let bytes = write_noise(&source, MIB + 512, 28);
    for engine in engines() {
        filled(&disk, 2 * MIB, 0xAA);
        let Some(dest) = LoopDevice::with_sectors(&disk, 4096) else { return };
        haul().args(["copy", "--yes", "--engine", engine]).arg(&source).arg(&dest).assert().success();
        let mut model = vec![0xAA; 2 * MIB];
        model[..bytes.len()].copy_from_slice(&bytes);
        fs::write(&expected, model).expect("the file can be written");
        cmp(&expected, &dest);
    }
}

#[test]
fn a_smaller_disk_is_copied_to_the_start_of_a_larger_one() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    write_noise(&from, 2 * MIB, 29);
    write_noise(&to, 3 * MIB, 30);
    fs::copy(&to, dir.path().join("old")).expect("the file can be written");
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    haul().args(["copy", "--yes"]).arg(&source).arg(&dest).assert().success();
    cmp_ranges(&source, 0, &dest, 0, 2 * MIB as u64);
    cmp_ranges(dir.path().join("old"), 2 * MIB as u64, &dest, 2 * MIB as u64, MIB as u64);
}

#[test]
fn a_symbolic_link_to_a_device_is_followed() {
    let dir = memory_dir();
    let (source, disk, link) = (dir.path().join("source"), dir.path().join("disk"), dir.path().join("by-id"));
    write_noise(&source, MIB, 31);
    filled(&disk, MIB, 0xAA);
    let Some(dest) = LoopDevice::over(&disk) else { return };
    std::os::unix::fs::symlink(dest.path(), &link).expect("the test directory supports links");
    haul().args(["copy", "--yes"]).arg(&source).arg(&link).assert().success();
    cmp(&source, &dest);
    assert!(fs::symlink_metadata(&link).expect("it exists").is_symlink());
}

#[test]
fn a_disk_of_64_mib_is_copied_without_tuning_options() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    write_noise(&from, 64 * MIB, 32);
    filled(&to, 64 * MIB, 0xAA);
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    haul().args(["copy", "--yes"]).arg(&source).arg(&dest).assert().success();
    cmp(&source, &dest);
}
