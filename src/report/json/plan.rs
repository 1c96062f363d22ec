use super::SCHEMA;
use super::damage::PatternReport;
use crate::core::{
    Cache, Decision, Direction, EndpointKind, Estimate, Facts, Partition, PlanNotes, PlanSide, Portion, Reason, Route,
    WriteOrder, Zeros,
};
use serde::Serialize;

/// What a copy will do, for `--dry-run --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PlanReport {
    /// Version of this schema.
    pub schema: u32,
    /// `plan`.
    pub report: &'static str,
    /// Where bytes come from.
    pub source: SidePlan,
    /// Where bytes go.
    pub dest: SidePlan,
    /// Bytes to copy; `null`: to the end of a stream.
    pub len_bytes: Option<u64>,
    /// Addresses of all dests, with `--also`; else none. `dest` is the first of them.
    pub dests: Vec<String>,
    /// The test pattern that is to be written or checked; `null`: none.
    pub pattern: Option<PatternReport>,
    /// `ring`, `threads`, `sync`, `reflink` or `offload`.
    pub engine: &'static str,
    /// Bytes per request to begin with.
    pub block_bytes: u32,
    /// Most requests in flight to begin with.
    pub depth: u32,
    /// Better settings are looked for while copying.
    pub adaptive: bool,
    /// `forward` or `backward`.
    pub direction: &'static str,
    /// `any`, `submitted` or `one_at_a_time`.
    pub write_order: &'static str,
    /// Read this much, then write it, in turn; `null`: both at once.
    pub burst_bytes: Option<u32>,
    /// What becomes of zero runs: `leave`, `device`, `write` or `each`.
    pub zeros: &'static str,
    /// Holes of the source are asked for and not read.
    pub ask_holes: bool,
    /// Zeros are looked for in data, in pieces of this many bytes; `null`: they are not.
    pub detect_zeros_bytes: Option<u32>,
    /// Only what differs is written.
    pub delta: bool,
    /// Digests to compute.
    pub hashes: Vec<&'static str>,
    /// Blocks of this many bytes are digested, for a manifest or to be read back; `null`: none.
    pub digest_block_bytes: Option<u64>,
    /// Blocks of a million that are read back afterwards and compared; `null`: none.
    pub verify_per_million: Option<u32>,
    /// The dest is flushed before the end.
    pub durable: bool,
    /// What is durable is written down while the copy runs.
    pub journal: bool,
    /// Most bytes a second; `null`: no limit.
    pub limit_bytes_per_s: Option<u64>,
    /// What was chosen, and why.
    pub why: Vec<ReasonReport>,
    /// What the user should know before it begins.
    pub warnings: Vec<String>,
    /// Expected time, from probing reads; `null` where none were made.
    pub estimate: Option<EstimateReport>,
}

/// One side of a plan, with what probing found.
#[derive(Clone, Debug, Serialize)]
pub struct SidePlan {
    /// As the user named it.
    pub address: String,
    /// What is opened.
    pub path: String,
    /// `file`, `block`, `pipe`, `endless`, `null`, `pattern` or `memory`.
    pub kind: &'static str,
    /// It is there already.
    pub exists: bool,
    /// Bytes in it; `null` for a stream.
    pub size_bytes: Option<u64>,
    /// First byte of the copy.
    pub offset_bytes: u64,
    /// `direct`, `dontcache`, `drop` or `keep`.
    pub cache: &'static str,
    /// The node whose commands it is reached by; `null`: by reads and writes.
    pub passthrough: Option<String>,
    /// Smallest addressable unit.
    pub logical_block_bytes: u32,
    /// Natural write unit.
    pub physical_block_bytes: u32,
    /// Model of a device.
    pub model: Option<String>,
    /// Serial number of a device.
    pub serial: Option<String>,
    /// World wide name of a device.
    pub wwn: Option<String>,
    /// `sata`, `nvme`, `usb`, ….
    pub transport: Option<String>,
    /// It moves a head; `null` where nobody knows.
    pub rotational: Option<bool>,
    /// Type of the file system a file lies on.
    pub filesystem: Option<String>,
    /// What is on a device.
    pub content: Option<String>,
    /// Partitions of a whole device.
    pub partitions: Vec<PartitionReport>,
}

/// A partition.
#[derive(Clone, Debug, Serialize)]
pub struct PartitionReport {
    /// Kernel name.
    pub name: String,
    /// First byte on the whole device.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// What is on it.
    pub content: Option<String>,
}

/// One choice and why it was made.
#[derive(Clone, Debug, Serialize)]
pub struct ReasonReport {
    /// What was chosen about.
    pub topic: &'static str,
    /// What was chosen.
    pub choice: String,
    /// Why.
    pub because: String,
}

/// How long it was expected to take, before it began.
#[derive(Clone, Debug, Serialize)]
pub struct EstimateReport {
    /// In seconds, before what is read back.
    pub time_s: f64,
    /// Mean rate of reading the source over all bytes of the copy; `null` where it is not known.
    pub source_bytes_per_s: Option<u64>,
    /// The same of writing the dest, or of reading it where it is only read.
    pub dest_bytes_per_s: Option<u64>,
    /// Where the rate of writing is from: `as_read`, `saved` or `assumed`; `null` where nothing is known of it.
    pub write_rate: Option<&'static str>,
    /// What binds: `source`, `dest`, `both` or `limit`; `null` where only one side is known.
    pub bound: Option<&'static str>,
    /// Places that were read for it.
    pub places: u32,
    /// What that took, in seconds.
    pub took_s: f64,
}

impl From<&Estimate> for EstimateReport {
    fn from(estimate: &Estimate) -> Self {
        EstimateReport {
            time_s: estimate.time.as_secs_f64(),
            source_bytes_per_s: estimate.source_bytes_per_s,
            dest_bytes_per_s: estimate.dest_bytes_per_s,
            write_rate: estimate.write_rate.map(|rate| rate.name()),
            bound: estimate.bound.map(|bound| bound.name()),
            places: estimate.places,
            took_s: estimate.took.as_secs_f64(),
        }
    }
}

/// The plan for programs.
pub fn plan(decision: &Decision, source: &Facts, dest: &Facts, estimate: Option<Estimate>) -> PlanReport {
    let Decision { plan, notes } = decision;
    PlanReport {
        schema: SCHEMA,
        report: "plan",
        source: side(&plan.source, source),
        dest: side(&plan.dest, dest),
        len_bytes: plan.len,
        dests: plan.dests.iter().map(|dest| dest.side.address.clone()).collect(),
        pattern: plan.pattern.map(PatternReport::from),
        engine: plan.engine.name(),
        block_bytes: plan.tuning.block_bytes,
        depth: plan.tuning.depth,
        adaptive: plan.tuning.adaptive,
        direction: direction_name(plan.direction),
        write_order: match plan.write_order {
            WriteOrder::Any => "any",
            WriteOrder::Submitted => "submitted",
            WriteOrder::OneAtATime => "one_at_a_time",
        },
        burst_bytes: plan.burst_bytes,
        zeros: match plan.zeros {
            Zeros::Leave => "leave",
            Zeros::Device => "device",
            Zeros::Write => "write",
            Zeros::Each => "each",
        },
        ask_holes: plan.ask_holes,
        detect_zeros_bytes: plan.detect_zeros_bytes,
        delta: matches!(plan.route, Route::Delta { .. }),
        hashes: plan.hashes.iter().map(|kind| kind.name()).collect(),
        digest_block_bytes: plan.digest_blocks.map(|blocks| blocks.block_bytes),
        verify_per_million: plan.read_back.as_ref().map(|wish| match wish.portion {
            Portion::All | Portion::Afterwards => 1_000_000,
            Portion::Sample { per_million } => per_million,
        }),
        durable: plan.durable,
        journal: plan.journal,
        limit_bytes_per_s: plan.limit_bytes_per_s,
        why: reasons(notes),
        warnings: notes.warnings.clone(),
        estimate: estimate.as_ref().map(EstimateReport::from),
    }
}

pub(super) fn reasons(notes: &PlanNotes) -> Vec<ReasonReport> {
    let told = |reason: &Reason| ReasonReport {
        topic: reason.topic,
        choice: reason.choice.clone(),
        because: reason.because.clone(),
    };
    notes.range.iter().chain(&notes.why).map(told).collect()
}

pub(super) fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Backward => "backward",
    }
}

pub(super) fn cache_name(side: &PlanSide) -> &'static str {
    match side.access.cache {
        Cache::Direct => "direct",
        Cache::DontCache => "dontcache",
        Cache::Drop => "drop",
        Cache::Keep => "keep",
    }
}

pub(super) fn node_name(side: &PlanSide) -> Option<String> {
    side.through.as_ref().map(|through| through.node.node.to_string_lossy().into_owned())
}

pub(super) fn kind_name(side: &PlanSide) -> &'static str {
    match side.kind {
        EndpointKind::File => "file",
        EndpointKind::Block => "block",
        EndpointKind::Pipe => "pipe",
        EndpointKind::Endless => "endless",
        EndpointKind::Null => "null",
        EndpointKind::Pattern => "pattern",
        EndpointKind::Memory => "memory",
        EndpointKind::Manifest => "manifest",
    }
}

fn side(side: &PlanSide, facts: &Facts) -> SidePlan {
    let identity = facts.identity.clone();
    SidePlan {
        address: side.address.clone(),
        path: side.path.to_string_lossy().into_owned(),
        kind: kind_name(side),
        exists: facts.exists,
        size_bytes: facts.size,
        offset_bytes: side.offset,
        cache: cache_name(side),
        passthrough: node_name(side),
        logical_block_bytes: facts.logical_block_bytes,
        physical_block_bytes: facts.physical_block_bytes,
        model: identity.model,
        serial: identity.serial,
        wwn: identity.wwn,
        transport: identity.transport,
        rotational: facts.queue.rotational,
        filesystem: facts.filesystem.clone(),
        content: facts.content.clone(),
        partitions: facts.partitions.iter().map(partition).collect(),
    }
}

fn partition(partition: &Partition) -> PartitionReport {
    PartitionReport {
        name: partition.name.clone(),
        offset_bytes: partition.offset,
        len_bytes: partition.len,
        content: partition.content.clone(),
    }
}
