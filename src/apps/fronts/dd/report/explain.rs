//! A description of how dd copies, in a few lines.
use crate::apps::fronts::record_plan::RecordPlan;
use crate::core::Plan;
use crate::report::units;

/// What `--explain` prints: how dd copies, and why. `blocks` is the plan of a copy as blocks; otherwise
/// `because` is the reason for copying by records.
pub fn explained(records: &RecordPlan, blocks: Option<&Plan>, because: &str) -> String {
    let (ibs, obs) = (records.source.record_bytes, records.dest.record_bytes);
    let Some(plan) = blocks else {
        let how = if records.reblock { "filled from several input records" } else { "one for each input record" };
        let (input, output) = (units::exact(ibs), units::exact(obs));
        return format!("records: {because}\n  input       {input}\n  output      {output}, {how}\n");
    };
    let (limits, block) = (plan.tuning.limits, units::block(plan.tuning.limits.block_bytes.into()));
    let [reads, writes] = limits.in_flight;
    let depth = match plan.tuning.adaptive {
        true => format!("initial queue depth {reads}+{writes}"),
        false => format!("depth {}", plan.tuning.blocks()),
    };
    [
        format!("blocks: {because}\n"),
        format!("  length      {}\n", units::bytes(plan.len.unwrap_or(0))),
        format!("  engine      {}\n", plan.engine.name()),
        format!("  block size  {block}, {depth}; records of {ibs} and {obs} are counted\n"),
        format!("  source      {}\n", plan.source.access.cache.name()),
        format!("  destination {}\n", plan.dest.access.cache.name()),
        format!("  durable     {}\n", if records.durable.is_some() { "as conv= requests" } else { "no" }),
    ]
    .concat()
}
