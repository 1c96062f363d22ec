//! Copies by many workers: `haul plan` divides one, `haul status` shows it, `haul finish` completes it. The workers are
//! `haul copy --plan`.
mod emit;
mod finishing;
mod job_words;
mod options;
mod plan_words;
mod planning;
mod status;

use crate::apps::command::Command;

/// `haul plan`.
pub(super) const PLAN: Command = Command::of::<plan_words::PlanArguments>("plan", "Divide a copy among many machines");

/// `haul status`.
pub(super) const STATUS: Command =
    Command::of::<job_words::StatusArguments>("status", "Show how far a copy by many machines is");

/// `haul finish`.
pub(super) const FINISH: Command =
    Command::of::<job_words::FinishArguments>("finish", "Complete a copy by many machines");
