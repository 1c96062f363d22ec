//! A plan, and what is reported about it.
use super::{Plan, Side};

/// One choice and why it was made, for `--dry-run` and the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What was chosen about, in words: `engine`, `block size`, `source`, ….
    pub topic: &'static str,
    /// What was chosen.
    pub choice: String,
    /// Why: a clause.
    pub because: String,
    /// The choice is about this side alone.
    pub side: Option<Side>,
}

impl Reason {
    /// A choice about the copy as a whole.
    pub fn new(topic: &'static str, choice: impl Into<String>, because: impl Into<String>) -> Self {
        Reason { topic, choice: choice.into(), because: because.into(), side: None }
    }
}

/// What is reported about a plan. Nothing is carried out by it.
#[derive(Clone, Debug, Default)]
pub struct PlanNotes {
    /// How much is copied, and why so much.
    pub range: Option<Reason>,
    /// Why the engine that moves bytes is the one it is: a clause.
    pub engine_because: String,
    /// What else was chosen, and why.
    pub why: Vec<Reason>,
    /// What the user should know before it begins.
    pub warnings: Vec<String>,
    /// What the user calls the run.
    pub label: Option<String>,
}

/// A plan, and what is reported about it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What is carried out.
    pub plan: Plan,
    /// What is reported.
    pub notes: PlanNotes,
}

// A test about a choice is a test about its plan.
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
