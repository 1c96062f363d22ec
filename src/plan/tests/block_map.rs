//! Block maps: when one is used, and for which sides.
use super::*;
use crate::core::{BlockMap, Compressed, Extent, HashKind, MappedRange, OnError};

const MAP_BYTES: u64 = 16 << 20;

fn map(pairs: &[(u64, u64)]) -> BlockMap {
    let (address, version) = ("disk.bmap".to_owned(), "2.0".to_owned());
    let range = |&(offset, len): &(u64, u64)| MappedRange { extent: Extent::new(offset, len), digest: None };
    let ranges = pairs.iter().map(range).collect();
    BlockMap { address, version, image_bytes: MAP_BYTES, block_bytes: 4096, algorithm: None, ranges }
}

fn mapped() -> Options {
    with_block_map(Options::default(), map(&[(0, 4096), (MIB, 2 * MIB)])).unwrap()
}

#[test]
fn a_map_is_used_for_copies_of_whole_images_to_devices() {
    let facts = |kind| Facts::new("x", kind);
    let used = |options: &Options, source, dests: &[EndpointKind]| {
        uses_block_map(options, &facts(source), &dests.iter().copied().map(facts).collect::<Vec<_>>())
    };
    use EndpointKind::{Block, Compressed, File, Http, HttpStream, Nbd, Pipe};
    let plain = Options::default;
    for source in [File, Http, Compressed] {
        assert!(used(&plain(), source, &[Block, Nbd]));
        assert!(used(&Options { resume: true, ..plain() }, source, &[Block]));
    }
    for source in [Pipe, HttpStream] {
        assert!(!used(&plain(), source, &[Block]));
    }
    assert!(!used(&plain(), File, &[Block, File]) && !used(&plain(), Compressed, &[File]));
    let unused = [
        Options { bmap: BlockMapChoice::Never, ..plain() },
        Options { decompress: Decompress::Never, ..plain() },
        Options { skip_bytes: Some(0), ..plain() },
        Options { seek_bytes: Some(0), ..plain() },
        Options { count_bytes: Some(1), ..plain() },
        Options { hashes: vec![HashKind::Sha256], ..plain() },
        Options { manifest: Some("m".to_owned()), ..plain() },
        Options { mapfile: Some("m".to_owned()), ..plain() },
        Options { checksum: checksum("sums").ok(), ..plain() },
        Options { delta: Some(Delta::Manifest("m".to_owned())), ..plain() },
        Options { on_error: OnError { skip: true, retries: 0 }, ..plain() },
        Options { offload: true, ..plain() },
        Options { independent: true, ..plain() },
    ];
    for options in unused {
        assert!(!used(&options, File, &[Block]), "{options:?}");
    }
}

#[test]
fn only_the_ranges_of_the_map_are_copied_with_a_journal() {
    let plan = made(&mapped(), &file("disk.img", 1, MAP_BYTES), &disk(1, GIB));
    assert_eq!((plan.len, plan.journal, plan.block_map.is_some()), (Some(4096 + 2 * MIB), true, true));
    assert!(why(&plan, "block map").starts_with("2 ranges, without checksums"));
    assert!(plan.notes.remarks.iter().any(|remark| remark.contains("the rest of the destination keeps its content")));
    let mut packed = Compressed::of_stream(file("disk.img.gz", 1, MIB), true);
    (packed.kind, packed.size) = (EndpointKind::Compressed, Some(MAP_BYTES));
    assert_eq!(made(&mapped(), &packed, &disk(1, GIB)).len, Some(4096 + 2 * MIB));
    let options = Options { checksum: checksum(&format!("md5:{}", "0".repeat(32))).ok(), ..mapped() };
    assert!(make(&options, &packed, &disk(1, GIB), &host()).is_ok(), "all of the file is read");
    let error = refused(&options, &file("disk.img", 1, MAP_BYTES), &disk(1, GIB));
    expect(&error, Kind::Usage, &["--checksum with --bmap"]);
}

#[test]
fn a_map_of_another_image_and_sides_without_its_ranges_are_refused() {
    let (image, device) = (file("disk.img", 1, MAP_BYTES), disk(1, GIB));
    let error = refused(&mapped(), &file("disk.img", 1, MAP_BYTES - 512), &device);
    expect(&error, Kind::Corrupt, &["that of an image of", "disk.bmap", "--no-bmap"]);
    expect(&refused(&mapped(), &image, &disk(1, MAP_BYTES - 512)), Kind::Refused, &["too small", "disk.bmap"]);
    expect(&refused(&mapped(), &image, &new_file("out")), Kind::Usage, &["block maps for devices"]);
    expect(&refused(&mapped(), &pipe(), &device), Kind::Usage, &["has no offsets"]);
    let mut packed = Compressed::of_stream(file("disk.img.gz", 1, MIB), true);
    packed.kind = EndpointKind::Compressed;
    (packed.size, packed.compressed.as_mut().unwrap().least_bytes) = (None, MAP_BYTES + 1);
    expect(&refused(&mapped(), &packed, &device), Kind::Corrupt, &["has at least"]);
    expect(&with_block_map(Options::default(), map(&[])).unwrap_err(), Kind::Usage, &["maps no block"]);
}
