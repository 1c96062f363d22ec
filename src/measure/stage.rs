//! Moments and stages of sustained writing.

/// The progress of writing at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteMoment {
    /// Bytes written so far.
    pub bytes: u64,
    /// Seconds since the first request.
    pub seconds: f64,
}

impl WriteMoment {
    /// Mean rate from this moment to a later one, in bytes per second.
    pub fn bytes_per_s_to(self, to: WriteMoment) -> f64 {
        (to.bytes - self.bytes) as f64 / (to.seconds - self.seconds).max(f64::MIN_POSITIVE)
    }
}

/// A period with a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Its start.
    pub from: WriteMoment,
    /// Its end.
    pub to: WriteMoment,
    /// Total bytes divided by total time: the median of alternating rates would be the faster one.
    pub bytes_per_s: f64,
}
