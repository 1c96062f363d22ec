//! A copy between modelled devices in simulated time, under the governor.
use super::*;

/// A step of simulated time, in seconds.
const STEP: f64 = 0.002;

/// What a pair of devices does together.
pub(super) struct Devices {
    /// Bytes a second, given the pair, the seconds since the beginning and the bytes copied.
    pub(super) rate: fn(Pair, f64, u64) -> f64,
    /// Rates vary at random by at most this share, upwards and downwards.
    pub(super) noise: f64,
    /// A random rate lasts so long, in seconds.
    pub(super) noise_lasts: f64,
    /// A request to idle devices takes so long beside its transfer, in seconds.
    pub(super) latency: f64,
}

/// How a copy went.
pub(super) struct Copied {
    pub(super) seconds: f64,
    pub(super) governor: Governor,
    /// When the pair was changed, in seconds.
    pub(super) changes: Vec<f64>,
}

/// From 0 to 1, the same for the same seed (xorshift).
fn random(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Copies `total` bytes. A change of the pair costs what it costs the pump: all in flight comes home, then the pipe
/// fills again.
pub(super) fn copy(tuning: Tuning, total: u64, seed: u64, devices: &Devices) -> Copied {
    let mut governor = Governor::new(tuning, Some(total));
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let (mut now, mut moved, mut noise, mut noise_until) = (0.0, 0.0, 1.0, 0.0);
    let (mut pair, mut changes) = (governor.current(), Vec::new());
    let mut draining: Option<(f64, Pair)> = None;
    while moved < total as f64 {
        if now >= noise_until {
            noise = 1.0 + devices.noise * (2.0 * random(&mut state) - 1.0);
            noise_until = now + devices.noise_lasts;
        }
        let rate = (devices.rate)(pair, now, moved as u64) * noise;
        now += STEP;
        moved += rate * STEP;
        let block = u64::from(pair.block_bytes);
        let arrived = moved as u64 / block * block;
        if let Some((until, next)) = draining {
            if moved >= until {
                now += devices.latency + f64::from(next.block_bytes) / rate;
                (draining, pair) = (None, next);
                governor.resumed(arrived);
            }
        } else if let Some(next) = governor.observe(Duration::from_secs_f64(now), arrived) {
            draining = Some((moved + pair.in_flight_bytes() as f64, next));
            changes.push(now);
        }
    }
    Copied { seconds: now, governor, changes }
}

/// Seconds that the best of all pairs takes when it is used throughout and nothing varies.
pub(super) fn best_fixed(tuning: Tuning, total: u64, devices: &Devices) -> f64 {
    let calm = Devices { noise: 0.0, ..*devices };
    let blocks = (16..=23).map(|power| 1 << power);
    let pairs = blocks.flat_map(|block_bytes| (1..=6).map(move |power| Pair { block_bytes, depth: 1 << power }));
    let fits = pairs.filter(|pair| pair.in_flight_bytes() <= u64::from(tuning.in_flight_bytes_max));
    let fixed = |Pair { block_bytes, depth }| Tuning { adaptive: false, block_bytes, depth, ..tuning };
    fits.map(|pair| copy(fixed(pair), total, 1, &calm).seconds).fold(f64::MAX, f64::min)
}
