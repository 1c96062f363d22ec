use super::*;

#[path = "pace_model.rs"]
mod model;
use model::{Devices, best_fixed};

fn tuning(block_bytes: u32, depth: u32) -> Tuning {
    Tuning {
        block_bytes,
        depth,
        adaptive: true,
        tuned: false,
        block_bytes_min: 64 << 10,
        block_bytes_max: 8 << 20,
        depth_max: 64,
        in_flight_bytes_max: 32 << 20,
    }
}

/// Copies for `seconds` at the rate that `rate` gives each pair at each time, in steps of 5 ms.
fn copy(tuning: Tuning, seconds: u64, rate: impl Fn(Pair, Duration) -> f64) -> Governor {
    let mut governor = Governor::new(tuning, None);
    let step = Duration::from_millis(5);
    let (mut now, mut arrived) = (Duration::ZERO, 0.0);
    while now < Duration::from_secs(seconds) {
        now += step;
        arrived += rate(governor.current(), now) * step.as_secs_f64();
        if governor.observe(now, arrived as u64).is_some() {
            governor.resumed(arrived as u64);
        }
    }
    governor
}

/// A moving head: the more requests compete, the more it travels, as measured on the modelled 7200 rpm pair.
fn moving_head(pair: Pair, _now: Duration) -> f64 {
    let times_the_limit = match (pair.block_bytes >> 10, pair.depth) {
        (1024.., ..=4) => 1.03,
        (1024.., ..=8) => 1.5,
        (1024.., _) => 2.5,
        (256.., ..=8) => 1.6,
        (256.., _) => 3.3,
        _ => 5.3,
    };
    150e6 / times_the_limit
}

#[test]
fn on_a_moving_head_few_large_requests_are_found() {
    let governor = copy(tuning(256 << 10, 32), 30, moving_head);
    let pair = governor.current();
    assert!(pair.block_bytes >= 1 << 20 && pair.depth <= 4, "{pair:?} of {:?}", governor.tried());
}

#[test]
fn where_every_pair_is_as_good_the_smallest_within_reach_is_taken_and_kept() {
    let governor = copy(tuning(256 << 10, 32), 60, |_, _| 2e9);
    assert!(governor.current().in_flight_bytes() <= 1 << 20, "{:?}", governor.current());
    assert!(governor.tried().len() < 20, "an endless search: {:?}", governor.tried());
}

#[test]
fn where_depth_counts_it_is_kept() {
    // 5 ms a request, 2 GB/s at the most.
    let latency_bound = |pair: Pair, _| (pair.in_flight_bytes() as f64 / 0.005).min(2e9);
    let governor = copy(tuning(256 << 10, 32), 30, latency_bound);
    let rate = latency_bound(governor.current(), Duration::ZERO);
    assert!(rate >= 0.95 * 2e9, "{:?} reaches {rate}", governor.current());
}

#[test]
fn a_short_copy_keeps_the_planned_pair() {
    let mut governor = Governor::new(tuning(256 << 10, 32), None);
    for ms in 1..300 {
        assert_eq!(governor.observe(Duration::from_millis(ms), ms * 8_000_000), None);
    }
}

#[test]
fn a_pair_given_by_the_user_is_never_left() {
    let fixed = Tuning { adaptive: false, ..tuning(64 << 10, 1) };
    let governor = copy(fixed, 20, moving_head);
    assert_eq!(governor.current(), Pair { block_bytes: 64 << 10, depth: 1 });
}

#[test]
fn a_disk_that_becomes_another_is_searched_again() {
    // After 40 s, depth costs: a cache ran full.
    let changing = |pair: Pair, now: Duration| match () {
        () if now < Duration::from_secs(40) => (pair.in_flight_bytes() as f64 / 0.01).min(500e6),
        () => moving_head(pair, now),
    };
    let governor = copy(tuning(256 << 10, 32), 200, changing);
    assert!(governor.current().depth <= 4, "{:?} of {:?}", governor.current(), governor.tried());
}

#[test]
fn bounds_are_kept_by_every_trial() {
    let governor = copy(tuning(8 << 20, 4), 30, |pair, _| 1e6 * f64::from(pair.depth));
    for (block_bytes, depth, _) in governor.tried() {
        assert!(u64::from(block_bytes) * u64::from(depth) <= 32 << 20 && depth <= 64 && block_bytes <= 8 << 20);
    }
}

const GB: u64 = 1_000_000_000;

/// Bytes a second of a modelled pair of devices.
type Rate = fn(Pair, f64, u64) -> f64;

/// Searches of a copy: changes of the pair with at least 20 s of quiet before them.
fn searches(copied: &model::Copied) -> usize {
    copied.changes.windows(2).filter(|two| two[1] - two[0] > 20.0).count() + 1
}

/// Copies with the rates varying by a tenth for half a second at a time, 40 times in different ways: how many times
/// longer than the best pair each took.
fn noisy_copies(total: u64, latency: f64, rate: Rate) -> Vec<(f64, model::Copied)> {
    let devices = Devices { rate, noise: 0.1, noise_lasts: 0.5, latency };
    let start = tuning(256 << 10, 32);
    let best = best_fixed(start, total, &devices);
    let copies = (1..=40).map(|seed| model::copy(start, total, seed, &devices));
    copies.map(|copied| (copied.seconds / best, copied)).collect()
}

#[test]
fn whatever_the_devices_the_search_costs_less_than_a_twentieth_of_a_copy() {
    let devices: [(&str, u64, f64, Rate); 6] = [
        ("a moving head", 20 * GB, 0.008, |pair, _, _| moving_head(pair, Duration::ZERO)),
        ("all pairs alike", 20 * GB, 0.0005, |_, _, _| 500e6),
        ("a slow stick", 4 * GB, 0.002, |_, _, _| 20e6),
        ("5 ms a request", 60 * GB, 0.005, |pair, _, _| (pair.in_flight_bytes() as f64 / 0.005).min(2e9)),
        ("20 ms a request", 60 * GB, 0.02, |pair, _, _| (pair.in_flight_bytes() as f64 / 0.02).min(1e9)),
        ("2000 requests a second", 20 * GB, 0.002, |pair, _, _| (f64::from(pair.block_bytes) * 2000.0).min(600e6)),
    ];
    for (name, total, latency, rate) in devices {
        for (ratio, copied) in noisy_copies(total, latency, rate) {
            assert!(ratio < 1.05, "{name}: {ratio:.3} with {:?}", copied.governor.tried());
        }
    }
}

#[test]
fn a_disk_that_stalls_now_and_then_is_not_searched_again_and_again() {
    let stalls: Rate = |_, now, _| if now % 10.0 < 2.0 { 0.2e6 } else { 40e6 };
    for (ratio, copied) in noisy_copies(8 * GB, 0.002, stalls) {
        assert!(ratio < 1.05 && searches(&copied) <= 3, "{ratio:.3}: {:?}", copied.changes);
    }
}

#[test]
fn searches_of_a_disk_that_is_fast_and_slow_in_turn_become_rare() {
    // A minute each: every search finds another disk than the one before.
    let changing: Rate = |_, now, _| if now % 120.0 < 60.0 { 100e6 } else { 10e6 };
    for (_, copied) in noisy_copies(100 * GB, 0.002, changing) {
        assert!(copied.seconds > 1800.0);
        assert!(searches(&copied) <= 6, "{:?}", copied.changes);
    }
}

#[test]
fn a_copy_that_is_nearly_over_is_not_searched() {
    for (_, copied) in noisy_copies(2 * GB, 0.0005, |_, _, _| 600e6) {
        assert!(copied.changes.is_empty());
    }
}

#[test]
fn nothing_that_arrives_or_does_not_makes_a_division_by_zero() {
    let mut governor = Governor::new(tuning(256 << 10, 32), Some(0));
    for (ms, arrived) in [(0, 0), (500, 0), (500, 9 << 20), (500, 9 << 20), (10_000, 9 << 20), (20_000, 10 << 20)] {
        governor.observe(Duration::from_millis(ms), arrived);
        assert!(governor.tried().iter().all(|&(_, _, rate)| rate < u64::MAX));
    }
}

#[test]
fn a_pair_that_was_only_lucky_is_found_out_and_the_search_goes_on() {
    // A cache takes what is written during the first trials: a bad pair looks good.
    let mut governor = Governor::new(tuning(256 << 10, 32), None);
    let (mut arrived, mut now) = (0.0, Duration::ZERO);
    let mut cache_lasts = Duration::from_millis(600);
    while now < Duration::from_secs(40) {
        now += Duration::from_millis(5);
        let mut rate = (governor.current().in_flight_bytes() as f64 / 0.02).min(800e6);
        if cache_lasts > Duration::ZERO && governor.state == State::Searching {
            cache_lasts -= Duration::from_millis(5);
            rate = 900e6;
        }
        arrived += rate * 0.005;
        if governor.observe(now, arrived as u64).is_some() {
            governor.resumed(arrived as u64);
        }
    }
    let rate = governor.current().in_flight_bytes() as f64 / 0.02;
    assert!(rate >= 0.95 * 800e6, "{:?} of {:?}", governor.current(), governor.tried());
}

#[test]
fn what_fills_the_pipe_and_is_tried_is_not_settled_and_everything_else_is() {
    let planned = Pair { block_bytes: 1 << 20, depth: 8 };
    let step = Duration::from_millis(5);
    let steps = 2000;
    let unsettled = |adaptive: bool| {
        let mut governor = Governor::new(Tuning { adaptive, ..tuning(planned.block_bytes, planned.depth) }, None);
        let (mut now, mut arrived, mut began) = (Duration::ZERO, 0, 0);
        let (mut time, mut bytes) = (Duration::ZERO, 0);
        for _ in 0..steps {
            // What is tried is slow, so a search is made of trials that are given up.
            let came = if governor.current() == planned { 1_000_000 } else { 400_000 };
            if governor.current() == planned && arrived >= began + planned.in_flight_bytes() {
                (time, bytes) = (time + step, bytes + came);
            }
            now += step;
            arrived += came;
            if governor.observe(now, arrived).is_some() {
                governor.resumed(arrived);
                began = arrived;
            }
        }
        assert_eq!((governor.settled().time, governor.settled().bytes), (time, bytes));
        now - time
    };
    assert_eq!(unsettled(false), 9 * step, "8 MiB fill the pipe");
    assert!(unsettled(true) > Duration::from_millis(400), "it tried as well");
}

#[test]
fn what_was_measured_beforehand_is_left_only_by_a_long_copy() {
    let tuned = Tuning { tuned: true, ..tuning(1 << 20, 8) };
    let tried = |tuning: Tuning, seconds: u64| {
        let mut governor = Governor::new(tuning, Some(100_000_000 * seconds));
        for step in 1..seconds * 10 {
            if governor.observe(Duration::from_millis(step * 100), step * 10_000_000).is_some() {
                governor.resumed(step * 10_000_000);
            }
        }
        governor.tried().len()
    };
    assert_eq!(tried(tuned, 20), 0);
    assert!(tried(Tuning { tuned: false, ..tuned }, 20) > 1);
    assert!(tried(tuned, 120) > 1);
}
