//! `haul journal`: copies that GNU ddrescue began and haul completes, and vice versa.
use crate::support::{ScratchDir, cmp, has, haul, in_one_line, name, scratch, stderr, write_noise};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 6 * MIB + 1536;

struct Scene {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
    map: PathBuf,
    journal: PathBuf,
}

fn ddrescue(arguments: &[&str]) {
    let output = Command::new("ddrescue").arg("-q").args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", in_one_line(&output.stderr));
}

impl Scene {
    fn new() -> Self {
        let dir = scratch();
        let path = |name| dir.path().join(name);
        let (source, dest, map, journal) = (path("source"), path("dest"), path("map"), path(".dest.haul-journal"));
        write_noise(&source, LEN, 61);
        Scene { source, dest, map, journal, dir }
    }

    /// The first two MiB and a later piece, copied by ddrescue.
    fn begun_by_ddrescue(&self) {
        let sides = [name(&self.source), name(&self.dest), name(&self.map)];
        ddrescue(&[&["--size=2Mi"], &sides[..]].concat());
        ddrescue(&[&["--input-position=4Mi", "--size=1Mi"], &sides[..]].concat());
    }

    fn import(&self, options: &[&str]) -> assert_cmd::assert::Assert {
        let sides = [name(&self.map), name(&self.source), name(&self.dest)];
        haul().args([&["journal", "import"], &sides[..], options].concat()).assert()
    }

    fn refuses(&self, options: &[&str], status: i32, words: &str) {
        let before = fs::read(&self.dest).ok();
        let messages = stderr(&self.import(options).code(status));
        assert!(messages.contains(words) && messages.contains('→'), "no '{words}' in:\n{messages}");
        assert!(before == fs::read(&self.dest).ok() && !self.journal.exists(), "something was written:\n{messages}");
    }
}

#[test]
fn a_copy_that_ddrescue_began_is_resumed() {
    if !has("ddrescue") {
        return;
    }
    let scene = Scene::new();
    scene.begun_by_ddrescue();
    let messages = stderr(&scene.import(&[]).success());
    assert!(
        messages.contains("3145728 of 6292992 bytes durable") && messages.contains("haul copy --resume"),
        "{messages}"
    );
    let mut resume = haul();
    resume.args(["copy", "--resume", "--json"]).arg(&scene.source).arg(&scene.dest);
    let printed = resume.assert().success();
    let report: serde_json::Value = serde_json::from_slice(&printed.get_output().stdout).unwrap();
    assert_eq!(report["journal"]["already_bytes"], 3 * MIB as u64, "{report}");
    cmp(&scene.source, &scene.dest);
    assert!(!scene.journal.exists());
}

#[test]
fn a_copy_that_haul_began_is_completed_by_ddrescue() {
    if !has("ddrescue") {
        return;
    }
    let scene = Scene::new();
    scene.begun_by_ddrescue();
    scene.import(&[]).success();
    let there_and_back = scene.dir.path().join("map2");
    let export = || haul().args(["journal", "export"]).arg(&scene.journal).arg(&there_and_back).assert();
    let messages = stderr(&export().success());
    assert!(messages.contains("3145728 bytes finished, 0 bad") && messages.contains("ddrescue"), "{messages}");
    assert!(stderr(&export().code(3)).contains("it already exists"));
    assert!(scene.journal.exists(), "an export changes nothing");
    // Finished bytes are made wrong, because correct ones would not show whether haul copies them.
    let file = File::options().write(true).open(&scene.dest).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"left alone", 100).unwrap();
    ddrescue(&[name(&scene.source), name(&scene.dest), name(&there_and_back)]);
    let (source, mut dest) = (fs::read(&scene.source).unwrap(), fs::read(&scene.dest).unwrap());
    assert_eq!(&dest[100..110], b"left alone", "ddrescue copied what was finished");
    dest[100..110].copy_from_slice(&source[100..110]);
    assert!(source == dest, "ddrescue did not copy the rest");
}

#[test]
fn a_mapfile_that_does_not_fit_creates_no_journal() {
    let scene = Scene::new();
    let put = |text: &str| fs::write(&scene.map, text).unwrap();
    put("0 ? 1\n0 0x200000 +\n0x200000 0x400600 ?\n");
    scene.refuses(&[], 3, "does not exist");
    fs::write(&scene.dest, vec![0; 3 * MIB]).unwrap();
    scene.refuses(&[], 3, "the destination at byte 0 no longer match the source");
    fs::write(&scene.dest, vec![0; MIB]).unwrap();
    scene.refuses(&[], 3, "the destination has 1048576 bytes");
    fs::copy(&scene.source, &scene.dest).unwrap();
    scene.refuses(&["--skip", "3M", "--seek", "3M"], 3, "lists no finished part of this copy");
    put("0 ? 1\n0 5\n");
    scene.refuses(&[], 1, "line 2");
    put("hello\n");
    scene.refuses(&[], 2, "it is not a mapfile");
    put("0 ? 1\n0 0x200000 +\n0x200000 0x200 -\n0x200200 0x400400 ?\n");
    assert!(stderr(&scene.import(&[]).success()).contains("512 unreadable"));
    let messages = stderr(&scene.import(&[]).code(3));
    assert!(messages.contains("it already exists"), "{messages}");
}
