//! The protocol of workers, with clocks that tests move.
use super::claim::{Claim, Claiming, ShardPlace};
use super::finishing::{FinishEnd, Waiting, abort, finish};
use super::heartbeat::Attempt;
use super::job_of::Job;
use super::names;
use super::overview::Overview;
use crate::core::{CheckpointSink, Extent, ExtentSet, FleetPhase, Kept, Kind, Result};
use crate::disks::object::SharedState;
use crate::ledger::fleet::{AttemptRecord, FleetPlan, ShardDone, WorkerIdentity, example_plan};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A job in memory, and its clock.
struct Scene {
    job: Job,
    now_ms: Arc<AtomicU64>,
}

fn scene(shards: u64) -> Scene {
    let plan = FleetPlan { lease_s: 90, ..example_plan(shards * 30, 30) };
    let id = plan.job().unwrap();
    let job = Job { plan: Arc::new(plan), state: Arc::new(SharedState::in_memory()), id };
    job.state.create(names::PLAN, &job.plan.to_text().unwrap()).unwrap();
    Scene { job, now_ms: Arc::default() }
}

/// Nothing is known of workers of other hosts.
fn elsewhere(_worker: &WorkerIdentity) -> Option<bool> {
    None
}

impl Scene {
    fn place(&self, shard: u64) -> ShardPlace<'_> {
        ShardPlace { state: &self.job.state, plan: &self.job.plan, job: &self.job.id, shard }
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.now_ms.load(Relaxed))
    }

    fn pass(&self, seconds: u64) {
        self.now_ms.fetch_add(seconds * 1000, Relaxed);
    }

    fn look(&self, claiming: &mut Claiming, shard: u64) -> Claim {
        claiming.look(self.place(shard), &WorkerIdentity::default(), self.now(), elsewhere).unwrap()
    }

    fn attempt(&self, record: AttemptRecord) -> Arc<Attempt> {
        let clock = self.now_ms.clone();
        let clock = move || Duration::from_millis(clock.load(Relaxed));
        Arc::new(Attempt::new(self.job.state.clone(), self.job.plan.clone(), record, clock, self.now()))
    }

    /// A worker that has the shard.
    #[track_caller]
    fn working(&self, shard: u64) -> Arc<Attempt> {
        match self.look(&mut Claiming::default(), shard) {
            Claim::Mine(record) => self.attempt(*record),
            other => panic!("{other:?}"),
        }
    }

    /// Finishes the job; a wait takes no time.
    fn finish(&self) -> Result<FinishEnd> {
        self.finish_while(|_| {})
    }

    /// The same, while `meanwhile` happens before each wait.
    fn finish_while(&self, meanwhile: impl Fn(Duration)) -> Result<FinishEnd> {
        let sleep = |time: Duration| {
            meanwhile(time);
            self.now_ms.fetch_add(time.as_millis() as u64, Relaxed);
        };
        finish(&self.job, None, &Waiting { now: &|| self.now(), sleep: &sleep, on_wait: &|_, _| {} })
    }

    fn finish_shard(&self, shard: u64, len: u64) {
        let done = ShardDone { job: self.job.id.clone(), shard, len_bytes: len, ..ShardDone::default() };
        assert!(self.job.state.create(&names::shard_done(&self.job.plan, shard), &done.to_text().unwrap()).unwrap());
    }
}

#[test]
fn a_second_worker_waits_as_long_as_the_first_gives_signs_of_life() {
    let scene = scene(3);
    let (first, mut second) = (scene.working(2), Claiming::default());
    for _ in 0..10 {
        assert!(matches!(scene.look(&mut second, 2), Claim::Wait(time, _) if time <= Duration::from_secs(90)));
        scene.pass(80);
        first.beat().unwrap();
    }
    assert!(!matches!(scene.look(&mut second, 2), Claim::Mine(_)));
    scene.pass(89);
    assert!(matches!(scene.look(&mut second, 2), Claim::Wait(..)), "a lease has not passed");
    scene.pass(1);
    let Claim::Mine(record) = scene.look(&mut second, 2) else { panic!("the first is dead") };
    assert_eq!(record.attempt, 2);
    // Another shard is free, whatever happens here.
    assert_eq!(scene.working(3).record().attempt, 1);
}

#[test]
fn a_worker_that_ended_or_does_not_run_any_more_is_not_waited_for() {
    let scene = scene(3);
    scene.working(1).sign_off("interrupted by signal 15").unwrap();
    assert_eq!(scene.working(1).record().attempt, 2);
    let gone = |_: &WorkerIdentity| Some(false);
    let claim = Claiming::default().look(scene.place(1), &WorkerIdentity::default(), scene.now(), gone);
    assert!(matches!(claim.unwrap(), Claim::Mine(record) if record.attempt == 3));
}

#[test]
fn a_worker_of_this_host_that_hangs_is_named_and_its_shard_is_not_taken() {
    let scene = scene(3);
    scene.working(1);
    let mut claiming = Claiming::default();
    let runs = |_: &WorkerIdentity| Some(true);
    let mut look = || claiming.look(scene.place(1), &WorkerIdentity::default(), scene.now(), runs);
    assert!(matches!(look(), Ok(Claim::Wait(..))));
    scene.pass(90);
    let error = look().unwrap_err();
    assert!(error.kind == Kind::Io && error.what.contains("it hangs"), "{error}");
}

#[test]
fn a_worker_without_signs_of_life_ends_before_another_takes_its_shard() {
    let scene = scene(3);
    let (late, mut other) = (scene.working(1), Claiming::default());
    scene.look(&mut other, 1);
    scene.pass(59);
    assert!(!late.fence.is_over());
    scene.pass(1);
    assert!(late.fence.is_over(), "two thirds of the lease have passed");
    assert!(matches!(scene.look(&mut other, 1), Claim::Wait(..)));
    scene.pass(30);
    assert!(matches!(scene.look(&mut other, 1), Claim::Mine(_)));
    // It was suspended, and comes back.
    late.beat().unwrap();
    assert!(late.fence.is_over() && late.fence.why().contains("another worker took the shard"));
}

#[test]
fn a_sign_of_life_shows_that_the_shard_is_done_or_the_job_was_given_up() {
    let scene = scene(3);
    let (one, two) = (scene.working(1), scene.working(2));
    scene.finish_shard(1, 30);
    abort(&scene.job).unwrap();
    one.beat().unwrap();
    two.beat().unwrap();
    assert!(one.fence.why().contains("finished the shard") && two.fence.why().contains("was aborted"));
    let error =
        Claiming::default().look(scene.place(3), &WorkerIdentity::default(), scene.now(), elsewhere).unwrap_err();
    assert_eq!(error.kind, Kind::Refused);
    assert!(scene.finish().is_err(), "nothing is finished that was given up");
}

#[test]
fn a_worker_that_begins_while_the_job_ends_copies_nothing() {
    let scene = scene(3);
    let ended = |shard| scene.place(shard).attempt(1).unwrap().unwrap().ended;
    let [one, two, three] = [1, 2, 3].map(|shard| scene.working(shard).record());
    // Between the look at which each was free, and its attempt.
    scene.finish_shard(1, 30);
    assert!(matches!(scene.place(1).begun(one), Ok(Claim::Done(_))));
    scene.job.state.create(names::FINISHING, "").unwrap();
    assert_eq!(scene.place(2).begun(two).unwrap_err().kind, Kind::Refused);
    scene.job.state.create(&names::shard_stop(&scene.job.plan, 3), "").unwrap();
    assert!(scene.place(3).begun(three).unwrap_err().what.contains("was aborted"));
    assert!([1, 2, 3].into_iter().all(|shard| ended(shard).is_some()), "it writes nothing");
}

#[test]
fn an_attempt_continues_from_what_the_one_before_it_made_durable() {
    let scene = scene(3);
    let first = scene.working(1);
    let kept = Kept { bytes: [Extent::new(0, 20)].into_iter().collect(), upload: None };
    super::heartbeat::ShardCheckpoints::new(first.clone(), None, ExtentSet::new(), None)
        .keep(&kept, &ExtentSet::new())
        .unwrap();
    assert!(scene.look(&mut Claiming::default(), 1).is_waiting_with(0), "it is recorded with the next sign of life");
    first.beat().unwrap();
    assert!(scene.look(&mut Claiming::default(), 1).is_waiting_with(20));
    first.sign_off("failed").unwrap();
    let second = scene.working(1).record();
    assert_eq!((second.durable(), second.already_bytes, second.attempt), (kept.bytes, 20, 2));
}

impl Claim {
    fn is_waiting_with(&self, copied_bytes: u64) -> bool {
        matches!(self, Claim::Wait(_, record) if record.copied_bytes == copied_bytes)
    }
}

#[test]
fn an_attempt_is_read_once_to_continue_from_it_and_one_that_was_removed_is_skipped() {
    let scene = scene(3);
    let first = scene.working(1);
    let kept = Kept { bytes: [Extent::new(0, 20)].into_iter().collect(), upload: None };
    super::heartbeat::ShardCheckpoints::new(first.clone(), None, ExtentSet::new(), None)
        .keep(&kept, &ExtentSet::new())
        .unwrap();
    first.sign_off("failed").unwrap();
    let before = scene.job.state.requests();
    assert_eq!(scene.working(1).record().durable(), kept.bytes);
    // The list, the plan, two marks of the job, the last attempt, its own; then the list and the marks again.
    assert_eq!(scene.job.state.requests() - before, 9);
    scene.job.state.remove(&names::attempt(&scene.job.plan, 1, 2)).unwrap();
    let newest = scene.place(1).newest(None, 3).unwrap();
    assert_eq!(newest.map(|record| record.attempt), Some(1), "it was removed after it was listed");
}

#[test]
fn records_of_another_job_are_refused() {
    let (scene, mut other) = (scene(3), scene(3));
    other.job.state = scene.job.state.clone();
    other.job.id = "another".to_owned();
    scene.working(1);
    let look = |scene: &Scene, shard| {
        Claiming::default().look(scene.place(shard), &WorkerIdentity::default(), Duration::ZERO, elsewhere)
    };
    assert_eq!(look(&other, 1).unwrap_err().kind, Kind::Refused);
    scene.finish_shard(2, 30);
    assert_eq!(look(&other, 2).unwrap_err().kind, Kind::Refused);
}

#[test]
fn a_job_is_finished_only_with_every_shard() {
    let scene = scene(200);
    (1..200).for_each(|shard| scene.finish_shard(shard, 30));
    let Ok(FinishEnd::Missing(missing, status)) = scene.finish() else { panic!("one is missing") };
    assert_eq!((missing, status.done_shards, status.untouched_shards), (vec![200], 199, 1));
    assert!(scene.job.state.get(names::FINISHING).unwrap().is_none(), "workers may continue");
    scene.finish_shard(200, 30);
    for _ in 0..2 {
        let Ok(FinishEnd::Committed(committed)) = scene.finish() else { panic!("all are done") };
        assert_eq!((committed.status.copied_bytes, committed.unread.total_bytes()), (6000, 0));
        assert_eq!(Overview::read(&scene.job).unwrap().phase, FleetPhase::Done);
    }
    assert_eq!(abort(&scene.job).unwrap_err().kind, Kind::Refused);
}

#[test]
fn a_finish_waits_for_workers_that_may_still_write() {
    let scene = scene(2);
    let (ended, alive) = (scene.working(1), scene.working(2));
    ended.sign_off("done").unwrap();
    (1..=2).for_each(|shard| scene.finish_shard(shard, 30));
    let beats = AtomicU64::new(0);
    let Ok(FinishEnd::Committed(committed)) = scene.finish_while(|_| {
        assert!(scene.job.state.get(names::DONE).unwrap().is_none());
        if beats.fetch_add(1, Relaxed) < 10 {
            alive.beat().unwrap();
        }
    }) else {
        panic!("all are done")
    };
    assert_eq!((committed.silent.len(), committed.silent[0].0), (1, 2));
    // Ten signs of life, a quarter of the lease apart, and a lease of silence.
    assert_eq!(beats.into_inner(), 14);
    assert_eq!(scene.now(), Duration::from_millis(14 * 22_500));
}

#[test]
fn a_conflict_while_a_finish_waits_ends_it() {
    let scene = scene(1);
    let _alive = scene.working(1);
    scene.finish_shard(1, 30);
    let error = scene.finish_while(|_| {
        scene.job.state.create(&names::conflict(&scene.job.plan, 1, 1), "").unwrap();
    });
    assert!(error.err().unwrap().what.contains("different results"));
    assert!(scene.job.state.get(names::DONE).unwrap().is_none());
}

#[test]
fn shards_that_contradict_each_other_are_not_finished() {
    let scene = scene(2);
    scene.finish_shard(1, 30);
    scene.finish_shard(2, 29);
    let error = scene.finish().err().unwrap();
    assert!(error.what.contains("shard 2 has another length"), "{error}");
    let scene = self::scene(1);
    scene.finish_shard(1, 30);
    scene.job.state.create(&names::conflict(&scene.job.plan, 1, 2), "").unwrap();
    assert!(scene.finish().err().unwrap().what.contains("different results"));
}

/// What a fleet cost.
#[derive(Debug)]
struct FleetCost {
    time_s: u64,
    requests: u64,
    attempts: u64,
    lost_claims: u64,
    /// Time in which workers copied, in sum.
    copied_s: u64,
}

/// A worker in virtual time.
enum Does {
    Looks(Claiming),
    Works { attempt: Arc<Attempt>, ends_ms: u64, dies: bool },
}

/// Copies `shards` by as many workers, each of which takes `copy_s`; every tenth worker dies in the middle, and is
/// started again after `restart_s`.
fn simulated(shards: u64, copy_s: u64, restart_s: u64) -> FleetCost {
    let scene = scene(shards);
    let mut queue: BinaryHeap<(std::cmp::Reverse<u64>, u64)> = BinaryHeap::new();
    let mut workers: Vec<Does> = (0..shards).map(|_| Does::Looks(Claiming::default())).collect();
    (0..shards).for_each(|shard| queue.push((std::cmp::Reverse(shard % 1000), shard)));
    let (mut attempts, mut lost, mut done, mut copied_s) = (0, 0, 0, 0);
    while let Some((std::cmp::Reverse(at_ms), number)) = queue.pop() {
        scene.now_ms.store(at_ms, Relaxed);
        let (shard, slot) = (number + 1, number as usize);
        let (next, pause_ms) = match std::mem::replace(&mut workers[slot], Does::Looks(Claiming::default())) {
            Does::Looks(mut claiming) => match scene.look(&mut claiming, shard) {
                Claim::Done(_) => continue,
                Claim::Wait(time, _) => {
                    lost += 1;
                    (Does::Looks(claiming), time.as_millis() as u64)
                }
                Claim::Mine(record) => {
                    attempts += 1;
                    let dies = record.attempt == 1 && number % 10 == 0;
                    let ends_ms = at_ms + copy_s * 1000;
                    (Does::Works { attempt: scene.attempt(*record), ends_ms, dies }, 22_500)
                }
            },
            Does::Works { attempt, ends_ms, dies } if at_ms < ends_ms => {
                attempt.beat().unwrap();
                assert!(!attempt.fence.is_over(), "no worker that lives is stopped");
                if dies && at_ms * 2 > ends_ms {
                    copied_s += copy_s - (ends_ms - at_ms) / 1000;
                    (Does::Looks(Claiming::default()), restart_s * 1000)
                } else {
                    (Does::Works { attempt, ends_ms, dies }, 22_500.min(ends_ms - at_ms))
                }
            }
            Does::Works { attempt, .. } => {
                scene.finish_shard(shard, 30);
                attempt.sign_off("done").unwrap();
                (done, copied_s) = (done + 1, copied_s + copy_s);
                continue;
            }
        };
        workers[slot] = next;
        queue.push((std::cmp::Reverse(at_ms + pause_ms), number));
    }
    assert_eq!(done, shards);
    let FinishEnd::Committed(_) = scene.finish().unwrap() else { panic!("all are done") };
    FleetCost {
        time_s: scene.now_ms.load(Relaxed) / 1000,
        requests: scene.job.state.requests(),
        attempts,
        lost_claims: lost,
        copied_s,
    }
}

/// HAUL_FLEET_WORKERS=10000 cargo test --lib fleet -- --nocapture prints the row of docs/user/fleet.md.
#[test]
fn a_worker_makes_less_than_one_request_in_ten_seconds() {
    let workers = std::env::var("HAUL_FLEET_WORKERS").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let cost = simulated(workers, 1800, 60);
    let FleetCost { time_s, requests, attempts, lost_claims, copied_s } = cost;
    let each = requests as f64 * 10.0 / copied_s as f64;
    println!("| {workers} | {time_s} s | {requests} | {each:.2} | {attempts} | {lost_claims} |");
    assert!(each <= 1.0, "{cost:?}");
    assert_eq!(cost.attempts, workers + workers.div_ceil(10), "{cost:?}");
}
