//! The time that a read of a failing disk may take: of commands by their own limits, and within the disk by its error
//! recovery.
use super::operator::Operator;
use crate::core::rescue::{ReadLimits, ReadResult, RescueLog, RescueState, RescueStatus, TimeLimits};
use crate::core::{Endpoint, Extent, Facts, locked};
use crate::disks::probe;
use crate::disks::scsi::error_recovery::ErrorRecovery;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The error recovery of the disk ends this long before the limit of the command, so that it reports the sector.
const MARGIN: Duration = Duration::from_secs(1);

/// The limits of one rescue.
pub(super) struct Limited {
    source: Arc<dyn Endpoint>,
    reads: ReadLimits,
    recovery: Option<ErrorRecovery>,
    /// What was limited.
    found: TimeLimits,
    set: Option<Duration>,
    operator: Arc<dyn Operator>,
}

/// The same, shared with the schedule.
pub(super) type SharedLimits = Arc<Mutex<Limited>>;

/// Finds what can be limited. Changes nothing.
pub(super) fn find(
    source: Arc<dyn Endpoint>,
    facts: &Facts,
    reads: ReadLimits,
    operator: Arc<dyn Operator>,
) -> SharedLimits {
    let access = probe::disk_access(facts);
    let by_commands = source.limit_reads(reads.copying);
    let kernel = access.as_ref().and_then(|access| access.timeout).filter(|_| !by_commands);
    let node = access.map(|access| access.node.map_or(access.block, |(_, node)| node));
    let recovery = node.and_then(|path| ErrorRecovery::open(&path));
    let found = TimeLimits {
        reads: by_commands.then_some(reads),
        kernel,
        recovery_before: recovery.as_ref().map(ErrorRecovery::before),
        ..TimeLimits::default()
    };
    Arc::new(Mutex::new(Limited { source, reads, recovery, found, set: None, operator }))
}

impl Limited {
    fn limit(&mut self, limit: Duration) {
        if self.set.replace(limit) == Some(limit) {
            return;
        }
        self.source.limit_reads(limit);
        let Some(recovery) = &mut self.recovery else { return };
        let within = limit.saturating_sub(MARGIN).max(limit / 2);
        match recovery.limit(within) {
            Ok(()) => self.found.recovery.extend(recovery.now()),
            Err(error) => {
                self.operator.warn(&format!("the disk does not limit its error recovery to {within:?}: {error}"));
                self.restore();
            }
        }
    }

    /// Called when the source was lost, and is open again.
    pub(super) fn reopened(&mut self, source: Arc<dyn Endpoint>, facts: &Facts) {
        (self.source, self.set) = (source, None);
        // The error recovery of a disk that was switched off has its default now; one that was not has the limit.
        let before = self.recovery.take().map(|lost| lost.before_ticks());
        let node = probe::disk_access(facts).map(|access| access.node.map_or(access.block, |(_, node)| node));
        self.recovery = before.zip(node).and_then(|(before, node)| Some(ErrorRecovery::open(&node)?.restoring(before)));
    }

    /// Puts the error recovery of the disk back. Returns what was limited.
    pub(super) fn restore(&mut self) -> TimeLimits {
        if let Some(mut recovery) = self.recovery.take() {
            let restored = recovery.restore();
            self.found.is_restored = restored.is_ok();
            if let Err(error) = restored {
                let until = "it stays limited until the disk is switched off";
                self.operator.warn(&format!("the error recovery of the disk could not be restored: {error}; {until}"));
            }
        }
        self.found.clone()
    }
}

/// Sets the limits of each phase.
pub(super) struct ByPhase(pub(super) SharedLimits);

impl RescueLog for ByPhase {
    fn on_phase(&mut self, state: &RescueState) {
        let mut limited = locked(&self.0);
        let ReadLimits { copying, later } = limited.reads;
        limited.limit(if state.phase == RescueStatus::Copying { copying } else { later });
    }

    fn on_read(&mut self, _extent: Extent, _result: ReadResult, _state: &RescueState) {}

    fn on_end(&mut self, _state: &RescueState) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rescue::RescueMap;
    use crate::core::{EndpointKind, Request};
    use crate::job::operator::tests::AcceptAll;
    use std::io;

    /// A disk that is reached by commands, and the limits that were set.
    struct ByCommands {
        facts: Facts,
        limits: Mutex<Vec<Duration>>,
    }

    impl Endpoint for ByCommands {
        fn facts(&self) -> &Facts {
            &self.facts
        }

        fn perform(&self, _request: &mut Request) -> io::Result<u32> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn limit_reads(&self, limit: Duration) -> bool {
            self.limits.lock().unwrap().push(limit);
            true
        }
    }

    #[test]
    fn reads_have_more_time_in_the_phases_after_copying() {
        let facts = Facts::new("disk", EndpointKind::Block);
        let disk = Arc::new(ByCommands { facts: facts.clone(), limits: Mutex::default() });
        let [copying, later] = [3, 10].map(Duration::from_secs);
        let limits = find(disk.clone(), &facts, ReadLimits { copying, later }, Arc::new(AcceptAll));
        let mut by_phase = ByPhase(limits.clone());
        let mut state = RescueState::new(RescueMap::untried(1), RescueStatus::Copying, 1, 0);
        let phases = [RescueStatus::Copying, RescueStatus::Copying, RescueStatus::Trimming, RescueStatus::Scraping];
        for phase in phases {
            state.phase = phase;
            by_phase.on_phase(&state);
        }
        assert_eq!(disk.limits.lock().unwrap()[1..], [copying, later]);
        let found = locked(&limits).restore();
        assert_eq!((found.reads, found.recovery_before), (Some(ReadLimits { copying, later }), None));
    }
}
