//! The jobs that `haul plan --emit` prints.
use crate::fleet::{Job, MIB};
use crate::support::{cmp, haul_path, in_one_line, state_home, write_noise};
use std::fs;
use std::process::{Command, Stdio};

/// The script of GNU parallel copies and finishes a plan; a shard that cannot succeed is tried once.
#[test]
fn the_job_for_gnu_parallel_copies_a_plan() {
    let is_gnu = Command::new("parallel").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_gnu {
        eprintln!("GNU parallel is not installed: not tested");
        return;
    }
    let job = Job::new(MIB);
    let run = || {
        let (status, script, messages) = job.run(&["plan", "--emit", "parallel", "--workers", "2", "plan.json"]);
        assert_eq!(status, 0, "{messages}");
        fs::write(job.path("job.sh"), script).unwrap();
        let path = format!("{}:{}", haul_path().parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["job.sh", "--will-cite"]).current_dir(job.dir.path()).env("PATH", path).env("HOME", job.dir.path());
        shell.env("XDG_STATE_HOME", state_home()).stdin(Stdio::null()).output().unwrap()
    };
    job.plan("dest", &["--shards", "3", "--state", "the state"]);
    let output = run();
    assert!(output.status.success(), "{}", in_one_line(output.stderr));
    cmp(job.source(), job.path("dest"));
    job.plan("other", &["--shards", "2", "--state", "state 2"]);
    write_noise(&job.source(), MIB, 2);
    let output = run();
    assert_eq!(output.status.code(), Some(1), "finish: shards are missing");
    let attempts = fs::read_dir(job.path("state 2/shard/0001")).unwrap().count();
    assert_eq!(attempts, 1, "{}", in_one_line(output.stderr));
}
