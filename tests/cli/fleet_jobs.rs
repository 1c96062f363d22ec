//! The jobs that `haul plan --emit` prints.
use crate::fleet::{Job, MIB};
use crate::support::{cmp, haul_path, in_one_line, state_home, write_noise};
use std::fs;
use std::os::unix::fs::PermissionsExt;
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

/// A haul that always ends with this status, and counts how often it was called.
#[test]
fn the_job_for_gnu_parallel_runs_status_1_again_three_times_and_2_and_3_never() {
    let is_gnu = Command::new("parallel").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_gnu {
        return crate::support::skip("GNU parallel is not installed");
    }
    for (status, runs) in [(1, 4), (2, 1), (3, 1)] {
        let job = Job::new(MIB);
        job.plan("dest", &["--shards", "2"]);
        let (_, script, _) = job.run(&["plan", "--emit", "parallel", "plan.json"]);
        fs::write(job.path("job.sh"), script).unwrap();
        fs::create_dir(job.path("bin")).unwrap();
        let fake = format!("#!/bin/sh\n[ \"$1\" = copy ] && echo \"$*\" >>\"$CALLS\"\nexit {status}\n");
        let program = job.path("bin/haul");
        fs::write(&program, fake).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", job.path("bin").display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["job.sh", "--will-cite"]).current_dir(job.dir.path()).env("PATH", path).env("HOME", job.dir.path());
        shell.env("CALLS", job.path("calls")).stdin(Stdio::null()).output().unwrap();
        let calls = fs::read_to_string(job.path("calls")).unwrap();
        for shard in ["--shard 1/2", "--shard 2/2"] {
            assert_eq!(calls.matches(shard).count(), runs, "status {status}: {calls}");
        }
    }
}
