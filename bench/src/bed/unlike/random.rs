//! Random numbers that are the same for the same seed, on every machine and in every version.

/// A sequence of numbers.
pub struct Random {
    state: u64,
}

impl Random {
    /// Sequence number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.next() ^ stream.wrapping_mul(0xD605_BBB5_8C8A_BBFD);
        random.next();
        random
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to less than 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `least` to `most`, uniformly distributed.
    pub fn even(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// From `least` to `most`, with equal probability for each octave.
    pub fn log(&mut self, least: f64, most: f64) -> f64 {
        self.even(least.ln(), most.ln()).exp()
    }

    /// True with this probability.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// One of `these`.
    pub fn pick(&mut self, these: &[u32]) -> u32 {
        these[(self.unit() * these.len() as f64) as usize]
    }

    /// Shuffles `these`.
    pub fn shuffle<T>(&mut self, these: &mut [T]) {
        for last in (1..these.len()).rev() {
            these.swap(last, (self.unit() * (last + 1) as f64) as usize);
        }
    }
}
