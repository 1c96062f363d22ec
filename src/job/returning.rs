//! A source that drops off the bus during a rescue: the rescue waits for the same disk, and continues with it.
use super::operator::Operator;
use crate::core::rescue::{RescuePlan, RescueState, Status};
use crate::core::{Ended, Endpoint, Error, Extent, Facts, Kind, PlanSide, Side, Stop, Through};
use crate::disks::{self, probe, probe::KnownDisk};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two looks for the disk, in pauses after which a signal is noticed.
const LOOK_EVERY: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// The rescue ends after as many losses in a row without a byte that was rescued in between.
const LOSSES_MAX: u32 = 5;

/// The losses of one source.
pub(super) struct Returning {
    known: KnownDisk,
    within: Duration,
    losses: u32,
    /// Rescued bytes at the last loss.
    rescued: u64,
    operator: Arc<dyn Operator>,
}

impl Returning {
    /// `None` if the disk could not be recognized, or is not to be waited for.
    pub(super) fn new(facts: &Facts, within: Option<Duration>, operator: Arc<dyn Operator>) -> Option<Self> {
        Some(Returning { known: KnownDisk::of(facts)?, within: within?, losses: 0, rescued: 0, operator })
    }

    /// Waits for a source that was lost, and opens it again. `None`: the run has ended for another reason, the disk
    /// did not come back, or a stop was requested meanwhile.
    pub(super) fn reopen(
        &mut self,
        ended: &Ended,
        state: &RescueState,
        side: &mut PlanSide,
        stop: &Stop,
    ) -> Option<Source> {
        lost(ended)?;
        let rescued = state.map.bytes(Status::Finished);
        self.losses = if rescued > self.rescued { 1 } else { self.losses + 1 };
        self.rescued = rescued;
        let (name, address) = (self.known.name(), side.address.clone());
        if self.losses > LOSSES_MAX {
            self.operator.warn(&format!("source {address} has disappeared {LOSSES_MAX} times without a new byte"));
            return None;
        }
        let within = whole(self.within);
        self.operator.warn(&format!(
            "source {address} has disappeared; the map is saved, and haul waits up to {within} for the disk with \
             {name} (--reconnect)"
        ));
        let until = Instant::now() + self.within;
        loop {
            if let Some(source) = self.look(side) {
                let node = side.path.display();
                self.operator.warn(&format!("the disk with {name} is back as {node}; the rescue continues"));
                return Some(source);
            }
            for _ in 0..LOOK_EVERY {
                if stop.is_requested() || Instant::now() >= until {
                    return None;
                }
                sleep(PAUSE);
            }
        }
    }

    /// Opens the disk, if it is back.
    fn look(&self, side: &mut PlanSide) -> Option<Source> {
        self.known.nodes().iter().find_map(|node| {
            let facts = probe::one_through(node, Side::Source, side.through.is_some()).ok()?;
            let again = again(&self.known, side, &facts)?;
            let end = disks::open_source(&again, &facts).ok()?;
            *side = again;
            Some(Source { end, facts })
        })
    }
}

/// A source that came back.
pub(super) struct Source {
    pub(super) end: Arc<dyn Endpoint>,
    pub(super) facts: Facts,
}

/// A time as it was given on the command line, in whole seconds: never rounded.
fn whole(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 > 0 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// How the disk with these facts is opened, if it is the one that is known.
fn again(known: &KnownDisk, side: &PlanSide, facts: &Facts) -> Option<PlanSide> {
    if !known.is(facts) {
        return None;
    }
    let through = match &side.through {
        Some(through) => Some(Through { node: facts.passthrough.clone()?, options: through.options }),
        None => None,
    };
    Some(PlanSide { path: facts.path.clone(), through, ..side.clone() })
}

/// The error by which the source was lost, if it was.
pub(super) fn lost(ended: &Ended) -> Option<&Error> {
    match ended {
        Ended::Failed(error) if error.kind == Kind::Disconnected && error.side == Some(Side::Source) => Some(error),
        _ => None,
    }
}

/// Marks the place at which the source was lost as failed, so that a disk that drops off the bus by every read of it is
/// read elsewhere first.
pub(super) fn mark(offset: Option<u64>, how: &RescuePlan, state: &mut RescueState) {
    let Some(at) = offset.filter(|at| *at < state.map.len_bytes()) else { return };
    let status = state.map.status_at(at);
    let unit = if status == Some(Status::Untried) { how.cluster_bytes } else { how.sector_bytes };
    let start = at / unit * unit;
    let end = (start + unit).min(state.map.len_bytes());
    let failed = match status {
        Some(Status::Untried) if unit > how.sector_bytes => Status::Untrimmed,
        Some(Status::Untried | Status::Untrimmed | Status::Unscraped) => Status::Bad,
        _ => return,
    };
    let parts: Vec<Extent> =
        state.map.blocks().filter(|block| Some(block.status) == status).map(|b| b.extent).collect();
    let whole = Extent::new(start, end - start);
    parts.iter().filter_map(|part| part.intersection(&whole)).for_each(|part| state.map.set(part, failed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rescue::{RescueMap, RescueStatus};
    use crate::core::{Access, AddressMap, Cache, EndpointKind, Existing, Identity};
    use crate::job::operator::tests::AcceptAll;

    /// Waits for a disk that is not in this machine, after it was lost with this error.
    fn wait_for(error: Error, stop: &Stop) -> Option<Source> {
        let identity = Identity { serial: Some("no disk has this one".to_owned()), ..Identity::default() };
        let facts = Facts { size: Some(CLUSTER), identity, ..Facts::new("/dev/lost", EndpointKind::Block) };
        let hour = Some(Duration::from_secs(3600));
        let mut returning = Returning::new(&facts, hour, Arc::new(AcceptAll)).unwrap();
        let state = RescueState::new(RescueMap::untried(CLUSTER), RescueStatus::Copying, 1, 0);
        let access =
            Access { cache: Cache::Direct, offset_align_bytes: 512, exclusive: true, existing: Existing::Keep };
        let mut side = PlanSide {
            address: "/dev/lost".to_owned(),
            path: "/dev/lost".into(),
            kind: EndpointKind::Block,
            map: AddressMap::from(0),
            access,
            lock: None,
            moves_head: false,
            through: None,
        };
        returning.reopen(&Ended::Failed(Box::new(error)), &state, &mut side, stop)
    }

    #[test]
    fn a_signal_ends_the_waiting_for_a_lost_disk() {
        let stop = Stop::default();
        stop.request(libc::SIGINT);
        // Without the signal this would take an hour.
        assert!(wait_for(Error::new(Kind::Disconnected, "lost").on(Side::Source), &stop).is_none());
    }

    #[test]
    fn the_time_to_wait_is_exact() {
        let shown = [1, 30, 60, 90, 600, 3600].map(|seconds| whole(Duration::from_secs(seconds)));
        assert_eq!(shown, ["1 s", "30 s", "1 min", "90 s", "10 min", "60 min"]);
    }

    #[test]
    fn only_a_lost_source_is_waited_for() {
        for error in
            [Error::new(Kind::Io, "bad").on(Side::Source), Error::new(Kind::Disconnected, "lost").on(Side::Dest)]
        {
            assert!(wait_for(error, &Stop::default()).is_none());
        }
    }

    const CLUSTER: u64 = 64 << 10;

    #[test]
    fn the_place_that_made_the_disk_disappear_is_read_later_and_at_last_is_bad() {
        let how = RescuePlan {
            sector_bytes: 512,
            cluster_bytes: CLUSTER,
            domain: None,
            reverse: false,
            trim: true,
            scrape: true,
            retries: Some(0),
            skip_bytes: [CLUSTER, CLUSTER],
            slow_bytes_per_s: None,
            stop_after: None,
            error_bytes_per_s_max: None,
        };
        let mut state = RescueState::new(RescueMap::untried(4 * CLUSTER), RescueStatus::Copying, 1, 0);
        state.map.set(Extent::new(CLUSTER, 4096), Status::Finished);
        mark(Some(CLUSTER + 8192), &how, &mut state);
        assert_eq!(state.map.bytes(Status::Untrimmed), CLUSTER - 4096, "what was rescued remains so");
        mark(Some(CLUSTER + 8192 + 100), &how, &mut state);
        assert_eq!(state.map.bytes(Status::Bad), 512);
        assert_eq!(state.map.status_at(CLUSTER + 8192), Some(Status::Bad));
        let before = state.map.clone();
        for offset in [Some(CLUSTER + 8192), Some(CLUSTER), Some(4 * CLUSTER), None] {
            mark(offset, &how, &mut state);
            assert_eq!(state.map, before, "{offset:?}");
        }
    }
}
