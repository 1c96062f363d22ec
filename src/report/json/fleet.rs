//! How far a copy by many workers is, as JSON.
use super::{SCHEMA, object};
use crate::core::{BlockDigest, FleetStatus, HashKind, ShardAttempt};
use serde::Serialize;

/// The document of `haul status --json` and `haul finish --json`.
pub fn fleet(status: &FleetStatus) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "fleet",
        job: status.job.clone(),
        state: status.state.clone(),
        phase: status.phase.name(),
        len_bytes: status.len_bytes,
        shards: status.shards,
        done_shards: status.done_shards,
        untouched_shards: status.untouched_shards,
        copied_bytes: status.copied_bytes,
        unread_bytes: status.unread_bytes,
        bytes_per_s: status.bytes_per_s(),
        left_s: status.left_s(),
        running: status.running.iter().map(attempt).collect::<Vec<_>>(),
        failed: status.failed.iter().map(attempt).collect::<Vec<_>>(),
        conflicts: status.conflicts.clone(),
        digests: status.digest.iter().map(digest).collect::<Vec<_>>(),
    }
}

fn digest(digest: &BlockDigest) -> impl Serialize {
    object! { hash: HashKind::Blake3.name(), hex: digest.to_string() }
}

fn attempt(attempt: &ShardAttempt) -> impl Serialize {
    object! {
        shard: attempt.shard,
        attempt: attempt.attempt,
        host: attempt.host.clone(),
        pid: attempt.pid,
        written: attempt.written.clone(),
        silent_s: attempt.silent_s,
        beat: attempt.beat,
        copied_bytes: attempt.copied_bytes,
        bytes_per_s: attempt.bytes_per_s,
        ended: attempt.ended.clone(),
    }
}
