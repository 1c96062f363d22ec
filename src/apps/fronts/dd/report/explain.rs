//! Which way an invocation goes, in a few lines.
use crate::core::{Plan, RecordPlan};
use crate::report::units;
use std::fmt::Write;

/// What `--explain` prints: the way and why. `blocks` is the plan of the copy, where it moves blocks; otherwise
/// `because` says why it moves records.
pub fn explained(records: &RecordPlan, blocks: Option<&Plan>, because: &str) -> String {
    let mut text = String::new();
    let (ibs, obs) = (records.source.record_bytes, records.dest.record_bytes);
    match blocks {
        Some(plan) => {
            let tuning = plan.tuning;
            let _ = writeln!(text, "blocks: {because}");
            let _ = writeln!(text, "  length      {}", units::bytes(plan.len.unwrap_or(0)));
            let _ = writeln!(text, "  engine      {}", plan.engine.name());
            let block = units::block(tuning.block_bytes.into());
            let _ =
                writeln!(text, "  block size  {block}, depth {}; records of {ibs} and {obs} are counted", tuning.depth);
            let _ = writeln!(text, "  source      {}", plan.source.access.cache.name());
            let _ = writeln!(text, "  dest        {}", plan.dest.access.cache.name());
            let _ = writeln!(text, "  durable     {}", if records.durable.is_some() { "as conv= asks" } else { "no" });
        }
        None => {
            let _ = writeln!(text, "records: {because}");
            let _ = writeln!(text, "  input       {}", units::exact(ibs));
            let how = if records.reblock { "filled across those of the input" } else { "one for each of the input" };
            let _ = writeln!(text, "  output      {}, {how}", units::exact(obs));
        }
    }
    text
}
