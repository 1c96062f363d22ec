//! Reads the dest back while the copy runs.
use crate::core::schedules;
use crate::core::schedules::CopyPosition;
use crate::core::{DigestedBlock, Endpoint, Event, Observer, Plan, Tally};
use crate::disks;
use crate::engine;
use crate::job::digested::DigestedBlockList;
use crate::job::session::Session;
use crate::plan;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Interval between checks whether the dest is idle.
const LOOK: Duration = Duration::from_millis(250);

/// If the copy waits for the source longer than for the dest, by this share of the time, the dest is idle
/// enough.
const TO_SPARE: f64 = 0.1;

/// Runs `copy`, which executes `plan`, and reads back behind the writer if the plan requires it. `hearer`
/// observes the copy too. `tally` counts it. Returns the result of `copy`, and the blocks that were read back
/// until then.
pub(crate) fn followed<T>(
    session: &Session,
    plan: &Plan,
    reader: Option<&Arc<dyn Endpoint>>,
    observer: &dyn Observer,
    tally: Arc<Tally>,
    copy: impl FnOnce(&dyn Observer, Arc<Tally>) -> T,
) -> (T, Vec<DigestedBlock>) {
    let Some(reader) = reader.filter(|_| window(plan).is_some()) else {
        return (copy(observer, tally), Vec::new());
    };
    let mut spare = DestSlack::of(tally.clone());
    followed_while(
        session,
        plan,
        reader,
        observer,
        move || spare.is_idle(Instant::now()),
        |observer| copy(observer, tally),
    )
}

fn window(plan: &Plan) -> Option<(u64, u64)> {
    Some((plan.read_back.as_ref()?.window_bytes?, plan.digest_blocks?.block_bytes))
}

/// The same, reading whenever `may` allows it.
pub(crate) fn followed_while<T>(
    session: &Session,
    plan: &Plan,
    reader: &Arc<dyn Endpoint>,
    observer: &dyn Observer,
    may: impl FnMut() -> bool + Send + 'static,
    copy: impl FnOnce(&dyn Observer) -> T,
) -> (T, Vec<DigestedBlock>) {
    let Some((window_bytes, block_bytes)) = window(plan) else { return (copy(observer), Vec::new()) };
    let (position, found) = (Arc::new(CopyPosition::default()), DigestedBlockList::default());
    let nothing = disks::missing_side();
    let (plan, ends, stop) = (plan::follow(plan), [nothing, reader.clone()], session.stop());
    let done = thread::scope(|scope| {
        let (plan, ends, position, found) = (&plan, &ends, &position, &found);
        let follow = move || {
            let mut schedule = schedules::following(position.clone(), window_bytes, block_bytes, may);
            engine::run(plan, ends, &mut *schedule, engine::Watch::new(stop, &Tally::default(), found))
        };
        // If no thread is available, or reading fails, everything is read back afterwards.
        let follower = thread::Builder::new().name("haul-follow".to_owned()).spawn_scoped(scope, follow);
        let ended = EndGuard(position);
        let done = copy(&BlockObserver { position, observer });
        drop(ended);
        drop(follower.map(|follower| follower.join()));
        done
    });
    (done, found.into_blocks())
}

/// Notifies the follower of the end of the copy, even if the copy panics.
struct EndGuard<'a>(&'a CopyPosition);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Reports the progress of the copy to the follower.
struct BlockObserver<'a> {
    position: &'a CopyPosition,
    observer: &'a dyn Observer,
}

impl Observer for BlockObserver<'_> {
    fn on_event(&self, event: &Event<'_>) {
        self.observer.on_event(event);
        if let Event::Digested(block) = event {
            self.position.advance(block.extent);
        }
    }
}

/// Whether the dest of a running copy is idle enough. Reading from it makes it slower, which this measures too:
/// the amount read therefore adapts to what the dest can serve besides the writes.
struct DestSlack {
    tally: Arc<Tally>,
    looked: Instant,
    waited_ns: [u64; 2],
    idle: bool,
}

impl DestSlack {
    fn of(tally: Arc<Tally>) -> Self {
        DestSlack { tally, looked: Instant::now(), waited_ns: [0; 2], idle: false }
    }

    fn is_idle(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.looked);
        if passed >= LOOK {
            let waited_ns = self.tally.waited_ns.each_ref().map(|ns| ns.load(Relaxed));
            let [source, dest] = [0, 1].map(|side| waited_ns[side] - self.waited_ns[side]);
            let share = (source as f64 - dest as f64) / passed.as_nanos() as f64;
            (self.looked, self.waited_ns, self.idle) = (now, waited_ns, share >= TO_SPARE);
        }
        self.idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dest_is_idle_while_the_copy_waits_for_the_source() {
        let tally = Arc::<Tally>::default();
        let mut spare = DestSlack::of(tally.clone());
        let start = spare.looked;
        let at = |ms| start + Duration::from_millis(ms);
        let waited = |side: usize, ms: u64| tally.waited_ns[side].fetch_add(ms * 1_000_000, Relaxed);
        waited(0, 200);
        assert!(!spare.is_idle(at(200)), "not measured yet");
        assert!(spare.is_idle(at(300)));
        waited(1, 290);
        assert!(spare.is_idle(at(400)), "it is not looked again so soon");
        assert!(!spare.is_idle(at(600)));
        waited(0, 150);
        waited(1, 130);
        assert!(!spare.is_idle(at(900)), "the difference is too small to tell");
    }
}
