//! The test pattern on one side.
use super::*;
use crate::core::{Cache, InUse, Route};

fn written(options: &Options, dest: &Facts) -> (Decision, Facts) {
    crate::apps::pattern::plan::write(options, 7, dest, &host())
        .unwrap_or_else(|error| panic!("{error} {}", error.advice))
}

fn checked(options: &Options, source: &Facts) -> Decision {
    crate::apps::pattern::plan::check(options, None, source, &host())
        .unwrap_or_else(|error| panic!("{error} {}", error.advice))
        .0
}

#[test]
fn a_pattern_check_reads_past_the_page_cache() {
    let mut image = file("f", 1, 300 << 10);
    image.cached_bytes = Some(300 << 10);
    let plan = checked(&Options::default(), &image);
    assert_eq!((plan.source.access.cache, plan.notes.warnings.len()), (Cache::Direct, 0), "{:?}", plan.notes.warnings);
    image.direct = None;
    let plan = checked(&Options::default(), &image);
    assert!(plan.notes.warnings[0].contains("page cache"), "{:?}", plan.notes.warnings);
    image.filesystem = Some("tmpfs".to_owned());
    assert!(checked(&Options::default(), &image).notes.warnings[0].contains("in memory"));
}

#[test]
fn each_physical_block_has_its_own_pattern_block() {
    let range = |seek, count| Options { seek_bytes: Some(seek), count_bytes: Some(count), ..Options::default() };
    let block = |options: &Options, dest: &Facts| written(options, dest).0.pattern.map(|used| used.block_bytes);
    let mut old = disk(1, GIB);
    assert_eq!(block(&Options::default(), &old), Some(4096));
    assert_eq!(block(&range(0, 10 * 512), &old), Some(1024), "a range that is no whole blocks of 4096");
    assert_eq!(block(&range(512, 4096), &old), Some(512));
    old.size = Some(GIB + 512);
    assert_eq!(block(&Options::default(), &old), Some(512), "nor is the disk");
    old.physical_block_bytes = 512;
    old.size = Some(GIB);
    assert_eq!(block(&Options::default(), &old), Some(512));
    old.physical_block_bytes = 1 << 20;
    assert_eq!(block(&Options::default(), &old), Some(4096));
    assert_eq!(block(&Options::default(), &file("f", 1, MIB)), Some(4096));
}

#[test]
fn source_and_dest_of_a_pattern_have_the_same_offsets() {
    let options = Options { seek_bytes: Some(1536), ..Options::default() };
    let (plan, source) = written(&options, &disk(1, GIB));
    assert_eq!((plan.source.map.start(), plan.dest.map.start(), plan.len), (1536, 1536, Some(GIB - 1536)));
    assert_eq!((source.size, plan.route), (Some(GIB), Route::Copy));
    let plan = checked(&options, &disk(1, GIB));
    assert_eq!((plan.source.map.start(), plan.dest.map.start(), plan.len), (1536, 1536, Some(GIB - 1536)));
    assert!(!plan.durable, "nothing was written");
}

#[test]
fn a_disk_in_use_or_too_small_gets_no_pattern() {
    let write = |options: &Options, dest: &Facts| {
        crate::apps::pattern::plan::write(options, 7, dest, &host()).map(|_| ()).unwrap_err()
    };
    let mut used = disk(1, GIB);
    used.in_use = vec![InUse::Swap { device: "sdb".to_owned() }];
    expect(&write(&Options::default(), &used), Kind::Refused, &["in use", "swapoff"]);
    let beyond = Options { count_bytes: Some(2 * GIB), ..Options::default() };
    expect(&write(&beyond, &disk(1, GIB)), Kind::Refused, &["/dev/sdb"]);
    expect(&write(&Options::default(), &new_file("f")), Kind::Usage, &["--count"]);
    let mut odd = disk(1, 520 << 20);
    odd.logical_block_bytes = 520;
    expect(&write(&Options::default(), &odd), Kind::Unsupported, &["520"]);
}
