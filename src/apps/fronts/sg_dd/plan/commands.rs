//! Sides that are reached by their own SCSI commands: whether they can be, and how they are opened.
use crate::apps::fronts::dd::plan::{DdFacts, DdKind};
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use crate::core::{Access, Cache, CommandOptions, CommandSet, EndpointKind, Existing, Facts, PlanSide, Side, Through};
use std::time::Duration;

/// Blocks that commands of 6 bytes can name.
const LBAS_OF_6_BYTES: u64 = 1 << 21;
/// Blocks that commands of 10 and 12 bytes can name.
const LBAS_OF_12_BYTES: u64 = 1 << 32;

/// Why a side cannot be copied by commands as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandRefusal {
    /// It takes none: no node of it is there.
    NoNode(Side),
    /// It takes those of NVMe.
    OtherCommands(Side),
    /// Its blocks have so many bytes, which is not `bs=`.
    BlockSize(Side, u64),
    /// It ends at this block, and blocks up to that one are asked for.
    Beyond(Side, u64, u64),
    /// Commands of `cdbsz=` bytes cannot name this block.
    Unnameable(Side, u8, u64),
    /// Commands of the length asked for have no place for this word.
    NoPlace(Side, &'static str),
    /// It may not be written.
    WriteProtected,
    /// The same disk by commands on one side, and past them on the other.
    TwoWays,
}

/// Which sides are reached by commands: SCSI generic nodes, and block devices where that is wished.
pub fn by_commands(plan: &SgPlan, kinds: [DdKind; 2]) -> [bool; 2] {
    Side::BOTH.map(|side| match kinds[side.index()] {
        DdKind::ScsiGeneric | DdKind::Commands => true,
        DdKind::Block => plan.wishes[side.index()].passthrough,
        _ => false,
    })
}

/// The side whose transfers go through memory that the driver shares with haul, if any. sgm_dd shares it with one side
/// in any case, unless that contradicts another word; with IFILE also where that has iflag=dio, as in sg3_utils.
pub fn shared_side(plan: &SgPlan, by_commands: [bool; 2]) -> Option<Side> {
    let mut sides = Side::BOTH.into_iter().filter(|side| by_commands[side.index()]);
    let asked = sides.clone().find(|side| plan.wishes[side.index()].mmap);
    let free = |side: &Side| (*side == Side::Source || !plan.wishes[side.index()].dio) && !words(plan, *side).excl;
    asked.or_else(|| sides.next().filter(|side| plan.front == SgFront::Sgm && free(side)))
}

fn words(plan: &SgPlan, side: Side) -> crate::apps::fronts::record_plan::OpenWords {
    match side {
        Side::Source => plan.records.source.words,
        Side::Dest => plan.records.dest.words,
    }
}

/// What a disk with these facts is to the copy.
///
/// # Errors
/// It takes no SCSI commands.
pub fn command_facts(side: Side, facts: &Facts, before: &DdFacts) -> Result<DdFacts, CommandRefusal> {
    match facts.passthrough.as_ref().map(|node| node.commands) {
        None => return Err(CommandRefusal::NoNode(side)),
        Some(CommandSet::Nvme) => return Err(CommandRefusal::OtherCommands(side)),
        Some(CommandSet::Scsi) => {}
    }
    Ok(DdFacts {
        kind: DdKind::Commands,
        size: facts.size,
        offset: before.offset,
        odd_flags: false,
        direct: false,
        logical_block_bytes: Some(facts.logical_block_bytes),
        in_memory: false,
    })
}

/// Refuses blocks of another size than the disk has, which no command could move.
///
/// # Errors
/// See above.
pub fn check_blocks(plan: &SgPlan, side: Side, facts: &Facts) -> Result<(), CommandRefusal> {
    match u64::from(facts.logical_block_bytes) {
        own if own == plan.block_bytes() => Ok(()),
        own => Err(CommandRefusal::BlockSize(side, own)),
    }
}

/// Refuses what commands cannot do for the `total` blocks of a copy, before the first one.
///
/// # Errors
/// See above.
pub fn check_commands(plan: &SgPlan, side: Side, facts: &Facts, total: u64) -> Result<(), CommandRefusal> {
    let block_bytes = plan.block_bytes();
    let first = match side {
        Side::Source => plan.records.source.skip.records,
        Side::Dest => plan.records.dest.skip.records,
    };
    let end = first.saturating_add(total);
    let blocks = facts.size.unwrap_or(0) / block_bytes;
    if end > blocks && total > 0 {
        return Err(CommandRefusal::Beyond(side, blocks, end));
    }
    if side == Side::Dest && !plan.records.compare && !facts.writable {
        return Err(CommandRefusal::WriteProtected);
    }
    let Some(bytes) = plan.scsi.command_bytes else { return Ok(()) };
    let start = facts.passthrough.as_ref().map_or(0, |node| node.start / block_bytes);
    let nameable = match bytes {
        6 => LBAS_OF_6_BYTES,
        10 | 12 => LBAS_OF_12_BYTES,
        _ => u64::MAX,
    };
    if start + end > nameable {
        return Err(CommandRefusal::Unnameable(side, bytes, start + end - 1));
    }
    let wishes = plan.wishes[side.index()];
    let group = plan.scsi.groups[side.index()];
    let no_place = [
        (bytes == 6 && wishes.dpo, "dpo"),
        (bytes == 6 && wishes.fua, "fua"),
        (bytes == 6 && wishes.fua_nv, "fua_nv"),
        (bytes == 6 && group > 0 || bytes < 16 && group > 31, "grpnum"),
    ];
    match no_place.into_iter().find(|(wished, _)| *wished) {
        Some((_, word)) => Err(CommandRefusal::NoPlace(side, word)),
        None => Ok(()),
    }
}

/// Refuses one disk that is reached by commands on one side only: what one side writes would not be what the other
/// reads, or would be, as the page cache likes.
///
/// # Errors
/// See above.
pub fn check_one_way(by_commands: [bool; 2], are_one: bool) -> Result<(), CommandRefusal> {
    match are_one && by_commands[0] != by_commands[1] {
        true => Err(CommandRefusal::TwoWays),
        false => Ok(()),
    }
}

/// Both sides lie on one disk.
pub fn are_one_disk(source: &Facts, dest: &Facts) -> bool {
    let same = source.id.is_some() && source.id == dest.id;
    same || source.ground.iter().any(|ground| dest.ground.iter().any(|other| other.id == ground.id))
}

/// How a side is opened to be reached by commands. `shared`: through memory that the driver shares.
pub fn command_side(plan: &SgPlan, side: Side, facts: &Facts, shared: bool) -> Option<PlanSide> {
    let (wishes, words) = (plan.wishes[side.index()], words(plan, side));
    let default = CommandOptions::default();
    let wishes = CommandOptions {
        timeout: plan.scsi.timeout_s.map_or(default.timeout, |seconds| Duration::from_secs(seconds.into())),
        dpo: wishes.dpo,
        fua: wishes.fua,
        fua_nv: wishes.fua_nv,
        group: plan.scsi.groups[side.index()],
        cdb_bytes: plan.scsi.command_bytes,
        duration_limit: plan.scsi.duration_limits[side.index()],
        // What is shared goes straight to where we read it already.
        direct: wishes.dio && !shared,
        shared,
        exclusive: words.excl,
        locked: words.flock,
        ..default
    };
    let access = Access {
        cache: Cache::Direct,
        offset_align_bytes: facts.logical_block_bytes,
        exclusive: side == Side::Dest && !plan.records.compare,
        existing: Existing::Keep,
    };
    Some(PlanSide {
        address: facts.address.clone(),
        path: facts.path.clone(),
        kind: EndpointKind::Block,
        offset: 0,
        access,
        lock: (side == Side::Dest && !plan.records.compare).then(|| plan.records.written()),
        moves_head: facts.queue.rotational.unwrap_or(false),
        through: Some(Through { node: facts.passthrough.clone()?, wishes }),
    })
}
