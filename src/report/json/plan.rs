use super::damage::pattern;
use super::queue_depth;
use super::runs::{list, ranges};
use super::{SCHEMA, object};
use crate::core::{
    Bursts, Cache, Compressed, Decision, Direction, EndpointKind, Estimate, Export, Facts, HttpResource, Partition,
    PlanNotes, PlanSide, Portion, Reason, Route, SchedulerAdvice, WriteOrder, Zeros,
};
use serde::Serialize;
use std::borrow::Cow;

/// The expected duration, before the copy begins.
pub(super) fn estimate(estimate: &Estimate) -> impl Serialize + use<> {
    object! {
        time_s: estimate.time().map(|time| time.as_secs_f64()),
        at_least_s: estimate.at_least.as_secs_f64(),
        at_most_s: estimate.at_most.map(|time| time.as_secs_f64()),
        doubt: estimate.doubt.map(|doubt| doubt.name()),
        source_bytes_per_s: estimate.source_bytes_per_s,
        dest_bytes_per_s: estimate.dest_bytes_per_s,
        write_rate: estimate.write_rate.map(|rate| rate.name()),
        bound: estimate.bound.map(|bound| bound.name()),
        places: estimate.places,
        took_s: estimate.took.as_secs_f64(),
    }
}

/// The plan as JSON.
pub fn plan(decision: &Decision, source: &Facts, dest: &Facts, expected: Option<Estimate>) -> impl Serialize {
    let Decision { plan, notes } = decision;
    let is_same = plan.source.map == plan.dest.map;
    object! {
        schema: SCHEMA,
        report: "plan",
        label: &notes.label,
        source: side(&plan.source, source),
        dest: side(&plan.dest, dest),
        len_bytes: plan.len,
        ranges: ranges(&plan.source.map).filter(|_| is_same),
        source_ranges: ranges(&plan.source.map).filter(|_| !is_same),
        dest_ranges: ranges(&plan.dest.map).filter(|_| !is_same),
        dests: plan.dests.iter().map(|dest| &dest.side.address).collect::<Vec<_>>(),
        pattern: plan.pattern.map(pattern),
        engine: plan.engine.name(),
        block_bytes: plan.tuning.limits.block_bytes,
        queue_depth: queue_depth(plan.tuning.limits),
        pool_bytes: plan.tuning.pool_bytes,
        adaptive: plan.tuning.adaptive,
        direction: direction_name(plan.direction),
        write_order: match plan.write_order {
            WriteOrder::Any => "any",
            WriteOrder::Submitted => "submitted",
            WriteOrder::OneAtATime => "one_at_a_time",
        },
        bursts: plan.tuning.bursts != Bursts::Never,
        zeros: match plan.zeros {
            Zeros::Leave => "leave",
            Zeros::Device => "device",
            Zeros::Write => "write",
            Zeros::Each => "each",
        },
        ask_holes: plan.ask_holes,
        detect_zeros_bytes: plan.detect_zeros_bytes,
        delta: matches!(plan.route, Route::Delta { .. }),
        hashes: plan.hashes.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        digest_block_bytes: plan.digest_blocks.map(|blocks| blocks.block_bytes),
        verify_per_million: plan.read_back.as_ref().map(|options| match options.portion {
            Portion::All | Portion::Afterwards => 1_000_000,
            Portion::Sample { per_million } => per_million,
        }),
        durable: plan.durable,
        journal: plan.journal,
        limit_bytes_per_s: plan.limit_bytes_per_s,
        why: reasons(notes),
        warnings: &notes.warnings,
        estimate: expected.as_ref().map(estimate),
    }
}

pub(super) fn reasons(notes: &PlanNotes) -> Vec<impl Serialize> {
    let all = notes.range.iter().chain(&notes.why);
    all.map(|Reason { topic, choice, because, .. }| object! { topic, choice, because }).collect()
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
        Cache::DroppedByKernel => "dontcache",
        Cache::Drop => "drop",
        Cache::Keep => "keep",
    }
}

pub(super) fn node_name(side: &PlanSide) -> Option<Cow<'_, str>> {
    side.through.as_ref().map(|through| through.node.node.to_string_lossy())
}

pub(super) fn kind_name(side: &PlanSide) -> &'static str {
    match side.kind {
        EndpointKind::File => "file",
        EndpointKind::Block => "block",
        EndpointKind::Nbd => "nbd",
        EndpointKind::Http => "http",
        EndpointKind::HttpStream => "http_stream",
        EndpointKind::Object => "object",
        EndpointKind::Pipe => "pipe",
        EndpointKind::Socket => "socket",
        EndpointKind::Terminal => "terminal",
        EndpointKind::Character => "character_device",
        EndpointKind::FileStream => "file_stream",
        EndpointKind::Endless => "endless",
        EndpointKind::Null => "null",
        EndpointKind::Pattern => "pattern",
        EndpointKind::Memory => "memory",
        EndpointKind::Compressed | EndpointKind::CompressedDest => "compressed_file",
        EndpointKind::Manifest => "manifest",
    }
}

fn side(side: &PlanSide, facts: &Facts) -> impl Serialize {
    let identity = &facts.identity;
    object! {
        address: &side.address,
        path: side.path.to_string_lossy(),
        kind: kind_name(side),
        exists: facts.exists,
        size_bytes: facts.size,
        offset_bytes: side.map.start(),
        list: list(&side.map),
        cache: cache_name(side),
        passthrough: node_name(side),
        logical_block_bytes: facts.logical_block_bytes,
        physical_block_bytes: facts.physical_block_bytes,
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
        rotational: facts.queue.rotational,
        scheduler: &facts.queue_policy.scheduler,
        scheduler_advised: facts.queue_policy.advice(facts.queue.rotational).map(SchedulerAdvice::scheduler),
        read_ahead_bytes: facts.queue_policy.read_ahead_bytes,
        filesystem: &facts.filesystem,
        content: &facts.content,
        partitions: facts.partitions.iter().map(partition).collect::<Vec<_>>(),
        export: facts.export.as_ref().map(export),
        http: facts.http.as_ref().map(http),
        compressed: facts.compressed.as_deref().map(compressed),
    }
}

fn http(resource: &HttpResource) -> impl Serialize {
    object! {
        etag: &resource.etag,
        is_weak: resource.is_weak,
        last_modified: &resource.last_modified,
        ranges: resource.ranges,
        protocol: &resource.protocol,
        server: &resource.server,
        redirected_to: &resource.redirected_to,
        proxy: &resource.proxy,
    }
}

fn compressed(compressed: &Compressed) -> impl Serialize + use<> {
    object! {
        format: compressed.format.map(|format| format.name()),
        stored_bytes: compressed.stored.size,
        content_least_bytes: compressed.least_bytes,
        level: compressed.encoding.map(|encoding| encoding.level),
    }
}

fn export(export: &Export) -> impl Serialize {
    object! {
        description: &export.description,
        tls: &export.tls,
        read_only: export.read_only,
        flush: export.flush,
        fua: export.fua,
        trim: export.trim,
        write_zeroes: export.write_zeroes,
        fast_zero: export.fast_zero,
        multi_conn: export.multi_conn,
        structured_replies: export.structured_replies,
        base_allocation: export.base_allocation,
        block_min_bytes: export.block_min_bytes,
        block_preferred_bytes: export.block_preferred_bytes,
        block_max_bytes: export.block_max_bytes,
    }
}

fn partition(partition: &Partition) -> impl Serialize {
    object! {
        name: &partition.name,
        offset_bytes: partition.offset,
        len_bytes: partition.len,
        content: &partition.content,
    }
}
