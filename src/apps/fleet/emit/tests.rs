//! The jobs are those in contrib/fleet; HAUL_RENEW=1 writes them there.
use super::*;
use crate::ledger::fleet::example_plan;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn wish(engine: FleetEngine) -> JobWish {
    JobWish { engine, workers: None, image: "registry.example.org/haul:0.1.0".to_owned() }
}

fn plan(state: &str, shards: u64) -> FleetPlan {
    FleetPlan { state: state.to_owned(), ..example_plan(shards * 30, 30) }
}

#[test]
fn each_job_is_the_example_in_contrib() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/fleet");
    for engine in FleetEngine::value_variants() {
        let made = job(&plan("s3://vault/jobs/big", 64), &wish(*engine)).unwrap();
        let path = directory.join(template(*engine).0);
        if std::env::var_os("HAUL_RENEW").is_some() {
            fs::write(&path, &made).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), made, "{}", path.display());
    }
}

#[test]
fn an_engine_that_cannot_run_as_many_shards_is_refused() {
    let error = |engine, shards| job(&plan("/state", shards), &wish(engine)).err().map(|error| error.kind);
    assert_eq!((error(FleetEngine::AwsBatch, 1), error(FleetEngine::AwsBatch, 2)), (Some(Kind::Usage), None));
    assert_eq!((error(FleetEngine::AwsBatch, 10_000), error(FleetEngine::AwsBatch, 10_001)), (None, Some(Kind::Usage)));
    assert_eq!(error(FleetEngine::Kubernetes, 100_001), Some(Kind::Usage));
    assert_eq!(error(FleetEngine::Slurm, 100_001), None, "its script asks the cluster");
    let of = |state| job(&plan(state, 3), &wish(FleetEngine::Slurm)).is_err();
    assert!(of("/a\n#SBATCH --x") && !of("/a b"));
}

/// Whether a shell or Python accepts the text.
fn is_accepted(program: &[&str], text: &str) -> bool {
    let mut child = Command::new(program[0]).args(&program[1..]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    child.wait().unwrap().success()
}

#[test]
fn a_state_with_any_character_gives_a_valid_job() {
    for state in ["/a b", "/it's", "/\"quoted\"", "/$(false)`x`\\", "/ü"] {
        let made = |engine| job(&plan(state, 3), &wish(engine)).unwrap();
        for engine in [FleetEngine::Slurm, FleetEngine::AwsBatch, FleetEngine::Parallel] {
            assert!(is_accepted(&["/bin/sh", "-n"], &made(engine)), "{engine:?} {state}");
        }
        let words = |line: &str| shlex::split(line).unwrap();
        let slurm = made(FleetEngine::Slurm);
        let copy = slurm.lines().find(|line| line.starts_with("haul copy")).unwrap();
        assert_eq!(words(copy.trim_end_matches('&'))[3], format!("{state}/plan.json"));
        let kubernetes = made(FleetEngine::Kubernetes);
        let line = kubernetes.lines().find(|line| line.contains("args: [")).unwrap();
        let arguments: Vec<String> = serde_json::from_str(line.trim_start().trim_start_matches("args: ")).unwrap();
        assert_eq!(arguments[2], format!("{state}/plan.json"));
    }
}
