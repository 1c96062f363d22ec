//! Sides that are reached by SCSI commands: whether that is possible, and how they are opened.
use crate::apps::fronts::dd::plan::{DdFacts, DdKind};
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use crate::core::{
    Access, AddressMap, Cache, CommandOptions, CommandSet, EndpointKind, Existing, Facts, PlanSide, Side, Through,
};
use std::time::Duration;

/// Blocks that commands of 6 bytes can address.
const LBAS_OF_6_BYTES: u64 = 1 << 21;
/// Blocks that commands of 10 and 12 bytes can address.
const LBAS_OF_12_BYTES: u64 = 1 << 32;

/// Why a side cannot be copied by commands as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandRefusal {
    /// It accepts no commands: it has no node.
    NoNode(Side),
    /// It accepts NVMe commands instead.
    OtherCommands(Side),
    /// Its block size, in bytes, differs from `bs=`.
    BlockSize(Side, u64),
    /// It ends at this block, and the request reaches up to that one.
    Beyond(Side, u64, u64),
    /// Commands of `cdbsz=` bytes cannot address this block.
    Unnameable(Side, u8, u64),
    /// Commands of the requested length have no field for this flag.
    NoPlace(Side, &'static str),
    /// It is write-protected.
    WriteProtected,
    /// Both sides are one disk, reached by commands on one side and by the block layer on the other.
    TwoWays,
}

/// Which sides are reached by commands: SCSI generic nodes, and block devices if requested.
pub fn by_commands(plan: &SgPlan, kinds: [DdKind; 2]) -> [bool; 2] {
    Side::BOTH.map(|side| match kinds[side.index()] {
        DdKind::ScsiGeneric | DdKind::Commands => true,
        DdKind::Block => plan.scsi_flags[side.index()].passthrough,
        _ => false,
    })
}

/// The side whose transfers use memory that the driver shares with haul, if any. sgm_dd uses it for one side in
/// any case, unless another flag excludes that; for IFILE even with iflag=dio, as in sg3_utils.
pub fn shared_side(plan: &SgPlan, by_commands: [bool; 2]) -> Option<Side> {
    let mut sides = Side::BOTH.into_iter().filter(|side| by_commands[side.index()]);
    let asked = sides.clone().find(|side| plan.scsi_flags[side.index()].mmap);
    let free = |side: &Side| (*side == Side::Source || !plan.scsi_flags[side.index()].dio) && !words(plan, *side).excl;
    asked.or_else(|| sides.next().filter(|side| plan.front == SgFront::Sgm && free(side)))
}

fn words(plan: &SgPlan, side: Side) -> crate::apps::fronts::record_plan::OpenWords {
    match side {
        Side::Source => plan.records.source.words,
        Side::Dest => plan.records.dest.words,
    }
}

/// The facts of a disk that is reached by commands, in the form that the copy uses.
///
/// # Errors
/// It accepts no SCSI commands.
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

/// Refuses a block size that differs from that of the disk, which no command could transfer.
///
/// # Errors
/// The block size differs.
pub fn check_blocks(plan: &SgPlan, side: Side, facts: &Facts) -> Result<(), CommandRefusal> {
    match u64::from(facts.logical_block_bytes) {
        own if own == plan.block_bytes() => Ok(()),
        own => Err(CommandRefusal::BlockSize(side, own)),
    }
}

/// Refuses, before the first command, what commands cannot do for the `total` blocks of a copy.
///
/// # Errors
/// Commands cannot make the copy.
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
    let flags = plan.scsi_flags[side.index()];
    let group = plan.scsi.groups[side.index()];
    let no_place = [
        (bytes == 6 && flags.dpo, "dpo"),
        (bytes == 6 && flags.fua, "fua"),
        (bytes == 6 && flags.fua_nv, "fua_nv"),
        (bytes == 6 && group > 0 || bytes < 16 && group > 31, "grpnum"),
    ];
    match no_place.into_iter().find(|(requested, _)| *requested) {
        Some((_, word)) => Err(CommandRefusal::NoPlace(side, word)),
        None => Ok(()),
    }
}

/// Refuses one disk that is reached by commands on only one side: whether one side reads what the other wrote
/// would depend on the page cache.
///
/// # Errors
/// Only one of the sides is reached by commands, and both are one disk.
pub fn check_one_way(by_commands: [bool; 2], are_one: bool) -> Result<(), CommandRefusal> {
    match are_one && by_commands[0] != by_commands[1] {
        true => Err(CommandRefusal::TwoWays),
        false => Ok(()),
    }
}

/// Whether both sides are on one disk.
pub fn are_one_disk(source: &Facts, dest: &Facts) -> bool {
    let same = source.id.is_some() && source.id == dest.id;
    same || source.ground.iter().any(|ground| dest.ground.iter().any(|other| other.id == ground.id))
}

/// How a side is opened to be reached by commands. `shared`: through memory that the driver shares.
pub fn command_side(plan: &SgPlan, side: Side, facts: &Facts, shared: bool) -> Option<PlanSide> {
    let (flags, words) = (plan.scsi_flags[side.index()], words(plan, side));
    let default = CommandOptions::default();
    let options = CommandOptions {
        timeout: plan.scsi.timeout_s.map_or(default.timeout, |seconds| Duration::from_secs(seconds.into())),
        dpo: flags.dpo,
        fua: flags.fua,
        fua_nv: flags.fua_nv,
        group: plan.scsi.groups[side.index()],
        cdb_bytes: plan.scsi.command_bytes,
        duration_limit: plan.scsi.duration_limits[side.index()],
        // Transfers through shared memory need no direct I/O.
        direct: flags.dio && !shared,
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
        map: AddressMap::from(0),
        access,
        lock: (side == Side::Dest && !plan.records.compare).then(|| plan.records.written()),
        moves_head: facts.queue.rotational.unwrap_or(false),
        through: Some(Through { node: facts.passthrough.clone()?, options }),
    })
}
