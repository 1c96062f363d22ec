//! Statistics and restrictions of commands on the ring.
use crate::core::Request;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

/// Tracks commands with registered memory. Not all kernels support it: 6.1 counts the pages of the whole registered
/// buffer after the command's memory against the command limit, and an arena exceeds that.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) refused: AtomicBool,
    pub(super) used: AtomicBool,
    /// Bit N: the command in flight for slot N uses registered memory.
    in_flight: [AtomicU64; SLOTS as usize / 64],
}

/// Maximum number of slots with registered memory; others use plain addresses.
const SLOTS: u32 = 1024;

impl Default for Registered {
    fn default() -> Self {
        Registered {
            refused: false.into(),
            used: false.into(),
            in_flight: [const { AtomicU64::new(0) }; SLOTS as usize / 64],
        }
    }
}

impl Registered {
    /// The index of the registered buffer for the request, if its command is to use registered memory.
    pub(super) fn index(&self, request: &Request) -> Option<u16> {
        let index = request.buffer.registered().filter(|_| request.slot < SLOTS && !self.refused.load(Relaxed));
        if index.is_some() {
            self.in_flight[request.slot as usize / 64].fetch_or(1 << (request.slot % 64), Relaxed);
        }
        index
    }

    /// Whether the completed command of this request used registered memory.
    pub(super) fn complete(&self, request: &Request) -> bool {
        let bit = 1 << (request.slot % 64);
        let word = self.in_flight.get(request.slot as usize / 64);
        word.is_some_and(|word| word.fetch_and(!bit, Relaxed) & bit != 0)
    }
}

/// Statistics and restrictions of commands on the ring.
#[derive(Debug, Default)]
pub(super) struct RingState {
    /// Whether a command has succeeded.
    pub(super) used: AtomicBool,
    /// Commands with registered memory.
    pub(super) registered: Registered,
    /// The errno with which the kernel refused commands on a ring; 0 if it did not.
    pub(super) refused: AtomicI32,
}

impl RingState {
    /// Why the kernel refuses commands on a ring.
    pub(super) fn refusal(&self) -> Option<io::Error> {
        Some(self.refused.load(Relaxed)).filter(|errno| *errno != 0).map(io::Error::from_raw_os_error)
    }

    /// How commands are passed to the kernel, for the report.
    pub(super) fn way(&self) -> &'static str {
        let Registered { refused, used, .. } = &self.registered;
        match (self.used.load(Relaxed), refused.load(Relaxed), used.load(Relaxed)) {
            (true, false, true) => "uring_cmd, fixed buffers",
            (true, true, _) => "uring_cmd without fixed buffers, which this kernel does not support",
            (true, ..) => "uring_cmd",
            (false, ..) => "ioctl",
        }
    }

    /// The unavailable feature, for the report.
    pub(super) fn fallback(&self) -> Option<String> {
        self.refusal().map(|why| {
            format!("the kernel does not support NVMe commands in io_uring ({why}): helper threads used ioctl")
        })
    }
}
