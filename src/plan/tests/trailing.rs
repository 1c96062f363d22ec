//! Tests when the dest is read back during the copy.
use super::*;
use crate::core::Portion;

fn fixed(number: u64, size: u64) -> Facts {
    let mut facts = disk(number, size);
    facts.identity.transport = Some("nvme".to_owned());
    facts
}

fn verified() -> Options {
    Options { verify: Some(Portion::All), ..Options::default() }
}

fn window(plan: &Decision) -> Option<u64> {
    plan.read_back.as_ref().and_then(|read_back| read_back.window_bytes)
}

#[test]
fn a_fixed_ssd_is_read_back_behind_the_writer() {
    let plan = made(&verified(), &disk(1, 8 * GIB), &fixed(2, 8 * GIB));
    assert_eq!(window(&plan), Some(GIB));
    assert!(why(&plan, "read back").starts_with("1 GiB behind the writer"), "{}", why(&plan, "read back"));
    // A rotational source is even slower, and only haul reads from it.
    let mut slow = disk(1, 8 * GIB);
    slow.queue.rotational = Some(true);
    assert_eq!(window(&made(&verified(), &slow, &fixed(2, 8 * GIB))), Some(GIB));
}

#[test]
fn every_other_dest_is_read_back_after_the_copy() {
    let (source, good) = (disk(1, 8 * GIB), fixed(2, 8 * GIB));
    let mut turning = good.clone();
    turning.queue.rotational = Some(true);
    let mut stick = good.clone();
    stick.identity.transport = Some("usb".to_owned());
    let part = partition(&fixed(1, 20 * GIB), 2, 9 * GIB, 9 * GIB);
    let with = |change: fn(&mut Options)| {
        let mut options = verified();
        change(&mut options);
        options
    };
    let plain = verified;
    for (options, dest, because) in [
        (plain(), turning, "is rotational"),
        (plain(), stick, "may report a false capacity"),
        (plain(), disk(3, 8 * GIB), "may report a false capacity"),
        (plain(), new_file("/mnt/file"), "is not a disk"),
        (plain(), part, "are on one disk"),
        (with(|options| options.count_bytes = Some(2 * GIB)), good.clone(), "such a short copy"),
        (with(|options| options.limit_bytes_per_s = Some(1 << 20)), good.clone(), "--limit"),
        (with(|options| options.delta = Some(Delta::Read)), good.clone(), "the copy writes only what differs"),
        (with(|options| options.direct = When::Never), good.clone(), "page cache"),
        (with(|options| options.verify = Some(Portion::Afterwards)), good.clone(), "--verify=afterwards"),
    ] {
        let plan = made(&options, &source, &dest);
        assert_eq!(window(&plan), None, "{because}");
        let reported = why(&plan, "read back");
        assert!(reported.starts_with("after everything is written") && reported.contains(because), "{reported}");
    }
    let sample = with(|options| options.verify = Some(Portion::Sample { per_million: 10 }));
    assert_eq!(window(&made(&sample, &source, &good)), None);
}
