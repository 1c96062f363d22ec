use super::super::zones::Zone;
use super::*;

const GB: u64 = 1_000_000_000;

/// A disk of 15 zones from 200 MB/s to 100 MB/s: the time of its bytes before `place`.
fn zoned_s(place: f64, size: f64) -> f64 {
    let rate = |zone: u32| 200e6 - 100e6 * f64::from(zone) / 14.0;
    let part = |zone: u32| (place - size / 15.0 * f64::from(zone)).clamp(0.0, size / 15.0);
    (0..15).map(|zone| part(zone) / rate(zone)).sum()
}

/// What is measured in the middles of so many parts.
fn measured(places: u64, size: u64) -> Curve {
    let at = |place: u64| size / places * place + size / places / 2;
    let rate = |offset: u64| {
        let (start, end) = (offset as f64, offset as f64 + 1e6);
        1e6 / (zoned_s(end, size as f64) - zoned_s(start, size as f64))
    };
    let zones: Vec<Zone> = (0..places).map(|place| Zone { offset: at(place), bytes_per_s: rate(at(place)) }).collect();
    Curve::through(&zones).unwrap()
}

fn course<'a>(len: u64, source: Option<&'a Curve>, dest: Option<&'a Curve>) -> Course<'a> {
    Course { len, sides: [source, dest], limit_bytes_per_s: None, in_turn: false, backward: false }
}

#[test]
fn three_places_foretell_a_disk_of_zones_within_two_percent_and_nine_within_one() {
    let truth = zoned_s(1e12, 1e12);
    for (places, share) in [(3, 0.02), (9, 0.01), (33, 0.01)] {
        let whole = Forecast::of(&course(1000 * GB, Some(&measured(places, 1000 * GB)), None)).unwrap().whole_s();
        assert!((whole / truth - 1.0).abs() < share, "{places} places: {whole} instead of {truth}");
    }
}

#[test]
fn a_copy_takes_at_each_place_as_long_as_its_slower_side() {
    let falling = measured(33, 100 * GB);
    let flat = Curve::flat(150e6).unwrap();
    let whole = |course: &Course<'_>| Forecast::of(course).unwrap().whole_s();
    let both = course(100 * GB, Some(&falling), Some(&flat));
    // Up to where the falling one has 150 MB/s the flat one counts, then the other.
    let middle = 50e9;
    let truth = middle / 150e6 + zoned_s(100e9, 100e9) - zoned_s(middle, 100e9);
    assert!((whole(&both) / truth - 1.0).abs() < 0.01, "{} {truth}", whole(&both));
    let in_turn = Course { in_turn: true, ..both };
    let sum = zoned_s(100e9, 100e9) + 100e9 / 150e6;
    assert!((whole(&in_turn) / sum - 1.0).abs() < 0.01, "{} {sum}", whole(&in_turn));
    let held = Course { limit_bytes_per_s: Some(50_000_000), ..both };
    assert!((whole(&held) / 2000.0 - 1.0).abs() < 1e-9);
    assert_eq!(held.bound(), Some(Bound::Limit));
}

#[test]
fn the_side_that_binds_is_named_and_none_where_one_is_not_known() {
    let near = Curve::flat(103e6).unwrap();
    let [fast, slow] = [200e6, 100e6].map(|rate| Curve::flat(rate).unwrap());
    let bound = |source, dest| course(GB, source, dest).bound();
    assert_eq!(bound(Some(&slow), Some(&fast)), Some(Bound::Side(Side::Source)));
    assert_eq!(bound(Some(&fast), Some(&slow)), Some(Bound::Side(Side::Dest)));
    assert_eq!(bound(Some(&slow), Some(&near)), Some(Bound::Both));
    assert_eq!(bound(Some(&slow), None), None);
    assert_eq!(Course { in_turn: true, ..course(GB, Some(&fast), Some(&slow)) }.bound(), Some(Bound::Both));
    assert_eq!(Forecast::of(&course(GB, None, None)), None);
    assert_eq!(Forecast::of(&course(0, Some(&fast), None)), None);
}

#[test]
fn a_backward_copy_begins_with_the_slow_end() {
    let curve = measured(33, 100 * GB);
    let forward = Forecast::of(&course(100 * GB, Some(&curve), None)).unwrap();
    let backward = Forecast::of(&Course { backward: true, ..course(100 * GB, Some(&curve), None) }).unwrap();
    assert!((forward.whole_s() - backward.whole_s()).abs() < 1e-6);
    assert!(backward.until(10 * GB) > 1.5 * forward.until(10 * GB));
}

/// So much data, all of it settled.
fn reached_at(settled_s: f64, bytes: u64) -> Reached {
    Reached { done_bytes: bytes, copied_bytes: bytes, data_bytes: bytes, settled_s, settled_bytes: bytes }
}

/// A copy at `slower` times the forecast's time, looked at 20 s back, at each percent: the largest error as a
/// share of what is left, from `from` on.
fn worst(slower: f64, from: u64) -> f64 {
    let size = 100 * GB;
    let forecast = Forecast::of(&course(size, Some(&measured(9, size)), None)).unwrap();
    let time = |place: u64| zoned_s(place as f64, size as f64) * slower;
    let whole = time(size);
    let reached = |place: u64| reached_at(time(place), place);
    let error = |percent: u64| {
        let now = reached(size / 100 * percent);
        let before =
            (0..=percent).rev().map(|percent| size / 100 * percent).find(|&place| now.settled_s - time(place) > 20.0);
        let left = forecast.left_s(&reached(before.unwrap_or(0)), &now).unwrap();
        (left / (whole - now.settled_s) - 1.0).abs()
    };
    (from..100).map(error).fold(0.0, f64::max)
}

#[test]
fn the_end_of_a_copy_across_zones_is_foretold_within_five_percent_from_a_tenth_on() {
    // Whoever takes the rate so far for that to come is wrong by a third at first.
    assert!(worst(1.0, 1) < 0.05, "{}", worst(1.0, 1));
    for slower in [0.5, 1.3, 3.0] {
        assert!(worst(slower, 10) < 0.05, "{slower} times as long: {}", worst(slower, 10));
    }
}

#[test]
fn before_the_first_byte_what_is_left_is_the_whole() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(10 * GB, Some(&curve), None)).unwrap();
    let start = Reached::default();
    assert_eq!(forecast.left_s(&start, &start), Some(100.0));
    // A second without a byte does not throw it about as much as a second is long by what has come.
    let waited = Reached { settled_s: 1.0, ..start };
    assert!(forecast.left_s(&start, &waited).unwrap() < 160.0);
}

#[test]
fn zeros_and_what_earlier_runs_copied_make_no_rate() {
    let curve = Curve::flat(1e6).unwrap();
    let forecast = Forecast::of(&course(200_000_000, Some(&curve), None)).unwrap();
    let already = Reached { done_bytes: 150_000_000, ..Reached::default() };
    let now = Reached {
        settled_s: 10.0,
        settled_bytes: 5_000_000,
        done_bytes: 160_000_000,
        copied_bytes: 10_000_000,
        data_bytes: 5_000_000,
    };
    // 5 MB of data in 10 s, half as fast as foretold, and of the 40 MB left a half is data.
    let left = forecast.left_s(&already, &now).unwrap();
    assert!((left / 40.0 - 1.0).abs() < 0.25, "{left}");
    let zeros = Reached { data_bytes: 0, settled_bytes: 0, ..now };
    assert_eq!(forecast.left_s(&already, &zeros), None);
}

#[test]
fn a_disk_that_has_become_slower_is_believed_after_a_while_and_one_that_only_seems_so_is_not() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(100 * GB, Some(&curve), None)).unwrap();
    let at = |at_s: f64, gigabytes: f64| {
        let bytes = (gigabytes * 1e9) as u64;
        reached_at(at_s, bytes)
    };
    // 50 GB at 100 MB/s, and 20 s at 50 MB/s.
    let left = forecast.left_s(&at(500.0, 50.0), &at(520.0, 51.0)).unwrap();
    assert!((left / 980.0 - 1.0).abs() < 0.05, "{left}");
    // 20 s in which the curve was wrong by 4 %.
    let left = forecast.left_s(&at(500.0, 50.0), &at(520.8, 52.0)).unwrap();
    assert!((left / 480.0 - 1.0).abs() < 0.01, "{left}");
}

#[test]
fn what_block_sizes_gave_that_were_only_tried_says_nothing_of_the_rest() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(10 * GB, Some(&curve), None)).unwrap();
    // 1 GB in 10 s as foretold, and 0.5 GB in 15 s of trying.
    let now = reached_at(25.0, GB + GB / 2);
    let tried = Reached { settled_s: 10.0, settled_bytes: GB, ..now };
    let left = |now: &Reached| forecast.left_s(&Reached::default(), now).unwrap();
    assert!((left(&tried) / 85.0 - 1.0).abs() < 0.01, "{}", left(&tried));
    assert!(left(&now) > 120.0, "otherwise it counts: {}", left(&now));
    // Nothing but trying so far, or lately: as foretold, or as before.
    let only = Reached { settled_s: 0.0, settled_bytes: 0, ..now };
    assert!((left(&only) / 85.0 - 1.0).abs() < 0.01, "{}", left(&only));
    let before = reached_at(10.0, GB);
    let lately = forecast.left_s(&before, &tried).unwrap();
    assert!((lately / 85.0 - 1.0).abs() < 0.01, "{lately}");
}
