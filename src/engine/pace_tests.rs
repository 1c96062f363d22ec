use super::*;

fn tuning(block_bytes: u32, depth: u32) -> Tuning {
    Tuning {
        block_bytes,
        depth,
        adaptive: true,
        block_bytes_min: 64 << 10,
        block_bytes_max: 8 << 20,
        depth_max: 64,
        in_flight_bytes_max: 32 << 20,
    }
}

/// Copies for `seconds` at the rate that `rate` gives each pair at each time, in steps of 5 ms.
fn copy(tuning: Tuning, seconds: u64, rate: impl Fn(Pair, Duration) -> f64) -> Governor {
    let mut governor = Governor::new(tuning);
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
    let mut governor = Governor::new(tuning(256 << 10, 32));
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
