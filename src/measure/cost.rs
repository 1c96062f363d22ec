//! What commands cost.

/// What a command of one size cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Bytes of it.
    pub bytes: u32,
    /// Median time of one, one after the other, in seconds.
    pub seconds: f64,
    /// Runs that this rests on.
    pub runs: usize,
}

impl Cost {
    /// Bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        f64::from(self.bytes) / self.seconds
    }
}
