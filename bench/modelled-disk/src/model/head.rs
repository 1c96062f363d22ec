//! One head over a turning platter: where it is, and when it may begin.
//!
//! The angle needs no sectors or tracks. Media time is the time to pass the disk from byte 0 on; it grows by one
//! revolution with each turn. So a byte comes round at the time when the head passed a known byte (the anchor), plus
//! the media time between them, plus any number of revolutions. Tracks are taken to be skewed perfectly: reading on and
//! on loses nothing at their ends.
use super::zones::Zones;
use crate::parameters::Parameters;

/// How the head gets to the first byte of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// When the first byte passes.
    pub start_ns: u64,
    /// Time spent moving.
    pub seek_ns: u64,
    /// Time spent waiting for the platter.
    pub rotation_ns: u64,
    /// The command went on where the last one ended, but came too late.
    pub missed_turn: bool,
}

/// When a command wants the head.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// The disk had the command and nothing else to do.
    pub ready_ns: u64,
    /// The same with the command's overhead.
    pub begin_ns: u64,
}

/// The head, and all that is known of where it is.
pub struct Head {
    /// Media time of the disk.
    pub zones: Zones,
    /// One turn; 0: nothing turns.
    pub revolution_ns: u64,
    grace_ns: u64,
    seek_ns: u64,
    seek_full_ns: u64,
    size_bytes: u64,
    /// The byte after the last one passed, and when it came by.
    anchor: (u64, u64),
    /// When the last command was answered; `None` before the first.
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
            // A platter that is ahead by `ahead_ns` has byte 0 under the head that much earlier than a whole turn.
            anchor: (0, revolution_ns - ahead_ns),
            answered_ns: None,
            free_ns: 0,
        }
    }

    /// The byte after the last one passed.
    pub fn offset(&self) -> u64 {
        self.anchor.0
    }

    /// The way to `offset` for a command that comes at `when`.
    pub fn way(&self, offset: u64, when: When) -> Way {
        let begin_ns = when.begin_ns.max(self.free_ns);
        if self.revolution_ns == 0 {
            return Way { start_ns: begin_ns, ..Way::default() };
        }
        let goes_on = offset == self.anchor.0;
        let mut missed_turn = false;
        if let (true, Some(answered_ns)) = (goes_on, self.answered_ns) {
            let ready_ns = when.ready_ns.max(self.free_ns);
            if ready_ns.saturating_sub(answered_ns) <= self.grace_ns {
                // The gap is hidden: the medium goes on from where it was, and only the overhead comes between.
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

    /// How long from `now_ns` until `offset` is under the head.
    pub fn wait_for(&self, offset: u64, now_ns: u64) -> u64 {
        if self.revolution_ns == 0 {
            return 0;
        }
        let (anchor, anchor_ns) = self.anchor;
        let ahead = i128::from(self.zones.media_ns(offset)) - i128::from(self.zones.media_ns(anchor));
        (i128::from(anchor_ns) + ahead - i128::from(now_ns)).rem_euclid(i128::from(self.revolution_ns)) as u64
    }

    /// Time to move to `offset`: nothing within the same track, then growing with the root of the distance.
    fn seek_to(&self, offset: u64) -> u64 {
        let distance = offset.abs_diff(self.anchor.0);
        let track = super::zones::share(self.zones.bytes_per_s(self.anchor.0), self.revolution_ns, 1_000_000_000);
        if distance < track {
            return 0;
        }
        let root = (distance as f64 / self.size_bytes as f64).sqrt();
        self.seek_ns + ((self.seek_full_ns - self.seek_ns) as f64 * root).round() as u64
    }

    /// The head passed everything before `offset` by `passed_ns`, for a command that was answered at `answered_ns`.
    pub fn passed(&mut self, offset: u64, passed_ns: u64, answered_ns: u64) {
        self.anchor = (offset, passed_ns);
        self.answered_ns = Some(answered_ns);
    }
}
