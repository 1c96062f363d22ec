//! Continuous writing: where a rate changed permanently, and the cause.
use super::found::{near, preset, subject};
use super::world::World;
use haul::core::{Op, Stop};
use haul::measure::{self, Stage, Sustained, Trend};
use modelled_disk::parameters::Parameters;

/// Writes this number of bytes to the disk, or until haul has measured enough.
fn sustained(disk: &Parameters, asked_bytes: u64) -> Sustained {
    written(disk, asked_bytes, false)
}

/// The same; the disk may report its temperature.
fn written(disk: &Parameters, asked_bytes: u64, has_sensor: bool) -> Sustained {
    let world = World::new();
    let mut subject = subject(&world, disk);
    subject.thermometer = has_sensor.then(|| world.thermometer(disk.heat_limit_c));
    subject.op = Op::Write;
    subject.content = vec![7; 4096];
    let found = measure::sustained(&mut subject, asked_bytes, None, &Stop::default(), &mut |_| {});
    assert!(found.failure.is_none(), "{:?}", found.failure);
    found
}

#[test]
fn sustained_writing_detects_the_exhausted_cache_and_ends_at_a_steady_rate() {
    // The requested amount would take up to a hundred times as long.
    for (asked, most) in [(4 << 30, 1 << 30), (64 << 30, 6 << 30)] {
        cache_runs_out(asked, most);
    }
}

/// Of `asked` bytes at most `most` are written.
fn cache_runs_out(asked: u64, most: u64) {
    let found = sustained(&preset("slow-ssd", 8 << 30, &[]), asked);
    let stages = found.stages();
    assert_eq!((stages.len(), found.trend()), (2, Trend::RanOut), "{stages:?}");
    let changed_at = stages[0].to.bytes as f64;
    assert!(near(changed_at, f64::from(256 << 20), 0.05), "{changed_at}");
    assert!(near(stages[0].bytes_per_s, 40e6, 0.05) && near(stages[1].bytes_per_s, 15e6, 0.05), "{stages:?}");
    assert!(found.settled && !found.went_round);
    assert!((2 * (256 << 20)..most).contains(&found.end.bytes), "{:?}", found.end);
    // The clock is that of the disk, so all bytes take the calculated time.
    let seconds = changed_at / 40e6 + (found.end.bytes as f64 - changed_at) / 15e6;
    assert!(near(found.end.seconds, seconds, 0.05), "{:?} instead of {seconds}", found.end);
}

/// The calculated rates of a disk that becomes too warm, in order: seconds, bytes and bytes per second of each, the
/// first from rest.
struct Turns {
    rates: [f64; 2],
    first_s: f64,
    slow_s: f64,
    fast_s: f64,
}

impl Turns {
    fn of(disk: &Parameters) -> Turns {
        let rates = [disk.rates[0].bytes_per_s as f64, disk.heat_bytes_per_s as f64];
        let leak_s = disk.heat_leak_ns as f64 / 1e9;
        // In °C above rest.
        let above = |celsius: u64| celsius as f64 - disk.heat_rest_c as f64;
        let (limit, back) = (above(disk.heat_limit_c), above(disk.heat_back_c));
        let last = rates.map(|rate| rate * leak_s / disk.heat_bytes_per_c as f64);
        let way_s = |from: f64, to: f64, last: f64| leak_s * ((last - from) / (last - to)).ln();
        Turns {
            rates,
            first_s: way_s(0.0, limit, last[0]),
            slow_s: way_s(limit, back, last[1]),
            fast_s: way_s(back, limit, last[0]),
        }
    }

    /// Seconds and bytes at the ends of `count` rates, and each rate.
    fn ends(&self, count: usize) -> Vec<(f64, f64, f64)> {
        let lengths = [self.first_s].into_iter().chain([self.slow_s, self.fast_s].into_iter().cycle());
        let lengths = lengths.zip(self.rates.into_iter().cycle()).take(count);
        let sums = lengths.scan((0.0, 0.0), |sums, (seconds, rate)| {
            *sums = (sums.0 + seconds, sums.1 + seconds * rate);
            Some((sums.0, sums.1, rate))
        });
        sums.collect()
    }
}

/// Asserts that rates and their ends are the calculated ones; the last measured one has no end yet.
fn assert_turns(stages: &[Stage], disk: &Parameters) {
    let ends = Turns::of(disk).ends(stages.len());
    for (number, (stage, (seconds, bytes, rate))) in stages.iter().zip(ends).enumerate() {
        assert!(near(stage.bytes_per_s, rate, 0.05), "{number}: {stage:?} instead of {rate}");
        if number + 1 < stages.len() {
            assert!(near(stage.to.bytes as f64, bytes, 0.05), "{number}: {stage:?} instead of {bytes}");
            assert!(near(stage.to.seconds, seconds, 0.05), "{number}: {stage:?} instead of {seconds} s");
        }
    }
}

#[test]
fn thermal_throttling_is_detected_with_each_change_within_five_percent() {
    let disk = preset("hot-ssd", 8 << 30, &[]);
    for has_sensor in [false, true] {
        let found = written(&disk, 1250 << 20, has_sensor);
        let stages = found.stages();
        assert_eq!((stages.len(), found.trend()), (7, Trend::Throttled), "{stages:?}");
        assert_turns(&stages, &disk);
        assert!(!found.settled && found.fell_hot() == has_sensor.then_some(true));
        assert_eq!(found.warmth.highest_c().is_some_and(|highest_c| (67.0..=70.0).contains(&highest_c)), has_sensor);
    }
}

#[test]
fn permanent_throttling_has_its_first_changes_and_mean_rate_detected() {
    // Two hundred changes, most of which the coarse steps hide.
    let disk = preset("hot-ssd", 8 << 30, &[]);
    let found = sustained(&disk, 64 << 30);
    assert_eq!((found.trend(), found.settled), (Trend::Throttled, false));
    assert_turns(&found.stages()[..7], &disk);
    let turns = Turns::of(&disk);
    let rate = (turns.slow_s * turns.rates[1] + turns.fast_s * turns.rates[0]) / (turns.slow_s + turns.fast_s);
    assert!(near(found.bytes_per_s(), rate, 0.05), "{} instead of {rate}", found.bytes_per_s());
}

#[test]
fn an_exhausted_cache_before_throttling_is_reported_beside_it() {
    let settings = [("slow_after_bytes", "256M"), ("slow_rate", "100MB")];
    let disk = preset("hot-ssd", 8 << 30, &settings);
    // It approaches 125 °C above rest, then 62.5.
    let cache = f64::from(256 << 20);
    let warm_c = 125.0 * (1.0 - (-cache / 200e6 / 10.0).exp());
    let hot = cache + 100e6 * 10.0 * ((62.5 - warm_c) / (62.5 - 30.0)).ln();
    for has_sensor in [false, true] {
        let found = written(&disk, 8 << 30, has_sensor);
        let stages = found.stages();
        assert_eq!(
            (found.trend(), found.fell_hot()),
            (Trend::RanOutAndThrottled, has_sensor.then_some(true)),
            "{stages:?}"
        );
        for (stage, (to, rate)) in stages.iter().zip([(cache, 200e6), (hot, 100e6)]) {
            assert!(near(stage.to.bytes as f64, to, 0.05), "{stage:?} instead of {to}");
            assert!(near(stage.bytes_per_s, rate, 0.05), "{stage:?} instead of {rate}");
        }
        assert!(near(stages[2].bytes_per_s, 20e6, 0.05), "{stages:?}");
    }
}

#[test]
fn an_exhausted_cache_between_two_throttlings_is_reported() {
    let disk = preset("hot-ssd", 8 << 30, &[("slow_after_bytes", "800M"), ("slow_rate", "100MB")]);
    for has_sensor in [false, true] {
        let found = written(&disk, 3 << 30, has_sensor);
        assert_eq!(found.trend(), Trend::RanOutAndThrottled, "{:?}", found.stages());
    }
}

#[test]
fn only_temperature_separates_permanent_throttling_from_an_exhausted_cache() {
    // Throttled it approaches 37.5 °C above rest, and is fast again at 22.
    let hot = preset("hot-ssd", 8 << 30, &[("heat_rate", "60MB")]);
    let tepid = [
        ("heat_per_c", "100MB"),
        ("heat_leak_ms", "10000"),
        ("heat_rest_c", "40"),
        ("heat_limit_c", "70"),
        ("heat_back_c", "60"),
        ("heat_rate", "1MB"),
    ];
    let cool = preset("slow-ssd", 8 << 30, &tepid);
    for (disk, has_sensor, expected) in [
        (&hot, false, (Trend::RanOut, None)),
        (&hot, true, (Trend::Throttled, Some(true))),
        (&cool, false, (Trend::RanOut, None)),
        (&cool, true, (Trend::RanOut, Some(false))),
    ] {
        let found = written(disk, 4 << 30, has_sensor);
        assert_eq!((found.trend(), found.fell_hot()), expected, "{:?}", found.stages());
        assert!(found.settled && found.stages().len() == 2);
    }
}

#[test]
fn writing_continues_until_a_cooling_drive_recovers() {
    // Too warm after 713 MB, fast again 921 MB later: longer than everything before.
    let settings = [("heat_rate", "40MB"), ("heat_per_c", "20MB"), ("heat_back_c", "61")];
    let disk = preset("hot-ssd", 8 << 30, &settings);
    let found = written(&disk, 4 << 30, true);
    assert!(found.stages().len() > 4 && !found.settled, "{:?}", found.stages());
    assert_eq!(found.trend(), Trend::Throttled);
    assert_turns(&found.stages()[..4], &disk);
    // That cannot be known in advance.
    assert!(written(&disk, 4 << 30, false).settled);
}
