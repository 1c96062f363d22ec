//! Copies between files, compared by cmp(1).
use crate::support;
use crate::support::{
    cmp, depth_of, direct_works, engines, filled, haul, in_one_line, noise, scratch, traced_calls, write_noise,
};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Around every boundary: sectors, pages, blocks, and the partial blocks after them.
const SIZES: &[usize] = &[
    1,
    511,
    512,
    513,
    4 * KIB - 1,
    4 * KIB,
    4 * KIB + 1,
    64 * KIB + 7,
    MIB - 1,
    MIB,
    MIB + 1,
    3 * MIB + 12_345,
    9 * MIB + 511,
];

fn copy(source: &Path, dest: &Path, options: &[&str]) {
    haul().arg("copy").args(options).args([source, dest]).assert().success();
}

#[test]
fn files_of_any_size_are_copied_with_every_engine_and_cache_mode() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let direct_always = direct_works(dir.path());
    for (seed, &size) in (1..).zip(SIZES) {
        write_noise(&source, size, seed);
        for engine in engines() {
            for direct in ["auto", "always", "never"] {
                if direct == "always" && !direct_always {
                    continue;
                }
                let _ = fs::remove_file(&dest);
                copy(&source, &dest, &["--engine", engine, "--direct", direct]);
                cmp(&source, &dest);
            }
        }
    }
}

#[test]
fn a_file_copies_with_odd_block_sizes_and_queue_depths() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB + 4_321, 7);
    for engine in engines() {
        for (block, depth) in [("4K", "1"), ("4K", "64"), ("12K", "3"), ("1M", "2"), ("4M", "7"), ("64K", "1024")] {
            let _ = fs::remove_file(&dest);
            copy(&source, &dest, &["--engine", engine, "--block-size", block, "--depth", depth_of(engine, depth)]);
            cmp(&source, &dest);
        }
    }
}

#[test]
fn without_options_a_new_file_equals_the_source() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("a new file"));
    write_noise(&source, 5 * MIB + 77, 1);
    copy(&source, &dest, &[]);
    cmp(&source, &dest);
}

#[test]
fn a_longer_existing_file_is_truncated() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for size in [0, 1, MIB + 3] {
            write_noise(&source, size, 2);
            filled(&dest, 3 * MIB, 0xAA);
            copy(&source, &dest, &["--engine", engine]);
            cmp(&source, &dest);
        }
    }
}

#[test]
fn an_empty_source_creates_an_empty_dest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 0, 0);
    copy(&source, &dest, &[]);
    assert_eq!(fs::metadata(&dest).expect("it was created").len(), 0);
}

#[test]
fn a_range_changes_only_its_own_bytes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let expected = dir.path().join("expected");
    let from = write_noise(&source, 2 * MIB + 100, 3);
    // Aligned and unaligned, equal and different offsets, to the end of the source, of one byte, beyond the
    // dest.
    let cases: &[(usize, usize, Option<usize>)] = &[
        (0, 0, Some(1)),
        (4096, 8192, Some(65_536)),
        (1, 1, Some(100_000)),
        (513, 4097, Some(MIB + 5)),
        (4096, 0, None),
        (0, 1_500_000, None),
        (2 * MIB + 99, 7, None),
        (0, 3 * MIB, Some(10)),
    ];
    for engine in engines() {
        for &(skip, seek, count) in cases {
            let mut model = noise(MIB + 700_000, 4);
            fs::write(&dest, &model).expect("the file can be written");
            let len = count.unwrap_or(from.len() - skip);
            model.resize(model.len().max(seek + len), 0);
            model[seek..seek + len].copy_from_slice(&from[skip..skip + len]);
            fs::write(&expected, &model).expect("the file can be written");
            let (skip, seek) = (skip.to_string(), seek.to_string());
            let mut options = vec!["--engine", engine, "--skip", &skip, "--seek", &seek];
            let count = count.map(|count| count.to_string());
            options.extend(count.iter().flat_map(|count| ["--count", count]));
            copy(&source, &dest, &options);
            cmp(&expected, &dest);
        }
    }
}

#[test]
fn sizes_accept_the_usual_suffixes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB, 5);
    for (count, bytes) in [("1K", 1024), ("1KB", 1000), ("1M", MIB), ("1MB", 1_000_000), ("3s", 1536), ("7", 7)] {
        let _ = fs::remove_file(&dest);
        copy(&source, &dest, &["--count", count]);
        assert_eq!(fs::metadata(&dest).expect("it was created").len(), bytes as u64, "--count {count}");
    }
}

#[test]
fn a_symbolic_link_as_dest_is_followed_and_kept() {
    let dir = scratch();
    let (source, dest, link) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("link"));
    write_noise(&source, MIB + 1, 6);
    filled(&dest, 10, 1);
    symlink(&dest, &link).expect("the test directory supports links");
    copy(&source, &link, &[]);
    cmp(&source, &dest);
    assert!(fs::symlink_metadata(&link).expect("it exists").is_symlink());
}

#[test]
fn file_names_like_options_or_with_unusual_characters_are_accepted() {
    let dir = scratch();
    write_noise(&dir.path().join("--count"), 1000, 8);
    let mut command = haul();
    command.current_dir(dir.path()).args(["copy", "--", "--count", "naïve name\n2"]).assert().success();
    cmp(dir.path().join("--count"), dir.path().join("naïve name\n2"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = scratch();
    let (source, dest, fresh) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("fresh"));
    write_noise(&source, MIB, 9);
    filled(&dest, 100, 0xAA);
    copy(&source, &dest, &["--dry-run"]);
    copy(&source, &fresh, &["--dry-run"]);
    assert_eq!(fs::read(&dest).expect("it exists"), vec![0xAA; 100]);
    assert!(!fresh.exists(), "--dry-run made the dest");
}

#[test]
fn a_copy_without_a_flush_has_the_same_bytes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB + 1, 10);
    copy(&source, &dest, &["--no-flush"]);
    cmp(&source, &dest);
}

/// The system calls of a copy that make data durable, one per line, with the paths of their descriptors.
fn flushes(engine: &str, source: &Path, dest: &Path) -> String {
    let log = source.with_file_name("trace");
    let mut command = assert_cmd::Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,fdatasync,syncfs", "-o"]).arg(&log).arg(support::haul_path());
    command.args(["copy", "--engine", engine]).args([source, dest]).assert().success();
    traced_calls(&log)
}

#[test]
fn status_0_means_that_the_dest_was_flushed_and_the_name_of_a_new_file_too() {
    if !support::has("strace") {
        return;
    }
    let dir = scratch();
    let dir_path = dir.path().canonicalize().expect("it exists");
    let (source, dest) = (dir_path.join("source"), dir_path.join("dest"));
    write_noise(&source, 2 * MIB + 5, 88);
    let flushed = |log: &str, path: &Path| {
        let path = format!("<{}>) = 0", path.display());
        log.lines().any(|line| line.contains("sync(") && line.contains(&path))
    };
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let log = flushes(engine, &source, &dest);
        assert!(flushed(&log, &dest) && flushed(&log, &dir_path), "{engine}, a new file:\n{log}");
        let log = flushes(engine, &source, &dest);
        assert!(flushed(&log, &dest), "{engine}, a file that was there:\n{log}");
    }
}

#[test]
fn another_program_copies_and_compares_by_the_library() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB + 12_345, 1);
    let run = |dest: &Path| {
        let mut program = std::process::Command::new(support::example("embedded"));
        program.args([&source, dest]).output().expect("it runs")
    };
    let copied = run(&dest);
    assert!(copied.status.success(), "{}", in_one_line(&copied.stderr));
    cmp(&source, &dest);
    let refused = run(&source);
    assert_eq!(refused.status.code(), Some(3), "{}", in_one_line(&refused.stderr));
}
