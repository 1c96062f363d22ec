//! This process among all workers, and whether another worker of this host still runs.
use crate::ledger::fleet::WorkerIdentity;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Variables by which batch engines name their tasks.
const OF_ENGINES: &[&str] = &[
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_RESTART_COUNT",
    "SLURMD_NODENAME",
    "JOB_COMPLETION_INDEX",
    "AWS_BATCH_JOB_ID",
    "AWS_BATCH_JOB_ARRAY_INDEX",
    "AWS_BATCH_JOB_ATTEMPT",
    "PARALLEL_SEQ",
];

/// The time since the host began, which counts while it is suspended.
pub(super) fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// This process.
pub(super) fn this_worker() -> WorkerIdentity {
    let pid = std::process::id();
    let engine = OF_ENGINES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    WorkerIdentity {
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        boot_id: boot_id(),
        pid_namespace: pid_namespace(),
        pid,
        started_ticks: started_ticks(pid).unwrap_or(0),
        random: RandomState::new().hash_one((pid, since_boot())),
        engine: engine.collect(),
    }
}

/// Whether a worker of this host runs; `None`: it is of another host or container, about which nothing is known.
pub(super) fn runs(worker: &WorkerIdentity) -> Option<bool> {
    let is_here = !worker.boot_id.is_empty()
        && !worker.pid_namespace.is_empty()
        && (worker.boot_id.as_str(), worker.pid_namespace.as_str()) == (&boot_id(), &pid_namespace());
    is_here.then(|| worker.started_ticks > 0 && started_ticks(worker.pid) == Some(worker.started_ticks))
}

/// The kernel's random name for this run of the host.
pub(super) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn pid_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// When a process began; `None`: there is none of this number, or it is dead and only waited for.
fn started_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the command may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_one_that_began_earlier_does_not() {
        let worker = this_worker();
        assert_eq!(runs(&worker), Some(true));
        assert_eq!(runs(&WorkerIdentity { started_ticks: worker.started_ticks - 1, ..worker.clone() }), Some(false));
        assert_eq!(runs(&WorkerIdentity { boot_id: "other".to_owned(), ..worker.clone() }), None);
        assert_eq!(runs(&WorkerIdentity::default()), None);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let gone = WorkerIdentity { pid: child.id(), ..worker };
        child.wait().unwrap();
        assert_eq!(runs(&gone), Some(false));
    }
}
