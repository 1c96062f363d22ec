//! Channels of a solid-state disk: so many commands are worked on at once.
use super::zones::span_ns;
use crate::parameters::Parameters;

/// When each channel is free; none where commands go one after the other.
pub struct Channels {
    free_ns: Vec<u64>,
    bytes_per_s: u64,
}

impl Channels {
    /// The channels of `disk`, all of them free.
    pub fn new(disk: &Parameters) -> Channels {
        Channels { free_ns: vec![0; disk.channels as usize], bytes_per_s: disk.channel_bytes_per_s }
    }

    /// There are channels.
    pub fn are_some(&self) -> bool {
        !self.free_ns.is_empty()
    }

    /// How long one of them takes to move `len` bytes.
    pub fn own_ns(&self, len: u64) -> u64 {
        span_ns(len, self.bytes_per_s)
    }

    /// The one that is free first works until `done_ns`; returns when another command can be taken up.
    pub fn take(&mut self, done_ns: u64) -> Option<u64> {
        let first = self.free_ns.iter_mut().min()?;
        *first = done_ns.max(*first);
        self.free_ns.iter().min().copied()
    }

    /// When all that was taken up is done; 0 without channels.
    pub fn all_free_ns(&self) -> u64 {
        self.free_ns.iter().max().copied().unwrap_or(0)
    }
}
