//! `haul plan --emit`: the job that copies the shards of a plan, for an engine that runs already.
//!
//! The jobs are text files, rendered by minijinja. They contain nothing that the plan does not. Workers read the plan
//! from the shared state, which all of them reach.
#[cfg(test)]
mod tests;

use crate::core::{Error, Kind, Result, byte_count, count};
use crate::ledger::fleet::FleetPlan;
use clap::ValueEnum;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::{Value, json};

/// How often an engine runs a shard again that may succeed.
const RETRIES: u32 = 3;

/// Shards that are copied at a time by default, on all machines together.
const WORKERS: u64 = 32;

/// Most children of an array job of AWS Batch, and the fewest.
const AWS_ARRAY_MAX: u64 = 10_000;
const AWS_ARRAY_MIN: u64 = 2;

/// Most completions of a Kubernetes Job with a limit for each index.
const KUBERNETES_COMPLETIONS_MAX: u64 = 100_000;

/// The engine that runs the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetEngine {
    /// A shell script that submits an array job, and haul finish after it
    Slurm,
    /// An Indexed Job
    Kubernetes,
    /// A shell script that submits an array job
    AwsBatch,
    /// A Python program
    Ray,
    /// A shell script that runs GNU parallel
    Parallel,
}

/// What the job is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobWish {
    pub(crate) engine: FleetEngine,
    /// Most shards at a time; `None`: the default.
    pub(crate) workers: Option<u64>,
    /// The container image.
    pub(crate) image: String,
}

/// The job for `plan`.
///
/// # Errors
/// Usage if the engine cannot run that many shards.
pub(crate) fn job(plan: &FleetPlan, wish: &JobWish) -> Result<String> {
    check(plan, wish.engine)?;
    let place = format!("{}/plan.json", plan.state.trim_end_matches('/'));
    let id = plan.job().map_err(|fault| fault.into_error("plan"))?;
    let (job, shards, image) = (&id[..12], plan.shards, &wish.image);
    let (name, source) = template(wish.engine);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build().expect("these delimiters differ");
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("sh", |word: &str| quoted(word));
    environment.add_filter("json", |text: &str| Value::from(text).to_string());
    let (count, most) = (count(shards, "shard", "shards"), byte_count(plan.shard_bytes));
    let about = format!("Job {job} of haul {}: {count} of at most {most}.", plan.version);
    let pretty = |value: Value| format!("{value:#}");
    let submission = json!({ "jobName": format!("haul-{job}"), "jobDefinition": format!("haul-{job}"),
        "arrayProperties": { "size": shards } });
    let rendered = environment.render_named_str(
        name,
        source,
        context! {
            about,
            job,
            shards,
            image,
            plan => &place,
            retries => RETRIES,
            workers => wish.workers.unwrap_or(WORKERS).clamp(1, shards),
            definition => pretty(aws_definition(job, &place, image)),
            submission => pretty(submission),
            // A word of the command that the shell of each shard reads, within a word of the script.
            plan_in_shard => quoted(&quoted(&place)),
        },
    );
    Ok(rendered.expect("the template has only these names"))
}

fn template(engine: FleetEngine) -> (&'static str, &'static str) {
    match engine {
        FleetEngine::Slurm => ("slurm.sh", include_str!("templates/slurm.sh.jinja")),
        FleetEngine::Kubernetes => ("kubernetes.yaml", include_str!("templates/kubernetes.yaml.jinja")),
        FleetEngine::AwsBatch => ("aws-batch.sh", include_str!("templates/aws-batch.sh.jinja")),
        FleetEngine::Ray => ("ray.py", include_str!("templates/ray.py.jinja")),
        FleetEngine::Parallel => ("parallel.sh", include_str!("templates/parallel.sh.jinja")),
    }
}

/// Quotes a word for the shell. Paths have no NUL.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::new(), |word| word.into_owned())
}

fn check(plan: &FleetPlan, engine: FleetEngine) -> Result<()> {
    let shards = plan.shards;
    let refused = |what: String, advice: &str| Err(Error::new(Kind::Usage, what).advise(advice));
    let larger = "Plan again with a larger --shard-size.";
    match engine {
        // A line break would end a comment or a directive of the job.
        _ if plan.state.contains(char::is_control) => refused(
            "--state has a control character, which no job can contain".to_owned(),
            "Plan with another --state.",
        ),
        FleetEngine::AwsBatch if shards < AWS_ARRAY_MIN => refused(
            "an array job of AWS Batch has at least 2 children, but the plan has 1 shard".to_owned(),
            "Run haul copy --plan PLAN --shard 1/1 as a simple job.",
        ),
        FleetEngine::AwsBatch if shards > AWS_ARRAY_MAX => {
            refused(format!("an array job of AWS Batch has at most {AWS_ARRAY_MAX} children, not {shards}"), larger)
        }
        FleetEngine::Kubernetes if shards > KUBERNETES_COMPLETIONS_MAX => {
            let what = format!("a Job of Kubernetes has at most {KUBERNETES_COMPLETIONS_MAX} indexes, not {shards}");
            refused(what, larger)
        }
        _ => Ok(()),
    }
}

/// The definition of the AWS Batch job.
fn aws_definition(job: &str, plan: &str, image: &str) -> Value {
    let exit = |status: &str, action: &str| json!({ "onExitCode": status, "action": action });
    json!({
        "jobDefinitionName": format!("haul-{job}"),
        "type": "container",
        "containerProperties": {
            "image": image,
            "command": ["copy", "--plan", plan, "--shard", "auto"],
            "resourceRequirements": [{ "type": "VCPU", "value": "1" }, { "type": "MEMORY", "value": "1024" }],
        },
        "retryStrategy": {
            "attempts": RETRIES + 1,
            // Status 1 and a machine that was taken away may succeed later; 2 and 3 cannot.
            "evaluateOnExit": [
                exit("2", "EXIT"),
                exit("3", "EXIT"),
                { "onStatusReason": "Host EC2*", "action": "RETRY" },
                exit("*", "RETRY"),
            ],
        },
    })
}
