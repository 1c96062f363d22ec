//! Unreadable sectors are recorded in the journal of a copy, and `--resume` retries only those.
use crate::support::{
    FailingDisk, Fails, ScratchDir, cmp, has, haul, in_one_line, name, scratch, stderr, stderr_lines,
    with_haul_in_path, write_noise,
};
use assert_cmd::assert::Assert;
use serde_json::Value;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SIZE: usize = 1 << 20;
const BAD: [Range<u64>; 2] = [40_960..45_056, 524_288..532_480];
const BAD_BYTES: u64 = 4096 + 8192;

/// A disk whose bad sectors change from run to run.
struct Scene {
    dir: ScratchDir,
    backing: PathBuf,
    dest: PathBuf,
    journal: PathBuf,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let dir = scratch();
        let [backing, dest, journal] = ["backing", "dest", ".dest.haul-journal"].map(|name| dir.path().join(name));
        write_noise(&backing, SIZE, seed);
        Scene { dir, backing, dest, journal }
    }

    fn disk(&self, bad: &[Range<u64>]) -> Option<FailingDisk> {
        FailingDisk::with(self.dir.path(), &self.backing, Fails::Reads, bad)
    }

    fn copy(&self, options: &[&str], disk: &FailingDisk) -> Assert {
        haul().args([&["copy", "--block-size", "64K"], options].concat()).args([&disk.path(), &self.dest]).assert()
    }

    /// Asserts that the dest equals the source with zeros in these ranges.
    #[track_caller]
    fn has_zeros_in(&self, bad: &[Range<u64>]) {
        let mut bytes = fs::read(&self.backing).expect("it exists");
        bad.iter().for_each(|bad| bytes[bad.start as usize..bad.end as usize].fill(0));
        assert!(fs::read(&self.dest).expect("it was created") == bytes, "other bytes were copied");
    }

    fn export(&self, name: &str) -> (PathBuf, Vec<String>) {
        let map = self.dir.path().join(name);
        haul().args(["journal", "export"]).args([&self.journal, &map]).assert().success();
        let reported = fs::read_to_string(&map).expect("it was written");
        let bad = reported.lines().filter(|line| line.trim_end().ends_with(" -")).map(str::to_owned).collect();
        (map, bad)
    }
}

fn report(assert: &Assert) -> Value {
    let printed = &assert.get_output().stdout;
    serde_json::from_slice(printed).unwrap_or_else(|error| panic!("{error}: no report\n{}", stderr(assert)))
}

#[test]
fn resume_retries_unreadable_sectors_until_the_copy_is_complete() {
    let scene = Scene::new(401);
    let Some(disk) = scene.disk(&BAD) else { return };
    let first = scene.copy(&["--on-error", "skip"], &disk).code(1);
    let messages = stderr(&first);
    assert!(messages.contains("12288 bytes unreadable, to be retried"), "{messages}");
    assert!(messages.contains("To retry only the unreadable sectors: haul copy --resume "), "{messages}");
    assert!(scene.journal.exists());
    scene.has_zeros_in(&BAD);
    drop(disk);

    // The printed command works. One sector is readable again.
    let Some(disk) = scene.disk(&BAD[1..]) else { return };
    let reported = stderr_lines(&first);
    let command = reported.lines().find(|line| line.contains("haul copy --resume")).expect("it was printed").trim();
    let json = command.replace("copy --resume", "copy --json --resume");
    let output = Command::new("sh").args(["-c", &json]).env("PATH", with_haul_in_path()).output().expect("sh runs");
    let messages = in_one_line(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{json}: {messages}");
    let second: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let journal = &second["journal"];
    assert_eq!(journal["already_bytes"], SIZE as u64 - BAD_BYTES, "{second:#}");
    assert_eq!((&journal["unread_bytes"], &journal["path"]), (&8192.into(), &name(&scene.journal).into()));
    assert!(second["bytes"]["written_bytes"].as_u64().expect("a number") <= BAD_BYTES, "{second:#}");
    assert!(second["continue_command"].as_str().is_some_and(|it| it.starts_with("haul copy --resume")), "{second:#}");
    scene.has_zeros_in(&BAD[1..]);
    drop(disk);

    let Some(disk) = scene.disk(&[]) else { return };
    let last = report(&scene.copy(&["--json", "--resume"], &disk).success());
    assert_eq!((&last["journal"]["path"], &last["continue_command"]), (&Value::Null, &Value::Null), "{last:#}");
    assert!(!scene.journal.exists(), "the journal is of no more use");
    cmp(&scene.backing, &scene.dest);
}

#[test]
fn a_copy_of_a_deteriorating_disk_is_resumed_and_keeps_earlier_data() {
    let scene = Scene::new(402);
    let Some(disk) = scene.disk(&BAD) else { return };
    scene.copy(&["--on-error", "skip"], &disk).code(1);
    scene.has_zeros_in(&BAD);
    drop(disk);
    // The first bytes, which are a sample of the source, and neighbours of the bad sectors.
    let worse = [0..4096, 36_864..49_152, 524_288..528_384];
    let Some(disk) = scene.disk(&worse) else { return };
    let messages = stderr(&scene.copy(&["--resume", "--on-error", "skip"], &disk).code(1));
    assert!(messages.contains("8192 bytes unreadable, to be retried"), "{messages}");
    scene.has_zeros_in(&[BAD[0].clone(), 524_288..528_384]);
    // A comparison with the source reports the difference.
    let messages = stderr(&scene.copy(&["--resume"], &disk).code(3));
    assert!(messages.contains("bytes of the source at byte 0") && messages.contains("--on-error skip"), "{messages}");
    drop(disk);
    // A different source does not count as one that got worse.
    write_noise(&scene.backing, SIZE, 499);
    let Some(disk) = scene.disk(&worse) else { return };
    let messages = stderr(&scene.copy(&["--resume", "--on-error", "skip"], &disk).code(3));
    assert!(messages.contains("does not match") && messages.contains("changed"), "{messages}");
}

#[test]
fn unreadable_sectors_are_exported_to_ddrescue_and_imported_again() {
    if !has("ddrescue") {
        return;
    }
    let scene = Scene::new(403);
    let Some(disk) = scene.disk(&BAD) else { return };
    scene.copy(&["--on-error", "skip"], &disk).code(1);
    let (map, bad) = scene.export("map");
    assert_eq!(bad, ["0x0000A000  0x00001000  -", "0x00080000  0x00002000  -"]);
    drop(disk);
    // haul does not read again what ddrescue has read, and retries what it could not.
    let Some(disk) = scene.disk(&BAD[..1]) else { return };
    let sides = [name(&disk.path()).to_owned(), name(&scene.dest).to_owned(), name(&map).to_owned()];
    let ended = Command::new("ddrescue").args(["-q", "-r1"]).args(&sides).stdin(Stdio::null()).status().unwrap();
    assert_eq!(ended.code(), Some(0));
    fs::remove_file(&scene.journal).unwrap();
    let import = [&map, &disk.path(), &scene.dest];
    let messages = stderr(&haul().args(["journal", "import"]).args(import).assert().success());
    assert!(messages.contains("1044480 of 1048576 bytes durable, 4096 unreadable"), "{messages}");
    assert_eq!(scene.export("again").1, ["0x0000A000  0x00001000  -"]);
    drop(disk);
    let Some(disk) = scene.disk(&[]) else { return };
    let report = report(&scene.copy(&["--resume", "--json"], &disk).success());
    assert_eq!(report["bytes"]["written_bytes"], 4096, "{report:#}");
    cmp(&scene.backing, &scene.dest);
}

#[test]
fn a_copy_that_stops_at_an_unreadable_sector_records_it_in_its_journal() {
    let scene = Scene::new(404);
    let Some(disk) = scene.disk(&BAD[1..]) else { return };
    for options in [&["--on-error", "retry:1"][..], &["--restart"]] {
        let stopped = scene.copy(options, &disk).code(1);
        let messages = stderr(&stopped);
        assert!(
            messages.contains("to be retried") && messages.contains("after fixing the cause: haul copy --resume"),
            "{messages}"
        );
        let bad = scene.export(&format!("map{}", options.len())).1;
        assert!(bad.len() == 1 && bad[0].starts_with("0x00080000 "), "{options:?}: {bad:?}");
    }
    let options = ["--resume", "--on-error", "retry:1,skip"];
    scene.copy(&options, &disk).code(1);
    scene.has_zeros_in(&BAD[1..]);
}

#[test]
fn a_copy_resumed_past_an_unreadable_sector_is_verified() {
    let scene = Scene::new(406);
    let manifest = scene.dir.path().join("manifest");
    let Some(disk) = scene.disk(&BAD) else { return };
    scene.copy(&["--on-error", "skip"], &disk).code(1);
    // One sector is still bad: the digest of its block requires the bytes around it, which are read once more.
    drop(disk);
    let Some(disk) = scene.disk(&BAD[1..]) else { return };
    let options = ["--json", "--resume", "--on-error", "skip", "--verify", "--manifest-block", "64K", "--manifest"];
    let report = report(&scene.copy(&[&options[..], &[name(&manifest)]].concat(), &disk).code(1));
    assert_eq!(report["error"], Value::Null, "{report:#}");
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &SIZE.into()), "{report:#}");
    scene.has_zeros_in(&BAD[1..]);
    haul().args(["verify", "--manifest", name(&manifest), name(&scene.dest)]).assert().success();
}

#[test]
fn bytes_that_only_an_earlier_run_could_read_are_not_verified() {
    let scene = Scene::new(407);
    let Some(disk) = scene.disk(&BAD[1..]) else { return };
    scene.copy(&["--on-error", "skip"], &disk).code(1);
    drop(disk);
    let Some(disk) = scene.disk(&BAD) else { return };
    let messages = stderr(&scene.copy(&["--resume", "--on-error", "skip", "--verify"], &disk).code(1));
    assert!(messages.contains("again (4096 bytes that an earlier run read)"), "{messages}");
    assert!(messages.contains("byte 40960"), "{messages}");
    // The dest keeps its data.
    scene.has_zeros_in(&BAD[1..]);
}

#[test]
fn a_manifest_lists_unreadable_sectors() {
    let scene = Scene::new(405);
    let (manifest, whole) = (scene.dir.path().join("manifest"), scene.dir.path().join("whole"));
    let Some(disk) = scene.disk(&BAD) else { return };
    let skip = ["--on-error", "skip", "--manifest-block", "64K", "--manifest", name(&manifest)];
    let first = scene.copy(&skip, &disk).code(1);
    // The command that retries has no manifest, because that requires a complete copy.
    assert!(stderr(&first).contains("haul copy --resume --block-size"), "{}", stderr(&first));
    let shown = haul().args(["manifest", "show", "--json"]).arg(&manifest).assert().success();
    let shown = report(&shown);
    let run = |bad: &Range<u64>| serde_json::json!({"offset_bytes": bad.start, "len_bytes": bad.end - bad.start});
    assert_eq!(shown["unread"], Value::from(BAD.iter().map(run).collect::<Vec<_>>()), "{shown:#}");
    // The dest matches the manifest, including the zeros.
    haul().args(["verify", "--manifest", name(&manifest), name(&scene.dest)]).assert().success();
    drop(disk);
    let Some(disk) = scene.disk(&[]) else { return };
    scene.copy(&["--resume"], &disk).success();
    let _ = fs::remove_file(&whole);
    haul()
        .args(["copy", "--manifest-block", "64K", "--manifest", name(&whole)])
        .arg(disk.path())
        .arg(scene.dir.path().join("dest2"))
        .assert()
        .success();
    let differ = haul().args(["manifest", "diff", name(&manifest), name(&whole)]).assert().code(1);
    let messages = in_one_line(&differ.get_output().stdout);
    assert!(messages.contains("524288"), "{messages}");
}
