//! Additional transfer modes for measuring a disk that accepts SCSI commands at a node.
use crate::apps::measuring::plan::Measuring;
use crate::core::{CommandSet, EngineKind, Facts, PlanSide, Transfers};

/// The disk of `plan`, read through memory of the node's driver, and through memory that the driver shares.
/// None without such a node; nor without a queue of commands, as with an engine other than `ring` or a
/// read-only node: then the driver always copies.
pub fn ways_by_node(plan: &Measuring, facts: &Facts) -> Vec<(Transfers, PlanSide)> {
    let Some((_, side)) = plan.ways.first() else { return Vec::new() };
    let Some(through) = side.through.as_ref().filter(|through| through.node.commands == CommandSet::Scsi) else {
        return Vec::new();
    };
    if plan.engine != EngineKind::Ring || !facts.writable {
        return Vec::new();
    }
    let way = |transfers| {
        let mut side = side.clone();
        let mut through = through.clone();
        through.options.transfers = transfers;
        side.through = Some(through);
        (transfers, side)
    };
    [Transfers::Copied, Transfers::Shared].map(way).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::measuring::plan::measure;
    use crate::core::{DirectAlignment, EndpointKind, Host, Passthrough};

    fn node(commands: CommandSet) -> Facts {
        let mut facts = Facts::new("/dev/sg3", EndpointKind::Block);
        (facts.size, facts.logical_block_bytes, facts.writable) = (Some(1 << 30), 512, true);
        facts.direct = Some(DirectAlignment { memory_bytes: 512, offset_bytes: 512 });
        let block = Some("/dev/sdc".into());
        facts.passthrough =
            Some(Passthrough { commands, node: "/dev/sg3".into(), number: 7, named: true, start: 0, block });
        facts
    }

    fn transfers(facts: &Facts, engine: Option<EngineKind>) -> Vec<Transfers> {
        let plan = measure(facts, engine, &Host { ring_refused: None }).unwrap();
        assert_eq!(plan.ways[0].1.through.as_ref().unwrap().options.transfers, Transfers::Direct);
        let ways = ways_by_node(&plan, facts);
        for (transfers, side) in &ways {
            assert_eq!(side.through.as_ref().unwrap().options.transfers, *transfers);
        }
        ways.into_iter().map(|(transfers, _)| transfers).collect()
    }

    #[test]
    fn only_a_scsi_node_is_also_read_through_driver_memory() {
        assert_eq!(transfers(&node(CommandSet::Scsi), None), [Transfers::Copied, Transfers::Shared]);
        assert_eq!(transfers(&node(CommandSet::Scsi), Some(EngineKind::Threads)), []);
        assert_eq!(transfers(&node(CommandSet::Nvme), None), []);
        let only_read = Facts { writable: false, ..node(CommandSet::Scsi) };
        assert_eq!(transfers(&only_read, None), []);
        let block = Facts { passthrough: None, ..node(CommandSet::Scsi) };
        let plan = measure(&block, None, &Host { ring_refused: None }).unwrap();
        assert!(ways_by_node(&plan, &block).is_empty());
    }
}
