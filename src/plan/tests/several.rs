//! Several dests in one plan.
use super::*;
use crate::core::{Cache, EngineKind, Existing, InUse, Order, WriteOrder, Zeros};

fn together(options: &Options, source: &Facts, dests: &[Facts]) -> Decision {
    several(options, source, dests, &host()).unwrap_or_else(|error| panic!("{error} {}", error.advice)).all
}

fn not_together(options: &Options, source: &Facts, dests: &[Facts]) -> Error {
    several(options, source, dests, &host()).expect_err("it was planned")
}

#[test]
fn each_dest_keeps_its_own_io_mode_and_the_strictest_order_applies() {
    let mut slow = disk(2, GIB);
    slow.queue.rotational = Some(true);
    slow.queue.write_zeroes_max_bytes = 1 << 30;
    let source = Facts { sparse: true, ..file("s", 1, GIB) };
    let dests = [new_file("/x/new"), slow, file("old", 5, GIB)];
    let plan = together(&Options::default(), &source, &dests);
    assert_eq!(plan.zeros, Zeros::Each);
    let zeros: Vec<Zeros> = plan.dests.iter().map(|dest| dest.zeros).collect();
    assert_eq!(zeros, [Zeros::Leave, Zeros::Device, Zeros::Leave]);
    let existing: Vec<Existing> = plan.dests.iter().map(|dest| dest.side.access.existing).collect();
    assert_eq!(existing, [Existing::Create, Existing::Keep, Existing::Truncate]);
    assert_eq!((plan.write_order, plan.dest.moves_head), (WriteOrder::Submitted, true));
    let with_pipe = [&dests[..], &[pipe()]].concat();
    assert_eq!(together(&Options::default(), &source, &with_pipe).write_order, WriteOrder::OneAtATime);
    assert_eq!(pipe().order, Order::Ascending);
}

#[test]
fn blocks_fit_every_dest_and_each_has_as_many_requests_as_alone() {
    let mut coarse = disk(3, GIB);
    coarse.logical_block_bytes = 64 << 10;
    coarse.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 64 << 10 });
    let source = disk(1, GIB);
    let dests = [disk(2, GIB), coarse];
    let plan = together(&Options::default(), &source, &dests);
    let tuning = plan.tuning;
    for bytes in [tuning.limits.block_bytes, tuning.block_bytes_min, tuning.block_bytes_max, plan.tail_align_bytes] {
        assert!(bytes.is_multiple_of(64 << 10), "{tuning:?}");
    }
    assert!(tuning.blocks() >= 2, "{tuning:?}");
    let alone = made(&Options::default(), &source, &dests[0]).tuning;
    assert_eq!(tuning.limits.in_flight, [alone.limits.in_flight[0], 2 * alone.limits.in_flight[1]]);
}

#[test]
fn a_dest_in_memory_does_not_serialize_the_others() {
    let memory =
        |name: &str, number| Facts { filesystem: Some("tmpfs".to_owned()), direct: None, ..file(name, number, GIB) };
    let (source, one, other) = (memory("s", 1), memory("d", 2), file("e", 3, GIB));
    assert_eq!(together(&Options::default(), &source, &[one.clone(), memory("f", 4)]).engine, EngineKind::Sync);
    for dests in [[one.clone(), other.clone()], [other, one]] {
        let plan = together(&Options::default(), &source, &dests);
        assert_eq!(plan.engine, EngineKind::Ring);
        assert!(plan.tuning.blocks() > 1, "{:?}", plan.tuning);
    }
}

#[test]
fn every_dest_is_checked_as_if_it_were_the_only_one() {
    let source = disk(1, GIB);
    let mut used = disk(3, GIB);
    used.in_use = vec![InUse::Swap { device: "sdd".to_owned() }];
    let options = Options::default();
    expect(&not_together(&options, &source, &[disk(2, GIB), used]), Kind::Refused, &["/dev/sdd", "swap"]);
    expect(&not_together(&options, &source, &[disk(2, GIB), disk(3, MIB)]), Kind::Refused, &["/dev/sdd"]);
    expect(&not_together(&options, &endless(), &[disk(2, GIB), disk(3, MIB)]), Kind::Usage, &["--count"]);
}

#[test]
fn dests_that_share_bytes_are_refused_under_any_names() {
    let (source, whole) = (disk(1, GIB), disk(2, GIB));
    let part = partition(&whole, 1, MIB, 100 * MIB);
    let other = partition(&whole, 2, 200 * MIB, 100 * MIB);
    let options = Options { count_bytes: Some(MIB), ..Options::default() };
    for dests in [[whole.clone(), whole.clone()], [whole.clone(), part.clone()], [part.clone(), whole.clone()]] {
        expect(&not_together(&options, &source, &dests), Kind::Refused, &["same data", "/dev/sdc"]);
    }
    let plan = together(&options, &source, &[part.clone(), other]);
    assert_eq!(plan.dests.len(), 2, "two partitions of one disk are two dests");
    assert!(plan.dests.iter().all(|dest| dest.side.access.cache == Cache::Direct));
    expect(&not_together(&options, &whole, &[source, part]), Kind::Refused, &["same data", "/dev/sdc1"]);
}
