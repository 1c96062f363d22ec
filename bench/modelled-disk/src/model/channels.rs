//! Channels of a solid-state disk, which process that many commands in parallel.
use super::zones::span_ns;
use crate::parameters::Parameters;

/// The time at which each channel is idle; empty if commands are processed one by one.
pub struct Channels {
    free_ns: Vec<u64>,
    bytes_per_s: u64,
}

impl Channels {
    /// The channels of `disk`, all of them idle.
    pub fn new(disk: &Parameters) -> Channels {
        Channels { free_ns: vec![0; disk.channels as usize], bytes_per_s: disk.channel_bytes_per_s }
    }

    /// Whether there are channels.
    pub fn are_some(&self) -> bool {
        !self.free_ns.is_empty()
    }

    /// The time for which one of them transfers `len` bytes.
    pub fn own_ns(&self, len: u64) -> u64 {
        span_ns(len, self.bytes_per_s)
    }

    /// Occupies the channel that is idle first until `done_ns`; returns when another command can start.
    pub fn take(&mut self, done_ns: u64) -> Option<u64> {
        let first = self.free_ns.iter_mut().min()?;
        *first = done_ns.max(*first);
        self.free_ns.iter().min().copied()
    }

    /// The time at which all commands have ended; 0 without channels.
    pub fn all_free_ns(&self) -> u64 {
        self.free_ns.iter().max().copied().unwrap_or(0)
    }
}
