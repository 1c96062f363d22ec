//! Copies by many workers, one of which is killed again and again, or continues too late. HAUL_FLEET_RUNS sets the
//! number of runs with kills, HAUL_FLEET_SPLITS that of runs with a late worker, HAUL_FLEET_PAUSE_MS the time between
//! two kills, HAUL_FLEET_SEED their moments and victims.
use crate::fleet::{Job, MIB, copied_bytes, ended};
use crate::support::{
    Fate, NbdServer, ObjectServer, StoreProxy, cmp, has, haul_path, in_one_line, is_root, name, state_home, wait_until,
};
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn number(name: &str, by_default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(by_default)
}

/// The kinds of destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    File,
    Nbd,
    Object,
}

/// A job, and the servers of its destination.
struct Scene {
    job: Job,
    to: To,
    /// What the destination has in the end.
    result: PathBuf,
    server: Option<NbdServer>,
    store: Option<(ObjectServer, StoreProxy)>,
    /// Where the server of an export counts what was written.
    counted: PathBuf,
}

impl Scene {
    /// `None`: the server is not installed.
    fn new(to: To, len: usize, words: &[&str]) -> Option<Scene> {
        let mut job = Job::new(len);
        let counted = job.path("counted");
        let (mut server, mut store) = (None, None);
        let (dest, result) = match to {
            To::File => ("dest".to_owned(), job.path("dest")),
            To::Nbd => {
                fs::write(job.path("backing"), vec![0; len]).unwrap();
                let (file, count) = (job.path("backing"), format!("statsfile={}", name(&counted)));
                let words = ["--filter=stats", "file", name(&file), &count];
                server = Some(NbdServer::nbdkit(job.dir.path(), &words)?);
                (server.as_ref()?.address(""), file)
            }
            To::Object => {
                let running = ObjectServer::start(job.dir.path())?;
                let proxy = StoreProxy::start(&running, |_| Fate::Answered);
                job.environment = job.environment_of(&running);
                job.environment.retain(|(name, _)| *name != "AWS_ENDPOINT");
                job.environment.push(("AWS_ENDPOINT", format!("http://127.0.0.1:{}", proxy.port())));
                let file = running.file("big");
                store = Some((running, proxy));
                ("s3://vault/big".to_owned(), file)
            }
        };
        job.plan(&dest, &[&["--state", "state", "--yes"], words].concat());
        Some(Scene { job, to, result, server, store, counted })
    }

    fn is_complete(&self) {
        cmp(self.job.source(), &self.result);
    }

    /// Bytes that were written to the destination, of which workers report `reported`.
    fn written(mut self, reported: u64) -> u64 {
        match self.to {
            To::File => reported,
            To::Nbd => {
                drop(self.server.take());
                let text = fs::read_to_string(&self.counted).unwrap();
                let line = text.lines().find(|line| line.starts_with("write: ")).unwrap_or_else(|| panic!("{text}"));
                // "write: 53 ops, 0.005709 s, 12.86 MiB, …"
                let mebibytes: f64 = line.split(", ").nth(2).unwrap().trim_end_matches(" MiB").parse().unwrap();
                (mebibytes * 1_048_576.0) as u64
            }
            To::Object => {
                let (_, proxy) = self.store.as_ref().unwrap();
                proxy.passed().iter().filter(|passing| passing.is_part()).count() as u64 * (8 << 20)
            }
        }
    }

    fn start(&self, shard: u64, shards: u64) -> Child {
        let which = format!("{shard}/{shards}");
        let words = ["copy", "--plan", "plan.json", "--shard", &which, "--json", "--progress", "none"];
        self.job.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// What the kernel counts as written by a process.
fn written_by(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok()).unwrap_or(0)
}

/// What a worker that ended reports.
fn reported(report: &[u8]) -> u64 {
    let report = serde_json::from_slice::<Value>(report).unwrap_or_default();
    report["bytes"]["written_bytes"].as_u64().unwrap_or(0)
}

const SHARDS: u64 = 4;

/// What one run cost.
struct Cost {
    kills: u64,
    again_bytes: u64,
}

/// Copies by four workers, of which a random one is killed after each pause, until all shards are done or `kills_max`
/// were killed: one that is killed before each of its checkpoints would never end.
fn run(scene: Scene, random: &mut Rng, pause_ms: u64, kills_max: u64, len: u64) -> Cost {
    let mut workers: Vec<Option<Child>> = (1..=SHARDS).map(|shard| Some(scene.start(shard, SHARDS))).collect();
    let (mut kills, mut written) = (0, 0);
    let mut until_kill = pause_ms;
    while workers.iter().any(Option::is_some) {
        std::thread::sleep(Duration::from_millis(20));
        for (shard, worker) in (1..).zip(&mut workers) {
            if worker.as_mut().is_some_and(|child| child.try_wait().unwrap().is_some()) {
                let output = worker.take().unwrap().wait_with_output().unwrap();
                written += reported(&output.stdout);
                let messages = in_one_line(&output.stderr);
                match output.status.code() {
                    Some(0) => {}
                    // On a busy machine it could not give its sign of life in time: its engine starts it again.
                    Some(1) => *worker = Some(scene.start(shard, SHARDS)),
                    other => panic!("shard {shard}: {other:?}: {messages}"),
                }
            }
        }
        until_kill = until_kill.saturating_sub(20);
        let alive: Vec<usize> = (0..workers.len()).filter(|at| workers[*at].is_some()).collect();
        if until_kill == 0 && kills < kills_max && !alive.is_empty() {
            let at = alive[random.usize(..alive.len())];
            let mut killed = workers[at].replace(scene.start(at as u64 + 1, SHARDS)).unwrap();
            written += written_by(&killed);
            let _ = killed.kill();
            killed.wait().unwrap();
            kills += 1;
            until_kill = pause_ms / 2 + random.u64(..pause_ms);
        }
    }
    let (status, messages) = scene.job.finish();
    assert_eq!(status, 0, "{:?}: {messages}", scene.to);
    scene.is_complete();
    Cost { kills, again_bytes: scene.written(written).saturating_sub(len) }
}

/// With a lease of 4 s a worker records what is durable every second: a checkpoint is what it copies in that time.
#[test]
fn copies_are_complete_after_random_workers_were_killed_again_and_again() {
    let is_long = std::env::var_os("HAUL_FLEET_RUNS").is_some();
    let (runs, seed) = (number("HAUL_FLEET_RUNS", 3), number("HAUL_FLEET_SEED", 1));
    let pause_ms = number("HAUL_FLEET_PAUSE_MS", 300);
    let mut random = Rng::with_seed(seed);
    let (mut kills, mut again, mut most) = (0, 0, 0);
    for number in 0..runs {
        let to = [To::File, To::Nbd, To::Object][(number % 3) as usize];
        // With parts of an object of 8 MiB, each shard has two.
        let (len, limit) =
            if is_long { (64 * MIB, "4M") } else { (if to == To::Object { 64 } else { 12 } * MIB, "16M") };
        let shards = SHARDS.to_string();
        let Some(scene) = Scene::new(
            to,
            len,
            &["--shards", &shards, "--lease", "4s", "--limit", limit, "--hash", "blake3", "--manifest-block", "64K"],
        ) else {
            continue;
        };
        let kills_max = if is_long { u64::MAX } else { 6 };
        let cost = run(scene, &mut random, pause_ms, kills_max, len as u64);
        println!("run {number}, seed {seed}, {to:?}: {} kills, {} bytes copied again", cost.kills, cost.again_bytes);
        kills += cost.kills;
        again += cost.again_bytes;
        most = most.max(cost.again_bytes.checked_div(cost.kills).unwrap_or(0));
    }
    let per_kill = again.checked_div(kills).unwrap_or(0);
    println!("{runs} runs, {kills} kills, {per_kill} bytes copied again for each kill, at most {most} in a run");
}

/// A worker as another host runs it: with process numbers, a view of the directory and locks of its own.
struct Elsewhere(Child);

impl Elsewhere {
    /// A worker of shard 1 of 1.
    fn start(job: &Job, mounts: bool) -> Elsewhere {
        let dir = job.dir.path();
        let see = if mounts { "bindfs \"$0\" \"$0\" && cd \"$0\" && " } else { "cd \"$0\" && " };
        let script = format!("{see} exec \"$1\" copy --plan plan.json --shard 1/1 --progress none");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]).arg(dir).arg(haul_path());
        command.env("XDG_STATE_HOME", state_home()).envs(job.environment.iter().cloned());
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Elsewhere(command.spawn().unwrap())
    }

    /// haul itself, the child of unshare.
    fn signal(&self, signal: Signal) {
        let id = self.0.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let child = children.split_whitespace().next().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        kill_process(child.unwrap(), signal).unwrap();
    }
}

/// A worker is suspended longer than its lease, on a host that others cannot see; another takes its shard, and the
/// first continues at a random moment: before the other ends, before the finish, or after it.
#[test]
fn a_late_worker_of_another_host_changes_nothing_of_a_complete_destination() {
    if !is_root() || !has("unshare") {
        return;
    }
    let (runs, seed) = (number("HAUL_FLEET_SPLITS", 1), number("HAUL_FLEET_SEED", 1));
    let mut random = Rng::with_seed(seed);
    for (run, to) in (0..runs).flat_map(|run| [To::File, To::Nbd, To::Object].map(|to| (run, to))) {
        let mounts = to == To::File;
        if mounts && !has("bindfs") {
            continue;
        }
        let words = ["--shards", "1", "--lease", "3s", "--limit", "6M"];
        let Some(scene) = Scene::new(to, 17 * MIB, &words) else { continue };
        let job = &scene.job;
        let late = (1..).find_map(|number| {
            let (mut late, attempt) =
                (Elsewhere::start(job, mounts), job.path(&format!("state/shard/0001/attempt-{number}")));
            let begun = || if to == To::Object { has_beaten(&attempt) } else { copied_bytes(&attempt) > 0 };
            wait_until(|| begun() || late.0.try_wait().unwrap().is_some());
            let runs = late.0.try_wait().unwrap().is_none();
            runs.then(|| {
                late.signal(Signal::STOP);
                late
            })
        });
        let (late, moment) = (late.unwrap(), random.u64(..3));
        let other = Elsewhere::start(job, mounts);
        if moment == 0 {
            // As soon as the other one has the shard.
            let attempts = || fs::read_dir(job.path("state/shard/0001")).unwrap().count();
            wait_until(|| attempts() >= 2);
            late.signal(Signal::CONT);
        }
        let (mut status, mut messages) = ended(other.0);
        while status == Some(1) {
            (status, messages) = ended(Elsewhere::start(job, mounts).0);
        }
        assert_eq!(status, Some(0), "run {run}, {to:?}, seed {seed}: {messages}");
        if moment == 1 {
            late.signal(Signal::CONT);
        }
        let (status, messages) = job.finish();
        assert_eq!(status, 0, "run {run}, {to:?}, seed {seed}: {messages}");
        scene.is_complete();
        if moment == 2 {
            late.signal(Signal::CONT);
        }
        let (status, messages) = ended(late.0);
        assert_eq!(status, Some(1), "run {run}, {to:?}, seed {seed}, moment {moment}: {messages}");
        scene.is_complete();
        println!("run {run}, {to:?}, moment {moment}: {messages}");
    }
}

fn has_beaten(attempt: &std::path::Path) -> bool {
    fs::read_to_string(attempt).is_ok_and(|text| !text.contains("\"beat\":0,"))
}
