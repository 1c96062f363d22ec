//! Sides that are reached by SCSI commands: probes and opens them.
use crate::apps::fronts::dd::blocks::{Held, OpenedFacts};
use crate::apps::fronts::records::Opened;
use crate::apps::fronts::sg_dd::plan::{
    CommandRefusal, are_one_disk, by_commands, check_blocks, check_commands, check_one_way, command_facts,
    command_side, shared_side,
};
use crate::apps::fronts::sg_plan::SgPlan;
use crate::core::{Address, Error, Facts, Side};
use crate::disks;
use crate::disks::probe;

/// Default number of blocks per transfer through shared memory: as in sg3_utils.
const SHARED_BLOCKS: u64 = 128;

/// Why a side cannot be copied by commands.
pub(super) enum CommandSideError {
    /// Not in the requested way.
    Refused(CommandRefusal),
    /// The device does not respond, or is not a disk.
    Failed(Side, Box<Error>),
}

/// The sides that are reached by commands, as far as they have been probed.
pub(super) struct Disks {
    facts: [Option<Facts>; 2],
    /// The side whose transfers use memory that the driver shares with haul.
    pub(super) shared: Option<Side>,
    /// Both sides are on the same disk.
    pub(super) are_one: bool,
}

impl Disks {
    /// Probes the disks, and adds their facts to `looked`.
    pub(super) fn find(plan: &SgPlan, looked: &mut OpenedFacts) -> Result<Disks, CommandSideError> {
        let by_commands = by_commands(plan, [looked.source.kind, looked.dest.kind]);
        let mut facts = [None, None];
        for side in Side::BOTH.into_iter().filter(|side| by_commands[side.index()]) {
            let path = &looked.paths[side.index()];
            let failed = |error| CommandSideError::Failed(side, Box::new(error));
            let found = probe::through(&Address::of_path(path), side).map_err(failed)?;
            let known = if side == Side::Source { &mut looked.source } else { &mut looked.dest };
            *known = command_facts(side, &found, known).map_err(CommandSideError::Refused)?;
            check_blocks(plan, side, &found).map_err(CommandSideError::Refused)?;
            facts[side.index()] = Some(found);
        }
        let mut are_one = false;
        if by_commands != [false, false] {
            let other = |side: Side| {
                let path = &looked.paths[side.index()];
                facts[side.index()].clone().or_else(|| probe::source(&Address::of_path(path)).ok())
            };
            if let [Some(source), Some(dest)] = Side::BOTH.map(other) {
                are_one = are_one_disk(&source, &dest);
            }
        }
        check_one_way(by_commands, are_one).map_err(CommandSideError::Refused)?;
        Ok(Disks { facts, shared: shared_side(plan, by_commands), are_one })
    }

    /// Limits the transfer size to that of the shared memory.
    pub(super) fn limit_transfers(&self, plan: &mut SgPlan) {
        let Some(facts) = self.shared.and_then(|side| self.facts[side.index()].as_ref()) else { return };
        let most = u64::from(facts.queue.max_request_bytes) / plan.block_bytes();
        let blocks = plan.transfer_blocks.unwrap_or(SHARED_BLOCKS).min(most.max(1));
        (plan.records.transfer_records, plan.records.buffers) = (Some(blocks), Some(1));
    }

    /// Refuses what is not possible for `total` blocks.
    pub(super) fn check(&self, plan: &SgPlan, total: u64) -> Result<(), CommandSideError> {
        for (side, facts) in Side::BOTH.into_iter().zip(&self.facts) {
            if let Some(facts) = facts {
                check_commands(plan, side, facts, total).map_err(CommandSideError::Refused)?;
            }
        }
        Ok(())
    }

    /// The facts, with nothing open.
    pub(super) fn known(&self) -> Held {
        Held { facts: self.facts.clone(), ends: [None, None] }
    }

    /// Opens the disks, the dest exclusively.
    pub(super) fn open(&self, plan: &SgPlan) -> Result<(Held, [Option<Opened>; 2]), CommandSideError> {
        let mut held = self.known();
        let mut opened = [None, None];
        for (side, facts) in Side::BOTH.into_iter().zip(&self.facts) {
            let Some(facts) = facts else { continue };
            let Some(way) = command_side(plan, side, facts, self.shared == Some(side)) else { continue };
            let end = match side {
                Side::Source => disks::open_source(&way, facts),
                Side::Dest if plan.records.compare => disks::open_compared(&way, facts),
                Side::Dest => disks::open_dest(&way, facts),
            };
            let end = end.map_err(|error| CommandSideError::Failed(side, Box::new(error)))?;
            let size = facts.size.unwrap_or(0);
            let records = end.records();
            opened[side.index()] = records.map(|disk| Opened::by_commands(disk, size, facts.logical_block_bytes));
            held.ends[side.index()] = Some(end);
        }
        Ok((held, opened))
    }
}
