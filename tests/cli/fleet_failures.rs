//! What happens to a copy by many workers when something fails.
//!
//! | what | tests |
//! |---|---|
//! | a worker is killed | fleet: a_shard_whose_worker_was_killed_continues_from_what_is_durable; fleet_kills |
//! | a node is lost | a_worker_of_a_lost_node_is_replaced_after_a_lease |
//! | two workers of one shard | fleet: a_second_worker_of_a_shard_waits_for_the_first |
//! | a suspended worker | a_worker_that_was_suspended_changes_nothing_when_it_continues |
//! | a late worker of another host | fleet_kills: a_late_worker_of_another_host_… |
//! | SIGTERM of a time limit | a_worker_that_gets_sigterm_records_what_is_durable |
//! | a source object changed | a_source_object_that_was_replaced_is_refused_and_not_retried |
//! | the state cannot be reached | a_worker_that_cannot_reach_the_state_stops_by_itself |
//! | the state was removed | a_worker_whose_state_was_removed_stops_and_does_not_create_it_again |
//! | status 1, 2, 3 | fleet_jobs: the_job_for_gnu_parallel_… |
//! | the plan is lost | a_lost_plan_is_in_the_state |
//! | the upload expired | fleet: an_upload_that_the_store_discarded_is_refused_and_not_retried |
use crate::fleet::{Job, MIB, copied_bytes, ended, signal};
use crate::support::{NbdServer, ObjectServer, cmp, has, haul_path, is_root, state_home, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

fn record(job: &Job, attempt: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(job.path(attempt)).unwrap()).unwrap()
}

#[test]
fn a_worker_of_a_lost_node_is_replaced_after_a_lease() {
    if !is_root() || !has("unshare") {
        return;
    }
    let job = Job::new(24 * MIB);
    job.plan("dest", &["--shards", "1", "--lease", "2s", "--limit", "8M"]);
    // Its process numbers are those of another host: nothing here shows that it is dead.
    let mut elsewhere = Command::new("unshare");
    elsewhere.args(["--pid", "--fork", "--kill-child"]).arg(haul_path());
    elsewhere.args(["copy", "--plan", "plan.json", "--shard", "1/1"]).current_dir(job.dir.path());
    elsewhere.env("XDG_STATE_HOME", state_home()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut lost = elsewhere.spawn().unwrap();
    let attempt = job.path("dest.haul-state/shard/0001/attempt-1");
    wait_until(|| copied_bytes(&attempt) > 0 || lost.try_wait().unwrap().is_some());
    let _ = lost.kill();
    lost.wait().unwrap();
    let (mut status, mut messages) = job.shard("1/1");
    assert!(messages.contains("without a sign of life") || messages.contains("is done"), "{messages}");
    while status == 1 {
        // On a busy machine it could not give its sign of life in time.
        (status, messages) = job.shard("1/1");
    }
    assert_eq!(status, 0, "{messages}");
    assert_eq!(job.finish().0, 0);
    cmp(job.source(), job.path("dest"));
}

#[test]
fn a_worker_that_gets_sigterm_records_what_is_durable() {
    let job = Job::new(24 * MIB);
    job.plan("dest", &["--shards", "1", "--limit", "8M"]);
    let mut worker = job.worker("1/1");
    let attempt = "dest.haul-state/shard/0001/attempt-1";
    // Long before the first checkpoint, but after the first bytes.
    let writes = || fs::read_to_string(format!("/proc/{}/io", worker.id())).unwrap_or_default();
    let written = |text: &str| text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok());
    wait_until(|| job.path(attempt).exists() && written(&writes()).is_some());
    std::thread::sleep(std::time::Duration::from_millis(700));
    signal(&worker, Signal::TERM);
    let status = worker.wait().unwrap();
    if status.success() {
        return;
    }
    assert_eq!(status.signal(), Some(15));
    let first = record(&job, attempt);
    assert_eq!(first["ended"], "interrupted by signal 15");
    let (status, report, messages) =
        job.run(&["copy", "--plan", "plan.json", "--shard", "1/1", "--json", "--progress", "none"]);
    assert_eq!(status, 0, "{messages}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let (durable, copied) =
        (first["copied_bytes"].as_u64().unwrap(), report["bytes"]["written_bytes"].as_u64().unwrap());
    assert_eq!(durable + copied, 24 * MIB as u64, "nothing is copied again: {report}");
    assert_eq!(job.finish().0, 0);
    cmp(job.source(), job.path("dest"));
}

#[test]
fn a_source_object_that_was_replaced_is_refused_and_not_retried() {
    let Some((job, _server)) = Job::with_store(3 * MIB) else { return };
    let copy = |from: &str| assert_eq!(job.run(&["copy", "--progress", "none", from, "s3://vault/image"]).0, 0);
    copy("source");
    let (status, plan, messages) = job.run(&["plan", "s3://vault/image", "dest", "--shards", "2"]);
    assert_eq!(status, 0, "{messages}");
    fs::write(job.path("plan.json"), plan).unwrap();
    job.copies(&["1/2"]);
    let mut bytes = fs::read(job.source()).unwrap();
    bytes[2 * MIB] ^= 1;
    fs::write(job.path("other"), bytes).unwrap();
    copy("other");
    let (status, messages) = job.shard("2/2");
    assert_eq!(status, 3, "{messages}");
    assert!(job.finish().0 == 1 && !job.path("dest").exists());
}

#[test]
fn a_worker_that_cannot_reach_the_state_stops_by_itself() {
    let Some((job, server)) = Job::with_store(64 * MIB) else { return };
    job.plan("dest", &["--shards", "1", "--lease", "4s", "--limit", "2M", "--state", "s3://vault/state"]);
    let attempt = server.file("state/shard/0001/attempt-1");
    let mut worker = job.worker("1/1");
    let has_beaten = || fs::read_to_string(&attempt).is_ok_and(|text| !text.contains("\"beat\":0,"));
    wait_until(|| has_beaten() || worker.try_wait().unwrap().is_some());
    drop(server);
    // It would copy for half a minute.
    let (status, messages) = ended(worker);
    assert_eq!(status, Some(1), "{messages}");
    assert!(messages.contains("could not record that it is alive"), "{messages}");
    let (status, _, messages) = job.run(&["copy", "--plan", "plan.json", "--shard", "1/1"]);
    assert!(status == 1 && messages.contains("cannot list the shared state"), "{messages}");
    let server = ObjectServer::start(job.dir.path()).unwrap();
    let job = Job { environment: job.environment_of(&server), ..job };
    let first = server.file("state/shard/0001/attempt-1");
    assert!(copied_bytes(&first) < 64 * MIB as u64);
    assert_eq!(job.run(&["finish", "--abort", "--yes", "plan.json"]).0, 0);
}

#[test]
fn a_lost_plan_is_in_the_state() {
    let job = Job::new(2 * MIB);
    job.plan("dest", &["--shards", "2"]);
    fs::remove_file(job.path("plan.json")).unwrap();
    let plan = "dest.haul-state/plan.json";
    for shard in ["1/2", "2/2"] {
        let (status, _, messages) = job.run(&["copy", "--plan", plan, "--shard", shard]);
        assert_eq!(status, 0, "{messages}");
    }
    assert_eq!(job.run(&["finish", plan]).0, 0);
    cmp(job.source(), job.path("dest"));
}

#[test]
fn an_nbd_export_is_written_by_several_workers_of_which_one_is_killed() {
    let job = Job::new(12 * MIB);
    let backing = job.path("backing");
    fs::write(&backing, vec![7; 13 * MIB]).unwrap();
    let Some(server) = NbdServer::nbdkit(job.dir.path(), &["file", backing.to_str().unwrap()]) else { return };
    let words = ["--shards", "3", "--state", "state", "--yes", "--verify", "--lease", "2s", "--limit", "4M"];
    job.plan(&server.address(""), &words);
    let mut workers = ["1/3", "2/3", "3/3"].map(|which| (which, job.worker(which)));
    let attempt = job.path("state/shard/0002/attempt-1");
    wait_until(|| copied_bytes(&attempt) > 0 || workers[1].1.try_wait().unwrap().is_some());
    let _ = workers[1].1.kill();
    for (which, worker) in workers {
        let (mut status, mut messages) = ended(worker);
        while status != Some(0) {
            assert!(status.is_none() || status == Some(1), "{messages}");
            let again = job.shard(which);
            (status, messages) = (Some(again.0), again.1);
        }
    }
    assert_eq!(job.finish().0, 0);
    drop(server);
    let bytes = fs::read(&backing).unwrap();
    assert!(bytes[..12 * MIB] == fs::read(job.source()).unwrap() && bytes[12 * MIB..].iter().all(|byte| *byte == 7));
}

/// A worker that is stopped longer than its lease, and continues when the object is complete.
#[test]
fn a_worker_that_was_suspended_changes_nothing_when_it_continues() {
    let Some((job, server)) = Job::with_store(17 * MIB) else { return };
    job.plan("s3://vault/big", &["--shards", "1", "--state", "state", "--lease", "3s", "--limit", "6M"]);
    let late = (1..).find_map(|number| {
        let (mut late, attempt) = (job.worker("1/1"), job.path(&format!("state/shard/0001/attempt-{number}")));
        let has_beaten = || fs::read_to_string(&attempt).is_ok_and(|text| !text.contains("\"beat\":0,"));
        // On a busy machine it ends at once, because it could not give its sign of life in time.
        wait_until(|| has_beaten() || late.try_wait().unwrap().is_some());
        late.try_wait().unwrap().is_none().then(|| {
            signal(&late, Signal::STOP);
            late
        })
    });
    let late = late.unwrap();
    loop {
        match job.shard("1/1") {
            (0, _) => break,
            // On a busy machine it could not give its sign of life in time.
            (status, messages) => assert_eq!(status, 1, "{messages}"),
        }
    }
    let (status, messages) = job.finish();
    assert_eq!(status, 0, "{messages}");
    cmp(job.source(), server.file("big"));
    signal(&late, Signal::CONT);
    let (status, messages) = ended(late);
    assert!(status == Some(1), "{messages}");
    cmp(job.source(), server.file("big"));
    assert_eq!(job.finish().0, 0);
}

/// No worker that has such a plan can succeed: a scheduler must not try again.
#[test]
fn a_plan_that_is_damaged_or_of_another_version_ends_with_status_2() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2"]);
    let plan = fs::read_to_string(job.path("plan.json")).unwrap();
    let broken = [
        (plan.replace("\"shards\":2", "\"shards\":1"), "checksum mismatch"),
        (plan[..200].to_owned(), "it is truncated"),
        (format!("{plan}{plan}"), "it is damaged"),
        (plan.replace("\"haul_plan\":1", "\"haul_plan\":2"), "its format version 2 is newer"),
        (String::new(), "it is not a plan"),
    ];
    for (text, why) in broken {
        fs::write(job.path("plan.json"), text).unwrap();
        for words in [&["copy", "--shard", "1/2", "--plan"][..], &["status"], &["finish"], &["plan", "--emit", "ray"]] {
            let (status, _, messages) = job.run(&[words, &["plan.json"]].concat());
            assert!(status == 2 && messages.contains(why) && messages.contains('→'), "{words:?}: {status} {messages}");
        }
    }
    fs::copy(job.source(), job.path("plan.json")).unwrap();
    assert_eq!(job.shard("1/2").0, 2, "it is no text");
    assert_eq!(job.files().iter().filter(|file| file.starts_with(".dest")).count(), 1);
}

#[test]
fn a_message_names_the_command_that_copies_a_shard_again() {
    let job = Job::new(24 * MIB);
    job.plan("dest", &["--shards", "2", "--limit", "8M", "--lease", "4s"]);
    fs::rename(job.path("plan.json"), job.path("a plan")).unwrap();
    let words = ["copy", "--plan", "a plan", "--shard", "2/2"];
    let mut command = job.command(&[&words[..], &["--json"]].concat());
    let worker = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| copied_bytes(&job.path("dest.haul-state/shard/0002/attempt-1")) > 0);
    signal(&worker, Signal::TERM);
    let report: Value = serde_json::from_slice(&worker.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(report["continue_command"], "haul copy --plan 'a plan' --shard 2/2 --json");
    let (status, _, messages) = job.run(&["finish", "a plan"]);
    assert!(status == 1 && messages.ends_with("Copy each: haul copy --plan 'a plan' --shard 1/2"), "{messages}");
    assert_eq!(job.run(&words).0, 0);
}

#[test]
fn a_destination_that_was_removed_is_named() {
    let job = Job::new(MIB);
    let plan = job.plan("dest", &["--shards", "2"]);
    let address = plan["dest"]["address"].as_str().unwrap();
    fs::remove_file(address).unwrap();
    let (status, messages) = job.shard("1/2");
    assert!(status == 3 && messages.contains("does not exist any more"), "{messages}");
    assert!(!std::path::Path::new(address).exists());
}

/// As where the file system of the state is unmounted: the empty directory below it is not used.
#[test]
fn a_worker_whose_state_was_removed_stops_and_does_not_create_it_again() {
    let job = Job::new(48 * MIB);
    job.plan("dest", &["--shards", "2", "--limit", "4M", "--lease", "4s", "--state", "state"]);
    let worker = job.worker("1/2");
    wait_until(|| copied_bytes(&job.path("state/shard/0001/attempt-1")) > 0);
    fs::rename(job.path("state"), job.path("elsewhere")).unwrap();
    fs::create_dir(job.path("state")).unwrap();
    let (status, messages) = ended(worker);
    assert!(status == Some(1) && messages.contains("the shared state was removed"), "{status:?}: {messages}");
    for words in [&["copy", "--shard", "2/2", "--plan"][..], &["status"], &["finish"], &["finish", "--abort", "--yes"]]
    {
        let (status, _, messages) = job.run(&[words, &["plan.json"]].concat());
        assert!(status == 1 && messages.contains("plan.json does not exist"), "{words:?}: {status} {messages}");
    }
    assert_eq!(fs::read_dir(job.path("state")).unwrap().count(), 0);
    fs::remove_dir(job.path("state")).unwrap();
    fs::rename(job.path("elsewhere"), job.path("state")).unwrap();
    let (status, messages) = job.shard("2/2");
    assert_eq!(status, 0, "{messages}");
}

#[test]
fn a_worker_of_a_plan_that_is_not_in_the_state_is_refused() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2", "--state", "state"]);
    fs::rename(job.path("plan.json"), job.path("old.json")).unwrap();
    fs::remove_dir_all(job.path("state")).unwrap();
    job.plan("other", &["--shards", "2", "--state", "state"]);
    let (status, _, messages) = job.run(&["copy", "--plan", "old.json", "--shard", "1/2"]);
    assert!(status == 3 && messages.contains("is another plan"), "{status}: {messages}");
    assert_eq!(job.run(&["finish", "old.json"]).0, 3);
    job.copies(&["1/2", "2/2"]);
    assert_eq!(job.finish().0, 0);
}

#[test]
fn a_job_with_a_damaged_record_can_be_continued_without_it_or_discarded() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2"]);
    job.copies(&["1/2", "2/2"]);
    for (record, shard) in [("shard/0001/done", "1/2"), ("shard/0002/attempt-1", "2/2")] {
        fs::write(job.path(&format!("dest.haul-state/{record}")), "").unwrap();
        if record.ends_with("attempt-1") {
            fs::remove_file(job.path("dest.haul-state/shard/0002/done")).unwrap();
        }
        let (status, messages) = job.shard(shard);
        assert!(status != 0 && messages.contains("remove this file"), "{status}: {messages}");
        fs::remove_file(job.path(&format!("dest.haul-state/{record}"))).unwrap();
        job.copies(&[shard]);
    }
    fs::write(job.path("dest.haul-state/shard/0001/done"), "").unwrap();
    assert_ne!(job.finish().0, 0);
    let (status, _, messages) = job.run(&["finish", "plan.json", "--abort", "--yes"]);
    assert_eq!((status, job.files().iter().any(|file| file.starts_with(".dest"))), (0, false), "{messages}");
}
