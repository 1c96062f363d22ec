use super::super::zones::Zone;
use super::*;

const GB: u64 = 1_000_000_000;

/// A disk with 15 zones from 200 MB/s to 100 MB/s: the time of its bytes before `place`.
fn zoned_s(place: f64, size: f64) -> f64 {
    let rate = |zone: u32| 200e6 - 100e6 * f64::from(zone) / 14.0;
    let part = |zone: u32| (place - size / 15.0 * f64::from(zone)).clamp(0.0, size / 15.0);
    (0..15).map(|zone| part(zone) / rate(zone)).sum()
}

/// The curve measured in the middle of each of `places` parts.
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
    Course {
        len,
        sides: [source, dest],
        limit_bytes_per_s: None,
        in_turn: false,
        backward: false,
        faster_max: [1.0; 2],
        is_open: false,
        cache_bytes: 0,
    }
}

#[test]
fn three_samples_predict_a_zoned_disk_within_two_percent_and_nine_within_one() {
    let truth = zoned_s(1e12, 1e12);
    for (places, share) in [(3, 0.02), (9, 0.01), (33, 0.01)] {
        let whole = Forecast::of(&course(1000 * GB, Some(&measured(places, 1000 * GB)), None)).unwrap().whole_s();
        assert!((whole / truth - 1.0).abs() < share, "{places} places: {whole} instead of {truth}");
    }
}

#[test]
fn the_slower_side_sets_the_time_at_each_offset() {
    let falling = measured(33, 100 * GB);
    let flat = Curve::flat(150e6).unwrap();
    let whole = |course: &Course<'_>| Forecast::of(course).unwrap().whole_s();
    let both = course(100 * GB, Some(&falling), Some(&flat));
    // The flat curve counts up to where the falling one has 150 MB/s, then the falling one.
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
fn the_limiting_side_is_named_only_if_both_are_known() {
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

/// Progress with this amount of data, all in steady state.
fn reached_at(settled_s: f64, bytes: u64) -> CopyProgress {
    CopyProgress { done_bytes: bytes, copied_bytes: bytes, data_bytes: bytes, settled_s, settled_bytes: bytes }
}

/// The remaining time predicted after these moments.
fn left_of(forecast: &Forecast, moments: &[CopyProgress]) -> Option<f64> {
    let mut track = ProgressTrack::default();
    moments.iter().for_each(|moment| track.push(*moment));
    forecast.left_s(&track)
}

/// A copy with the given rates, each up to an offset, with ten moments per second.
fn at_rates(rates: &[(f64, u64)]) -> Vec<CopyProgress> {
    let (mut at_s, mut done, mut moments) = (0.0, 0.0, vec![CopyProgress::default()]);
    for &(rate, to) in rates {
        while (done as u64) < to {
            (at_s, done) = (at_s + 0.1, done + rate / 10.0);
            moments.push(reached_at(at_s, done as u64));
        }
    }
    moments
}

/// A copy that takes `slower` times the forecast, checked at every percent: the maximum error as a share of the
/// remaining time, from `from` percent on.
fn worst(slower: f64, from: u64) -> f64 {
    let size = 100 * GB;
    let forecast = Forecast::of(&course(size, Some(&measured(9, size)), None)).unwrap();
    let time = |place: u64| zoned_s(place as f64, size as f64) * slower;
    let whole = time(size);
    let mut track = ProgressTrack::default();
    let mut worst = 0.0f64;
    for percent in 0..100 {
        let place = size / 100 * percent;
        track.push(reached_at(time(place), place));
        if percent >= from {
            let left = forecast.left_s(&track).unwrap();
            worst = worst.max((left / (whole - time(place)) - 1.0).abs());
        }
    }
    worst
}

#[test]
fn the_end_of_a_copy_across_zones_is_estimated_within_five_percent_from_a_tenth_on() {
    // An estimate from the mean rate so far would be wrong by a third at first.
    assert!(worst(1.0, 1) < 0.05, "{}", worst(1.0, 1));
    for slower in [0.5, 1.3, 3.0] {
        assert!(worst(slower, 10) < 0.05, "{slower} times as long: {}", worst(slower, 10));
    }
}

#[test]
fn before_the_first_byte_what_is_left_is_the_whole() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(10 * GB, Some(&curve), None)).unwrap();
    assert_eq!(left_of(&forecast, &[]), Some(100.0));
    // One second without data hardly changes the remaining time.
    let waited = CopyProgress { settled_s: 1.0, ..CopyProgress::default() };
    assert!(left_of(&forecast, &[waited]).unwrap() < 160.0);
}

#[test]
fn an_estimate_range_gives_no_remaining_time_before_the_first_rate() {
    let curve = Curve::flat(100e6).unwrap();
    let known = course(10 * GB, Some(&curve), None);
    for range in [Course { is_open: true, ..known }, Course { faster_max: [4.0, 1.0], ..known }] {
        let forecast = Forecast::of(&range).unwrap();
        assert_eq!((left_of(&forecast, &[]), forecast.expected_s()), (None, None));
        // A fifth of the rate that was read: the measured read rate has no weight.
        let left = left_of(&forecast, &at_rates(&[(20e6, GB / 2)])).unwrap();
        assert!((left / 475.0 - 1.0).abs() < 0.01, "{left}");
    }
}

#[test]
fn the_bounds_of_an_estimate_follow_from_the_unknown_rates() {
    let [fast, slow] = [200e6, 100e6].map(|rate| Curve::flat(rate).unwrap());
    let bounds = |course: Course<'_>| course.bounds_s();
    let both = course(GB, Some(&fast), Some(&slow));
    let close = |(least, most): (f64, Option<f64>), wanted: (f64, Option<f64>)| {
        assert!((least - wanted.0).abs() < 1e-6, "{least} {wanted:?}");
        assert!(most.zip(wanted.1).map_or(most == wanted.1, |(one, other)| (one - other).abs() < 1e-6), "{most:?}");
    };
    close(bounds(both), (10.0, Some(10.0)));
    close(bounds(Course { faster_max: [4.0, 1.0], ..both }), (10.0, Some(10.0)));
    close(bounds(Course { faster_max: [1.0, 4.0], ..both }), (5.0, Some(10.0)));
    close(bounds(Course { faster_max: [1.0, f64::INFINITY], is_open: true, ..both }), (5.0, None));
}

#[test]
fn zeros_and_resumed_bytes_are_excluded_from_the_rate() {
    let curve = Curve::flat(1e6).unwrap();
    let forecast = Forecast::of(&course(200_000_000, Some(&curve), None)).unwrap();
    let already = CopyProgress { done_bytes: 150_000_000, ..CopyProgress::default() };
    let now = CopyProgress {
        settled_s: 10.0,
        settled_bytes: 5_000_000,
        done_bytes: 160_000_000,
        copied_bytes: 10_000_000,
        data_bytes: 5_000_000,
    };
    // 5 MB of data in 10 s, half as fast as estimated; half of the remaining 40 MB is data.
    let left = left_of(&forecast, &[already, now]).unwrap();
    assert!((left / 40.0 - 1.0).abs() < 0.25, "{left}");
    let zeros = CopyProgress { data_bytes: 0, settled_bytes: 0, ..now };
    assert_eq!(left_of(&forecast, &[already, zeros]), None);
}

#[test]
fn bytes_absorbed_by_a_cache_at_the_start_are_excluded() {
    let curve = Curve::flat(400e6).unwrap();
    let open = Course { is_open: true, ..course(40 * GB, Some(&curve), None) };
    let forecast = Forecast::of(&open).unwrap();
    // 4 GB at 400 MB/s into a cache, then 50 MB/s.
    let left = left_of(&forecast, &at_rates(&[(400e6, 4 * GB), (50e6, 6 * GB)])).unwrap();
    assert!((left / 680.0 - 1.0).abs() < 0.02, "{left}");
}

#[test]
fn the_write_cache_of_a_hard_disk_does_not_raise_its_rate() {
    let curve = Curve::flat(150e6).unwrap();
    let cached = Course { cache_bytes: 256 << 20, ..course(4 * GB, None, Some(&curve)) };
    // 0.25 GB at 200 MB/s, of which 64 MB are still in the cache.
    let moments = at_rates(&[(200e6, GB * 2 / 5)]);
    let left = |course: &Course<'_>| left_of(&Forecast::of(course).unwrap(), &moments).unwrap();
    assert!((left(&cached) / 24.0 - 1.0).abs() < 0.02, "{}", left(&cached));
    assert!(left(&Course { cache_bytes: 0, ..cached }) < 20.0, "otherwise it counts");
    // A cache does not make a copy slower.
    let slow = left_of(&Forecast::of(&cached).unwrap(), &at_rates(&[(75e6, GB * 2 / 5)])).unwrap();
    assert!((slow / 48.0 - 1.0).abs() < 0.05, "{slow}");
}

#[test]
fn an_unknown_dest_has_a_uniform_rate() {
    // The source slows down from 200 to 100 MB/s; the dest writes at 50 MB/s, which only the copy reveals.
    let size = 100 * GB;
    let falling = measured(9, size);
    let open = Course { is_open: true, ..course(size, Some(&falling), None) };
    let left = left_of(&Forecast::of(&open).unwrap(), &at_rates(&[(50e6, 10 * GB)])).unwrap();
    assert!((left / 1800.0 - 1.0).abs() < 0.02, "{left}");
}

#[test]
fn a_lasting_slowdown_is_accepted_and_a_brief_one_is_not() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(100 * GB, Some(&curve), None)).unwrap();
    let left = |rates| left_of(&forecast, &at_rates(rates)).unwrap();
    let changed = left(&[(100e6, 30 * GB), (50e6, 45 * GB)]);
    assert!((changed / 1100.0 - 1.0).abs() < 0.05, "{changed}");
    // A tenth of the data was slower: it counts, but not alone.
    let lately = left(&[(100e6, 45 * GB), (60e6, 50 * GB)]);
    assert!((lately / 533.0 - 1.0).abs() < 0.02, "{lately}");
    // A part in which the curve was wrong by 4 %.
    let level = left(&[(100e6, 45 * GB), (96e6, 50 * GB)]);
    assert!((level / 500.0 - 1.0).abs() < 0.01, "{level}");
}

#[test]
fn tuning_trials_are_excluded_from_the_estimate() {
    let curve = Curve::flat(100e6).unwrap();
    let forecast = Forecast::of(&course(10 * GB, Some(&curve), None)).unwrap();
    // 1 GB in 10 s as estimated, and 0.5 GB in 15 s of trials.
    let now = reached_at(25.0, GB + GB / 2);
    let tried = CopyProgress { settled_s: 10.0, settled_bytes: GB, ..now };
    let left = |now: CopyProgress| left_of(&forecast, &[now]).unwrap();
    assert!((left(tried) / 85.0 - 1.0).abs() < 0.01, "{}", left(tried));
    assert!(left(now) > 120.0, "otherwise it counts: {}", left(now));
    // Only trials so far: the estimate counts.
    let only = CopyProgress { settled_s: 0.0, settled_bytes: 0, ..now };
    assert!((left(only) / 85.0 - 1.0).abs() < 0.01, "{}", left(only));
}

#[test]
fn the_moments_of_a_long_copy_are_bounded() {
    let mut track = ProgressTrack::default();
    at_rates(&[(1e6, GB / 2)]).into_iter().for_each(|moment| track.push(moment));
    assert!((MARKS_MAX / 2 - 1..=MARKS_MAX).contains(&track.marks.len()), "{}", track.marks.len());
    assert_eq!(track.marks[0], CopyProgress::default());
}

#[test]
fn a_second_pass_of_a_copy_begins_a_new_track() {
    let mut track = ProgressTrack::default();
    track.push(reached_at(10.0, GB));
    let again = CopyProgress { done_bytes: GB, copied_bytes: GB + GB / 8, ..CopyProgress::default() };
    track.push(again);
    assert_eq!((track.marks.len(), track.marks[0]), (1, CopyProgress::default()));
    track.push(CopyProgress { settled_s: 1.0, settled_bytes: GB / 8, ..again });
    assert_eq!(track.marks.len(), 2);
}
