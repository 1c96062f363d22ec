//! The time that an ATA disk spends on the recovery of a bad sector: SCT Error Recovery Control (ACS-3, 8.3.3).
use super::ata::{self, AtaCommand, AtaDisk, BLOCK, Registers};
use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

/// SMART WRITE LOG to the log in which SCT commands are sent.
const SCT: AtaCommand = AtaCommand { command: 0xb0, feature: 0xd6, lba: [0xe0, 0x4f, 0xc2] };
/// The SCT action, and its functions.
const ERROR_RECOVERY: u16 = 3;
const SET: u16 = 1;
const RETURN: u16 = 2;
/// The timers of reads and of writes.
const TIMERS: [u16; 2] = [1, 2];

/// Where IDENTIFY DEVICE says that SCT commands, and this one, are supported.
const SCT_WORD: usize = 206;
const SUPPORTED: u16 = 1 << 0 | 1 << 3;

/// Unit of the timers.
const TICK: Duration = Duration::from_millis(100);

/// The error recovery of a disk that can be limited. Its timers are put back when this is dropped.
pub struct ErrorRecovery {
    disk: Box<dyn AtaDisk>,
    before: [u16; 2],
    /// The timers as they were set last; `None`: they were not changed.
    now: Option<[u16; 2]>,
}

impl ErrorRecovery {
    /// That of the disk with this node or block device; `None` if it has no such limits, or its bridge does not pass
    /// them on. Changes nothing.
    pub fn open(path: &Path) -> Option<Self> {
        ErrorRecovery::of(Box::new(ata::open(path).ok()?)).ok()
    }

    fn of(disk: Box<dyn AtaDisk>) -> io::Result<Self> {
        let identity = disk.identify()?;
        let word = u16::from_le_bytes([identity[2 * SCT_WORD], identity[2 * SCT_WORD + 1]]);
        if word & SUPPORTED != SUPPORTED {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let before = timers(&*disk)?;
        Ok(ErrorRecovery { disk, before, now: None })
    }

    /// The same, which restores these timers in the end.
    pub fn restoring(mut self, before: [u16; 2]) -> Self {
        self.before = before;
        self
    }

    /// The timers that are restored, in units of 100 ms; 0: unlimited.
    pub fn before_ticks(&self) -> [u16; 2] {
        self.before
    }

    /// The timers of reads and of writes before they were changed; `None`: unlimited.
    pub fn before(&self) -> [Option<Duration>; 2] {
        self.before.map(time)
    }

    /// The timers as they were set last; `None`: not changed.
    pub fn now(&self) -> Option<[Option<Duration>; 2]> {
        self.now.map(|now| now.map(time))
    }

    /// Limits the recovery of each sector.
    ///
    /// # Errors
    /// The disk refuses it.
    pub fn limit(&mut self, limit: Duration) -> io::Result<()> {
        let ticks = u16::try_from(limit.as_millis() / TICK.as_millis()).unwrap_or(u16::MAX).max(1);
        self.now = Some([ticks; 2]);
        set(&*self.disk, [ticks; 2])?;
        self.now = Some(timers(&*self.disk)?);
        Ok(())
    }

    /// Puts the timers back, if they were changed.
    ///
    /// # Errors
    /// The disk refuses it, or has disappeared; then they have the limit until it is switched off.
    pub fn restore(&mut self) -> io::Result<()> {
        if self.now.take().is_some() {
            set(&*self.disk, self.before)?;
        }
        Ok(())
    }
}

impl Drop for ErrorRecovery {
    fn drop(&mut self) {
        let _ = self.restore();
    }
}

impl fmt::Debug for ErrorRecovery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ErrorRecovery").field("before", &self.before).field("now", &self.now).finish_non_exhaustive()
    }
}

fn time(ticks: u16) -> Option<Duration> {
    (ticks > 0).then(|| TICK * ticks.into())
}

fn timers(disk: &dyn AtaDisk) -> io::Result<[u16; 2]> {
    let timer = |which| -> io::Result<u16> {
        let Registers { count, lba_low, .. } = disk.send(SCT, &request([ERROR_RECOVERY, RETURN, which, 0]))?;
        Ok(u16::from_le_bytes([count, lba_low]))
    };
    Ok([timer(TIMERS[0])?, timer(TIMERS[1])?])
}

fn set(disk: &dyn AtaDisk, ticks: [u16; 2]) -> io::Result<()> {
    for (which, ticks) in TIMERS.into_iter().zip(ticks) {
        disk.send(SCT, &request([ERROR_RECOVERY, SET, which, ticks]))?;
    }
    Ok(())
}

fn request(words: [u16; 4]) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    words.into_iter().zip(block.chunks_mut(2)).for_each(|(word, to)| to.copy_from_slice(&word.to_le_bytes()));
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A disk with timers, in units of 100 ms.
    struct Simulated {
        timers: Arc<Mutex<[u16; 2]>>,
        word: u16,
        /// Smaller limits are refused.
        least: u16,
    }

    impl AtaDisk for Simulated {
        fn identify(&self) -> io::Result<[u8; BLOCK]> {
            let mut identity = [0; BLOCK];
            identity[412..414].copy_from_slice(&self.word.to_le_bytes());
            Ok(identity)
        }

        fn send(&self, command: AtaCommand, block: &[u8; BLOCK]) -> io::Result<Registers> {
            assert_eq!(command, AtaCommand { command: 0xb0, feature: 0xd6, lba: [0xe0, 0x4f, 0xc2] });
            let word = |at: usize| u16::from_le_bytes([block[2 * at], block[2 * at + 1]]);
            assert_eq!(word(0), 3, "the action");
            let timers = &mut *self.timers.lock().unwrap();
            let timer = &mut timers[usize::from(word(2)) - 1];
            match word(1) {
                1 if word(3) > 0 && word(3) < self.least => return Err(io::ErrorKind::Unsupported.into()),
                1 => *timer = word(3),
                2 => {}
                other => panic!("function {other}"),
            }
            let [count, lba_low] = timer.to_le_bytes();
            Ok(Registers { status: 0x50, count, lba_low })
        }
    }

    fn of(word: u16, least: u16, timers: &Arc<Mutex<[u16; 2]>>) -> io::Result<ErrorRecovery> {
        ErrorRecovery::of(Box::new(Simulated { timers: timers.clone(), word, least }))
    }

    #[test]
    fn both_timers_are_set_and_restored_at_the_end_however_it_comes() {
        let timers = Arc::new(Mutex::new([0, 700]));
        let mut recovery = of(SUPPORTED, 0, &timers).unwrap();
        assert_eq!(recovery.before(), [None, Some(Duration::from_secs(70))]);
        recovery.limit(Duration::from_secs(2)).unwrap();
        assert_eq!((*timers.lock().unwrap(), recovery.now()), ([20, 20], Some([Some(Duration::from_secs(2)); 2])));
        recovery.limit(Duration::from_secs(9)).unwrap();
        assert_eq!(*timers.lock().unwrap(), [90, 90]);
        recovery.restore().unwrap();
        assert_eq!(*timers.lock().unwrap(), [0, 700]);
        recovery.limit(Duration::from_secs(2)).unwrap();
        drop(recovery);
        assert_eq!(*timers.lock().unwrap(), [0, 700]);
    }

    #[test]
    fn a_refused_limit_leaves_the_timers_as_before() {
        let timers = Arc::new(Mutex::new([100, 100]));
        let mut recovery = of(SUPPORTED, 65, &timers).unwrap();
        assert!(recovery.limit(Duration::from_secs(2)).is_err());
        recovery.restore().unwrap();
        assert_eq!(*timers.lock().unwrap(), [100, 100]);
    }

    #[test]
    fn a_disk_without_error_recovery_control_gets_no_command() {
        let timers = Arc::new(Mutex::new([100, 100]));
        for word in [0, 1, 1 << 3] {
            assert!(of(word, 0, &timers).is_err());
        }
        assert!(ErrorRecovery::open(Path::new("/dev/null")).is_none());
    }
}
