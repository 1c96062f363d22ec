//! Every refusal, one by one.
use super::*;
use crate::core::{EngineKind, HashKind, InUse};

fn options() -> Options {
    Options::default()
}

/// Options with `--skip`, `--seek` and `--count`.
fn range(skip: impl Into<Option<u64>>, seek: impl Into<Option<u64>>, count: impl Into<Option<u64>>) -> Options {
    Options { skip_bytes: skip.into(), seek_bytes: seek.into(), count_bytes: count.into(), ..options() }
}

#[test]
fn a_device_that_is_too_small_is_refused_with_both_sizes_and_the_difference() {
    let error = refused(&options(), &disk(1, GIB), &disk(2, GIB - 512));
    expect(&error, Kind::Refused, &["/dev/sdc is too small by 512 bytes", "1073741312 bytes", "1073741824 bytes"]);
    let error = refused(&range(None, 1024, None), &disk(1, GIB), &disk(2, GIB + 512));
    expect(&error, Kind::Refused, &["too small by 512 bytes", "--seek 1024"]);
    made(&range(None, 512, None), &disk(1, GIB), &disk(2, GIB + 512));
    let error = refused(&range(None, 2 * GIB, None), &pipe(), &disk(2, GIB));
    expect(&error, Kind::Refused, &["too small"]);
    let plan = made(&options(), &pipe(), &disk(2, GIB));
    assert!(plan.notes.warnings.iter().any(|warning| warning.contains("may be longer")), "{:?}", plan.notes.warnings);
}

#[test]
fn a_range_beyond_the_source_is_refused_with_its_size() {
    let error = refused(&range(1001, None, None), &file("a", 1, 1000), &new_file("b"));
    expect(&error, Kind::Usage, &["--skip 1001", "a has 1000 bytes"]);
    let error = refused(&range(400, None, 601), &file("a", 1, 1000), &new_file("b"));
    expect(&error, Kind::Usage, &["--count 601 is 1 byte too many", "1000 bytes", "600 bytes after --skip 400"]);
    assert_eq!(made(&range(400, None, 600), &file("a", 1, 1000), &new_file("b")).len, Some(600));
    assert_eq!(made(&range(1000, None, None), &file("a", 1, 1000), &new_file("b")).len, Some(0));
}

#[test]
fn a_device_of_0_bytes_is_no_source_and_an_empty_file_is_one() {
    let error = refused(&options(), &disk(1, 0), &new_file("b"));
    expect(&error, Kind::Refused, &["/dev/sdb has a size of 0 bytes", "medium"]);
    assert_eq!(made(&options(), &file("a", 1, 0), &new_file("b")).len, Some(0));
}

#[test]
fn ranges_of_a_source_without_a_total_length_are_refused() {
    let list = crate::core::AddressMap::from(512);
    let ranges = |count| Options { ranges: [Some(list.clone()), None], count_bytes: count, ..options() };
    expect(&refused(&ranges(None), &disk(1, GIB), &new_file("b")), Kind::Usage, &["no total length"]);
    assert_eq!(made(&ranges(Some(4096)), &disk(1, GIB), &new_file("b")).len, Some(4096));
}

#[test]
fn offsets_beyond_the_maximum_are_refused() {
    let large = i64::MAX as u64;
    for options in [range(None, large, 1), range(None, 1, large), range(None, large + 1, None)] {
        let error = refused(&options, &pipe(), &new_file("b"));
        expect(&error, Kind::Usage, &["--seek", "9223372036854775807"]);
    }
    expect(&refused(&range(large, None, 1), &endless(), &new_file("b")), Kind::Usage, &["--skip"]);
}

#[test]
fn a_pipe_has_no_offsets() {
    expect(&refused(&range(1, None, None), &pipe(), &new_file("b")), Kind::Usage, &["--skip", "pipe", "tail -c"]);
    expect(&refused(&range(None, 1, None), &file("a", 1, 9), &pipe()), Kind::Usage, &["--seek", "pipe"]);
    made(&range(0, 0, None), &pipe(), &pipe());
}

#[test]
fn an_endless_source_needs_a_count_or_a_device() {
    for dest in [new_file("b"), pipe(), Facts::new("/dev/null", EndpointKind::Null)] {
        expect(&refused(&options(), &endless(), &dest), Kind::Usage, &["/dev/zero never ends", "--count"]);
        assert_eq!(made(&range(None, None, 10), &endless(), &dest).len, Some(10));
    }
    assert_eq!(made(&range(None, 512, None), &endless(), &disk(2, GIB)).len, Some(GIB - 512));
    expect(&refused(&range(None, GIB + 1, None), &endless(), &disk(2, GIB)), Kind::Refused, &["--seek"]);
}

#[test]
fn a_dest_in_use_is_refused_with_every_use_and_how_to_end_it() {
    let device = |name: &str| name.to_owned();
    let table = [
        (InUse::Mounted { device: device("sdc1"), at: "/mnt".into() }, "sdc1 is mounted at /mnt", "umount /mnt"),
        (InUse::Swap { device: device("sdc2") }, "sdc2 is swap space", "swapoff /dev/sdc2"),
        (InUse::Held { device: device("sdc3"), by: device("dm-0") }, "held by dm-0", "dmsetup remove /dev/dm-0"),
        (InUse::Held { device: device("sdc4"), by: device("md1") }, "held by md1", "mdadm --stop /dev/md1"),
        (InUse::Held { device: device("sdc"), by: device("loop7") }, "held by loop7", "losetup -d /dev/loop7"),
        (InUse::Exclusive, "another program", "fuser"),
    ];
    let mut dest = disk(2, GIB);
    for (user, what, advice) in table {
        dest.in_use = vec![user.clone()];
        expect(
            &refused(&options(), &disk(1, GIB), &dest),
            Kind::Refused,
            &["destination /dev/sdc is in use", what, advice],
        );
        let file = Facts { in_use: vec![user], ..file("b", 2, 0) };
        expect(&refused(&options(), &disk(1, GIB), &file), Kind::Refused, &[what]);
    }
    dest.in_use = vec![
        InUse::Mounted { device: device("sdc1"), at: "/a".into() },
        InUse::Mounted { device: device("sdc2"), at: "/b".into() },
    ];
    expect(&refused(&options(), &disk(1, GIB), &dest), Kind::Refused, &["at /a", "at /b", "umount /a; umount /b"]);
}

#[test]
fn the_disk_of_the_running_system_is_refused_without_advice_to_unmount_the_root() {
    let mounted = InUse::Mounted { device: "sdc1".to_owned(), at: "/".into() };
    let dest = Facts { in_use: vec![mounted, InUse::System { at: "/".into() }], ..disk(2, GIB) };
    let error = refused(&Options { yes: true, ..options() }, &disk(1, GIB), &dest);
    expect(&error, Kind::Refused, &["the running system uses it for /", "boot another system"]);
    assert!(!error.advice.contains("umount"), "{}", error.advice);
}

#[test]
fn a_read_only_dest_is_refused() {
    for dest in [disk(2, GIB), new_file("b"), file("b", 2, 1)] {
        let dest = Facts { writable: false, ..dest };
        expect(
            &refused(&options(), &disk(1, GIB), &dest),
            Kind::Open,
            &["no permission to write to destination", &dest.address],
        );
    }
}

#[test]
fn no_file_is_created_in_place_of_a_device() {
    for name in ["/dev/sdx", "/dev/disk/by-id/usb-1"] {
        let error = refused(&options(), &disk(1, GIB), &new_file(name));
        expect(&error, Kind::Refused, &["no device", name, "haul list"]);
    }
    let devtmpfs = Facts { filesystem: Some("devtmpfs".to_owned()), ..new_file("/chroot/dev/sdx") };
    expect(&refused(&options(), &disk(1, GIB), &devtmpfs), Kind::Refused, &["no device"]);
    made(&options(), &disk(1, GIB), &new_file("/dev/shm/image"));
    made(&options(), &disk(1, GIB), &new_file("/device/image"));
}

#[test]
fn a_dest_other_than_the_expected_one_is_refused() {
    let mut dest = disk(2, GIB);
    dest.identity.serial = Some("S1".to_owned());
    dest.identity.model = Some("Fast One".to_owned());
    dest.identity.wwn = Some("eui.1".to_owned());
    let with = |expectation: Expectation| Options { expect: vec![expectation], ..options() };
    let text = |text: &str| text.to_owned();
    for right in [
        Expectation::Serial(text("S1")),
        Expectation::Model(text("Fast One")),
        Expectation::Wwn(text("eui.1")),
        Expectation::Size(GIB),
    ] {
        made(&with(right.clone()), &disk(1, GIB), &dest);
        let error =
            refused(&with(right), &disk(1, 1), &Facts { identity: Default::default(), size: None, ..dest.clone() });
        expect(&error, Kind::Refused, &["reports no"]);
    }
    let error = refused(&with(Expectation::Serial(text("S"))), &disk(1, GIB), &dest);
    expect(&error, Kind::Refused, &["serial is 'S1', not 'S'"]);
    let error = refused(&with(Expectation::Size(GIB + 1)), &disk(1, GIB), &dest);
    expect(&error, Kind::Refused, &["1073741824", "1073741825"]);
}

#[test]
fn the_same_bytes_under_one_name_or_another_are_refused() {
    let whole = disk(1, GIB);
    let part = partition(&whole, 1, MIB, 100 * MIB);
    let image = file("/images/a", 5, 100 * MIB);
    let mut on_loop = disk(9, 100 * MIB);
    on_loop.ground =
        vec![Ground { id: image.id.unwrap(), name: "/images/a".to_owned(), offset: Some(0), rotational: None }];
    let twin = partition(&whole, 2, 2 * MIB, 50 * MIB);
    for (source, dest) in
        [(&whole, &whole), (&image, &image), (&part, &whole), (&image, &on_loop), (&on_loop, &image), (&part, &twin)]
    {
        let error = refused(&range(None, None, 5 * MIB), source, dest);
        expect(&error, Kind::Refused, &["are the same data", "--skip and --seek"]);
    }
    expect(&refused(&options(), &part, &whole), Kind::Refused, &["are on /dev/sdb, at byte 1048576 and at byte 0"]);
    expect(&refused(&options(), &file("a", 1, 0), &file("b", 1, 0)), Kind::Refused, &["same data"]);
    // Disjoint ranges.
    let behind = partition(&whole, 3, 101 * MIB, 100 * MIB);
    made(&options(), &part, &behind);
    made(&range(None, 100 * MIB, 5 * MIB), &image, &image);
}

#[test]
fn a_partition_is_copied_to_the_start_of_its_own_disk_only_with_an_explicit_range() {
    let whole = disk(1, GIB);
    let behind = partition(&whole, 3, 200 * MIB, 100 * MIB);
    let error = refused(&options(), &behind, &whole);
    expect(&error, Kind::Refused, &["is a part of dest", "the metadata that locates it", "--seek 0"]);
    made(&range(None, 0, MIB), &behind, &whole);
}

#[test]
fn the_same_range_is_refused_even_if_explicit() {
    let whole = disk(1, GIB);
    let part = partition(&whole, 1, MIB, 100 * MIB);
    expect(&refused(&range(4096, 4096, 9), &whole, &whole), Kind::Refused, &["same range", "nothing to copy"]);
    expect(&refused(&range(0, MIB, 512), &part, &whole), Kind::Refused, &["same range"]);
}

#[test]
fn overlapping_ranges_under_two_names_are_refused_if_caches_could_disagree() {
    let whole = disk(1, GIB);
    let part = partition(&whole, 1, MIB, 100 * MIB);
    made(&range(0, 2 * MIB, 5 * MIB), &part, &whole);
    let error = refused(&Options { direct: When::Never, ..range(0, 2 * MIB, 5 * MIB) }, &part, &whole);
    expect(&error, Kind::Refused, &["two names", "two caches", "by the same file or device"]);
    let error = refused(&range(0, 2 * MIB + 1, 5 * MIB), &part, &whole);
    expect(&error, Kind::Refused, &["two names"]);
}

#[test]
fn a_side_on_the_other_at_an_unknown_offset_is_refused_or_warned_of() {
    let lower = disk(1, GIB);
    let beneath = Ground { id: lower.id.unwrap(), name: lower.address.clone(), offset: None, rotational: None };
    let striped = Facts { ground: vec![beneath.clone()], ..disk(2, MIB) };
    expect(&refused(&options(), &striped, &lower), Kind::Refused, &["source /dev/sdc is on destination /dev/sdb"]);
    expect(
        &refused(&range(0, MIB, 512), &lower, &striped),
        Kind::Refused,
        &["destination /dev/sdc is on source /dev/sdb"],
    );
    let held = Facts { in_use: vec![InUse::Held { device: "sdb".to_owned(), by: "sdc".to_owned() }], ..disk(1, MIB) };
    expect(&refused(&options(), &held, &disk(2, GIB)), Kind::Refused, &["destination /dev/sdc is on source /dev/sdb"]);
    let image = Facts { ground: vec![beneath], ..new_file("/mnt/image") };
    let plan = made(&options(), &lower, &image);
    assert!(
        plan.notes.warnings.iter().any(|warning| warning.contains("the image will be inconsistent")),
        "{:?}",
        plan.notes.warnings
    );
}

#[test]
fn a_source_in_use_is_warned_of() {
    let user = InUse::Mounted { device: "sdb1".to_owned(), at: "/home".into() };
    let plan = made(&options(), &Facts { in_use: vec![user], ..disk(1, GIB) }, &disk(2, GIB));
    assert!(
        plan.notes.warnings.iter().any(|warning| warning.contains("sdb1 is mounted at /home")),
        "{:?}",
        plan.notes.warnings
    );
    assert_eq!(made(&options(), &disk(1, GIB), &disk(2, GIB)).notes.warnings, [""; 0]);
}

#[test]
fn a_file_system_is_refused_only_if_it_is_certainly_too_full() {
    let tight = |dest: Facts| Facts { free_bytes: Some(GIB - 1), ..dest };
    let source = file("a", 1, GIB);
    let error = refused(&options(), &source, &tight(new_file("b")));
    expect(&error, Kind::NoSpace, &["1073741824 bytes", "1073741823 bytes", "free"]);
    let unsure = [
        (source.clone(), tight(Facts { filesystem: Some("btrfs".to_owned()), ..new_file("b") })),
        (Facts { sparse: true, ..source.clone() }, tight(new_file("b"))),
        (source.clone(), Facts { free_bytes: Some(GIB - 9), ..file("b", 2, 8) }),
    ];
    for (source, dest) in unsure {
        let plan = made(&options(), &source, &dest);
        assert!(plan.notes.warnings.iter().any(|warning| warning.contains("may not fit")), "{:?}", plan.notes.warnings);
    }
    // The space of the old file is reused, and a range within it needs none.
    assert_eq!(made(&options(), &source, &tight(file("b", 2, 1))).notes.warnings, [""; 0]);
    let within = Facts { free_bytes: Some(0), ..file("b", 2, 2 * GIB) };
    assert_eq!(made(&range(None, GIB, None), &source, &within).notes.warnings, [""; 0]);
}

#[test]
fn a_file_too_large_for_fat_is_refused() {
    let fat = Facts { filesystem: Some("vfat".to_owned()), ..new_file("b") };
    expect(&refused(&options(), &file("a", 1, 4 * GIB), &fat), Kind::NoSpace, &["FAT", "exFAT"]);
    made(&options(), &file("a", 1, 4 * GIB - 1), &fat);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let (from, to) = (file("a", 1, GIB), new_file("b"));
    let always = |options: Options| Options { reflink: When::Always, ..options };
    let table = [
        (Options { engine: Some(EngineKind::Sync), depth: Some(2), ..options() }, "--engine sync keeps one"),
        (Options { engine: Some(EngineKind::Reflink), ..options() }, "--reflink always"),
        (Options { block_bytes: Some(0), ..options() }, "--block-size 0"),
        (Options { block_bytes: Some((64 << 20) + 1), ..options() }, "--block-size 67108865"),
        (Options { depth: Some(0), ..options() }, "--depth 0"),
        (Options { depth: Some(1025), ..options() }, "--depth 1025"),
        (Options { block_bytes: Some(64 << 20), depth: Some(17), ..options() }, "1.1 GiB of memory"),
        (Options { limit_bytes_per_s: Some(0), ..options() }, "--limit 0"),
        (always(Options { hashes: vec![HashKind::Md5], ..options() }), "--hash"),
        (always(Options { sparse: When::Never, ..options() }), "--sparse"),
    ];
    for (options, part) in table {
        expect(&refused(&options, &from, &to), Kind::Usage, &[part]);
    }
    expect(&refused(&always(options()), &disk(1, 9), &to), Kind::Usage, &["source /dev/sdb is a block device"]);
    let sparse = Options { sparse: When::Always, ..options() };
    expect(&refused(&sparse, &from, &pipe()), Kind::Usage, &["--sparse always", "is a stream"]);
    let backward = Options { hashes: vec![HashKind::Md5], ..range(0, 4096, MIB) };
    expect(&refused(&backward, &from, &from), Kind::Usage, &["--hash", "runs backward"]);
}

#[test]
fn unavailable_explicit_options_are_refused() {
    let forbidden = Host { ring_refused: Some("kernel.io_uring_disabled is 2".to_owned()) };
    let ring = Options { engine: Some(EngineKind::Ring), ..options() };
    let error = make(&ring, &disk(1, GIB), &disk(2, GIB), &forbidden).unwrap_err();
    expect(&error, Kind::Unsupported, &["--engine ring", "kernel.io_uring_disabled is 2", "--engine threads"]);

    let direct = Options { direct: When::Always, ..options() };
    let none = Facts { direct: None, ..disk(1, GIB) };
    expect(&refused(&direct, &none, &disk(2, GIB)), Kind::Unsupported, &["--direct always: source /dev/sdb"]);
    expect(&refused(&direct, &disk(2, GIB), &none), Kind::Unsupported, &["--direct always: destination /dev/sdb"]);
    let error = refused(&Options { skip_bytes: Some(700), ..direct }, &disk(1, GIB), &disk(2, GIB));
    expect(&error, Kind::Usage, &["--skip 700", "512", "1024"]);

    let reflink = Options { reflink: When::Always, ..options() };
    let error = refused(&reflink, &file("a", 1, GIB), &new_file("b"));
    expect(&error, Kind::Unsupported, &["--reflink always: the file system of source a cannot share extents"]);
}

#[test]
fn a_block_size_invalid_for_direct_io_is_refused_with_the_nearest_valid_one() {
    let with = |block: u32| Options { block_bytes: Some(block), ..options() };
    let (from, mut to) = (disk(1, GIB), disk(2, GIB));
    expect(&refused(&with(1000), &from, &to), Kind::Usage, &["--block-size 1000", "512 or 1024"]);
    expect(&refused(&with(100), &from, &to), Kind::Usage, &["Give 512,"]);
    to.logical_block_bytes = 4096;
    expect(&refused(&with(512), &from, &to), Kind::Usage, &["4 KiB", "Give 4096,"]);
    assert_eq!(made(&Options { direct: When::Never, ..with(1000) }, &from, &to).tuning.limits.block_bytes, 1000);
}
