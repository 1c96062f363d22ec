//! A plan, and the notes for the report about it.
use super::{Identity, Plan, Side};

/// A choice and the reason for it, for `--dry-run` and the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Subject of the choice: `engine`, `block size`, `source`, ….
    pub topic: &'static str,
    /// The choice.
    pub choice: String,
    /// The reason, a clause.
    pub because: String,
    /// The side, if the choice concerns only one.
    pub side: Option<Side>,
}

impl Reason {
    /// A choice about the copy as a whole.
    pub fn new(topic: &'static str, choice: impl Into<String>, because: impl Into<String>) -> Self {
        Reason { topic, choice: choice.into(), because: because.into(), side: None }
    }
}

/// Explanations of a plan for the user. No code depends on them.
#[derive(Clone, Debug, Default)]
pub struct PlanNotes {
    /// How much is copied, and the reason.
    pub range: Option<Reason>,
    /// Why this engine is used, a clause.
    pub engine_because: String,
    /// The other choices and the reasons for them.
    pub why: Vec<Reason>,
    /// Bytes that earlier runs have copied, with `--resume`.
    pub already_bytes: u64,
    /// What is not as the names of the sides suggest, and no warning.
    pub remarks: Vec<String>,
    /// Warnings to show before the copy starts.
    pub warnings: Vec<String>,
    /// The user's label for the run.
    pub label: Option<String>,
    /// Model, serial number and transport of the source, as far as known.
    pub source: Identity,
    /// The same for each dest, in order.
    pub dests: Vec<Identity>,
}

/// A plan and its notes.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What the copy does.
    pub plan: Plan,
    /// What the report shows about it.
    pub notes: PlanNotes,
}

// Lets tests access the fields of the plan directly.
#[cfg(test)]
impl std::ops::Deref for Decision {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

#[cfg(test)]
impl std::ops::DerefMut for Decision {
    fn deref_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }
}
