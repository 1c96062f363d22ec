//! How far a run of writing on and on had come, and rates that held.

/// How far writing was by when.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteMoment {
    /// Bytes written until then.
    pub bytes: u64,
    /// Seconds since the first request.
    pub seconds: f64,
}

impl WriteMoment {
    /// Bytes a second from here to a later moment.
    pub fn bytes_per_s_to(self, to: WriteMoment) -> f64 {
        (to.bytes - self.bytes) as f64 / (to.seconds - self.seconds).max(f64::MIN_POSITIVE)
    }
}

/// A rate that held for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// From here.
    pub from: WriteMoment,
    /// To here.
    pub to: WriteMoment,
    /// All of its bytes by all of its time: of rates that take turns the median would tell the faster one.
    pub bytes_per_s: f64,
}
