//! One copy by many workers: plan, shards, status, finish.
use crate::support::{
    LoopDevice, ObjectServer, ScratchDir, cmp, haul_path, in_one_line, memory_dir, name, noise, scratch, state_home,
    wait_until, write_noise,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) const MIB: usize = 1 << 20;

/// A job in a directory: its source, its plan, and how haul runs.
pub(crate) struct Job {
    pub(crate) dir: ScratchDir,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Job {
    pub(crate) fn new(len: usize) -> Job {
        let job = Job { dir: scratch(), environment: Vec::new() };
        write_noise(&job.source(), len, 1);
        job
    }

    pub(crate) fn with_store(len: usize) -> Option<(Job, ObjectServer)> {
        let job = Job::new(len);
        let server = ObjectServer::start(job.dir.path())?;
        let environment = job.environment_of(&server);
        Some((Job { environment, ..job }, server))
    }

    pub(crate) fn environment_of(&self, server: &ObjectServer) -> Vec<(&'static str, String)> {
        let own = ("HAUL_HTTP_TIMEOUT", "20".to_owned());
        server.environment().into_iter().chain([own]).collect()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(haul_path());
        command.args(words).current_dir(self.dir.path()).env("XDG_STATE_HOME", state_home());
        command.envs(self.environment.iter().cloned()).stdin(Stdio::null());
        command
    }

    /// Status, standard output, and standard error in one line.
    pub(crate) fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        (status.code().unwrap_or(-1), String::from_utf8(stdout).unwrap(), in_one_line(stderr))
    }

    /// Plans a copy to `dest`.
    #[track_caller]
    pub(crate) fn plan(&self, dest: &str, more: &[&str]) -> Value {
        let (status, plan, messages) = self.run(&[&["plan", "source", dest], more].concat());
        assert_eq!(status, 0, "{messages}");
        fs::write(self.path("plan.json"), &plan).unwrap();
        serde_json::from_str(&plan).unwrap()
    }

    pub(crate) fn shard(&self, which: &str) -> (i32, String) {
        let (status, _, messages) = self.run(&["copy", "--plan", "plan.json", "--shard", which]);
        (status, messages)
    }

    #[track_caller]
    pub(crate) fn copies(&self, which: &[&str]) {
        for which in which {
            let (status, messages) = self.shard(which);
            assert_eq!(status, 0, "{which}: {messages}");
        }
    }

    pub(crate) fn worker(&self, which: &str) -> Child {
        let mut command = self.command(&["copy", "--plan", "plan.json", "--shard", which]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn status(&self) -> Value {
        let (status, text, messages) = self.run(&["status", "--json", "plan.json"]);
        assert_eq!(status, 0, "{messages}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn finish(&self) -> (i32, String) {
        let (status, _, messages) = self.run(&["finish", "plan.json"]);
        (status, messages)
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.dir.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut files: Vec<String> = files.map(|file| file.into_string().unwrap()).collect();
        files.sort();
        files
    }
}

/// Bytes that an attempt claims.
pub(crate) fn copied_bytes(attempt: &Path) -> u64 {
    let text = fs::read_to_string(attempt).unwrap_or_default();
    serde_json::from_str::<Value>(&text).ok().and_then(|record| record["copied_bytes"].as_u64()).unwrap_or(0)
}

/// The status and the messages of a worker that was started.
pub(crate) fn ended(child: Child) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code(), in_one_line(stderr))
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_file_appears_when_all_shards_are_copied_in_any_order() {
    let job = Job::new(5 * MIB + 777);
    let plan = job.plan("dest", &["--shard-size", "2M", "--verify"]);
    assert_eq!((plan["shards"].as_u64(), plan["lease_s"].as_u64()), (Some(3), Some(90)));
    job.copies(&["3/3", "1/3"]);
    let (status, messages) = job.finish();
    assert!(status == 1 && messages.contains("1 of 3 shards is missing: 2."), "{messages}");
    assert!(messages.contains("haul copy --plan plan.json --shard 2/3") && !job.path("dest").exists(), "{messages}");
    let shown = job.status();
    assert_eq!((&shown["phase"], &shown["done_shards"]), (&"copying".into(), &2.into()));
    assert_eq!((&shown["untouched_shards"], &shown["copied_bytes"]), (&1.into(), &(3 * MIB + 777).into()));
    // The plan may be lost: it is in the state too.
    fs::copy(job.path("dest.haul-state/plan.json"), job.path("plan.json")).unwrap();
    job.copies(&["2/3"]);
    let (status, messages) = job.shard("2/3");
    assert!(status == 0 && messages.contains("shard 2 of 3 is done"), "{messages}");
    for _ in 0..2 {
        let (status, messages) = job.finish();
        assert!(status == 0 && messages.contains("dest is complete"), "{messages}");
        cmp(job.source(), job.path("dest"));
    }
    assert_eq!(job.files(), ["dest", "dest.haul-state", "plan.json", "source"]);
    let (status, _, messages) = job.run(&["finish", "--abort", "--yes", "plan.json"]);
    assert!(status == 3 && job.path("dest").exists(), "{messages}");
    assert_eq!(job.status()["phase"], "done");
    assert!(job.run(&["status", "plan.json"]).1.starts_with("done: 3 of 3 shards done"));
}

#[test]
fn each_worker_copies_its_range_and_nothing_else() {
    let job = Job::new(MIB);
    let plan = job.plan("dest", &["--shards", "4", "--skip", "4096", "--seek", "65536", "--count", "524288"]);
    assert_eq!((plan["shards"].as_u64(), plan["shard_bytes"].as_u64()), (Some(4), Some(131_072)));
    job.copies(&["2/4"]);
    let bytes = fs::read(plan["dest"]["address"].as_str().unwrap()).unwrap();
    let source = fs::read(job.source()).unwrap();
    let at = 65_536 + 131_072;
    assert_eq!(bytes.len(), 65_536 + 524_288);
    assert!(bytes[at..at + 131_072] == source[4096 + 131_072..4096 + 262_144]);
    assert!(bytes[..at].iter().chain(&bytes[at + 131_072..]).all(|byte| *byte == 0));
}

#[test]
fn a_source_that_changed_is_refused_and_not_retried() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2"]);
    let mut bytes = fs::read(job.source()).unwrap();
    let modified = fs::metadata(job.source()).unwrap().modified().unwrap();
    let write = |bytes: &[u8]| {
        fs::write(job.source(), bytes).unwrap();
        fs::File::options().write(true).open(job.source()).unwrap().set_modified(modified).unwrap();
    };
    bytes[5] ^= 1;
    write(&bytes);
    let (status, messages) = job.shard("2/2");
    assert!(status == 3 && messages.contains("bytes of the source at byte 0 changed"), "{messages}");
    write(&bytes[..MIB - 1]);
    let (status, messages) = job.shard("2/2");
    assert!(status == 3 && messages.contains("size in bytes of source"), "{messages}");
    bytes[5] ^= 1;
    fs::write(job.source(), &bytes).unwrap();
    let (status, messages) = job.shard("2/2");
    assert!(status == 3 && messages.contains("source was modified"), "{messages}");
    write(&bytes);
    // The attempts before it recorded their end: no worker waits for them.
    job.copies(&["2/2"]);
    assert_eq!(fs::read_dir(job.path("dest.haul-state/shard/0002")).unwrap().count(), 5);
}

#[test]
fn a_copy_that_cannot_be_divided_is_refused_before_a_file_is_created() {
    let job = Job::new(MIB);
    fs::write(job.path("there"), "mine").unwrap();
    let before = job.files();
    for (words, status, why) in [
        (&["source", "there"][..], 3, "there exists"),
        (&["-", "dest"], 2, "many workers cannot share it"),
        (&["source", "-"], 2, "many workers cannot share it"),
        (&["source", "source"], 3, "same data"),
        (&["source", "dest", "--shards", "0"], 2, ""),
        (&["source", "dest", "--shards", "2", "--seek", "4096"], 2, "no multiple of 65536 bytes"),
        (&["source", "dest", "--shards", "2", "--shard-size", "1M"], 2, ""),
        (&["nothing", "dest"], 1, ""),
        (&["source", "dest", "--dry-run"], 0, ""),
        (&["source", "dest", "--dry-run", "--json"], 0, ""),
    ] {
        let (found, _, messages) = job.run(&[&["plan"], words].concat());
        assert!(found == status && messages.contains(why), "{words:?}: {found} {messages}");
        assert_eq!(job.files(), before, "{words:?}");
    }
    job.plan("dest", &["--shards", "2"]);
    let before = job.files();
    let (status, _, messages) = job.run(&["plan", "source", "dest2", "--state", "dest.haul-state"]);
    assert!(status == 3 && messages.contains("has a plan already"), "{messages}");
    assert_eq!(job.files(), before);
    for (which, why) in [("1/3", "the plan has 2 shards, not 3"), ("auto", "none of SLURM_ARRAY_TASK_ID")] {
        let (status, messages) = job.shard(which);
        assert!(status == 2 && messages.contains(why), "{messages}");
    }
    let text = fs::read_to_string(job.path("plan.json")).unwrap();
    fs::write(job.path("plan.json"), text.replace("\"retries\":0", "\"retries\":1")).unwrap();
    let (status, messages) = job.shard("1/2");
    assert!(status != 0 && messages.contains("checksum mismatch"), "{messages}");
}

#[test]
fn a_job_that_was_given_up_leaves_no_file_and_no_worker_begins() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2"]);
    job.copies(&["1/2"]);
    let (status, _, messages) = job.run(&["finish", "--abort", "plan.json"]);
    assert!(status == 3 && messages.contains("no terminal"), "{messages}");
    assert_eq!(job.run(&["finish", "--abort", "--yes", "plan.json"]).0, 0);
    assert_eq!(job.files(), ["dest.haul-state", "plan.json", "source"]);
    let (status, messages) = job.shard("2/2");
    assert!(status == 3 && messages.contains("was aborted"), "{messages}");
    assert_eq!(job.finish().0, 3);
}

#[test]
fn a_second_worker_of_a_shard_waits_for_the_first() {
    let job = Job::new(3 * MIB);
    job.plan("dest", &["--shards", "1", "--lease", "4s", "--limit", "2M"]);
    let first = job.worker("1/1");
    wait_until(|| job.path("dest.haul-state/shard/0001/attempt-1").exists());
    let (status, messages) = job.shard("1/1");
    assert!(status == 0 && messages.contains("is done"), "{messages}");
    assert_eq!(ended(first).0, Some(0));
    assert!(!job.path("dest.haul-state/shard/0001/attempt-2").exists());
    assert_eq!(job.finish().0, 0);
    cmp(job.source(), job.path("dest"));
}

#[test]
fn a_shard_whose_worker_was_killed_continues_from_what_is_durable() {
    let job = Job::new(24 * MIB);
    job.plan("dest", &["--shards", "1", "--lease", "1s", "--limit", "16M"]);
    let attempt = job.path("dest.haul-state/shard/0001/attempt-1");
    let mut first = job.worker("1/1");
    wait_until(|| copied_bytes(&attempt) > 0 || first.try_wait().unwrap().is_some());
    let _ = first.kill();
    let was_done = ended(first).0 == Some(0);
    let (status, messages) = job.shard("1/1");
    assert_eq!(status, 0, "{messages}");
    assert!(was_done || messages.contains("already copied by earlier runs"), "{messages}");
    assert_eq!(job.finish().0, 0);
    cmp(job.source(), job.path("dest"));
}

#[test]
fn two_workers_write_one_device_at_a_time() {
    let job = Job::new(8 * MIB);
    let backing = memory_dir();
    fs::write(backing.path().join("disk"), noise(8 * MIB, 2)).unwrap();
    let Some(disk) = LoopDevice::over(&backing.path().join("disk")) else { return };
    let device = name(disk.path()).to_owned();
    let (status, _, messages) = job.run(&["plan", "source", &device, "--shards", "2", "--state", "state"]);
    assert!(status == 3 && messages.contains("no terminal"), "{messages}");
    job.plan(&device, &["--shards", "2", "--state", "state", "--yes", "--verify", "--limit", "8M"]);
    let workers = ["1/2", "2/2"].map(|which| job.worker(which));
    for worker in workers {
        let (status, messages) = ended(worker);
        assert_eq!(status, Some(0), "{messages}");
    }
    assert_eq!(job.finish().0, 0);
    cmp(job.source(), disk.path());
}

#[test]
fn an_object_appears_when_all_shards_are_copied() {
    let Some((job, server)) = Job::with_store(25 * MIB + 333) else { return };
    let plan = job.plan("s3://vault/big", &["--shards", "3", "--state", "s3://vault/jobs/big"]);
    assert_eq!((plan["shards"].as_u64(), plan["shard_bytes"].as_u64()), (Some(2), Some(16 << 20)));
    let mut first = job.worker("1/2");
    wait_until(|| server.file("jobs/big/shard/0001/attempt-1").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    fs::remove_file(job.path("plan.json")).unwrap();
    let (status, _, messages) = job.run(&["copy", "--plan", "s3://vault/jobs/big/plan.json", "--shard", "2/2"]);
    assert_eq!(status, 0, "{messages}");
    fs::copy(server.file("jobs/big/plan.json"), job.path("plan.json")).unwrap();
    assert!(job.finish().0 == 1 && !server.file("big").exists());
    job.copies(&["1/2"]);
    for _ in 0..2 {
        let (status, messages) = job.finish();
        assert_eq!(status, 0, "{messages}");
        cmp(job.source(), server.file("big"));
    }
    // A finish that was killed between the completion and its record finds its own object.
    fs::remove_file(server.file("jobs/big/done")).unwrap();
    let (status, messages) = job.finish();
    assert_eq!(status, 0, "{messages}");
    cmp(job.source(), server.file("big"));
}

#[test]
fn an_object_that_another_program_wrote_is_not_replaced() {
    let Some((job, server)) = Job::with_store(9 * MIB) else { return };
    job.plan("s3://vault/big", &["--shards", "2", "--state", "state"]);
    job.copies(&["1/2", "2/2"]);
    let (status, _, messages) = job.run(&["copy", "plan.json", "s3://vault/big"]);
    assert_eq!(status, 0, "{messages}");
    let (status, messages) = job.finish();
    assert!(status == 1 && messages.contains("another program wrote or removed"), "{messages}");
    cmp(job.path("plan.json"), server.file("big"));
}

#[test]
fn an_upload_that_the_store_discarded_is_refused_and_not_retried() {
    let Some((job, _server)) = Job::with_store(9 * MIB) else { return };
    let plan = job.plan("s3://vault/big", &["--shards", "2", "--state", "state"]);
    let id = plan["upload"]["id"].as_str().unwrap();
    assert_eq!(job.run(&["journal", "abort", "--yes", "s3://vault/big", id]).0, 0);
    let (status, messages) = job.shard("1/2");
    assert!(status == 3 && messages.contains("does not exist any more"), "{messages}");
}

#[test]
fn the_status_is_written_as_a_page() {
    let job = Job::new(3 * MIB);
    job.plan("dest", &["--shards", "3"]);
    job.copies(&["1/3", "3/3"]);
    for _ in 0..2 {
        let (status, _, messages) = job.run(&["status", "--report", "page.html", "plan.json"]);
        assert_eq!(status, 0, "{messages}");
        let page = fs::read_to_string(job.path("page.html")).unwrap();
        assert!(page.contains("2 of 3 shards done") && page.contains("<section id=\"hosts\">"), "{page}");
    }
    fs::write(job.path("mine"), "mine").unwrap();
    let (status, _, messages) = job.run(&["status", "--report", "mine", "plan.json"]);
    assert!(status == 3 && messages.contains("is not a haul report"), "{messages}");
    assert_eq!(fs::read_to_string(job.path("mine")).unwrap(), "mine");
}

#[test]
fn a_shard_that_is_done_has_a_report_as_json() {
    let job = Job::new(MIB);
    job.plan("dest", &["--shards", "2"]);
    job.copies(&["2/2"]);
    let words = ["copy", "--plan", "plan.json", "--shard", "2/2", "--json"];
    let done = crate::schema::report("copy", job.dir.path(), &words);
    assert_eq!((&done["status"], &done["claimed"]), (&"complete".into(), &Value::Null));
    assert_eq!((&done["len_bytes"], &done["remaining_bytes"]), (&(MIB / 2).into(), &0.into()));
    assert!(done["notes"][0].as_str().unwrap().starts_with("shard 2 of 2 is done, by "), "{done}");
    assert_eq!(done["durable"], job.run(&["copy", "source", "whole", "--json"]).1.contains("\"durable\": true"));
    let (status, _, last) = job.run(&["copy", "--plan", "plan.json", "--shard", "2/2", "--progress", "json"]);
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((status, &last["status"], &last["type"]), (0, &"complete".into(), &"summary".into()), "{last}");
}
