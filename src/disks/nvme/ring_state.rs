//! How commands went on the ring so far.
use crate::core::Request;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

/// Commands whose memory is registered. Not every kernel takes them: 6.1 counts the pages of all that is registered
/// behind a command's memory against the limit of one command, and one arena is longer than that.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) refused: AtomicBool,
    pub(super) used: AtomicBool,
    /// Bit N: the command in flight for slot N has registered memory.
    in_flight: [AtomicU64; SLOTS as usize / 64],
}

/// Slots that a copy can have; for any beyond, memory is named by its address.
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
    /// The index under which a ring knows the request's memory, if the command is to name it so.
    pub(super) fn index(&self, request: &Request) -> Option<u16> {
        let index = request.buffer.registered().filter(|_| request.slot < SLOTS && !self.refused.load(Relaxed));
        if index.is_some() {
            self.in_flight[request.slot as usize / 64].fetch_or(1 << (request.slot % 64), Relaxed);
        }
        index
    }

    /// Whether the command that came back for this request had registered memory.
    pub(super) fn came_back(&self, request: &Request) -> bool {
        let bit = 1 << (request.slot % 64);
        let word = self.in_flight.get(request.slot as usize / 64);
        word.is_some_and(|word| word.fetch_and(!bit, Relaxed) & bit != 0)
    }
}

/// How commands went on the ring so far.
#[derive(Debug, Default)]
pub(super) struct RingState {
    /// One succeeded.
    pub(super) used: AtomicBool,
    /// Those with registered memory.
    pub(super) registered: Registered,
    /// Why the kernel takes no commands on a ring at all, an errno; 0: it does, or it is not known yet.
    pub(super) refused: AtomicI32,
}

impl RingState {
    /// Why the kernel takes no commands on a ring.
    pub(super) fn refusal(&self) -> Option<io::Error> {
        Some(self.refused.load(Relaxed)).filter(|errno| *errno != 0).map(io::Error::from_raw_os_error)
    }

    /// How commands reach the kernel, for the report.
    pub(super) fn way(&self) -> &'static str {
        let Registered { refused, used, .. } = &self.registered;
        match (self.used.load(Relaxed), refused.load(Relaxed), used.load(Relaxed)) {
            (true, false, true) => "uring_cmd, fixed buffers",
            (true, true, _) => "uring_cmd without fixed buffers, which this kernel does not support",
            (true, ..) => "uring_cmd",
            (false, ..) => "ioctl",
        }
    }

    /// What was not available.
    pub(super) fn fallback(&self) -> Option<String> {
        self.refusal().map(|why| {
            format!("the kernel does not support NVMe commands in io_uring ({why}): helper threads used ioctl")
        })
    }
}
