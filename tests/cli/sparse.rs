//! Holes and zeros.
use crate::support::{LoopDevice, Running, cmp, engines, filled, haul, memory_dir, noise, scratch, skip};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Stdio;

const MIB: u64 = 1 << 20;

/// A file of 16 MiB and a partial block, with data in a few places: at both ends of holes, isolated, unaligned.
/// It ends with a hole if `hole_at_end`.
fn sparse_image(path: &Path, hole_at_end: bool) {
    let file = File::create(path).expect("the file can be written");
    let size = 16 * MIB + 1_234;
    file.set_len(size).expect("the test directory supports sparse files");
    let mut places = vec![(MIB, 4096), (MIB + 65_536, 100_000), (5 * MIB + 4096 * 3, 1), (9 * MIB - 7, 70_000)];
    if !hole_at_end {
        places.push((size - 900, 900));
    }
    for (seed, (at, len)) in (1..).zip(places) {
        file.write_all_at(&noise(len, seed), at).expect("the file can be written");
    }
    file.sync_all().expect("the test directory is on a file system");
}

fn allocated_bytes(path: &Path) -> u64 {
    fs::metadata(path).expect("it exists").blocks() * 512
}

/// Whether files on the file system at `dir` can have holes; if not, prints a message.
fn holes_work(dir: &Path) -> bool {
    let probe = dir.join("hole-probe");
    sparse_image(&probe, true);
    let sparse = allocated_bytes(&probe) < 4 * MIB;
    if !sparse {
        skip("the scratch file system has no holes");
    }
    sparse
}

#[test]
fn the_copy_of_a_sparse_image_is_equal_and_as_sparse() {
    let dir = scratch();
    if !holes_work(dir.path()) {
        return;
    }
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for hole_at_end in [false, true] {
            sparse_image(&source, hole_at_end);
            let _ = fs::remove_file(&dest);
            haul().args(["copy", "--engine", engine, "--reflink", "never"]).args([&source, &dest]).assert().success();
            cmp(&source, &dest);
            let (before, after) = (allocated_bytes(&source), allocated_bytes(&dest));
            assert!(after <= before + MIB, "{engine}: {before} bytes allocated became {after}");
        }
    }
}

#[test]
fn holes_over_an_old_file_read_as_zeros() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for hole_at_end in [false, true] {
            sparse_image(&source, hole_at_end);
            filled(&dest, 20 * MIB as usize, 0xAA);
            haul().args(["copy", "--engine", engine]).args([&source, &dest]).assert().success();
            cmp(&source, &dest);
        }
    }
}

#[test]
fn holes_in_a_range_of_an_old_file_become_zeros() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let expected = dir.path().join("expected");
    sparse_image(&source, true);
    let from = fs::read(&source).expect("it exists");
    for sparse in ["auto", "always", "never"] {
        // Neither end of the range is aligned, and both are in holes.
        let (at, to, len) = (12_345, 2_000_001, 6 * MIB as usize);
        let mut model = vec![0xAA; 20 * MIB as usize];
        fs::write(&dest, &model).expect("the file can be written");
        model[to..to + len].copy_from_slice(&from[at..at + len]);
        fs::write(&expected, &model).expect("the file can be written");
        let (at, to, len) = (at.to_string(), to.to_string(), len.to_string());
        let range = ["--skip", &at, "--seek", &to, "--count", &len];
        haul().args(["copy", "--sparse", sparse]).args(range).args([&source, &dest]).assert().success();
        cmp(&expected, &dest);
    }
}

#[test]
fn zeros_in_data_become_holes_with_always_and_are_written_with_never() {
    let dir = scratch();
    if !holes_work(dir.path()) {
        return;
    }
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let mut bytes = vec![0; 16 * MIB as usize + 99];
    bytes[5 * MIB as usize..6 * MIB as usize + 7].copy_from_slice(&noise(MIB as usize + 7, 3));
    fs::write(&source, &bytes).expect("the file can be written");
    for engine in engines() {
        let run = |sparse: &str| {
            let _ = fs::remove_file(&dest);
            let options = ["copy", "--engine", engine, "--sparse", sparse, "--reflink", "never"];
            haul().args(options).args([&source, &dest]).assert().success();
            cmp(&source, &dest);
            allocated_bytes(&dest)
        };
        let (always, never) = (run("always"), run("never"));
        assert!(always <= 4 * MIB, "{engine}: --sparse always left {always} bytes allocated");
        assert!(never >= 16 * MIB, "{engine}: --sparse never left only {never} bytes allocated");
    }
}

#[test]
fn holes_of_the_source_are_written_with_never() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    sparse_image(&source, true);
    haul().args(["copy", "--sparse", "never"]).args([&source, &dest]).assert().success();
    cmp(&source, &dest);
    let allocated = allocated_bytes(&dest);
    assert!(allocated >= 16 * MIB, "only {allocated} bytes are allocated");
}

#[test]
fn a_sparse_image_on_a_disk_full_of_old_bytes_reads_back_equal() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    for engine in engines() {
        for sparse in ["auto", "always", "never"] {
            sparse_image(&source, true);
            // The image ends within a sector: after it the old data on the disk is unchanged.
            let size = 16 * MIB + 1_234;
            filled(&disk, 17 * MIB as usize, 0xAA);
            let Some(device) = LoopDevice::over(&disk) else { return };
            let options = ["copy", "--yes", "--engine", engine, "--sparse", sparse];
            haul().args(options).arg(&source).arg(&device).assert().success();
            let expected = dir.path().join("expected");
            let mut model = fs::read(&source).expect("it exists");
            assert_eq!(model.len() as u64, size);
            model.resize(17 * MIB as usize, 0xAA);
            fs::write(&expected, model).expect("the file can be written");
            cmp(&expected, &device);
        }
    }
}

#[test]
fn a_disk_becomes_a_sparse_image_with_always() {
    let dir = memory_dir();
    let (disk, dest) = (dir.path().join("disk"), dir.path().join("dest"));
    let mut bytes = vec![0; 16 * MIB as usize];
    bytes[MIB as usize..2 * MIB as usize].copy_from_slice(&noise(MIB as usize, 4));
    fs::write(&disk, bytes).expect("the file can be written");
    let Some(device) = LoopDevice::over(&disk) else { return };
    haul().args(["copy", "--sparse", "always"]).arg(&device).arg(&dest).assert().success();
    cmp(&device, &dest);
    let allocated = allocated_bytes(&dest);
    assert!(allocated <= 4 * MIB, "{allocated} bytes are allocated");
}

#[test]
fn zeros_from_a_pipe_become_holes_with_always() {
    let dir = scratch();
    if !holes_work(dir.path()) {
        return;
    }
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    sparse_image(&source, true);
    let name = dest.to_str().expect("paths of test directories are UTF-8");
    let stdin = Stdio::piped();
    let mut copy = Running::start(&["copy", "--sparse", "always", "-", name], stdin, Stdio::null());
    let mut into = copy.child().stdin.take().expect("it is piped");
    std::io::copy(&mut File::open(&source).expect("it exists"), &mut into).expect("the copy reads all of it");
    drop(into);
    let (status, _) = copy.end();
    assert!(status.success(), "{}", copy.messages);
    cmp(&source, &dest);
    let allocated = allocated_bytes(&dest);
    assert!(allocated <= 4 * MIB, "{allocated} bytes are allocated");
}
