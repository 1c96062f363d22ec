//! Copies within one file or disk: the dest receives the original data of the source, as with memmove.
use crate::support::{LoopDevice, cmp, engines, haul, memory_dir, noise, scratch};
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;
const SIZE: usize = 4 * MIB;

/// Skip, seek, count: forward and backward, by a byte, a sector, a page, more than a block, and without
/// overlap.
const MOVES: &[(usize, usize, usize)] = &[
    (0, 1, 2 * MIB),
    (1, 0, 2 * MIB),
    (0, 512, 3 * MIB),
    (512, 0, 3 * MIB),
    (4096, 8192, MIB + 17),
    (8192, 4096, MIB + 17),
    (100, MIB, 2 * MIB + 3),
    (MIB, 100, 2 * MIB + 3),
    (0, 2 * MIB, 2 * MIB),
    (3 * MIB, 0, MIB),
    (0, SIZE - 1, 1),
];

/// Makes each copy on `thing`, whose data is in the file `beneath`, and compares with a model.
fn moves_like_memmove(dir: &Path, beneath: &Path, mut thing: impl FnMut() -> Option<LoopDevice>, options: &[&str]) {
    let expected = dir.join("expected");
    for engine in engines() {
        for &(skip, seek, count) in MOVES {
            let mut model = noise(SIZE, 61);
            fs::write(beneath, &model).expect("the file can be written");
            model.copy_within(skip..skip + count, seek);
            fs::write(&expected, &model).expect("the file can be written");
            let device = thing();
            let path = device.as_ref().map_or(beneath, LoopDevice::path);
            let numbers = [skip, seek, count].map(|number| number.to_string());
            let range = ["--skip", &numbers[0], "--seek", &numbers[1], "--count", &numbers[2]];
            let mut command = haul();
            command.args(["copy", "--engine", engine]).args(options).args(range).args([path, path]);
            command.assert().success();
            cmp(&expected, path);
        }
    }
}

#[test]
fn a_file_is_copied_onto_an_overlapping_range_of_itself() {
    let dir = scratch();
    moves_like_memmove(dir.path(), &dir.path().join("file"), || None, &[]);
}

#[test]
fn a_file_is_copied_onto_an_overlapping_range_of_itself_in_small_blocks() {
    let dir = scratch();
    moves_like_memmove(dir.path(), &dir.path().join("file"), || None, &["--block-size", "64K"]);
}

#[test]
fn a_disk_is_copied_onto_an_overlapping_range_of_itself() {
    let dir = memory_dir();
    let disk = dir.path().join("disk");
    fs::write(&disk, noise(SIZE, 61)).expect("the file can be written");
    if LoopDevice::over(&disk).is_none() {
        return;
    }
    moves_like_memmove(dir.path(), &disk, || LoopDevice::over(&disk), &["--yes", "--block-size", "64K"]);
}

#[test]
fn an_overlap_is_detected_under_another_name() {
    let dir = scratch();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    std::os::unix::fs::symlink(&file, &link).expect("the test directory supports links");
    for engine in engines() {
        let mut model = noise(SIZE, 62);
        fs::write(&file, &model).expect("the file can be written");
        model.copy_within(0..3 * MIB, 5000);
        let expected = dir.path().join("expected");
        fs::write(&expected, &model).expect("the file can be written");
        let range = ["--skip", "0", "--seek", "5000", "--count", "3M", "--block-size", "64K"];
        haul().args(["copy", "--engine", engine]).args(range).args([&file, &link]).assert().success();
        cmp(&expected, &file);
    }
}

#[test]
fn a_file_grows_when_it_is_moved_beyond_its_end() {
    let dir = scratch();
    let (file, expected) = (dir.path().join("file"), dir.path().join("expected"));
    let mut model = noise(MIB, 63);
    fs::write(&file, &model).expect("the file can be written");
    model.resize(MIB + 4096, 0);
    model.copy_within(0..MIB, 4096);
    fs::write(&expected, &model).expect("the file can be written");
    let range = ["--skip", "0", "--seek", "4096", "--count", "1M", "--block-size", "64K"];
    haul().arg("copy").args(range).args([&file, &file]).assert().success();
    cmp(&expected, &file);
}
