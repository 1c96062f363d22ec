//! Reading the dest back behind the writer, while the copy runs.
use crate::core::schedules;
use crate::core::schedules::Front;
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

/// Time after which it is looked again whether the dest has time to spare.
const LOOK: Duration = Duration::from_millis(250);

/// The copy waits for the source longer than for the dest, by this share of the time: then the dest has some to spare.
const TO_SPARE: f64 = 0.1;

/// Runs `copy`, which is by `plan`, and reads back behind it where the plan requests that. `hearer` observes the copy
/// too. `tally` has its numbers. Gives what `copy` gave, and the blocks that were read back until then.
pub(crate) fn followed<T>(
    session: &Session,
    plan: &Plan,
    reader: Option<&Arc<dyn Endpoint>>,
    hearer: &dyn Observer,
    tally: Arc<Tally>,
    copy: impl FnOnce(&dyn Observer, Arc<Tally>) -> T,
) -> (T, Vec<DigestedBlock>) {
    let Some(reader) = reader.filter(|_| window(plan).is_some()) else {
        return (copy(hearer, tally), Vec::new());
    };
    let mut spare = DestSlack::of(tally.clone());
    followed_while(session, plan, reader, hearer, move || spare.is_there(Instant::now()), |hearer| copy(hearer, tally))
}

fn window(plan: &Plan) -> Option<(u64, u64)> {
    Some((plan.read_back.as_ref()?.window_bytes?, plan.digest_blocks?.block_bytes))
}

/// The same whenever `may` says so.
pub(crate) fn followed_while<T>(
    session: &Session,
    plan: &Plan,
    reader: &Arc<dyn Endpoint>,
    hearer: &dyn Observer,
    may: impl FnMut() -> bool + Send + 'static,
    copy: impl FnOnce(&dyn Observer) -> T,
) -> (T, Vec<DigestedBlock>) {
    let Some((window_bytes, block_bytes)) = window(plan) else { return (copy(hearer), Vec::new()) };
    let (front, found) = (Arc::new(Front::default()), DigestedBlockList::default());
    let nothing = disks::missing_side();
    let (plan, ends, stop) = (plan::follow(plan), [nothing, reader.clone()], session.stop());
    let done = thread::scope(|scope| {
        let (plan, ends, front, found) = (&plan, &ends, &front, &found);
        let follow = move || {
            let mut schedule = schedules::following(front.clone(), window_bytes, block_bytes, may);
            engine::run(plan, ends, &mut *schedule, engine::Watch::new(stop, &Tally::default(), found))
        };
        // Where no thread is left, and where reading fails, everything is read back afterwards.
        let follower = thread::Builder::new().name("haul-follow".to_owned()).spawn_scoped(scope, follow);
        let ended = EndGuard(front);
        let done = copy(&BlockObserver { front, hearer });
        drop(ended);
        drop(follower.map(|follower| follower.join()));
        done
    });
    (done, found.into_blocks())
}

/// Informs the follower that the copy is over, also where it panics.
struct EndGuard<'a>(&'a Front);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Hears the copy.
struct BlockObserver<'a> {
    front: &'a Front,
    hearer: &'a dyn Observer,
}

impl Observer for BlockObserver<'_> {
    fn on_event(&self, event: &Event<'_>) {
        self.hearer.on_event(event);
        if let Event::Digested(block) = event {
            self.front.arrived(block.extent);
        }
    }
}

/// Whether the dest of a running copy has time to spare. Reading from it makes it slower, which shows here as well: so
/// it is given as much to read as it takes beside the writes.
struct DestSlack {
    tally: Arc<Tally>,
    looked: Instant,
    waited_ns: [u64; 2],
    there: bool,
}

impl DestSlack {
    fn of(tally: Arc<Tally>) -> Self {
        DestSlack { tally, looked: Instant::now(), waited_ns: [0; 2], there: false }
    }

    fn is_there(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.looked);
        if passed >= LOOK {
            let waited_ns = self.tally.waited_ns.each_ref().map(|ns| ns.load(Relaxed));
            let [source, dest] = [0, 1].map(|side| waited_ns[side] - self.waited_ns[side]);
            let share = (source as f64 - dest as f64) / passed.as_nanos() as f64;
            (self.looked, self.waited_ns, self.there) = (now, waited_ns, share >= TO_SPARE);
        }
        self.there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dest_has_time_to_spare_while_the_copy_waits_for_the_source() {
        let tally = Arc::<Tally>::default();
        let mut spare = DestSlack::of(tally.clone());
        let start = spare.looked;
        let at = |ms| start + Duration::from_millis(ms);
        let waited = |side: usize, ms: u64| tally.waited_ns[side].fetch_add(ms * 1_000_000, Relaxed);
        waited(0, 200);
        assert!(!spare.is_there(at(200)), "nobody knows yet");
        assert!(spare.is_there(at(300)));
        waited(1, 290);
        assert!(spare.is_there(at(400)), "it is not looked again so soon");
        assert!(!spare.is_there(at(600)));
        waited(0, 150);
        waited(1, 130);
        assert!(!spare.is_there(at(900)), "the difference is too small to tell");
    }
}
