//! Disks that become too warm, compared with the closed form of one mass that is warmed evenly and cools in
//! proportion to its temperature above rest.
use super::*;
use crate::limit::{Job, least_seconds};
use crate::model::counters::seconds;

/// At full rate it approaches 125 °C above rest, throttled 12.5; it throttles from 30 above rest down to 22.
const HOT: &str = "size=8GiB rate=200MB interface_rate=1GB heat_per_c=16MB heat_leak_ms=10000 heat_rest_c=40 \
    heat_limit_c=70 heat_rate=20MB heat_back_c=62";

const MB: f64 = 1e6;

/// Seconds from `from` to `to` while approaching `last`, all in °C above rest.
fn way_s(from: f64, to: f64, last: f64) -> f64 {
    10.0 * ((last - from) / (last - to)).ln()
}

/// The number of bytes at which sequential writing starts or stops throttling, and the time in seconds.
fn changes(words: &str, mib: u64) -> (Vec<f64>, Vec<f64>) {
    let mut disk = disk(words);
    let throttled_ns = 1e9 * MIB as f64 / parameters(words).scaled().heat_bytes_per_s as f64;
    let (mut now_ns, mut before) = (0, false);
    let (mut bytes, mut times) = (Vec::new(), Vec::new());
    for index in 0..mib {
        let at_ns = one(&mut disk, now_ns, Kind::Write, extent(index * MIB, MIB));
        let throttled = (at_ns - now_ns) as f64 > 0.8 * throttled_ns;
        if throttled != before {
            bytes.push((index * MIB) as f64);
            times.push(seconds(now_ns));
        }
        (now_ns, before) = (at_ns, throttled);
    }
    (bytes, times)
}

fn near(found: &[f64], expected: &[f64], by: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} instead of {expected:?}");
    let far = |(found, expected): (&f64, &f64)| (found - expected).abs() > by;
    assert!(!found.iter().zip(expected).any(far), "{found:?} instead of {expected:?}");
}

#[test]
fn writes_throttle_at_the_temperature_limit_and_recover_below_it_repeatedly() {
    let (first_s, slow_s, fast_s) = (way_s(0.0, 30.0, 125.0), way_s(30.0, 22.0, 12.5), way_s(22.0, 30.0, 125.0));
    let lengths = [(first_s, 200.0), (slow_s, 20.0), (fast_s, 200.0), (slow_s, 20.0)];
    let sums = lengths.iter().scan((0.0, 0.0), |sums, (s, rate)| {
        *sums = (sums.0 + s, sums.1 + s * rate * MB);
        Some(*sums)
    });
    let (times, bytes): (Vec<f64>, Vec<f64>) = sums.unzip();
    let found = changes(HOT, 1000);
    near(&found.0, &bytes, 2.0 * MIB as f64);
    near(&found.1, &times, 0.1);
}

#[test]
fn an_idle_disk_recovers_at_the_same_temperature() {
    let cooled_s = 10.0 * (30.0 / 22.0_f64).ln();
    for (rest_s, rate) in [(cooled_s - 0.01, 20.0), (cooled_s + 0.01, 200.0)] {
        let mut disk = disk(HOT);
        let hot_ns = one(&mut disk, 0, Kind::Write, extent(0, (way_s(0.0, 30.0, 125.0) * 200.0 * MB) as u64));
        assert!((disk.celsius(hot_ns) - 70.0).abs() < 0.01, "{}", disk.celsius(hot_ns));
        // The limit is reached by the last bytes, or by the next ones.
        let hot_ns = one(&mut disk, hot_ns, Kind::Write, extent(0, 64 * KIB));
        let begin_ns = hot_ns + (rest_s * 1e9) as u64;
        let took_ns = one(&mut disk, begin_ns, Kind::Write, extent(0, KIB)) - begin_ns;
        let expected_ns = KIB as f64 / (rate * MB) * 1e9;
        assert!((took_ns as f64 - expected_ns).abs() < 2.0, "{took_ns} instead of {expected_ns}");
    }
}

#[test]
fn temperature_decays_to_one_over_e_within_the_time_constant() {
    let mut disk = disk(HOT);
    assert!((disk.celsius(0) - 40.0).abs() < 1e-9);
    let end_ns = one(&mut disk, 0, Kind::Write, extent(0, 160_000_000));
    let above_c = disk.celsius(end_ns) - 40.0;
    assert!((above_c - 125.0 * (1.0 - (-0.08_f64).exp())).abs() < 1e-3, "{above_c}");
    let later_c = disk.celsius(end_ns + 10_000 * MS) - 40.0;
    assert!((later_c - above_c / std::f64::consts::E).abs() < 1e-6, "{later_c}");
}

#[test]
fn one_large_write_takes_as_long_as_many_small_ones() {
    let many_ns = Client { depth: 1, gap_ns: 0 }.run(&mut disk(HOT), &in_order(Kind::Write, 0, 1000 * MIB, 64 * KIB)).0;
    let one_ns = one(&mut disk(HOT), 0, Kind::Write, extent(0, 1000 * MIB));
    assert!(many_ns.abs_diff(one_ns) < MS, "{many_ns} and {one_ns}");
}

#[test]
fn a_drive_too_warm_even_when_throttled_never_recovers() {
    // 60 MB/s approach 37.5 °C above rest.
    let words = &HOT.replace("heat_rate=20MB", "heat_rate=60MB");
    let (bytes, _) = changes(words, 4000);
    near(&bytes, &[way_s(0.0, 30.0, 125.0) * 200.0 * MB], 2.0 * MIB as f64);
    let mut disk = disk(words);
    let end_ns = one(&mut disk, 0, Kind::Write, extent(0, 7 << 30));
    assert!((disk.celsius(end_ns) - 77.5).abs() < 0.1, "{}", disk.celsius(end_ns));
}

#[test]
fn a_slow_writer_never_reaches_the_temperature_limit() {
    let (bytes, _) = changes(&HOT.replace("rate=200MB", "rate=40MB"), 2000);
    near(&bytes, &[], 0.0);
}

#[test]
fn time_scale_keeps_the_offsets_of_temperature_changes() {
    let (bytes, times) = changes(HOT, 1000);
    let (scaled_bytes, scaled_times) = changes(&format!("{HOT} time_scale=4"), 1000);
    assert_eq!(bytes, scaled_bytes);
    near(&scaled_times, &times.iter().map(|time| time / 4.0).collect::<Vec<_>>(), 0.01);
}

#[test]
fn reads_do_not_heat_the_drive_and_are_never_throttled() {
    let mut disk = disk(HOT);
    let (end_ns, _) = Client { depth: 1, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Read, 0, 1000 * MIB, MIB));
    assert!((seconds(end_ns) - 1000.0 * MIB as f64 / (200.0 * MB)).abs() < 0.001, "{end_ns}");
    assert_eq!(disk.counters().throttles, 0);
    assert!((disk.counters().warmest_c - 40.0).abs() < 1e-9);
}

#[test]
fn counters_and_limit_include_thermal_throttling() {
    let mut disk = disk(HOT);
    let (end_ns, _) = Client { depth: 1, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Write, 0, 1000 * MIB, MIB));
    let counters = disk.counters();
    assert_eq!(counters.throttles, 2);
    assert!((counters.warmest_c - 70.0).abs() < 1e-9, "{counters:?}");
    let fast_s = (1000.0 * MIB as f64 - 20.0 * MB * counters.throttled_s) / (200.0 * MB);
    assert!((fast_s + counters.throttled_s - seconds(end_ns)).abs() < 0.001, "{counters:?}");
    let limit = least_seconds(&parameters(HOT), Job::Write, extent(0, 1000 * MIB), MIB);
    assert!((limit - seconds(end_ns)).abs() < 1e-6, "{limit}");
}

#[test]
fn with_a_fast_cell_cache_the_slower_rate_of_both_applies() {
    let words = &format!("{HOT} slow_after_bytes=256M slow_rate=100MB");
    // At 100 MB/s it warms further, towards 62.5 °C above rest.
    let after_s = 256.0 * MIB as f64 / (200.0 * MB);
    let warm_c = 125.0 * (1.0 - (-after_s / 10.0).exp());
    let hot_bytes = 256.0 * MIB as f64 + way_s(warm_c, 30.0, 62.5) * 100.0 * MB;
    let back_bytes = hot_bytes + way_s(30.0, 22.0, 12.5) * 20.0 * MB;
    let (bytes, _) = changes(words, 800);
    near(&bytes, &[hot_bytes, back_bytes], 2.0 * MIB as f64);
}
