//! The names in the shared state.
use crate::ledger::fleet::FleetPlan;

/// The plan.
pub(crate) const PLAN: &str = "plan.json";

/// A finish has begun to commit: no worker begins any more.
pub(crate) const FINISHING: &str = "finishing";

/// The job is done.
pub(crate) const DONE: &str = "done";

/// The job was given up.
pub(crate) const ABORTED: &str = "aborted";

/// The folder of a shard.
pub(crate) fn folder(plan: &FleetPlan, shard: u64) -> String {
    let digits = plan.shards.to_string().len().max(4);
    format!("shard/{shard:0digits$}")
}

/// An attempt at a shard.
pub(crate) fn attempt(plan: &FleetPlan, shard: u64, number: u64) -> String {
    format!("{}/attempt-{number}", folder(plan, shard))
}

/// That a shard is done.
pub(crate) fn shard_done(plan: &FleetPlan, shard: u64) -> String {
    format!("{}/done", folder(plan, shard))
}

/// Digests of blocks of a shard that one attempt made durable: its piece `number`, from 1.
pub(crate) fn blocks(plan: &FleetPlan, shard: u64, attempt: u64, number: u64) -> String {
    format!("{}/blocks-{attempt}-{number}", folder(plan, shard))
}

/// The attempt of a name of [`blocks`]; `None`: it is another name.
pub(crate) fn attempt_of_blocks(name: &str) -> Option<u64> {
    name.rsplit('/').next()?.strip_prefix("blocks-")?.split('-').next()?.parse().ok()
}

/// That a shard is to be left alone, because the job was given up.
pub(crate) fn shard_stop(plan: &FleetPlan, shard: u64) -> String {
    format!("{}/stop", folder(plan, shard))
}

/// Another worker finished a shard with another result.
pub(crate) fn conflict(plan: &FleetPlan, shard: u64, number: u64) -> String {
    format!("{}/conflict-{number}", folder(plan, shard))
}

/// What the names in the folder of a shard say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) is_done: bool,
    pub(crate) is_stopped: bool,
    pub(crate) has_conflict: bool,
    /// The number of the last attempt; 0: there is none.
    pub(crate) last_attempt: u64,
}

impl Listed {
    /// Adds a name; its folder is not looked at.
    pub(crate) fn add(&mut self, name: &str) {
        let name = name.rsplit('/').next().unwrap_or(name);
        match name.strip_prefix("attempt-").and_then(|number| number.parse::<u64>().ok()) {
            Some(number) => self.last_attempt = self.last_attempt.max(number),
            None => {
                self.is_done |= name == "done";
                self.is_stopped |= name == "stop";
                self.has_conflict |= name.starts_with("conflict-");
            }
        }
    }

    /// The names in one folder.
    pub(crate) fn of(names: &[String]) -> Listed {
        let mut listed = Listed::default();
        names.iter().for_each(|name| listed.add(name));
        listed
    }
}

/// The shard of a name: `None`: it is of no shard.
pub(crate) fn shard_of(name: &str) -> Option<u64> {
    name.strip_prefix("shard/")?.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::fleet::example_plan;

    #[test]
    fn names_say_what_happened_to_a_shard() {
        let plan = example_plan(95, 30);
        let names = [attempt(&plan, 3, 9), attempt(&plan, 3, 10), shard_done(&plan, 3)];
        assert_eq!(names[0], "shard/0003/attempt-9");
        let listed = Listed::of(&names);
        assert_eq!((listed.last_attempt, listed.is_done, listed.is_stopped), (10, true, false));
        let piece = blocks(&plan, 3, 2, 7);
        assert_eq!((attempt_of_blocks(&piece), attempt_of_blocks(&names[0])), (Some(2), None));
        assert_eq!(Listed::of(&[piece]), Listed::default());
        let listed = Listed::of(&[shard_stop(&plan, 3), conflict(&plan, 3, 1), "shard/0003/attempt-x".to_owned()]);
        assert_eq!((listed.last_attempt, listed.is_stopped, listed.has_conflict), (0, true, true));
        assert_eq!((shard_of(&names[0]), shard_of("plan.json"), shard_of("shard/x/done")), (Some(3), None, None));
    }
}
