//! `haul rescue`, and GNU ddrescue with the same map: either continues what the other began.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Running, ScratchDir, has, haul, haul_limited, haul_path, in_one_line, scratch,
    state_home, stderr, write_noise,
};
use rustix::process::Signal;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

pub(crate) const LEN: usize = 3 << 20;
/// Multiples of 4096: the smallest unit that the file systems beneath have.
pub(crate) const BAD: [Range<u64>; 4] =
    [69_632..73_728, 1_048_576..1_064_960, 1_572_864..1_576_960, (LEN as u64 - 4096)..LEN as u64];

pub(crate) struct Scene {
    // Dropped first: it is mounted below the directory.
    disk: FailingDisk,
    data: Vec<u8>,
    dir: ScratchDir,
}

impl Scene {
    /// A disk with bad sectors; `None`, with a message, if the tools are missing.
    pub(crate) fn new() -> Option<Self> {
        let dir = scratch();
        let backing = dir.path().join("backing");
        write_noise(&backing, LEN, 19);
        let data = fs::read(&backing).unwrap();
        let disk = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD)?;
        Some(Scene { dir, data, disk })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("paths of test directories are UTF-8").to_owned()
    }

    pub(crate) fn source(&self) -> String {
        self.disk.path().to_str().expect("paths of test directories are UTF-8").to_owned()
    }

    /// The operands of either program.
    pub(crate) fn operands(&self) -> [String; 3] {
        [self.source(), self.name("dest"), self.name("map")]
    }

    pub(crate) fn haul(&self, options: &[&str]) -> assert_cmd::assert::Assert {
        haul().arg("rescue").args(options).args(self.operands()).assert()
    }

    fn ddrescue(&self, options: &[&str]) {
        let mut command = Command::new("ddrescue");
        command.arg("-q").args(options).args(self.operands()).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{options:?}: {}", in_one_line(&output.stderr));
    }

    /// Everything that the map lists as rescued is in the destination.
    pub(crate) fn has_what_the_map_lists(&self, when: &str) {
        let map = self.path("map");
        if fs::metadata(&map).is_ok_and(|map| map.len() > 0) {
            let dest = fs::read(self.path("dest")).unwrap_or_default();
            for area in areas(&map, '+') {
                let area = area.start as usize..area.end as usize;
                assert!(dest[area.clone()] == self.data[area.clone()], "{when}: {area:?} was not rescued");
            }
        }
    }

    /// All but the bad sectors is there, those are zeros, and the map says so.
    pub(crate) fn is_rescued(&self) {
        let dest = fs::read(self.path("dest")).unwrap();
        let mut expected = self.data.clone();
        BAD.iter().for_each(|bad| expected[bad.start as usize..bad.end as usize].fill(0));
        let differs = dest.iter().zip(&expected).position(|(one, other)| one != other);
        assert_eq!((dest.len(), differs), (LEN, None), "the destination is wrong");
        assert_eq!(areas(&self.path("map"), '-'), BAD, "{}", fs::read_to_string(self.path("map")).unwrap());
        for status in ['?', '*', '/'] {
            assert_eq!(areas(&self.path("map"), status), []);
        }
    }
}

/// The areas of this status in a map, read without code of haul; touching ones are one.
pub(crate) fn areas(map: &Path, status: char) -> Vec<Range<u64>> {
    let text = fs::read_to_string(map).unwrap();
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut found: Vec<Range<u64>> = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (start, len) = (number(fields[0]), number(fields[1]));
        match found.last_mut() {
            _ if !fields[2].starts_with(status) => {}
            Some(last) if last.end == start => last.end = start + len,
            _ => found.push(start..start + len),
        }
    }
    found
}

#[test]
fn everything_readable_is_rescued_and_ddrescue_agrees_with_the_map() {
    let Some(scene) = Scene::new() else { return };
    let ended = scene.haul(&["--json"]).code(1);
    let messages = stderr(&ended);
    let report: serde_json::Value = serde_json::from_slice(&ended.get_output().stdout).unwrap();
    let bad = report["blocks"].as_array().unwrap().iter().filter(|block| block["status"] == "bad");
    let bad: Vec<Range<u64>> = bad
        .map(|block| (block["offset_bytes"].as_u64().unwrap(), block["len_bytes"].as_u64().unwrap()))
        .map(|(offset, len)| offset..offset + len)
        .collect();
    assert_eq!(bad, BAD);
    let missing: u64 = BAD.iter().map(|bad| bad.end - bad.start).sum();
    assert_eq!((report["missing_bytes"].as_u64(), report["is_saved"].as_bool()), (Some(missing), Some(true)));
    assert!(report["failed_reads"].as_u64() >= Some(BAD.len() as u64), "{report}");
    assert_eq!(report["next_command"].as_array().and_then(|words| words.last()), Some(&serde_json::json!("3")));
    assert!(messages.contains("bad sectors") && messages.contains("4 areas"), "{messages}");
    assert!(messages.contains("--retries 3"), "it does not say what to do next: {messages}");
    scene.is_rescued();
    if has("ddrescuelog") {
        let shown = Command::new("ddrescuelog").arg("-t").arg(scene.path("map")).output().unwrap();
        assert!(shown.status.success(), "{}", in_one_line(&shown.stderr));
        // GNU ddrescue finds nothing left to do but retries.
        scene.ddrescue(&["-r1"]);
        scene.is_rescued();
        let warned = stderr(&scene.haul(&["--retries", "1"]).code(1));
        assert!(warned.contains("does not name its source"), "{warned}");
        scene.is_rescued();
    }
}

#[test]
fn haul_continues_a_rescue_of_ddrescue_from_every_phase() {
    if !has("ddrescue") {
        return;
    }
    let Some(scene) = Scene::new() else { return };
    for options in [&["-N"][..], &["-n"], &["-s1Mi"], &["-R", "-N"], &["-r2"], &["-K0", "-N"]] {
        fs::remove_file(scene.path("map")).ok();
        fs::remove_file(scene.path("dest")).ok();
        scene.ddrescue(options);
        scene.haul(&[]).code(1);
        scene.is_rescued();
    }
}

#[test]
fn ddrescue_continues_a_rescue_of_haul_from_every_phase() {
    if !has("ddrescue") {
        return;
    }
    let Some(scene) = Scene::new() else { return };
    for options in [&["--no-trim"][..], &["--no-scrape"], &["--no-trim", "--reverse"], &["--no-trim", "-K", "0"]] {
        fs::remove_file(scene.path("map")).ok();
        fs::remove_file(scene.path("dest")).ok();
        scene.haul(options).code(1);
        scene.ddrescue(&[]);
        scene.is_rescued();
    }
}

#[test]
fn an_interrupted_rescue_says_how_to_continue_and_does() {
    let Some(scene) = Scene::new() else { return };
    let [source, dest, map] = scene.operands();
    let arguments = ["rescue", "--max-read-rate", "1M", &source, &dest, &map];
    let mut running = Running::start(&arguments, Stdio::null(), Stdio::null());
    running.wait_for_handler(libc::SIGINT);
    running.read_until(|line| line.contains("rescuing"));
    thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    running.end_by(libc::SIGINT);
    let messages = in_one_line(&running.messages);
    assert!(messages.contains("continue") && messages.contains("haul rescue"), "{messages}");
    let rescued: u64 = areas(&scene.path("map"), '+').iter().map(|area| area.end - area.start).sum();
    assert!(rescued < LEN as u64, "it was not interrupted");
    let again = stderr(&scene.haul(&[]).code(1));
    assert!(again.contains("map:"), "{again}");
    scene.is_rescued();
}

#[test]
fn a_map_of_another_source_is_refused() {
    let Some(scene) = Scene::new() else { return };
    scene.haul(&[]).code(1);
    let before = fs::read(scene.path("dest")).unwrap();
    let other = scene.path("other");
    write_noise(&other, LEN, 20);
    let refused = haul().arg("rescue").arg(&other).arg(scene.path("dest")).arg(scene.path("map")).assert().code(3);
    let messages = stderr(&refused);
    assert!(messages.contains("another source") && messages.contains('→'), "{messages}");
    assert_eq!(fs::read(scene.path("dest")).unwrap(), before);
    // A smaller source is refused even if the map does not name one.
    let text = fs::read_to_string(scene.path("map")).unwrap();
    let without: String =
        text.lines().filter(|line| !line.contains("Source:")).map(|line| format!("{line}\n")).collect();
    fs::write(scene.path("map"), without).unwrap();
    fs::write(&other, vec![1; 70_000]).unwrap();
    let refused = haul().arg("rescue").arg(&other).arg(scene.path("dest")).arg(scene.path("map")).assert().code(3);
    assert!(stderr(&refused).contains("larger source"));
    assert_eq!(fs::read(scene.path("dest")).unwrap(), before);
}

#[test]
fn data_of_unknown_origin_and_missing_data_are_refused() {
    let dir = scratch();
    let (source, dest, map) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("dest.map"));
    write_noise(&source, 300_000, 5);
    fs::write(&dest, b"of somebody else").unwrap();
    let run = |options: &[&str]| haul().arg("rescue").args(options).args([&source, &dest]).assert();
    let refused = stderr(&run(&[]).code(3));
    assert!(refused.contains("there is no map"), "{refused}");
    assert!(fs::read(&dest).unwrap() == b"of somebody else" && !map.exists());
    // The default map is beside the destination.
    run(&["--yes"]).code(0);
    assert!(fs::read(&dest).unwrap() == fs::read(&source).unwrap() && map.exists());
    fs::remove_file(&dest).unwrap();
    let refused = stderr(&run(&["--yes"]).code(3));
    assert!(refused.contains("does not exist"), "{refused}");
    assert!(!dest.exists());
    let side = haul().arg("rescue").args([&source, &dest, &source]).assert().code(3);
    assert!(stderr(&side).contains("a side of the rescue"));
}

#[test]
fn a_longer_destination_keeps_its_end() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 300_001, 5);
    fs::write(&dest, vec![7; 400_000]).unwrap();
    haul().args(["rescue", "--yes"]).args([&source, &dest]).assert().code(0);
    let bytes = fs::read(&dest).unwrap();
    assert!(bytes[..300_001] == fs::read(&source).unwrap() && bytes[300_001..] == vec![7; 99_999]);
}

#[test]
fn only_the_domain_is_rescued() {
    let dir = scratch();
    let (source, dest, domain) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("domain"));
    write_noise(&source, 1 << 20, 5);
    fs::write(&domain, "0 + 1\n0 0x10000 ?\n0x10000 0x20000 +\n0x30000 0xD0000 ?\n").unwrap();
    let run = |options: &[&str]| haul().arg("rescue").args(options).args([&source, &dest]).assert();
    run(&["--domain", domain.to_str().unwrap()]).code(0);
    let (data, bytes) = (fs::read(&source).unwrap(), fs::read(&dest).unwrap());
    assert_eq!(bytes.len(), data.len());
    assert!(bytes[0x10000..0x30000] == data[0x10000..0x30000]);
    assert!(bytes[..0x10000].iter().chain(&bytes[0x30000..]).all(|byte| *byte == 0));
    run(&[]).code(0);
    assert!(fs::read(&dest).unwrap() == data);
}

#[test]
fn a_full_destination_loses_nothing_and_the_rescue_continues() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 1 << 20, 5);
    // The file system ends the destination at 512 KiB; it is extended to its length before that.
    fs::File::create(&dest).unwrap();
    let failed = haul_limited("--fsize=524288").arg("rescue").args([&source, &dest]).assert().code(1);
    let messages = stderr(&failed);
    assert!(messages.contains("dest") && messages.contains("continue"), "{messages}");
    let map = dir.path().join("dest.map");
    let (data, bytes) = (fs::read(&source).unwrap(), fs::read(&dest).unwrap());
    for area in areas(&map, '+') {
        let area = area.start as usize..area.end as usize;
        assert!(bytes[area.clone()] == data[area], "the map lists what was not written");
    }
    haul().arg("rescue").args([&source, &dest]).assert().code(0);
    assert!(fs::read(&dest).unwrap() == data);
}

#[test]
fn a_copy_that_skips_many_areas_names_the_rescue_that_continues() {
    let dir = scratch();
    let backing = dir.path().join("backing");
    write_noise(&backing, LEN, 19);
    let bad: Vec<Range<u64>> = (1..=5).map(|number| number * 409_600..number * 409_600 + 4096).collect();
    for (number, advised) in [(4, false), (5, true)] {
        let below = dir.path().join(number.to_string());
        fs::create_dir(&below).unwrap();
        let Some(disk) = FailingDisk::with(&below, &backing, Fails::Reads, &bad[..number]) else { return };
        let (dest, map) = (below.join("dest"), below.join("map"));
        let mut copy = haul();
        copy.args(["copy", "--on-error", "skip", "--mapfile"]).arg(&map).arg(disk.path()).arg(&dest);
        let messages = stderr(&copy.assert().code(1));
        assert_eq!(messages.contains("haul rescue"), advised, "{messages}");
        if advised {
            haul().arg("rescue").arg(disk.path()).args([&dest, &map]).assert().code(1);
            assert_eq!(areas(&map, '-'), bad);
        }
    }
}

#[test]
fn a_map_that_cannot_be_created_is_refused_before_the_first_write() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 100_000, 5);
    let map = dir.path().join("missing").join("map");
    let failed = haul().arg("rescue").args([&source, &dest, &map]).assert().failure();
    assert!(stderr(&failed).contains("map"), "{}", stderr(&failed));
    assert!(!dest.exists());
}

#[test]
fn a_device_is_rescued_into_a_device_with_a_map_elsewhere() {
    let dir = scratch();
    let (source, backing, map) = (dir.path().join("source"), dir.path().join("backing"), dir.path().join("map"));
    write_noise(&source, 1 << 20, 5);
    fs::write(&backing, vec![7; 2 << 20]).unwrap();
    let [Some(from), Some(to)] = [&source, &backing].map(|file| LoopDevice::over(file)) else { return };
    let unnamed = haul().args(["rescue", "--yes"]).args([from.path(), to.path()]).assert().code(2);
    assert!(stderr(&unnamed).contains("no map"), "{}", stderr(&unnamed));
    let unasked = haul().arg("rescue").args([from.path(), to.path(), map.as_path()]).assert().code(3);
    assert!(stderr(&unasked).contains("--yes"), "{}", stderr(&unasked));
    assert!(!map.exists());
    haul().args(["rescue", "--yes"]).args([from.path(), to.path(), map.as_path()]).assert().code(0);
    let bytes = fs::read(to.path()).unwrap();
    assert!(bytes[..1 << 20] == fs::read(&source).unwrap() && bytes[1 << 20..] == vec![7; 1 << 20]);
    assert_eq!(areas(&map, '+').first(), Some(&(0..1 << 20)));
}

#[test]
fn a_compressed_source_is_not_decompressed() {
    let dir = scratch();
    let (source, backing, map) = (dir.path().join("source.gz"), dir.path().join("backing"), dir.path().join("map"));
    fs::write(&source, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03damaged").unwrap();
    fs::write(&backing, vec![7; 1 << 20]).unwrap();
    let Some(to) = LoopDevice::over(&backing) else { return };
    haul().args(["rescue", "--yes"]).args([source.as_path(), to.path(), map.as_path()]).assert().code(0);
    let bytes = fs::read(to.path()).unwrap();
    assert!(bytes.starts_with(&fs::read(&source).unwrap()));
}

#[test]
fn one_bad_sector_fails_only_one_of_the_reads_in_flight() {
    let dir = scratch();
    let backing = dir.path().join("backing");
    write_noise(&backing, LEN, 19);
    let bad = 1_572_864..1_576_960;
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, std::slice::from_ref(&bad)) else { return };
    let Some(device) = LoopDevice::over(&disk.path()) else { return };
    let (dest, map) = (dir.path().join("dest"), dir.path().join("map"));
    haul().args(["rescue", "--no-trim"]).args([device.path(), &dest, &map]).assert().code(1);
    // The block layer merges neighbouring requests of one batch, and then fails all of them.
    assert_eq!(areas(&map, '*'), std::slice::from_ref(&(bad.start / 65536 * 65536..bad.end.next_multiple_of(65536))));
}

#[test]
fn random_errors_are_overcome_by_retries() {
    if !has("nbdkit") {
        return;
    }
    let dir = scratch();
    let (source, dest, map) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("map"));
    write_noise(&source, 1_000_000, 5);
    let rescue = format!(
        "'{}' rescue --progress none -q -r endless \"$uri\" '{}' '{}'",
        haul_path().display(),
        dest.display(),
        map.display()
    );
    let mut server = Command::new("nbdkit");
    server.args(["-U", "-", "--filter=error", "file"]).arg(&source).args(["error-pread-rate=10%", "--run", &rescue]);
    let output = server.env("XDG_STATE_HOME", state_home()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", in_one_line(&output.stderr));
    assert!(fs::read(&dest).unwrap() == fs::read(&source).unwrap());
    assert_eq!(areas(&map, '+').first(), Some(&(0..1_000_000)));
}
