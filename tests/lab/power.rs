//! The power goes in the middle of a copy: what the journal claims is on the disk, and another machine ends it. And in
//! the middle of measuring by writing: another machine puts everything back.
//!
//! qemu is killed, and what it wrote stays. It also wrote down what the guest wrote and flushed, in order
//! (blklogwrites): of that, disks are made that lost any of what was not flushed yet. The journal lies on a disk of its
//! own, in a file system, so that no flush of the journal makes the dest durable. What it claimed at any moment has to
//! be on every dest that there may be at the end.
use crate::guests::slot_for_a_short_one;
use crate::support::{Findings, Folder, lab_is_there, launcher, memory_dir, noise, release_binary};
use haul::core::ExtentSet;
use haul::ledger::journal::read;
use haul::ledger::undo::{Content, PIECE_BYTES, Undo};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const SECTOR: usize = 512;

/// Bytes of the copy: not whole blocks of the copy.
const LEN: usize = 12 * MIB + 512;

/// Bytes of the disk with the journal, and of the dest.
const PAPERS: usize = 8 * MIB;
const DEST: usize = 16 * MIB;

/// Disks that are made of what was written down.
const CUTS: usize = 24;

/// What a disk was asked to do, in the order in which it was done.
#[derive(Debug, PartialEq)]
enum Done {
    Written { at: usize, bytes: Vec<u8>, at_once: bool },
    Flushed,
}

/// What qemu wrote down: the format of dm-log-writes. Behind the last entry there is nothing.
fn log(path: &Path) -> Vec<Done> {
    /// "jsfwshr", the first number of a log.
    const MAGIC: u64 = 0x006a_7366_7773_6872;
    const FLUSH: usize = 1;
    const FUA: usize = 2;
    const DISCARD: usize = 4;
    let bytes = fs::read(path).expect("qemu wrote a log");
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    // The first flush writes it: a disk that was never flushed has none.
    assert!([0, MAGIC].contains(&number(0)), "it is no log");
    let (mut at, mut done) = (SECTOR, Vec::new());
    while at + SECTOR <= bytes.len() {
        let [sector, sectors, flags] = [0, 8, 16].map(|field| number(at + field) as usize);
        let has = |flag: usize| flags & flag != 0;
        assert!(!has(DISCARD), "nothing is given up here");
        // The field for the length of the data is not used by qemu.
        let data = at + SECTOR..at + SECTOR + sectors * SECTOR;
        if (sectors, flags) == (0, 0) || data.end > bytes.len() {
            break;
        }
        at = data.end;
        if has(FLUSH) {
            done.push(Done::Flushed);
        }
        if sectors > 0 {
            let bytes = bytes[data].to_vec();
            let at_once = has(FUA) || is_commit(&bytes);
            done.push(Done::Written { at: sector * SECTOR, bytes, at_once });
        }
    }
    done
}

/// The disk after `done`, when the power went: of what came after the last flush, each write is there or not.
fn after_a_cut(before: &[u8], done: &[Done], random: &mut fastrand::Rng) -> Vec<u8> {
    let flushed = done.iter().rposition(|done| *done == Done::Flushed).unwrap_or(0);
    let mut disk = before.to_vec();
    for (index, done) in done.iter().enumerate() {
        if let Done::Written { at, bytes, at_once } = done
            && (index < flushed || *at_once || random.bool())
        {
            disk[*at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
    disk
}

/// Whether it is a commit block of an ext4 journal: jbd2 writes it with FUA, and the NVMe controller of QEMU 7.2 does
/// not pass that flag on to the log.
fn is_commit(bytes: &[u8]) -> bool {
    const MAGIC_AND_TYPE: [u8; 8] = [0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2];
    bytes.starts_with(&MAGIC_AND_TYPE)
}

/// The file system on the disk for papers, brought to order as by a mount.
struct Repaired(PathBuf);

impl Repaired {
    fn of(papers_bytes: &[u8], dir: &Path) -> Self {
        let papers = dir.join("repaired");
        fs::write(&papers, papers_bytes).expect("there is room");
        let repaired = Command::new("/usr/sbin/e2fsck").args(["-fy"]).arg(&papers).output().expect("e2fsck is there");
        assert!(repaired.status.code().is_some_and(|code| code <= 1), "{repaired:?}");
        Repaired(papers)
    }

    fn debugfs(&self, command: &str) -> String {
        let mut debugfs = Command::new("/usr/sbin/debugfs");
        let done = debugfs.args(["-R", command]).arg(&self.0).output().expect("debugfs is there");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// A file of it, beside it under the same name; it may not be there.
    fn file(&self, path: &str) -> PathBuf {
        let copy = self.0.with_file_name(Path::new(path).file_name().expect("it names a file"));
        let _ = fs::remove_file(&copy);
        self.debugfs(&format!("dump \"{path}\" {}", copy.display()));
        copy
    }

    /// The name of the only file in /haul that ends so.
    fn name_of(&self, ending: &str) -> Option<String> {
        let listed = self.debugfs("ls -p /haul");
        // /inode/mode/user/group/name/size/
        let names = listed.lines().filter_map(|line| line.split('/').nth(5));
        names.filter(|name| name.ends_with(ending)).map(str::to_owned).next()
    }
}

/// What the journal on the disk for it claims; `None`: there is none.
fn claimed(papers_bytes: &[u8], dir: &Path) -> Option<ExtentSet> {
    let file = File::open(Repaired::of(papers_bytes, dir).file("/journal")).ok()?;
    Some(read(BufReader::new(file)).expect("no loss of power damages a journal").state.durable)
}

/// Bytes that are claimed, each of which is that of the source.
#[track_caller]
fn true_claims(source: &[u8], papers: &[u8], dest: &[u8], dir: &Path) -> usize {
    let Some(durable) = claimed(papers, dir) else { return 0 };
    for extent in durable.iter() {
        let (from, to) = (extent.offset as usize, extent.end() as usize);
        assert!(dest[from..to] == source[from..to], "{extent:?} is claimed and not there");
    }
    durable.total_bytes() as usize
}

struct Scene {
    dir: Folder,
    source: Vec<u8>,
    /// The disk with the journal, and the dest, before the copy.
    before: [Vec<u8>; 2],
}

impl Scene {
    fn new() -> Self {
        let dir = memory_dir();
        let path = |name: &str| dir.path().join(name);
        let (source, dest) = (noise(LEN, 71), noise(DEST, 72));
        fs::write(path("source"), &source).expect("there is room");
        fs::write(path("dest"), &dest).expect("there is room");
        File::create(path("papers")).and_then(|file| file.set_len(PAPERS as u64)).expect("there is room");
        make_file_system(&path("papers"));
        let papers = fs::read(path("papers")).expect("it is there");
        Scene { dir, source, before: [papers, dest] }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it is there")
    }

    /// Words of qemu for the disks, with logs of what is written or without.
    fn words(&self, logged: bool) -> String {
        let disk = |name: &str| words_of(self.dir.path(), name, logged && name != "source");
        ["source", "papers", "dest"].map(disk).join(" ")
    }
}

fn make_file_system(path: &Path) {
    let mut make = Command::new("/usr/sbin/mke2fs");
    make.args(["-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0"]).arg(path);
    assert!(make.status().is_ok_and(|status| status.success()), "mke2fs makes a file system");
}

/// Words of qemu for a disk, which is a file in `dir`, with a log of what is written or without.
fn words_of(dir: &Path, name: &str, logged: bool) -> String {
    let file = |node: &str, name: &str| {
        format!("-blockdev node-name={node},driver=file,filename={}", dir.join(name).display())
    };
    let node = if logged {
        let log = format!("{name}-log");
        File::create(dir.join(&log)).expect("there is room");
        let (image, log) = (file(&format!("{name}-image"), name), file(&log, &log));
        let node = format!("node-name={name},driver=blklogwrites,file={name}-image,log={name}-log");
        format!("{image} {log} -blockdev {node},log-sector-size=512")
    } else {
        file(name, name)
    };
    format!("{node} -device nvme,id={name},serial={name} -device nvme-ns,bus={name},drive={name}")
}

/// Begins what `act` of the script is in a machine with disks in `dir`, and kills that when the script says so.
fn cut_the_power(dir: &Path, act: &str, qemu: String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/power.sh");
    let words = [("VMLAB_TIMEOUT", "600".to_owned()), ("VMLAB_QEMU", qemu)];
    let _slot = slot_for_a_short_one();
    let mut vmlab = launcher();
    vmlab.arg("bash").arg(script).arg(release_binary()).args(["ring", act]).envs(words);
    vmlab.env("VMLAB_PIDFILE", dir.join("pid"));
    let mut running = vmlab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash is there");
    let said = BufReader::new(running.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut heard = Vec::new();
    let mut killed = false;
    for line in said {
        heard.push(line);
        if !killed && heard.last().is_some_and(|line| line == "now") {
            let pid = fs::read_to_string(dir.join("pid")).expect("qemu said who it is");
            let pid = rustix::process::Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process");
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it was still running");
            killed = true;
        }
    }
    let status = running.wait().expect("it was started");
    assert!(killed && status.code() == Some(125), "{status}: {heard:?}");
}

#[test]
fn what_a_journal_claims_is_there_whenever_the_power_goes_and_another_machine_ends_the_copy() {
    if !lab_is_there(&["openssl", "mke2fs", "e2fsck", "debugfs"]) {
        return;
    }
    let scene = Scene::new();
    let dir = scene.dir.path();
    cut_the_power(dir, "begin", scene.words(true));
    let at_the_kill = true_claims(&scene.source, &scene.bytes("papers"), &scene.bytes("dest"), dir);
    assert!((MIB / 4..LEN).contains(&at_the_kill), "{at_the_kill} bytes were claimed when the power went");

    let [papers, dest] = ["papers-log", "dest-log"].map(|name| log(&scene.path(name)));
    let mut random = fastrand::Rng::with_seed(73);
    let mut claims = Vec::new();
    for cut in 1..=CUTS {
        let until = papers.len() * cut / CUTS;
        let papers = after_a_cut(&scene.before[0], &papers[..until], &mut random);
        let dest = after_a_cut(&scene.before[1], &dest, &mut random);
        claims.push(true_claims(&scene.source, &papers, &dest, dir));
    }
    println!("claimed at {CUTS} moments: {claims:?}");
    assert!(claims[0] == 0 && claims[CUTS - 1] >= MIB / 4, "{claims:?}");
    claims.sort_unstable();
    claims.dedup();
    assert!(claims.len() > 3, "few moments differ: {claims:?}");

    let words = scene.words(false);
    let words = [("VMLAB_QEMU", words.as_str()), ("VMLAB_TIMEOUT", "600")];
    Findings::of("power.sh", &["ring", "resume"], &words).expect(&["a copy is resumed in another machine"]);
    let dest = scene.bytes("dest");
    assert!(dest[..LEN] == scene.source[..], "the dest is not the source");
    assert!(dest[LEN..] == scene.before[1][LEN..], "what lies behind the copy was changed");
}

/// A disk of two partitions: one with the file system of the undo journal, and one of noise that is measured. All that
/// is written to both is in one log, so that it is known what was there when.
const FIRST: usize = MIB;
const UNDO_PAPERS: usize = 48 * MIB;
const MEASURED: usize = 16 * MIB;

/// What the partition that was measured would be after putting back; `None`: there is no undo journal.
fn put_back(disk: &[u8], dir: &Path) -> Option<Vec<u8>> {
    let papers = Repaired::of(&disk[FIRST..FIRST + UNDO_PAPERS], dir);
    let name = papers.name_of(".undo")?;
    let undo =
        Undo::open(&papers.file(&format!("/haul/{name}"))).expect("no loss of power damages it").expect("it is there");
    let content = Content::of(&undo.head().session);
    let mut measured = disk[FIRST + UNDO_PAPERS..].to_vec();
    for kept in undo.kept() {
        let mut original = vec![0; kept.extent.len as usize];
        undo.original(kept, &mut original).expect("no loss of power damages originals");
        let now = &mut measured[kept.extent.offset as usize..kept.extent.end() as usize];
        for (now, original) in now.chunks_mut(PIECE_BYTES).zip(original.chunks(PIECE_BYTES)) {
            if content.has_written(now) {
                now.copy_from_slice(original);
            }
        }
    }
    Some(measured)
}

#[test]
fn what_measuring_wrote_over_is_put_back_whenever_the_power_goes() {
    if !lab_is_there(&["openssl", "mke2fs", "e2fsck", "debugfs", "sfdisk"]) {
        return;
    }
    let folder = memory_dir();
    let dir = folder.path();
    let (image, papers) = (dir.join("both"), dir.join("papers"));
    File::create(&papers).and_then(|file| file.set_len(UNDO_PAPERS as u64)).expect("there is room");
    make_file_system(&papers);
    let originals = noise(MEASURED, 81);
    let whole = [vec![0; FIRST], fs::read(&papers).expect("it was made"), originals.clone()].concat();
    fs::write(&image, whole).expect("there is room");
    let sectors = |bytes: usize| bytes / SECTOR;
    let table = format!(
        "printf '{},{}\\n{},{}\\n' | sfdisk --quiet --no-reread --wipe-partitions never \"$0\"",
        sectors(FIRST),
        sectors(UNDO_PAPERS),
        sectors(FIRST + UNDO_PAPERS),
        sectors(MEASURED)
    );
    let made =
        Command::new("sh").args(["-c", &table]).arg(&image).env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").status();
    assert!(made.is_ok_and(|status| status.success()), "sfdisk makes partitions");
    let before = fs::read(&image).expect("it is there");

    cut_the_power(dir, "measure", words_of(dir, "both", true));
    let done = log(&dir.join("both-log"));
    let is_measured = |done: &Done| matches!(done, Done::Written { at, .. } if *at >= FIRST + UNDO_PAPERS);
    let first = done.iter().position(is_measured).expect("it was written to");
    let mut random = fastrand::Rng::with_seed(83);
    let (mut written, mut disk) = (Vec::new(), Vec::new());
    for cut in 1..=CUTS {
        // Some when there is no more than originals, most when they are written over.
        let until = if cut <= CUTS / 4 { first * cut / (CUTS / 4) } else { first + (done.len() - first) * cut / CUTS };
        disk = after_a_cut(&before, &done[..until], &mut random);
        let changed = |(now, then): &(&[u8], &[u8])| now != then;
        let measured = disk[FIRST + UNDO_PAPERS..].chunks(SECTOR);
        written.push(measured.zip(originals.chunks(SECTOR)).filter(changed).count());
        let there = put_back(&disk, dir);
        assert!(there.is_some() || written.ends_with(&[0]), "written over, and nothing says what stood there");
        assert!(there.is_none_or(|there| there == originals), "a byte is not what it was");
    }
    println!("sectors that were not as before at {CUTS} moments: {written:?}");
    assert!(written[0] == 0 && written[CUTS - 1] > 2000, "{written:?}");

    // Another machine does it with the last of these disks.
    fs::write(&image, disk).expect("there is room");
    let words = words_of(dir, "both", false);
    let words = [("VMLAB_QEMU", words.as_str()), ("VMLAB_TIMEOUT", "600")];
    Findings::of("power.sh", &["ring", "restore"], &words).expect(&[
        "the list says that a partition is not as it was",
        "what measuring left is put back in another machine",
        "and nothing is left to be put back",
    ]);
    let after = fs::read(&image).expect("it is there");
    assert!(after[FIRST + UNDO_PAPERS..] == originals, "a byte is not what it was");
    assert!(after[..FIRST] == before[..FIRST], "the table of partitions was written to");
}
