//! The digest and the manifest of a copy by many workers: merged, without reading a byte again.
use crate::fleet::{Job, MIB, copied_bytes, ended};
use crate::support::{cmp, name, wait_until};
use haul::core::BlockDigest;
use haul::ledger::manifest::Manifest;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// The digest that finish prints, in the format of `b3sum --tag`.
#[track_caller]
fn printed(job: &Job, words: &[&str]) -> String {
    let (status, text, messages) = job.run(&[&["finish", "plan.json"], words].concat());
    assert_eq!(status, 0, "{messages}");
    text
}

fn digest_of(job: &Job) -> String {
    BlockDigest::blake3(&fs::read(job.source()).unwrap()).to_string()
}

#[track_caller]
fn has_the_digest_of_the_source(job: &Job) {
    let text = printed(job, &[]);
    assert_eq!(text, format!("BLAKE3 ({}) = {}\n", name(&job.source()), digest_of(job)));
    let has_b3sum = Command::new("b3sum").arg("--version").output().is_ok_and(|output| output.status.success());
    if has_b3sum {
        let by_b3sum = Command::new("b3sum").arg("--no-names").arg(job.source()).output().unwrap();
        assert_eq!(String::from_utf8(by_b3sum.stdout).unwrap().trim(), digest_of(job));
    }
}

/// Zeros where the source has a hole, zeros in data, and other data.
fn with_zeros(job: &Job) {
    let mut bytes = fs::read(job.source()).unwrap();
    let len = bytes.len();
    bytes[MIB..2 * MIB + 5000].fill(0);
    bytes[len - 100_000..len - 3].fill(0);
    fs::write(job.source(), bytes).unwrap();
}

#[test]
fn shards_in_any_order_give_the_digest_of_the_whole() {
    for (len, shards) in [(5 * MIB + 777, "7"), (3 * MIB, "1"), (65_537, "2"), (70_000, "1"), (4000, "1")] {
        let job = Job::new(len);
        if len > 3 * MIB {
            with_zeros(&job);
        }
        let words = ["--shards", shards, "--hash", "blake3", "--manifest-block", "64K"];
        let plan = job.plan("dest", &words);
        assert_eq!(plan["digest"]["algorithm"], "blake3-tree");
        let shards = plan["shards"].as_u64().unwrap();
        let (status, text, messages) = job.run(&["finish", "plan.json"]);
        assert!(status == 1 && text.is_empty(), "{text}{messages}");
        (1..=shards).rev().for_each(|shard| job.copies(&[&format!("{shard}/{shards}")]));
        has_the_digest_of_the_source(&job);
        let shown = job.status();
        let expected = serde_json::json!([{ "hash": "blake3", "hex": digest_of(&job) }]);
        assert_eq!(shown["digests"], expected, "{len}");
        let report: Value = serde_json::from_str(&printed(&job, &["--json"])).unwrap();
        assert_eq!(report["digests"], expected);
        cmp(job.source(), job.path("dest"));
    }
}

#[test]
fn a_copy_of_a_range_has_the_digest_of_the_range() {
    let job = Job::new(3 * MIB);
    job.plan("dest", &["--shards", "3", "--hash", "blake3", "--manifest-block", "64K", "--skip", "5000", "--verify"]);
    job.copies(&["2/3", "1/3", "3/3"]);
    let text = printed(&job, &[]);
    let digest = BlockDigest::blake3(&fs::read(job.source()).unwrap()[5000..]).to_string();
    assert!(text.contains(&digest), "{text}");
}

#[test]
fn a_digest_that_cannot_be_merged_is_refused() {
    let job = Job::new(MIB);
    let (status, _, messages) = job.run(&["plan", "source", "dest", "--hash", "sha256"]);
    assert!(status == 2 && messages.contains("no other digest can be computed in parts"), "{messages}");
    job.plan("dest", &["--shards", "2", "--hash", "blake3"]);
    let (status, _, messages) = job.run(&["finish", "plan.json", "--manifest", "m"]);
    assert!(status == 2 && messages.contains("record no digests of blocks"), "{messages}");
}

#[test]
fn the_manifest_of_many_workers_is_that_of_one() {
    let job = Job::new(5 * MIB + 777);
    with_zeros(&job);
    job.plan("dest", &["--shards", "3", "--manifest", "--manifest-block", "64K"]);
    job.copies(&["3/3", "1/3", "2/3"]);
    fs::write(job.path("there"), "mine").unwrap();
    let (status, _, messages) = job.run(&["finish", "plan.json", "--manifest", "there"]);
    assert!(status != 0 && !job.path("dest").exists() && messages.contains("exists"), "{messages}");
    printed(&job, &["--manifest", "merged"]);
    let (status, _, messages) =
        job.run(&["copy", "source", "alone", "--manifest", "one", "--manifest-block", "64K", "--progress", "none"]);
    assert_eq!(status, 0, "{messages}");
    let [merged, one] = ["merged", "one"].map(|file| Manifest::open(&job.path(file)).unwrap());
    assert_eq!((merged.pieces(), merged.closing.whole), (one.pieces(), one.closing.whole));
    assert_eq!(merged.closing.whole.unwrap().to_string(), digest_of(&job));
    assert_eq!(merged.head.dest.path, name(&job.path("dest")));
    let verified = job.run(&["verify", "--manifest", "merged", "dest"]);
    assert_eq!(verified.0, 0, "{}", verified.2);
    let mut bytes = fs::read(job.path("dest")).unwrap();
    bytes[3 * MIB] ^= 1;
    fs::write(job.path("dest"), bytes).unwrap();
    assert_eq!(job.run(&["verify", "--manifest", "merged", "dest"]).0, 1);
}

/// Several attempts at one shard, which are killed early in the seconds that the limit of the plan gives them.
fn after_kills(job: &Job, attempts: u64, state: &str) {
    for number in 1..=attempts {
        let attempt = job.path(&format!("{state}/shard/0001/attempt-{number}"));
        let mut worker = job.worker("1/1");
        wait_until(|| worker.try_wait().unwrap().is_some() || copied_bytes(&attempt) > copied_before(&attempt));
        let _ = worker.kill();
        ended(worker);
    }
}

/// Bytes of earlier attempts.
fn copied_before(attempt: &std::path::Path) -> u64 {
    let text = fs::read_to_string(attempt).unwrap_or_default();
    serde_json::from_str::<Value>(&text).ok().and_then(|record| record["already_bytes"].as_u64()).unwrap_or(0)
}

#[test]
fn attempts_that_continue_each_other_give_the_digest_without_reading_again() {
    let job = Job::new(16 * MIB);
    let words = ["--shards", "1", "--lease", "1s", "--limit", "5M", "--manifest", "--manifest-block", "64K"];
    job.plan("dest", &words);
    after_kills(&job, 2, "dest.haul-state");
    let (status, report, messages) =
        job.run(&["copy", "--plan", "plan.json", "--shard", "1/1", "--json", "--progress", "none"]);
    assert_eq!(status, 0, "{messages}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let [read, written] = ["read_bytes", "written_bytes"].map(|name| report["bytes"][name].as_u64().unwrap());
    assert!(read == written && read < 16 * MIB as u64, "it reads what it copies: {report}");
    assert_eq!(
        printed(&job, &["--manifest", "m"]),
        format!("BLAKE3 ({}) = {}\n", name(&job.source()), digest_of(&job))
    );
    cmp(job.source(), job.path("dest"));
    assert_eq!(job.run(&["verify", "--manifest", "m", "dest"]).0, 0);
}

#[test]
fn a_verified_shard_reads_back_what_an_earlier_attempt_wrote() {
    for hash in [&["--hash", "blake3", "--manifest-block", "64K"][..], &[]] {
        let job = Job::new(16 * MIB);
        let words = ["--shards", "1", "--lease", "1s", "--limit", "4M", "--verify"];
        job.plan("dest", &[&words, hash].concat());
        after_kills(&job, 1, "dest.haul-state");
        let (status, report, messages) =
            job.run(&["copy", "--plan", "plan.json", "--shard", "1/1", "--json", "--progress", "none"]);
        assert_eq!(status, 0, "{messages}");
        let report: Value = serde_json::from_str(&report).unwrap_or_else(|_| panic!("{messages}"));
        let verified = &report["verified"];
        assert_eq!(verified["bytes"].as_u64(), Some(16 * MIB as u64), "{report}");
        assert_eq!(job.finish().0, 0);
        cmp(job.source(), job.path("dest"));
    }
}

#[test]
fn an_object_of_several_attempts_has_the_digest_of_the_whole() {
    let Some((job, server)) = Job::with_store(40 * MIB + 333) else { return };
    let words = ["--shards", "1", "--state", "state", "--lease", "1s", "--limit", "12M", "--hash", "blake3"];
    job.plan("s3://vault/big", &words);
    after_kills(&job, 1, "state");
    job.copies(&["1/1"]);
    has_the_digest_of_the_source(&job);
    cmp(job.source(), server.file("big"));
}

/// It is not the worker that decides what is a result: two that differ are kept.
#[test]
fn records_with_other_digests_are_not_finished() {
    let job = Job::new(2 * MIB);
    job.plan("dest", &["--shards", "2", "--hash", "blake3", "--manifest-block", "64K"]);
    job.copies(&["1/2", "2/2"]);
    // The values of one shard are exchanged for those of the other, which are no part of it.
    let [one, two] = [1, 2].map(|shard| job.path(&format!("dest.haul-state/shard/000{shard}/done")));
    fs::copy(&one, &two).unwrap();
    let (status, messages) = job.finish();
    assert!(status == 1 && messages.contains("is of shard 1") && !job.path("dest").exists(), "{messages}");
}
