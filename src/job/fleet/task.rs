//! Which shard a worker copies: as the command line names it, or as the batch engine numbers its tasks.
use crate::core::{Error, Kind, Result};
use crate::plan::ShardChoice;

/// The variables that number tasks, and the number of the first task.
const TASKS: &[(&str, u64)] =
    &[("SLURM_ARRAY_TASK_ID", 0), ("JOB_COMPLETION_INDEX", 0), ("AWS_BATCH_JOB_ARRAY_INDEX", 0), ("PARALLEL_SEQ", 1)];

/// The variables with the number of all tasks, where an engine has one that is the same in a job for a part of them.
const COUNTS: &[(&str, &str)] = &[("AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE")];

/// The shard, from 1, of a plan that has `shards`; `variable` is the environment.
///
/// # Errors
/// Usage if there is no such shard, or it is of another number of shards.
pub(super) fn shard(choice: ShardChoice, shards: u64, variable: impl Fn(&str) -> Option<String>) -> Result<u64> {
    let usage = |what: String, advice: &str| Err(Error::new(Kind::Usage, what).advise(advice));
    let (number, count, given) = match choice {
        ShardChoice::Number(number, count) => (Some(number), Some(count), format!("--shard {number}/{count}")),
        ShardChoice::Auto => {
            let mut set = TASKS.iter().filter_map(|(name, first)| Some((*name, *first, variable(name)?)));
            let Some((name, first, value)) = set.next() else {
                let names: Vec<&str> = TASKS.iter().map(|(name, _)| *name).collect();
                let what = format!("--shard auto: none of {} is set", names.join(", "));
                return usage(what, "Run it as a task of an array job, or name the shard: --shard 1/64.");
            };
            if let Some((other, ..)) = set.next() {
                return usage(
                    format!("--shard auto: both {name} and {other} are set"),
                    "Name the shard: --shard 1/64.",
                );
            }
            let count = COUNTS.iter().find(|(index, _)| *index == name).and_then(|(_, count)| variable(count));
            let number = value.parse::<u64>().ok().and_then(|value| value.checked_add(1)?.checked_sub(first));
            (number, count.and_then(|count| count.parse().ok()), format!("{name}={value}"))
        }
    };
    if let Some(count) = count.filter(|&count| count != shards) {
        return usage(
            format!("the plan has {}, not {count}", crate::core::count(shards, "shard", "shards")),
            "Give the number of shards of the plan.",
        );
    }
    match number.filter(|number| (1..=shards).contains(number)) {
        Some(number) => Ok(number),
        None => usage(
            format!("{given} is no shard of this plan, which has {}", crate::core::count(shards, "shard", "shards")),
            "Run one task for each shard of the plan: haul plan --emit prints such a job.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(set: &[(&str, &str)]) -> std::result::Result<u64, String> {
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        shard(ShardChoice::Auto, 8, variable).map_err(|error| error.what)
    }

    #[test]
    fn each_engine_numbers_its_tasks_in_its_own_way() {
        assert_eq!(auto(&[("SLURM_ARRAY_TASK_ID", "0")]), Ok(1));
        assert_eq!(auto(&[("JOB_COMPLETION_INDEX", "7")]), Ok(8));
        assert_eq!(auto(&[("AWS_BATCH_JOB_ARRAY_INDEX", "3"), ("AWS_BATCH_JOB_ARRAY_SIZE", "8")]), Ok(4));
        assert_eq!(auto(&[("PARALLEL_SEQ", "1")]), Ok(1));
        assert!(
            auto(&[("AWS_BATCH_JOB_ARRAY_INDEX", "3"), ("AWS_BATCH_JOB_ARRAY_SIZE", "9")])
                .unwrap_err()
                .contains("not 9")
        );
        for wrong in ["8", "x", "-1", "", "18446744073709551615"] {
            let why = auto(&[("SLURM_ARRAY_TASK_ID", wrong)]).unwrap_err();
            assert_eq!(why, format!("SLURM_ARRAY_TASK_ID={wrong} is no shard of this plan, which has 8 shards"));
        }
        assert!(auto(&[("PARALLEL_SEQ", "0")]).is_err() && auto(&[]).unwrap_err().contains("none of"));
        assert!(auto(&[("PARALLEL_SEQ", "1"), ("SLURM_ARRAY_TASK_ID", "1")]).unwrap_err().contains("both"));
    }

    #[test]
    fn a_shard_of_another_number_of_shards_is_refused() {
        let of = |number, count| shard(ShardChoice::Number(number, count), 8, |_| None).map_err(|error| error.kind);
        assert_eq!(
            (of(8, 8), of(9, 8), of(0, 8), of(1, 9)),
            (Ok(8), Err(Kind::Usage), Err(Kind::Usage), Err(Kind::Usage))
        );
    }
}
