//! The plan of a rescue: small reads of a source of known size, in any order, into a dest that is kept.
use super::choose::{alignment, buffered};
use super::plan_input::{PlanInput, in_memory, named};
use crate::core::{
    Access, Cache, EndpointKind, Error, Facts, Kind, OnError, Plan, Result, Side, Tuning, WriteOrder, Zeros,
};

/// Bytes of a read where all is well: what GNU ddrescue reads at a time. A failed read says only that one of its
/// sectors is bad, and its other sectors are read one by one later.
const CLUSTER_BYTES: u32 = 64 << 10;

/// Blocks that are read or written at once: what was read is written while the next is read.
const DEPTH: u32 = 16;

/// Changes the plan of a copy to that of a rescue.
///
/// # Errors
/// Refused if both sides share bytes; Usage if the source is a stream.
pub(super) fn rescue(plan: Plan, asked: &PlanInput) -> Result<Plan> {
    let source = asked.source;
    if plan.len.is_none() || source.kind.is_stream() {
        let what = format!("cannot rescue {}: it is a stream, which is read once", named(Side::Source, source));
        let advice = "Name a device or a file. haul copy copies streams.";
        return Err(Error::new(Kind::Usage, what).on(Side::Source).advise(advice));
    }
    let dest = asked.dest;
    if dest.kind.is_stream() || dest.kind == EndpointKind::Object {
        let what = format!("cannot rescue into {}: its bytes are written in order", named(Side::Dest, dest));
        let advice = "Nothing was written. Name a file or a device, which a rescue writes at any offset.";
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice));
    }
    if plan.overlaps {
        let what = format!("{} and the destination are the same data", named(Side::Source, source));
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Name another destination."));
    }
    let mut plan = plan;
    // Through the page cache, one bad sector fails a page of them, and the kernel reads ahead into others.
    let may_be_direct = matches!(source.kind, EndpointKind::File | EndpointKind::Block) && !in_memory(source);
    if let Some(align) = alignment(source).filter(|_| may_be_direct && plan.source.through.is_none()) {
        let access = Access { cache: Cache::Direct, offset_align_bytes: align, ..plan.source.access };
        plan.source.access = access;
    }
    // Single sectors are written, which need not be aligned on the dest.
    if matches!(asked.dest.kind, EndpointKind::File | EndpointKind::Block) && plan.dest.through.is_none() {
        let access = Access { cache: buffered(asked.dest), offset_align_bytes: 1, ..plan.dest.access };
        plan.dest.access = access;
    }
    let cluster_bytes = CLUSTER_BYTES.max(u32::try_from(rescue_sector_bytes(&plan, source)).unwrap_or(u32::MAX));
    Ok(Plan {
        tuning: Tuning::fixed(cluster_bytes, DEPTH),
        head_bytes: 0,
        tail_align_bytes: 1,
        write_order: WriteOrder::Any,
        zeros: Zeros::Write,
        ask_holes: false,
        detect_zeros_bytes: None,
        hashes: Vec::new(),
        digest_blocks: None,
        read_back: None,
        checks_memory: false,
        preallocate: false,
        on_error: OnError::default(),
        time_limit: None,
        ..plan
    })
}

/// The smallest unit in which the source of this plan is read, in bytes.
pub fn rescue_sector_bytes(plan: &Plan, source: &Facts) -> u64 {
    let aligns = Side::BOTH.map(|side| plan.side(side).access.offset_align_bytes);
    u64::from(source.logical_block_bytes.max(512).max(aligns[0]).max(aligns[1]))
}
