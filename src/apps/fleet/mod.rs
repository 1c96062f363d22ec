//! Copies by many workers: `haul plan` divides one.
mod options;
mod plan_words;
mod planning;

use crate::apps::command::Command;

/// `haul plan`.
pub(super) const PLAN: Command = Command::of::<plan_words::PlanArguments>("plan", "Divide a copy among many machines");
