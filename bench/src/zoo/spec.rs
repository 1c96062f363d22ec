//! What there is to say of a disk. Times are seconds, rates bytes a second.

/// Index of reading in arrays of one entry a direction.
pub(super) const READ: usize = 0;
/// Index of writing.
pub(super) const WRITE: usize = 1;

/// A head over a platter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    /// One turn.
    pub(super) turn_s: f64,
    /// A seek.
    pub(super) seek_s: f64,
    /// How late the next command may come before its sector has gone by.
    pub(super) grace_s: f64,
    /// Bytes read ahead; 0: a read that misses its grace waits a turn.
    pub(super) ahead_bytes: f64,
    /// How often the next of several waiting is any of them: what lies between has mixed them up.
    pub(super) sloppy: f64,
    /// Bytes of volatile write cache; 0: a write that misses its grace waits a turn.
    pub(super) cache_bytes: f64,
}

/// A disk and the way to it.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// The way from the submitter to the disk.
    pub(super) path_s: f64,
    /// Its random part (exponential): what comes later may overtake.
    pub(super) jitter_s: f64,
    /// The way back.
    pub(super) back_s: f64,
    /// The block layer splits requests into parts of this size.
    pub(super) part_bytes_max: u64,
    /// And keeps at most so many of them at the disk.
    pub(super) tags: usize,
    /// The moving head, where there is one.
    pub(super) head: Option<Head>,
    /// Without a head: so many parts are worked on at once.
    pub(super) channels: usize,
    /// What each part costs a channel, by direction.
    pub(super) command_s: [f64; 2],
    /// How fast a channel is, by direction.
    pub(super) channel_rate: [f64; 2],
    /// All bytes go through this one after the other (with a head: the medium).
    pub(super) rate: [f64; 2],
    /// What each part costs there.
    pub(super) link_command_s: [f64; 2],
    /// Rate at the end of the disk, as a share of that at the beginning.
    pub(super) inner: f64,
    /// The part of the disk that is copied.
    pub(super) zone: (f64, f64),
    /// The rate varies by so much (log-normal), anew every so many seconds.
    pub(super) noise: (f64, f64),
    /// Someone else: share of the time, seconds each, factor of the rate.
    pub(super) neighbour: (f64, f64, f64),
    /// Every so many written bytes a stall of that mean.
    pub(super) stall: (f64, f64),
    /// After so many written bytes the write rate is multiplied.
    pub(super) cliff: (f64, f64),
    /// More than so many parts waiting cost each one so much more.
    pub(super) choke: (usize, f64),
    /// A token bucket in front: bytes a second, bytes of burst; 0: none.
    pub(super) bucket: (f64, f64),
    /// What the kernel says of it.
    pub(super) says_rotational: bool,
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
            says_rotational: false,
        }
    }
}

/// Two disks, and what the pump costs.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// Source and destination.
    pub(super) disks: [Spec; 2],
    /// Both sides are on the first disk.
    pub(super) one: bool,
    /// haul knows that.
    pub(super) one_known: bool,
    /// Processor time of a round, and of each request.
    pub(super) cpu_s: [f64; 2],
    /// How late the pump's thread wakes (mean).
    pub(super) wake_s: f64,
}

impl Pair {
    /// Whether writes go out in order: where the destination is said to have a head.
    pub(super) fn is_ordered(&self) -> bool {
        self.disks[WRITE].says_rotational
    }
}
