use super::*;

const MIB: u64 = 1 << 20;

/// A copy that has transferred `data` after `millis`.
fn sample(millis: u64, data: u64) -> Sample {
    Sample {
        at: Duration::from_millis(millis),
        read_bytes: data,
        written_bytes: data,
        zeroed_bytes: 0,
        hole_bytes: 0,
        already_bytes: 0,
        stored_bytes: [0; 2],
        stored_total_bytes: 0,
        slowest_part: [None; 2],
        unread_sectors: 0,
        settled: Duration::from_millis(millis),
        settled_bytes: data,
        waited: [Duration::ZERO; 2],
        held: [Duration::ZERO; 2],
        phase: Phase::Copying,
        block_bytes: 1 << 20,
        queue_depth: [4, 4],
        pool_bytes: 8 << 20,
    }
}

/// A meter after `seconds` at `rate` bytes per second, ten samples per second.
fn steady(total: Option<u64>, rate: u64, seconds: u64) -> Meter {
    let mut meter = Meter::new(total, false);
    for tenth in 0..=seconds * 10 {
        meter.push(sample(tenth * 100, rate * tenth / 10));
    }
    meter
}

#[test]
fn nothing_is_known_before_the_first_sample() {
    assert_eq!(Meter::new(None, false).view(), None);
}

#[test]
fn the_first_sample_gives_no_rate_and_no_end() {
    let mut meter = Meter::new(Some(100), false);
    meter.push(sample(0, 0));
    let view = meter.view().unwrap();
    assert_eq!((view.left, view.write, view.slower), (None, Speed::default(), None));
}

#[test]
fn a_steady_copy_has_its_rate_as_current_and_as_mean() {
    let view = steady(Some(100 * MIB), MIB, 40).view().unwrap();
    assert_eq!((view.write.now_per_s, view.write.mean_per_s), (MIB, MIB));
    assert_eq!(view.left, Some(Duration::from_secs(60)));
}

#[test]
fn the_current_rate_covers_recent_samples_and_the_mean_all() {
    let mut meter = steady(None, MIB, 10);
    for tenth in 1..=30 {
        meter.push(sample(10_000 + tenth * 100, 10 * MIB + 5 * MIB * tenth / 10));
    }
    let view = meter.view().unwrap();
    assert_eq!(view.write.now_per_s, 5 * MIB);
    assert_eq!(view.write.mean_per_s, 25 * MIB / 13);
}

#[test]
fn holes_count_as_copied_but_do_not_spoil_rate_and_time_left() {
    let mut meter = Meter::new(Some(200 * MIB), false);
    for tenth in 0..=100 {
        let mut sample = sample(tenth * 100, MIB * tenth / 10);
        // 90 MiB of holes at once, in the middle.
        sample.hole_bytes = if tenth >= 50 { 90 * MIB } else { 0 };
        meter.push(sample);
    }
    let view = meter.view().unwrap();
    assert_eq!((view.copied_bytes, view.write.now_per_s), (100 * MIB, MIB));
    // A tenth of the copied bytes was data, so 10 of the remaining 100 MiB are expected to be.
    assert_eq!(view.left, Some(Duration::from_secs(10)));
}

#[test]
fn resumed_bytes_count_as_copied_but_not_in_the_rate() {
    let mut meter = Meter::new(Some(200 * MIB), false);
    for tenth in 0..=100 {
        meter.push(Sample { already_bytes: 150 * MIB, ..sample(tenth * 100, MIB * tenth / 10) });
    }
    let view = meter.view().unwrap();
    assert_eq!((view.copied_bytes, view.already_bytes, view.write.now_per_s), (160 * MIB, 150 * MIB, MIB));
    assert_eq!(view.left, Some(Duration::from_secs(40)));
}

#[test]
fn a_copy_of_zeros_has_a_remaining_time() {
    let mut meter = Meter::new(Some(100 * MIB), false);
    for second in 0..=10 {
        meter.push(Sample { zeroed_bytes: second * 5 * MIB, ..sample(second * 1000, 0) });
    }
    assert_eq!(meter.view().unwrap().left, Some(Duration::from_secs(10)));
}

#[test]
fn a_complete_copy_has_no_remaining_time() {
    assert_eq!(steady(Some(MIB), MIB, 1).view().unwrap().left, Some(Duration::ZERO));
}

#[test]
fn progress_never_exceeds_the_total() {
    assert_eq!(steady(Some(MIB), MIB, 2).view().unwrap().copied_bytes, MIB);
}

#[test]
fn a_copy_without_progress_is_stalled_after_three_seconds() {
    let mut meter = steady(Some(100 * MIB), MIB, 10);
    meter.push(sample(12_900, 10 * MIB));
    assert_eq!(meter.view().unwrap().stalled, None);
    meter.push(sample(14_000, 10 * MIB));
    assert_eq!(meter.view().unwrap().stalled, Some(Duration::from_secs(4)));
    meter.push(sample(14_100, 10 * MIB + 1));
    assert_eq!(meter.view().unwrap().stalled, None);
}

#[test]
fn the_bottleneck_is_that_of_recent_samples() {
    let mut meter = Meter::new(None, false);
    let waited = |source, dest| [source, dest].map(Duration::from_millis);
    meter.push(sample(0, 0));
    meter.push(Sample { waited: waited(9_000, 0), ..sample(10_000, MIB) });
    assert_eq!(meter.view().unwrap().slower, Some(Side::Source));
    meter.push(Sample { waited: waited(9_000, 1_500), ..sample(12_000, 2 * MIB) });
    assert_eq!(meter.view().unwrap().slower, Some(Side::Dest));
    meter.push(Sample { waited: waited(9_900, 2_450), ..sample(14_000, 3 * MIB) });
    assert_eq!(meter.view().unwrap().slower, None);
}

#[test]
fn a_copy_at_its_rate_limit_does_not_name_the_source() {
    let mut meter = Meter::new(None, true);
    meter.push(sample(0, 0));
    meter.push(Sample { waited: [Duration::from_secs(2), Duration::ZERO], ..sample(2_000, MIB) });
    let view = meter.view().unwrap();
    assert_eq!((view.slower, view.limited), (None, true));
    meter.push(Sample { waited: [2, 3].map(Duration::from_secs), ..sample(5_000, 2 * MIB) });
    let view = meter.view().unwrap();
    assert_eq!((view.slower, view.limited), (Some(Side::Dest), false));
}

#[test]
fn the_mean_rate_excludes_the_flush() {
    let mut meter = steady(Some(10 * MIB), MIB, 10);
    for second in 10..=20 {
        meter.push(Sample { phase: Phase::Flushing, ..sample(second * 1000, 10 * MIB) });
    }
    let view = meter.view().unwrap();
    assert_eq!((view.write.mean_per_s, view.flushing), (MIB, Some(Duration::from_secs(10))));
    assert_eq!(view.stalled, None);
}

#[test]
fn the_samples_of_a_long_copy_are_bounded() {
    let meter = steady(None, MIB, 1000);
    assert!(meter.samples.len() < 250, "{}", meter.samples.len());
}

#[test]
fn samples_in_quick_succession_keep_the_rate_stable() {
    let mut meter = steady(None, 1_000_000, 1);
    for millis in 1..=40 {
        meter.push(sample(1000 + millis, 1_000_000 + millis * 1000));
    }
    assert!(meter.samples.len() <= 12);
    assert_eq!(meter.view().unwrap().write.now_per_s, 1_000_000);
}

/// A disk whose second half is three times slower than its first.
fn two_zones(total: u64) -> Forecast {
    let zone = |offset, rate: u64| crate::measure::Zone { offset, bytes_per_s: rate as f64 };
    let zones = [zone(total / 2 - 1, 3 * MIB), zone(total / 2, MIB)];
    let curve = crate::measure::Curve::through(&zones).unwrap();
    let sides = [Some(&curve), None];
    let course = crate::measure::Course {
        len: total,
        sides,
        limit_bytes_per_s: None,
        in_turn: false,
        backward: false,
        faster_max: [1.0; 2],
        is_open: false,
        cache_bytes: 0,
    };
    Forecast::of(&course).unwrap()
}

#[test]
fn the_remaining_time_follows_the_forecast() {
    let left = |meter: Meter| meter.view().unwrap().left.unwrap().as_secs_f64();
    // 60 of 600 MiB in 20 s: 80 s for the rest of the first half, and 300 for the second.
    let ahead = left(steady(Some(600 * MIB), 3 * MIB, 20).estimated(Some(two_zones(600 * MIB))));
    assert!((ahead / 380.0 - 1.0).abs() < 0.02, "{ahead}");
    assert_eq!(left(steady(Some(600 * MIB), 3 * MIB, 20)), 180.0);
    // Twice as fast as estimated, and expected to stay so.
    let faster = left(steady(Some(600 * MIB), 6 * MIB, 20).estimated(Some(two_zones(600 * MIB))));
    assert!((faster / 180.0 - 1.0).abs() < 0.02, "{faster}");
}

#[test]
fn the_remaining_time_before_the_first_byte_is_the_estimate() {
    let mut meter = Meter::new(Some(600 * MIB), false).estimated(Some(two_zones(600 * MIB)));
    meter.push(sample(0, 0));
    let left = meter.view().unwrap().left.unwrap().as_secs_f64();
    assert!((left / 400.0 - 1.0).abs() < 0.01, "{left}");
}

#[test]
fn an_estimate_of_another_copy_is_ignored() {
    let meter = steady(Some(600 * MIB), 3 * MIB, 20).estimated(Some(two_zones(500 * MIB)));
    assert_eq!(meter.view().unwrap().left, Some(Duration::from_secs(180)));
}

#[test]
fn a_copy_of_zeros_ignores_the_estimate() {
    let mut meter = Meter::new(Some(100 * MIB), false).estimated(Some(two_zones(100 * MIB)));
    for second in 0..=12 {
        meter.push(Sample { zeroed_bytes: second * 5 * MIB, ..sample(second * 1000, 0) });
    }
    assert_eq!(meter.view().unwrap().left, Some(Duration::from_secs(8)));
}

#[test]
fn tuning_trials_do_not_set_the_remaining_time() {
    let mut meter = Meter::new(Some(100 * MIB), false);
    for second in 0..=10 {
        // 2 MiB per second, except for five seconds of trials at half of that.
        let tried = second.clamp(2, 7) - 2;
        let data = 2 * MIB * second - MIB * tried;
        let (settled, settled_bytes) = (Duration::from_secs(second - tried), data - MIB * tried);
        meter.push(Sample { settled, settled_bytes, ..sample(second * 1000, data) });
    }
    // 85 MiB at 2 MiB per second.
    assert_eq!(meter.view().unwrap().left, Some(Duration::from_millis(42_500)));
}

#[test]
fn a_compressed_source_has_a_rate_and_gives_the_share_and_the_remaining_time_of_a_stream() {
    let stored = |second: u64| Sample {
        stored_bytes: [second * 3 * MIB, 0],
        stored_total_bytes: 60 * MIB,
        ..sample(second * 1000, second * 20 * MIB)
    };
    let after_five = |total| {
        let mut meter = Meter::new(total, false);
        (0..=5).for_each(|second| meter.push(stored(second)));
        meter.view().unwrap()
    };
    let view = after_five(None);
    let expected = StoredView { side: Side::Source, bytes: 15 * MIB, total_bytes: Some(60 * MIB), now_per_s: 3 * MIB };
    assert_eq!((view.stored, view.share()), (Some(expected), Some((15 * MIB, 60 * MIB))));
    assert_eq!(view.left, Some(Duration::from_secs(15)));
    let view = after_five(Some(200 * MIB));
    assert_eq!((view.stored, view.share()), (Some(expected), Some((100 * MIB, 200 * MIB))));
    assert_eq!(view.left, Some(Duration::from_secs(5)), "the size of the content is better");
    let mut meter = Meter::new(None, false);
    (0..=5).for_each(|second| meter.push(Sample { stored_bytes: [0, second * MIB], ..sample(second * 1000, MIB) }));
    let view = meter.view().unwrap();
    let expected = StoredView { side: Side::Dest, bytes: 5 * MIB, total_bytes: None, now_per_s: MIB };
    assert_eq!((view.stored, view.share(), view.left), (Some(expected), None, None));
}
