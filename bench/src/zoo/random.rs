//! Random numbers that are the same for the same seed, on every platform.

/// A pseudorandom number, a function of both.
pub(super) fn hash(one: u64, other: u64) -> u64 {
    let mut mixed = one ^ other.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// From 0 to 1, a function of both.
pub(super) fn unit(one: u64, other: u64) -> f64 {
    (hash(one, other) >> 11) as f64 / (1u64 << 53) as f64
}

/// Standard normal, a function of both.
pub(super) fn gauss(one: u64, other: u64) -> f64 {
    let radius = (-2.0 * unit(one, other * 2 + 1).max(1e-12).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(one, other * 2 + 2)).cos()
}

/// A sequence of random numbers.
#[derive(Clone)]
pub(super) struct Random {
    seed: u64,
    drawn: u64,
    /// Ranges are this much wider at both ends.
    wider: f64,
}

impl Random {
    /// The sequence of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Random { seed: hash(seed, 77), drawn: 0, wider: 1.0 }
    }

    /// The same sequence, over ranges that are this much wider at both ends.
    pub(super) fn wider(self, wider: f64) -> Self {
        Random { wider, ..self }
    }

    /// From 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.drawn += 1;
        unit(self.seed, self.drawn)
    }

    /// True for one in `count` seeds.
    pub(super) fn one_in(&self, count: u64) -> bool {
        self.seed.is_multiple_of(count)
    }

    /// Exponentially distributed with that mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        if mean == 0.0 { 0.0 } else { -mean * (1.0 - self.unit()).ln() }
    }

    /// Uniformly distributed between both, as a share: at least 0 and at most 1.
    pub(super) fn share(&mut self, from: f64, to: f64) -> f64 {
        self.even(from, to).clamp(0.0, 1.0)
    }

    /// Uniformly distributed between both.
    pub(super) fn even(&mut self, from: f64, to: f64) -> f64 {
        let (from, to) = (from / self.wider, to * self.wider);
        from + (to - from) * self.unit()
    }

    /// Between both, with equal probability for each octave.
    pub(super) fn sized(&mut self, from: f64, to: f64) -> f64 {
        let (from, to) = ((from / self.wider).ln(), (to * self.wider).ln());
        (from + (to - from) * self.unit()).exp()
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.unit() * of.len() as f64) as usize % of.len()]
    }
}
