//! The cost of writing beyond the medium's rate: a fast cache that runs out, temperature, erase blocks, stalls.
use std::collections::VecDeque;

use super::heat::{Heat, Warmed};
use super::zones::{Zones, span_ns};
use crate::parameters::{Extent, Parameters};

struct OpenBlock {
    number: u64,
    written_bytes: u64,
}

/// The state of the medium that depends on writes.
pub struct Wear {
    zones: Zones,
    heat: Heat,
    slow_after_bytes: u64,
    slow_bytes_per_s: u64,
    recover_ns: u64,
    erase_block_bytes: u64,
    open_max: usize,
    /// The most recently used is last.
    open: VecDeque<OpenBlock>,
    stall_every_bytes: u64,
    stall_ns: u64,
    /// Bytes written since the disk was last fast.
    written_bytes: u64,
    /// Bytes written in total.
    total_bytes: u64,
    last_ns: u64,
}

/// The cost of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The time in total.
    pub ns: u64,
    /// Erase blocks that had to be completed.
    pub rewrites: u64,
    /// Stalls.
    pub stalls: u64,
    /// Number of times it became too warm.
    pub throttles: u64,
    /// The throttled part of `ns`.
    pub throttled_ns: u64,
}

impl Wear {
    /// A disk that is new, or has fully recovered.
    pub fn new(disk: &Parameters) -> Wear {
        Wear {
            zones: Zones::new(disk, disk.write_percent),
            heat: Heat::new(disk),
            slow_after_bytes: disk.slow_after_bytes,
            slow_bytes_per_s: disk.slow_bytes_per_s,
            recover_ns: disk.recover_ns,
            erase_block_bytes: disk.erase_block_bytes,
            open_max: usize::try_from(disk.erase_blocks_open).unwrap_or(usize::MAX),
            open: VecDeque::new(),
            stall_every_bytes: disk.stall_every_bytes,
            stall_ns: disk.stall_ns,
            written_bytes: 0,
            total_bytes: 0,
            last_ns: 0,
        }
    }

    /// Writes `extent` at `now_ns`.
    pub fn write(&mut self, extent: Extent, now_ns: u64) -> Cost {
        if self.recover_ns > 0 && now_ns.saturating_sub(self.last_ns) >= self.recover_ns {
            self.written_bytes = 0;
        }
        let (erase_ns, rewrites) = self.erase(extent);
        let stalls = self.stalls(extent.len);
        let cool_ns = self.transfer_ns(extent);
        let Warmed { ns, throttled_ns, throttles } = self.heat.write(extent.len, cool_ns, now_ns);
        let ns = ns + erase_ns + stalls * self.stall_ns;
        self.last_ns = now_ns + ns;
        Cost { ns, rewrites, stalls, throttles, throttled_ns }
    }

    /// The temperature of the disk.
    pub fn heat(&self) -> &Heat {
        &self.heat
    }

    /// The time of the transfer, fast until the fast cache is used up.
    fn transfer_ns(&mut self, extent: Extent) -> u64 {
        let fast_left = match self.slow_after_bytes {
            0 => u64::MAX,
            after => after.saturating_sub(self.written_bytes),
        };
        let fast = extent.len.min(fast_left);
        let slow = extent.len - fast;
        self.written_bytes += extent.len;
        let fast_ns = self.zones.passing_ns(extent.offset, fast);
        let slow_ns = if slow > 0 { span_ns(slow, self.slow_bytes_per_s) } else { 0 };
        fast_ns + slow_ns.max(self.zones.passing_ns(extent.offset + fast, slow))
    }

    /// Stalls during the next `len` written bytes.
    fn stalls(&mut self, len: u64) -> u64 {
        let before = self.total_bytes;
        self.total_bytes += len;
        let count = |bytes: u64| bytes.checked_div(self.stall_every_bytes).unwrap_or(0);
        count(self.total_bytes) - count(before)
    }

    /// The cost of erase blocks that were partly written: the missing data is read and written.
    fn erase(&mut self, extent: Extent) -> (u64, u64) {
        if self.erase_block_bytes == 0 {
            return (0, 0);
        }
        let (mut ns, mut rewrites) = (0, 0);
        let mut offset = extent.offset;
        while offset < extent.end() {
            let number = offset / self.erase_block_bytes;
            let end = extent.end().min((number + 1).saturating_mul(self.erase_block_bytes));
            let known = self.open.iter().position(|block| block.number == number);
            let mut block = match known.and_then(|index| self.open.remove(index)) {
                Some(block) => block,
                None => OpenBlock { number, written_bytes: 0 },
            };
            let crowded = known.is_none() && self.open.len() >= self.open_max;
            if let Some(left) = crowded.then(|| self.open.pop_front()).flatten() {
                ns += self.complete_ns(&left);
                rewrites += 1;
            }
            block.written_bytes += end - offset;
            // Any order within a block is allowed: it is full when its size was written.
            if block.written_bytes < self.erase_block_bytes {
                self.open.push_back(block);
            }
            offset = end;
        }
        (ns, rewrites)
    }

    fn complete_ns(&self, block: &OpenBlock) -> u64 {
        let missing = self.erase_block_bytes - block.written_bytes;
        // Read and written at the write rate: a stick's controller is no faster internally.
        2 * span_ns(missing, self.zones.bytes_per_s(block.number * self.erase_block_bytes))
    }
}
