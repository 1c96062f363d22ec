//! Plans a copy to several dests: each is planned and checked separately, then the plans are merged.
use super::plan_input::{PlanInput, named};
use super::{JournalChoice, Options, When, decide, make, words};
use crate::core::{
    Bursts, Decision, EndpointKind, EngineKind, Error, Existing, Facts, Ground, Host, Kind, Plan, PlanDest, PlanNotes,
    Reason, Result, Side, WriteOrder, Zeros,
};

/// The plans for each of `dests` alone, in order, and the one for all of them.
#[derive(Debug)]
pub struct Plans {
    /// The plan for each dest alone, about which the user is asked before it is overwritten.
    pub alone: Vec<Plan>,
    /// The plan that is executed.
    pub all: Decision,
}

/// Decides a copy from `source` to all of `dests`, at least one.
///
/// # Errors
/// As for [`make`], for any of them; `Usage` for options that do not support several dests; `Refused` if two of
/// them have bytes in common.
pub fn several(options: &Options, source: &Facts, dests: &[Facts], host: &Host) -> Result<Plans> {
    if let [dest] = dests {
        let all = make(options, source, dest, host)?;
        return Ok(Plans { alone: vec![all.plan.clone()], all });
    }
    goes_together(options)?;
    if options.independent && options.time_limit.is_some() {
        let what = "--independent cannot be combined with --time: slow destinations are completed afterwards";
        return Err(Error::new(Kind::Usage, what).advise("Omit one of them."));
    }
    if options.independent && !keeps(source.kind) {
        let what = format!("--independent: {} cannot be read a second time", named(Side::Source, source));
        return Err(Error::new(Kind::Usage, what).on(Side::Source).advise("Omit --independent."));
    }
    distinct(source, dests)?;
    // The dests share the data that haul transfers.
    let options = &Options { reflink: When::Never, ..options.clone() };
    let decide = |dest| decide(PlanInput { options, source, dest, host, one_of_several: true });
    let decisions: Vec<Decision> = dests.iter().map(decide).collect::<Result<_>>()?;
    let (alone, notes): (Vec<Plan>, Vec<PlanNotes>) =
        decisions.into_iter().map(|Decision { plan, notes }| (plan, notes)).unzip();
    let first = &alone[0];
    for plan in &alone[1..] {
        if plan.len != first.len {
            let len = |plan: &Plan| plan.len.map_or_else(|| "all of it".to_owned(), words::exact);
            let what = format!(
                "--also: destination {} accepts {} of the source, destination {} {}",
                first.dest.address,
                len(first),
                plan.dest.address,
                len(plan)
            );
            return Err(Error::new(Kind::Usage, what).advise("Limit the copy with --count."));
        }
        if plan.head_bytes != first.head_bytes {
            let start = plan.dest.map.start();
            let option =
                options.ranges[Side::Dest.index()].as_ref().map_or("--seek", |_| options.ranges_option(Side::Dest));
            let what = format!("{option}: byte {start} does not match the alignment of all destinations");
            return Err(Error::new(Kind::Usage, what).advise("Begin at a multiple of 4096, or use --direct never."));
        }
    }
    let plan = together(&alone, dests, options.independent);
    let all = Decision { plan, notes: merge_notes(&alone, notes) };
    Ok(Plans { alone, all })
}

/// Refuses options that do not support several dests.
fn goes_together(options: &Options) -> Result<()> {
    let refused = |option: &str, why: &str| {
        let what = format!("{option} cannot be combined with --also: {why}");
        Err(Error::new(Kind::Usage, what).advise(format!("Omit {option}, or run one copy for each destination.")))
    };
    if options.reflink == When::Always {
        return refused("--reflink always", "shared extents are not read");
    }
    if options.offload {
        return refused("--offload", "a drive copies to one destination");
    }
    if options.delta.is_some() {
        return refused(
            "--delta",
            "destinations may differ at different offsets, but each block is written to all of them",
        );
    }
    if options.resume {
        return refused("--resume", "a journal describes a copy to one destination");
    }
    if matches!(options.journal, JournalChoice::At(_)) {
        return refused("--journal", "it describes a copy to one destination");
    }
    if options.mapfile.is_some() {
        return refused("--mapfile", "it describes a copy to one destination");
    }
    if !options.expect.is_empty() {
        return refused("--expect", "it does not say which destination it describes");
    }
    Ok(())
}

/// Refuses dests that have bytes in common with each other or with the source: a block would be overwritten
/// before it is read.
fn distinct(source: &Facts, dests: &[Facts]) -> Result<()> {
    for (number, dest) in dests.iter().enumerate() {
        if overlaps(source, dest) {
            let what = format!("{} and {} are the same data", named(Side::Source, source), named(Side::Dest, dest));
            let advice = "With several destinations none may overlap the source.";
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
        }
        if let Some(other) = dests[..number].iter().find(|other| one_stream(other, dest)) {
            let what = format!(
                "destination {} and destination {} are one {}: their data would be mixed",
                other.address,
                dest.address,
                dest.kind.name()
            );
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Name each destination once."));
        }
        if let Some(other) = dests[..number].iter().find(|other| overlaps(other, dest)) {
            let what = format!(
                "destination {} and destination {} are the same data, or one is part of the other",
                other.address, dest.address
            );
            return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Name each destination once."));
        }
    }
    Ok(())
}

/// Whether one is the other, or is on it, under any names.
fn overlaps(one: &Facts, other: &Facts) -> bool {
    let on =
        |upper: &Facts, lower: &Facts| lower.id.is_some_and(|id| upper.ground.iter().any(|ground| ground.id == id));
    let block = |facts: &Facts| facts.kind == EndpointKind::Block;
    let same = one.id.is_some() && one.id == other.id;
    let new = !one.exists && !other.exists && one.path == other.path;
    same || new
        || block(one) && block(other) && (on(one, other) || on(other, one) || on_one_ground(one, other))
        || loops(one, other)
        || loops(other, one)
}

/// Whether they are one pipe, socket or character device. /dev/null is allowed several times.
fn one_stream(one: &Facts, other: &Facts) -> bool {
    one.stream.is_some() && one.stream == other.stream && one.kind != EndpointKind::Null
}

/// Whether both are on the same bytes of a third: two loop devices of one file, two mappings of one part of a
/// disk.
fn on_one_ground(one: &Facts, other: &Facts) -> bool {
    let lies_at =
        |facts: &Facts, ground: &Ground| ground.offset.map(|at| (at, at.saturating_add(facts.size.unwrap_or(0))));
    one.ground.iter().any(|lower| {
        let same = other.ground.iter().filter(|ground| ground.id == lower.id);
        let pairs = same.filter_map(|ground| lies_at(one, lower).zip(lies_at(other, ground)));
        pairs.into_iter().any(|((from, end), (other_from, other_end))| from < other_end && other_from < end)
    })
}

/// Whether the device is a loop device of that file.
fn loops(device: &Facts, file: &Facts) -> bool {
    let over = |facts: &Facts| facts.kind == EndpointKind::Block;
    over(device) && !over(file) && file.id.is_some_and(|id| device.ground.iter().any(|ground| ground.id == id))
}

/// One plan for several dests: where they differ, values that suit all of them.
fn together(alone: &[Plan], dests: &[Facts], independent: bool) -> Plan {
    let mut plan = alone[0].clone();
    let any = |wanted: fn(&Plan) -> bool| alone.iter().any(wanted);
    plan.dests = alone.iter().map(|plan| of_one(plan, independent)).collect();
    // The `sync` engine is only for memory: with any other dest there are requests to wait for.
    let moving = alone
        .iter()
        .filter(|plan| plan.engine != EngineKind::Sync)
        .max_by_key(|plan| plan.tuning.limits.in_flight[Side::Dest.index()]);
    let base = moving.unwrap_or(&alone[0]);
    (plan.engine, plan.tuning) = (base.engine, base.tuning);
    plan.zeros = if any(|plan| plan.zeros != Zeros::Write) { Zeros::Each } else { Zeros::Write };
    plan.detect_zeros_bytes = alone.iter().filter_map(|plan| plan.detect_zeros_bytes).max();
    plan.tail_align_bytes = alone.iter().map(|plan| plan.tail_align_bytes).max().unwrap_or(1);
    plan.set_end = any(|plan| plan.set_end || plan.dest.access.existing == Existing::Create);
    plan.preallocate = any(|plan| plan.preallocate);
    plan.durable = any(|plan| plan.durable);
    // Some may be pipes, which cannot be read back.
    plan.read_back = alone.iter().find_map(|plan| plan.read_back.clone());
    plan.digest_blocks = alone.iter().find_map(|plan| plan.digest_blocks);
    plan.dest.moves_head = any(|plan| plan.dest.moves_head);
    plan.write_order = write_order(alone, dests);
    pace(&mut plan, alone);
    plan
}

/// Merges the notes: choices about further dests follow those about the first.
fn merge_notes(alone: &[Plan], notes: Vec<PlanNotes>) -> PlanNotes {
    let mut notes = notes.into_iter();
    let mut all = notes.next().unwrap_or_default();
    for (plan, other) in alone[1..].iter().zip(notes) {
        let named = |reason: Reason| Reason { choice: format!("{}: {}", plan.dest.address, reason.choice), ..reason };
        all.why.extend(other.why.into_iter().filter(|reason| reason.side == Some(Side::Dest)).map(named));
        let new: Vec<String> = other.warnings.into_iter().filter(|text| !all.warnings.contains(text)).collect();
        all.warnings.extend(new);
        all.dests.extend(other.dests);
    }
    all.chose("also", format!("{} destinations, one read", alone.len()), "--also");
    all
}

fn of_one(plan: &Plan, independent: bool) -> PlanDest {
    let again = plan.len.is_some() && keeps(plan.source.kind) && keeps(plan.dest.kind);
    PlanDest {
        side: plan.dest.clone(),
        zeros: plan.zeros,
        set_end: plan.set_end,
        preallocate: plan.preallocate,
        durable: plan.durable,
        may_fall_behind: independent && again,
    }
}

/// Whether bytes on it, or written to it, can be read again.
fn keeps(kind: EndpointKind) -> bool {
    kind.is_storage() && kind != EndpointKind::CompressedDest
}

/// The strictest order of all.
fn write_order(alone: &[Plan], dests: &[Facts]) -> WriteOrder {
    let orders = || alone.iter().map(|plan| plan.write_order);
    let ascending = dests.iter().any(Facts::is_written_in_order);
    if ascending || orders().any(|order| order == WriteOrder::OneAtATime) {
        WriteOrder::OneAtATime
    } else if orders().any(|order| order == WriteOrder::Submitted) {
        WriteOrder::Submitted
    } else {
        WriteOrder::Any
    }
}

/// Block sizes that suit all: multiples of every alignment. A block is written to one dest after the other, so
/// the number of blocks in flight is multiplied by that of the dests: each has as many requests as it would
/// alone.
fn pace(plan: &mut Plan, alone: &[Plan]) {
    let aligns = alone.iter().flat_map(|plan| [&plan.source, &plan.dest]).map(|side| side.access.offset_align_bytes);
    let align = aligns.max().unwrap_or(1);
    let tuning = &mut plan.tuning;
    tuning.adaptive = alone.iter().all(|plan| plan.tuning.adaptive);
    tuning.limits.bursts = alone.iter().any(|plan| plan.tuning.limits.bursts);
    if tuning.limits.bursts {
        tuning.bursts = alone
            .iter()
            .map(|plan| plan.tuning.bursts)
            .find(|bursts| *bursts != Bursts::Never)
            .unwrap_or(tuning.bursts);
    }
    let block = &mut tuning.limits.block_bytes;
    if !block.is_multiple_of(align) {
        *block = block.next_multiple_of(align);
        (tuning.block_bytes_min, tuning.block_bytes_max) = (*block, *block);
    }
    if !tuning.block_bytes_min.is_multiple_of(align) {
        tuning.block_bytes_min = *block;
    }
    let to_dests = &mut tuning.limits.in_flight[Side::Dest.index()];
    *to_dests = to_dests.saturating_mul(alone.len() as u32);
    tuning.in_flight_max = tuning.in_flight_max.max(*to_dests);
    let blocks = tuning.blocks().max(1);
    tuning.pool_bytes =
        tuning.pool_bytes.max(tuning.unit_bytes().saturating_mul(if tuning.adaptive { 2 } else { blocks }));
}
