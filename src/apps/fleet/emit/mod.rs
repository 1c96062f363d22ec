//! `haul plan --emit`: the job that copies the shards of a plan, for an engine that people run already.
//!
//! The jobs are text files, filled in by minijinja. They contain nothing that the plan does not.
#[cfg(test)]
mod tests;

use crate::core::{Error, Kind, Result};
use crate::ledger::fleet::FleetPlan;
use clap::ValueEnum;
use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::{Value, json};

/// How often an engine runs a shard again that may succeed.
const RETRIES: u32 = 3;

/// Shards that are copied at a time by default, on all machines together.
const WORKERS: u64 = 32;

/// Most children of an array job of AWS Batch, and the fewest.
const AWS_ARRAY_MAX: u64 = 10_000;
const AWS_ARRAY_MIN: u64 = 2;

/// Most completions of a Kubernetes Job with a limit for each index, if it may fail at more than 10,000 of them or run
/// as many pods.
const KUBERNETES_COMPLETIONS_MAX: u64 = 100_000;

/// The engine that runs the shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetEngine {
    /// A shell script that submits an array job, and haul finish after it
    Slurm,
    /// An Indexed Job with the plan in a ConfigMap
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

/// The job for `plan`, whose file workers find at `path`.
///
/// # Errors
/// The engine cannot run that many shards.
pub(crate) fn job(plan: &FleetPlan, path: &str, wish: &JobWish) -> Result<String> {
    check(plan, wish.engine)?;
    let id = plan.job().map_err(|fault| fault.into_error(path))?;
    let job = &id[..12];
    let text = plan.to_text().map_err(|fault| fault.into_error(path))?;
    let (name, source) = template(wish.engine);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.add_filter("sh", quoted);
    environment.add_filter("json", |text: &str| Value::from(text).to_string());
    let (shards, version) = (plan.shards, &plan.version);
    let lengths = if shards == 1 { "1 shard".to_owned() } else { format!("{shards} shards") };
    let about = format!("Job {job} of haul {version}: {lengths} of at most {} bytes.", plan.shard_bytes);
    let pretty = |value: Value| format!("{value:#}");
    let context = context! {
        about,
        job,
        shards,
        text,
        haul => "haul",
        plan => path,
        image => wish.image,
        retries => RETRIES,
        workers => wish.workers.unwrap_or(WORKERS).clamp(1, shards),
        definition => pretty(aws_definition(job, &text, &wish.image)),
        submission => pretty(json!({ "jobName": format!("haul-{job}"), "jobDefinition": format!("haul-{job}"),
            "arrayProperties": { "size": shards } })),
        // Within a string of the shell that is a command of the shell.
        haul_in_shard => quoted("haul"),
        plan_in_shard => quoted(&quoted(path)),
    };
    let rendered = environment.render_named_str(name, source, context);
    Ok(rendered.expect("the template has only these names"))
}

fn template(engine: FleetEngine) -> (&'static str, &'static str) {
    match engine {
        FleetEngine::Slurm => ("slurm.sh", include_str!("templates/slurm.sh.jinja")),
        FleetEngine::Kubernetes => ("kubernetes.yml", include_str!("templates/kubernetes.yaml.jinja")),
        FleetEngine::AwsBatch => ("aws-batch.sh", include_str!("templates/aws-batch.sh.jinja")),
        FleetEngine::Ray => ("ray.py", include_str!("templates/ray.py.jinja")),
        FleetEngine::Parallel => ("parallel.sh", include_str!("templates/parallel.sh.jinja")),
    }
}

/// Quotes a word for the shell. A plan's path has no NUL.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::new(), |word| word.into_owned())
}

fn check(plan: &FleetPlan, engine: FleetEngine) -> Result<()> {
    let shards = plan.shards;
    let refused = |what: String, advice: &str| Err(Error::new(Kind::Usage, what).advise(advice));
    let larger = "Plan again with a larger --shard-size.";
    match engine {
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

/// The definition of the AWS Batch job: the plan is in its environment, since children have no common file.
fn aws_definition(job: &str, text: &str, image: &str) -> Value {
    let script = "printf '%s' \"$HAUL_PLAN\" >/tmp/plan.json && exec haul copy --plan /tmp/plan.json --shard auto";
    let exit = |status: &str, action: &str| json!({ "onExitCode": status, "action": action });
    json!({
        "jobDefinitionName": format!("haul-{job}"),
        "type": "container",
        "containerProperties": {
            "image": image,
            "command": ["sh", "-c", script],
            "environment": [{ "name": "HAUL_PLAN", "value": text }],
            "resourceRequirements": [{ "type": "VCPU", "value": "1" }, { "type": "MEMORY", "value": "1024" }],
        },
        "retryStrategy": {
            "attempts": RETRIES + 1,
            "evaluateOnExit": [
                exit("2", "EXIT"),
                exit("3", "EXIT"),
                // A machine that was taken away, and status 1, which may succeed later.
                { "onStatusReason": "Host EC2*", "action": "RETRY" },
                exit("*", "RETRY"),
            ],
        },
    })
}
