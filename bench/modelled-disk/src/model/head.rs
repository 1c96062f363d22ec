//! The head of a rotational disk: its position, and when it can begin.
//!
//! The angle does not depend on sectors or tracks. Media time is the time for passing the disk from byte 0; it grows
//! by one revolution with each rotation. A byte therefore passes at the time when the head passed a known byte (the
//! anchor), plus the media time between them, plus any number of revolutions. Tracks are perfectly skewed:
//! continuous reading loses nothing at their ends.
use super::zones::Zones;
use crate::parameters::Parameters;

/// The movement of the head to the first byte of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The time at which the first byte passes.
    pub start_ns: u64,
    /// Seek time.
    pub seek_ns: u64,
    /// Rotational latency.
    pub rotation_ns: u64,
    /// The command continued at the end of the previous one, but arrived too late.
    pub missed_turn: bool,
}

/// The time at which a command needs the head.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// When the disk has the command and is idle.
    pub ready_ns: u64,
    /// The same plus the command's overhead.
    pub begin_ns: u64,
}

/// The head, and its known position.
pub struct Head {
    /// Media time of the disk.
    pub zones: Zones,
    /// Time of a revolution; 0: the disk does not rotate.
    pub revolution_ns: u64,
    grace_ns: u64,
    seek_ns: u64,
    seek_full_ns: u64,
    size_bytes: u64,
    /// The byte after the last one passed, and the time when it passed.
    anchor: (u64, u64),
    /// The time at which the last command completed; `None` before the first.
    answered_ns: Option<u64>,
    /// The head is busy until then.
    pub free_ns: u64,
}

impl Head {
    /// A head at byte 0.
    pub fn new(disk: &Parameters) -> Head {
        let revolution_ns = 60_000_000_000_u64.checked_div(disk.rpm).unwrap_or(0);
        let ahead_ns = super::zones::share(revolution_ns, disk.angle_percent % 100, 100);
        Head {
            zones: Zones::new(disk, 100),
            revolution_ns,
            grace_ns: disk.grace_ns,
            seek_ns: disk.seek_ns,
            seek_full_ns: disk.seek_full_ns,
            size_bytes: disk.size_bytes,
            // A platter with an angle of `ahead_ns` has byte 0 under the head earlier than a whole revolution by
            // that time.
            anchor: (0, revolution_ns - ahead_ns),
            answered_ns: None,
            free_ns: 0,
        }
    }

    /// The byte after the last one passed.
    pub fn offset(&self) -> u64 {
        self.anchor.0
    }

    /// The movement to `offset` for a command that arrives at `when`.
    pub fn way(&self, offset: u64, when: When) -> Way {
        let begin_ns = when.begin_ns.max(self.free_ns);
        if self.revolution_ns == 0 {
            return Way { start_ns: begin_ns, ..Way::default() };
        }
        let continues_here = offset == self.anchor.0;
        let mut missed_turn = false;
        if let (true, Some(answered_ns)) = (continues_here, self.answered_ns) {
            let ready_ns = when.ready_ns.max(self.free_ns);
            if ready_ns.saturating_sub(answered_ns) <= self.grace_ns {
                // The gap is hidden: the medium continues at its position, and only the overhead delays it.
                let overhead_ns = when.begin_ns - when.ready_ns;
                let start_ns = (self.anchor.1 + overhead_ns).max(begin_ns.saturating_sub(self.grace_ns));
                return Way { start_ns, ..Way::default() };
            }
            missed_turn = true;
        }
        let seek_ns = self.seek_to(offset);
        let rotation_ns = self.wait_for(offset, begin_ns + seek_ns);
        Way { start_ns: begin_ns + seek_ns + rotation_ns, seek_ns, rotation_ns, missed_turn }
    }

    /// The time from `now_ns` until `offset` is under the head.
    pub fn wait_for(&self, offset: u64, now_ns: u64) -> u64 {
        if self.revolution_ns == 0 {
            return 0;
        }
        let (anchor, anchor_ns) = self.anchor;
        let ahead = i128::from(self.zones.media_ns(offset)) - i128::from(self.zones.media_ns(anchor));
        (i128::from(anchor_ns) + ahead - i128::from(now_ns)).rem_euclid(i128::from(self.revolution_ns)) as u64
    }

    /// Seek time to `offset`: zero within a track, then proportional to the square root of the distance.
    fn seek_to(&self, offset: u64) -> u64 {
        let distance = offset.abs_diff(self.anchor.0);
        let track = super::zones::share(self.zones.bytes_per_s(self.anchor.0), self.revolution_ns, 1_000_000_000);
        if distance < track {
            return 0;
        }
        let root = (distance as f64 / self.size_bytes as f64).sqrt();
        self.seek_ns + ((self.seek_full_ns - self.seek_ns) as f64 * root).round() as u64
    }

    /// The head passed everything before `offset` by `passed_ns`, for a command that completed at `answered_ns`.
    pub fn passed(&mut self, offset: u64, passed_ns: u64, answered_ns: u64) {
        self.anchor = (offset, passed_ns);
        self.answered_ns = Some(answered_ns);
    }
}
