//! `haul plan`: a copy is examined, divided and prepared.
use super::emit;
use super::options::PlanOptions;
use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::{Exit, printed};
use crate::apps::run_report::show_plan;
use crate::core::Result;
use crate::job::fleet::job_of::Job;
use crate::job::fleet::planning::FleetDraft;
use crate::job::operator::Operator;
use crate::report::{fleet, text};
use std::sync::Arc;

/// Plans a copy by many workers, and prints the plan.
pub(super) fn plan(asked: &PlanOptions, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    let (options, wish) = match asked {
        PlanOptions::Divide(options, wish) => (&**options, wish),
        PlanOptions::Emit(plan, wish) => return Ok(printed(out, &emit::job(&Job::open(plan)?.plan, wish)?)),
    };
    let console = Console::new(options, "plan", words, out)?;
    let operator: Arc<dyn Operator> = console.clone();
    let draft = FleetDraft::look(options, wish, &operator)?;
    let shards = draft.plan().shards;
    if options.dry_run {
        let (decision, sides) = draft.decision();
        out.eprint(&text::info(&fleet::divided(shards, draft.plan().shard_bytes, &draft.plan().state)));
        return show_plan(options, decision, sides, out);
    }
    let plan = draft.write()?;
    let text = plan.to_text().map_err(|fault| fault.into_error("plan"))?;
    let exit = printed(out, &text);
    let message = fleet::divided(plan.shards, plan.shard_bytes, &plan.state);
    console.notify(&text::info(&message), &message);
    Ok(console.end(exit))
}
