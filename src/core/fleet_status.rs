//! How far a copy by many workers is: plain data.
use super::BlockDigest;

/// How far the job as a whole is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FleetPhase {
    /// Shards are copied.
    #[default]
    Copying,
    /// A finish has begun to commit.
    Finishing,
    /// Done.
    Done,
    /// Given up.
    Aborted,
}

impl FleetPhase {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FleetPhase::Copying => "copying",
            FleetPhase::Finishing => "finishing",
            FleetPhase::Done => "done",
            FleetPhase::Aborted => "aborted",
        }
    }
}

/// The last attempt at a shard that is not done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardAttempt {
    /// The shard, from 1.
    pub shard: u64,
    /// The number of the attempt.
    pub attempt: u64,
    /// Host name and process of the worker.
    pub host: String,
    /// See `host`.
    pub pid: u32,
    /// When it wrote last, by its own clock, RFC 3339 in UTC.
    pub written: String,
    /// Seconds since then, by the clocks of both hosts, if it has not ended; `None`: unknown, or it has ended.
    pub silent_s: Option<u64>,
    /// How often it has written.
    pub beat: u64,
    /// Bytes of the shard that are durable.
    pub copied_bytes: u64,
    /// Bytes per second of this attempt, by its own clock; `None`: not known yet.
    pub bytes_per_s: Option<u64>,
    /// How it ended; `None`: it runs, or could not record its end.
    pub ended: Option<String>,
}

/// A shard that is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishedShard {
    /// The shard, from 1.
    pub shard: u64,
    /// The attempt that finished it.
    pub attempt: u64,
    /// Host name.
    pub host: String,
    /// When that attempt began and ended, by the clock of its worker, in seconds of the Unix epoch.
    pub began_s: i64,
    /// See `began_s`.
    pub ended_s: i64,
    /// Bytes of the shard.
    pub len_bytes: u64,
}

/// How far a copy by many workers is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetStatus {
    /// Addresses of both sides.
    pub sides: [String; 2],
    /// Bytes of each shard but the last.
    pub shard_bytes: u64,
    /// The job: the digest of its plan.
    pub job: String,
    /// Address of the shared state.
    pub state: String,
    /// How far it is as a whole.
    pub phase: FleetPhase,
    /// Length of the copy.
    pub len_bytes: u64,
    /// Time without a sign of life after which a worker counts as dead, in seconds.
    pub lease_s: u64,
    /// Number of shards.
    pub shards: u64,
    /// Number of shards that are done.
    pub done_shards: u64,
    /// Bytes that are durable, of shards that are done and of others.
    pub copied_bytes: u64,
    /// Bytes that could not be read, of shards that are done.
    pub unread_bytes: u64,
    /// Shards without an attempt.
    pub untouched_shards: u64,
    /// Shards that are done.
    pub done: Vec<FinishedShard>,
    /// Attempts that have not ended; whether they are alive shows only by watching them.
    pub running: Vec<ShardAttempt>,
    /// Shards whose last attempt ended without being done.
    pub failed: Vec<ShardAttempt>,
    /// Shards that two workers finished with different results.
    pub conflicts: Vec<u64>,
    /// The BLAKE3 of all data, if the plan has a digest and every shard is done.
    pub digest: Option<BlockDigest>,
}

impl FleetStatus {
    /// Whether an attempt has given no sign of life for the lease, by clocks: it is dead, or those differ.
    pub fn is_stuck(&self, attempt: &ShardAttempt) -> bool {
        attempt.silent_s.is_some_and(|silent| silent > self.lease_s)
    }

    /// Bytes per second of all that runs.
    pub fn bytes_per_s(&self) -> u64 {
        self.running.iter().filter_map(|attempt| attempt.bytes_per_s).sum()
    }

    /// Seconds until all is copied at this rate; `None`: nothing runs.
    pub fn left_s(&self) -> Option<u64> {
        let rate = self.bytes_per_s();
        (rate > 0).then(|| self.len_bytes.saturating_sub(self.copied_bytes).div_ceil(rate))
    }
}
