use super::{Bursts, Governor, Limits, Round, Start, Verdict};
use crate::core::Tuning;
use proptest::prelude::*;
use std::cell::Cell;
use std::time::Duration;

const STEP_S: f64 = 0.25e-3;
const MIB: f64 = (1 << 20) as f64;

fn start() -> Start {
    let tuning = Tuning {
        limits: Limits { block_bytes: 1 << 20, in_flight: [2, 2], bursts: false },
        pool_bytes: 32 << 20,
        block_bytes_min: 128 << 10,
        block_bytes_max: 4 << 20,
        in_flight_max: 128,
        adaptive: true,
        tuned: false,
        bursts: Bursts::Never,
    };
    Start { tuning, len: None, rotational: [false; 2] }
}

/// The same with a changed plan.
fn start_with(change: impl FnOnce(&mut Tuning)) -> Start {
    let mut start = start();
    change(&mut start.tuning);
    start
}

/// Bytes per second of a device, given the number of requests in flight, the block size and the time.
type Rate<'a> = &'a dyn Fn(f64, f64, f64) -> f64;

/// A simulated copy: two devices and the pool between them, in steps of [`STEP_S`].
struct Copy<'a> {
    rates: [Rate<'a>; 2],
    governor: Governor,
    now_s: f64,
    /// Bytes transferred, and those of them in completed requests.
    moved: [f64; 2],
    completed: [u64; 2],
    changes: u32,
}

impl<'a> Copy<'a> {
    fn new(start: Start, rates: [Rate<'a>; 2]) -> Self {
        Copy { rates, governor: Governor::new(start), now_s: 0.0, moved: [0.0; 2], completed: [0; 2], changes: 0 }
    }

    fn run(mut self, seconds: f64) -> Self {
        while self.now_s < seconds {
            self.step();
        }
        self
    }

    fn step(&mut self) {
        self.now_s += STEP_S;
        let limits = self.governor.limits();
        let held = self.moved[0] - self.moved[1];
        let busy = [held < (32 << 20) as f64 - MIB, held > 0.0];
        let mut round = Round { now: Duration::from_secs_f64(self.now_s), ..Round::default() };
        for side in [0, 1] {
            if !busy[side] {
                continue;
            }
            let block = u64::from(limits.block_bytes);
            let most = if side == 1 { held } else { f64::MAX };
            round.in_flight[side] = limits.in_flight[side].min((most / block as f64).ceil() as u32);
            let rate = self.rates[side](f64::from(round.in_flight[side]), block as f64, self.now_s);
            self.moved[side] += (rate * STEP_S).min(most);
            while self.completed[side] + block <= self.moved[side] as u64 {
                self.completed[side] += block;
                round.completed[side] += 1;
                round.completed_bytes[side] += block;
            }
        }
        round.dest_bytes = self.completed[1];
        round.wrote_block_bytes = if round.completed[1] > 0 { limits.block_bytes } else { 0 };
        self.changes += u32::from(self.governor.observe(&round).is_some());
    }

    fn in_flight(&self) -> [u32; 2] {
        self.governor.limits().in_flight
    }
}

/// A rotational disk: more than two requests in flight are reordered.
fn head(in_flight: f64, _block: f64, _now_s: f64) -> f64 {
    if in_flight <= 2.0 { 150e6 } else { 100e6 }
}

/// A device whose requests take `turn_s` each, in parallel, on a link with the rate `most`.
fn parallel(in_flight: f64, block: f64, turn_s: f64, most: f64) -> f64 {
    (in_flight * block / (turn_s + block / 2e9)).min(most)
}

fn unlimited(_: f64, _: f64, _: f64) -> f64 {
    3e9
}

/// Pseudo-random from 0 to 1, changing every 40 ms.
fn noise(now_s: f64, salt: u64) -> f64 {
    let mixed = ((now_s / 0.04) as u64 ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as f64 / (1u64 << 24) as f64
}

#[test]
fn rotational_disks_stay_at_queue_depth_two() {
    let copy = Copy::new(start(), [&head, &head]).run(30.0);
    assert_eq!(copy.in_flight(), [2, 2], "{:?}", copy.governor.trials());
    assert_eq!(copy.governor.limits().block_bytes, 1 << 20);
    assert!(copy.governor.because().contains("a higher queue depth gained nothing"), "{}", copy.governor.because());
}

#[test]
fn tuning_costs_a_rotational_disk_little_time() {
    let governor = Copy::new(start(), [&head, &head]).run(30.0).governor;
    let lost_s = governor.lost().as_secs_f64();
    assert!(lost_s > 0.0 && lost_s < 0.3, "{lost_s}");
}

#[test]
fn parallel_disks_get_a_higher_depth_until_it_gains_nothing() {
    let flash = |in_flight: f64, block: f64, _: f64| parallel(in_flight, block, 1e-3, 6e9);
    let copy = Copy::new(start(), [&flash, &flash]).run(5.0);
    let bytes = copy.in_flight().map(|count| u64::from(count) * u64::from(copy.governor.limits().block_bytes));
    assert!(bytes.iter().all(|bytes| *bytes >= 8 << 20), "{:?} {:?}", copy.in_flight(), copy.governor.trials());
    assert!(copy.governor.because().starts_with("a higher queue depth gained "), "{}", copy.governor.because());
}

#[test]
fn a_source_of_high_latency_gets_half_of_the_pool() {
    let far = |in_flight: f64, block: f64, _: f64| parallel(in_flight, block, 20e-3, 2e9);
    let copy = Copy::new(start(), [&far, &unlimited]).run(5.0);
    let Limits { block_bytes, in_flight, .. } = copy.governor.limits();
    assert_eq!(u64::from(in_flight[0]) * u64::from(block_bytes), 16 << 20, "{:?}", copy.governor.trials());
}

#[test]
fn a_doubling_disturbed_by_a_pause_is_tried_again() {
    let doubled_at_s = Cell::new(f64::INFINITY);
    let far = |in_flight: f64, block: f64, now_s: f64| {
        if in_flight > 2.0 {
            doubled_at_s.set(doubled_at_s.get().min(now_s));
        }
        let paused = (0.0..0.3).contains(&(now_s - doubled_at_s.get()));
        parallel(in_flight, block, 20e-3, 2e9) * if paused { 0.4 } else { 1.0 }
    };
    // Too short for the trials that would follow.
    let copy = Copy::new(Start { len: Some(2 << 30), ..start() }, [&far, &unlimited]).run(2.0);
    assert_eq!(copy.governor.trials()[0].verdict, Verdict::Dropped, "{:?}", copy.governor.trials());
    assert!(copy.in_flight()[0] >= 16, "{:?}", copy.governor.trials());
}

#[test]
fn a_side_that_never_reaches_its_limit_is_not_evaluated() {
    let slow = |_: f64, _: f64, _: f64| 100e6;
    let copy = Copy::new(start(), [&slow, &unlimited]).run(30.0);
    let judged = copy.governor.trials().iter().filter_map(|trial| trial.side).map(crate::core::Side::index);
    assert!(!copy.governor.trials().is_empty());
    assert!(judged.clone().all(|side| side == 0), "{:?}", copy.governor.trials());
}

#[test]
fn noise_does_not_change_the_limits() {
    let noisy = |salt: u64| move |_: f64, _: f64, now_s: f64| 400e6 * (0.9 + 0.2 * noise(now_s, salt));
    for salt in 0..8 {
        let (source, dest) = (noisy(salt), noisy(salt + 100));
        let copy = Copy::new(Start { len: Some(4 << 30), ..start() }, [&source, &dest]).run(10.0);
        let kept = copy.governor.trials().iter().filter(|trial| trial.verdict == Verdict::Kept).count();
        assert!(kept == 0, "{salt}: {kept} {:?} {:?}", copy.in_flight(), copy.governor.trials());
    }
}

#[test]
fn a_disk_that_changes_during_the_copy_gets_a_higher_depth() {
    let changes = |in_flight: f64, block: f64, now_s: f64| match now_s < 20.0 {
        true => 800e6,
        false => parallel(in_flight, block, 20e-3, 800e6),
    };
    let copy = Copy::new(start(), [&unlimited, &changes]).run(90.0);
    assert!(copy.in_flight()[1] >= 8, "{:?} {:?}", copy.in_flight(), copy.governor.trials());
}

#[test]
fn fixed_limits_never_change() {
    let flash = |in_flight: f64, block: f64, _: f64| parallel(in_flight, block, 1e-3, 6e9);
    for bursts in [Bursts::Never, Bursts::Always, Bursts::Try] {
        let copy = Copy::new(start_with(|tuning| (tuning.adaptive, tuning.bursts) = (false, bursts)), [&flash, &flash])
            .run(2.0);
        assert_eq!((copy.changes, copy.in_flight()), (0, [2, 2]));
        assert_eq!(copy.governor.because(), "as set");
    }
}

#[test]
fn saved_settings_are_not_evaluated_in_the_first_second() {
    let flash = |in_flight: f64, block: f64, _: f64| parallel(in_flight, block, 1e-3, 6e9);
    let early = Copy::new(start_with(|tuning| tuning.tuned = true), [&flash, &flash]).run(0.9);
    assert_eq!(early.changes, 0);
    assert_eq!(early.governor.because(), "saved by haul tune");
    let short =
        Copy::new(Start { len: Some(1 << 30), ..start_with(|tuning| tuning.tuned = true) }, [&head, &head]).run(5.0);
    assert!(short.governor.trials().is_empty(), "{:?}", short.governor.trials());
}

#[test]
fn disturbed_windows_are_not_evaluated() {
    let mut governor = Governor::new(start());
    for round in 1..2000u32 {
        let now = Duration::from_millis(u64::from(round));
        let round = Round {
            now,
            completed: [1, 1],
            completed_bytes: [1 << 20; 2],
            in_flight: [2, 2],
            dest_bytes: u64::from(round) << 20,
            wrote_block_bytes: 1 << 20,
            finished: false,
            disturbed: true,
        };
        assert_eq!(governor.observe(&round), None);
    }
    assert_eq!(governor.steady_rate().bytes, 0);
}

#[test]
fn the_steady_rate_is_measured_between_trials() {
    let settled = Copy::new(start(), [&head, &head]).run(30.0).governor.steady_rate();
    let rate = settled.bytes as f64 / settled.time.as_secs_f64();
    assert!((rate / 150e6 - 1.0).abs() < 0.02, "{rate}");
}

proptest! {
    #[test]
    fn limits_stay_within_their_bounds(
        rounds in prop::collection::vec((0u64..20_000, any::<[u8; 2]>(), any::<[u8; 2]>(), any::<u8>()), 1..1500),
        block_shift in 15u32..24, in_flight in any::<[u8; 2]>(), in_flight_max in 1u32..200, bursts in 0u8..3,
        rotational in any::<[bool; 2]>(), len in prop::option::of(0u64..1 << 40), tuned in any::<bool>(),
    ) {
        let limits = Limits { block_bytes: 1 << block_shift, in_flight: in_flight.map(u32::from), bursts: false };
        let bursts = [Bursts::Never, Bursts::Try, Bursts::Always][usize::from(bursts)];
        let tuning = Tuning { limits, in_flight_max, bursts, tuned, ..start().tuning };
        let first = Start { tuning, rotational, len };
        let mut governor = Governor::new(first);
        let begun = governor.limits();
        let (mut now, mut dest_bytes) = (Duration::ZERO, 0);
        for (micros, completed, with, flags) in rounds {
            now += Duration::from_micros(micros);
            let block_bytes = governor.limits().block_bytes;
            let completed_bytes = completed.map(|count| u64::from(count) * u64::from(block_bytes));
            dest_bytes += completed_bytes[1];
            let changed = governor.observe(&Round {
                now, dest_bytes, completed_bytes,
                completed: completed.map(u32::from), in_flight: with.map(u32::from),
                wrote_block_bytes: if flags & 8 > 0 { block_bytes } else { 0 },
                finished: flags == 255, disturbed: flags & 0x70 == 0x70,
            });
            let limits = governor.limits();
            prop_assert_eq!(changed.unwrap_or(limits), limits);
            prop_assert!((128 << 10..=4 << 20).contains(&limits.block_bytes), "{:?}", limits);
            prop_assert!(limits.block_bytes.is_multiple_of(4096));
            prop_assert!(bursts != Bursts::Never || !limits.bursts);
            for side in [0, 1] {
                let bytes = |limits: &Limits| u64::from(limits.in_flight[side]) * u64::from(limits.block_bytes);
                prop_assert!((1..=in_flight_max).contains(&limits.in_flight[side]), "{:?}", limits);
                prop_assert!(bytes(&limits) <= bytes(&begun).max(16 << 20), "{:?} from {:?}", limits, begun);
            }
            prop_assert!(governor.lost() <= now);
        }
    }
}
