//! The description of a disk. Times are in seconds, rates in bytes per second.

/// Index for reading in arrays with one entry per direction.
pub(super) const READ: usize = 0;
/// Index for writing.
pub(super) const WRITE: usize = 1;

/// A rotational disk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    /// Time of a revolution.
    pub(super) turn_s: f64,
    /// Time of a seek.
    pub(super) seek_s: f64,
    /// Maximum delay of the next command before its sector has passed.
    pub(super) grace_s: f64,
    /// Bytes read ahead; 0: a late read waits for a revolution.
    pub(super) ahead_bytes: f64,
    /// How often the next of several waiting commands is chosen at random: the layers in between have reordered
    /// them.
    pub(super) sloppy: f64,
    /// Size of the volatile write cache; 0: a late write waits for a revolution.
    pub(super) cache_bytes: f64,
}

/// A disk and the path to it.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// Delay from the submitter to the disk.
    pub(super) path_s: f64,
    /// Its random part (exponential): later requests may overtake.
    pub(super) jitter_s: f64,
    /// Delay of the completion.
    pub(super) back_s: f64,
    /// Maximum size of a part: the block layer splits requests.
    pub(super) part_bytes_max: u64,
    /// Maximum number of parts at the disk.
    pub(super) tags: usize,
    /// The rotational part, if any.
    pub(super) head: Option<Head>,
    /// Without one: number of parts processed in parallel.
    pub(super) channels: usize,
    /// Cost of each part on a channel, by direction.
    pub(super) command_s: [f64; 2],
    /// Rate of a channel, by direction.
    pub(super) channel_rate: [f64; 2],
    /// Rate of the link that all bytes share (for a rotational disk: the medium).
    pub(super) rate: [f64; 2],
    /// Cost of each part on the link.
    pub(super) link_command_s: [f64; 2],
    /// Rate at the end of the disk, as a share of that at the start.
    pub(super) inner: f64,
    /// The part of the disk that is copied.
    pub(super) zone: (f64, f64),
    /// Spread (log-normal) of the rate, and the seconds between two draws.
    pub(super) noise: (f64, f64),
    /// Another user: share of the time, duration in seconds, factor of the rate.
    pub(super) neighbour: (f64, f64, f64),
    /// Written bytes between stalls, and their mean duration.
    pub(super) stall: (f64, f64),
    /// Written bytes after which the write rate is multiplied, and the factor.
    pub(super) cliff: (f64, f64),
    /// Number of waiting parts above which each one costs more, and the additional cost.
    pub(super) choke: (usize, f64),
    /// A token bucket before the disk: bytes per second, bytes of burst; 0: none.
    pub(super) bucket: (f64, f64),
    /// What the kernel reports.
    pub(super) reported_rotational: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            path_s: 5e-6,
            jitter_s: 0.0,
            back_s: 5e-6,
            part_bytes_max: 1280 << 10,
            tags: 64,
            head: None,
            channels: 1,
            command_s: [20e-6; 2],
            channel_rate: [1e12; 2],
            rate: [500e6; 2],
            link_command_s: [0.0; 2],
            inner: 1.0,
            zone: (0.0, 1.0),
            noise: (0.0, 0.1),
            neighbour: (0.0, 1.0, 1.0),
            stall: (0.0, 0.0),
            cliff: (f64::MAX, 1.0),
            choke: (usize::MAX, 0.0),
            bucket: (0.0, 0.0),
            reported_rotational: false,
        }
    }
}

/// Two disks, and the cost of the pump.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Source and destination.
    pub(super) disks: [Spec; 2],
    /// Both sides are on the first disk.
    pub(super) one: bool,
    /// haul detects that both sides are on one disk.
    pub(super) one_known: bool,
    /// Processor time of a round, and of each request.
    pub(super) cpu_s: [f64; 2],
    /// Mean delay until the pump's thread wakes.
    pub(super) wake_s: f64,
}

impl Pair {
    /// Whether writes are submitted in order: if the destination is reported as rotational.
    pub(super) fn is_ordered(&self) -> bool {
        self.disks[WRITE].reported_rotational
    }
}
