//! A power loss during a copy: what the journal claims is on the disk, and another machine completes the copy. And
//! during a write measurement: another machine restores all data.
//!
//! qemu is killed, and what it wrote remains. It also logged the guest's writes and flushes in order (blklogwrites):
//! from that log, disks are made that lost any part of the unflushed data. The journal is on a separate disk, in a
//! file system, so that no flush of the journal makes the dest durable. What it claimed at any moment must be on
//! every possible dest at the end.
use crate::guests::slot_for_a_short_one;
use crate::support::{Findings, ScratchDir, lab_is_available, launcher, memory_dir, noise, release_binary};
use haul::core::ExtentSet;
use haul::ledger::journal::read;
use haul::ledger::undo::{Content, PIECE_BYTES, Undo};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const SECTOR: usize = 512;

/// Size of the copy: not a multiple of its block size.
const LEN: usize = 12 * MIB + 512;

/// Sizes of the disk with the journal, and of the dest.
const RECORDS: usize = 8 * MIB;
const DEST: usize = 16 * MIB;

/// Number of disks that are made from the log.
const CUTS: usize = 24;

/// The operations of a disk, in order.
#[derive(Debug, PartialEq)]
enum Done {
    Written { at: usize, bytes: Vec<u8>, at_once: bool },
    Flushed,
}

/// The log of qemu, in the format of dm-log-writes. After the last entry it has zeros.
fn log(path: &Path) -> Vec<Done> {
    /// "jsfwshr", the first number of a log.
    const MAGIC: u64 = 0x006a_7366_7773_6872;
    const FLUSH: usize = 1;
    const FUA: usize = 2;
    const DISCARD: usize = 4;
    let bytes = fs::read(path).expect("qemu wrote a log");
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    // The first flush writes it: the log of a disk that was never flushed has none.
    assert!([0, MAGIC].contains(&number(0)), "it is no log");
    let (mut at, mut done) = (SECTOR, Vec::new());
    while at + SECTOR <= bytes.len() {
        let [sector, sectors, flags] = [0, 8, 16].map(|field| number(at + field) as usize);
        let has = |flag: usize| flags & flag != 0;
        assert!(!has(DISCARD), "nothing is given up here");
        // qemu does not use the field for the length of the data.
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

/// The disk after `done`, at the power loss: each write after the last flush may be lost or not.
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

/// Whether it is a commit block of an ext4 journal: jbd2 writes it with FUA, and the NVMe controller of QEMU 7.2
/// does not pass that flag to the log.
fn is_commit(bytes: &[u8]) -> bool {
    const MAGIC_AND_TYPE: [u8; 8] = [0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2];
    bytes.starts_with(&MAGIC_AND_TYPE)
}

/// The file system on the disk for record files, recovered as by a mount.
struct Repaired(PathBuf);

impl Repaired {
    fn of(record_bytes: &[u8], dir: &Path) -> Self {
        let records = dir.join("repaired");
        fs::write(&records, record_bytes).expect("there is enough space");
        let repaired =
            Command::new("/usr/sbin/e2fsck").args(["-fy"]).arg(&records).output().expect("e2fsck is installed");
        assert!(repaired.status.code().is_some_and(|code| code <= 1), "{repaired:?}");
        Repaired(records)
    }

    fn debugfs(&self, command: &str) -> String {
        let mut debugfs = Command::new("/usr/sbin/debugfs");
        let done = debugfs.args(["-R", command]).arg(&self.0).output().expect("debugfs is installed");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// A file of it, extracted under the same name; it may not exist.
    fn file(&self, path: &str) -> PathBuf {
        let copy = self.0.with_file_name(Path::new(path).file_name().expect("it names a file"));
        let _ = fs::remove_file(&copy);
        self.debugfs(&format!("dump \"{path}\" {}", copy.display()));
        copy
    }

    /// The name of the only file in /haul with this suffix.
    fn name_of(&self, ending: &str) -> Option<String> {
        let listed = self.debugfs("ls -p /haul");
        // /inode/mode/user/group/name/size/
        let names = listed.lines().filter_map(|line| line.split('/').nth(5));
        names.filter(|name| name.ends_with(ending)).map(str::to_owned).next()
    }
}

/// The claims of the journal on its disk; `None`: it does not exist.
fn claimed(record_bytes: &[u8], dir: &Path) -> Option<ExtentSet> {
    let file = File::open(Repaired::of(record_bytes, dir).file("/journal")).ok()?;
    Some(read(BufReader::new(file)).expect("a power loss does not damage a journal").state.durable)
}

/// The number of claimed bytes; asserts that each equals the source.
#[track_caller]
fn true_claims(source: &[u8], records: &[u8], dest: &[u8], dir: &Path) -> usize {
    let Some(durable) = claimed(records, dir) else { return 0 };
    for extent in durable.iter() {
        let (from, to) = (extent.offset as usize, extent.end() as usize);
        assert!(dest[from..to] == source[from..to], "{extent:?} is claimed and not there");
    }
    durable.total_bytes() as usize
}

struct Scene {
    dir: ScratchDir,
    source: Vec<u8>,
    /// The disk with the journal, and the dest, before the copy.
    before: [Vec<u8>; 2],
}

impl Scene {
    fn new() -> Self {
        let dir = memory_dir();
        let path = |name: &str| dir.path().join(name);
        let (source, dest) = (noise(LEN, 71), noise(DEST, 72));
        fs::write(path("source"), &source).expect("there is enough space");
        fs::write(path("dest"), &dest).expect("there is enough space");
        File::create(path("records")).and_then(|file| file.set_len(RECORDS as u64)).expect("there is enough space");
        make_file_system(&path("records"));
        let records = fs::read(path("records")).expect("it exists");
        Scene { dir, source, before: [records, dest] }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it exists")
    }

    /// qemu's options for the disks, with or without logs of writes.
    fn words(&self, logged: bool) -> String {
        let disk = |name: &str| words_of(self.dir.path(), name, logged && name != "source");
        ["source", "records", "dest"].map(disk).join(" ")
    }
}

fn make_file_system(path: &Path) {
    let mut make = Command::new("/usr/sbin/mke2fs");
    make.args(["-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0"]).arg(path);
    assert!(make.status().is_ok_and(|status| status.success()), "mke2fs makes a file system");
}

/// qemu's options for a disk, which is a file in `dir`, with or without a log of writes.
fn words_of(dir: &Path, name: &str, logged: bool) -> String {
    let file = |node: &str, name: &str| {
        format!("-blockdev node-name={node},driver=file,filename={}", dir.join(name).display())
    };
    let node = if logged {
        let log = format!("{name}-log");
        File::create(dir.join(&log)).expect("there is enough space");
        let (image, log) = (file(&format!("{name}-image"), name), file(&log, &log));
        let node = format!("node-name={name},driver=blklogwrites,file={name}-image,log={name}-log");
        format!("{image} {log} -blockdev {node},log-sector-size=512")
    } else {
        file(name, name)
    };
    format!("{node} -device nvme,id={name},serial={name} -device nvme-ns,bus={name},drive={name}")
}

/// Starts `act` of the script in a machine with disks in `dir`, and kills that when the script requests it.
fn cut_the_power(dir: &Path, act: &str, qemu: String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lab/power.sh");
    let words = [("VMLAB_TIMEOUT", "600".to_owned()), ("VMLAB_QEMU", qemu)];
    let _slot = slot_for_a_short_one();
    let mut vmlab = launcher();
    vmlab.arg("bash").arg(script).arg(release_binary()).args(["ring", act]).envs(words);
    vmlab.env("VMLAB_PIDFILE", dir.join("pid"));
    let mut running = vmlab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash is installed");
    let messages = BufReader::new(running.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut lines = Vec::new();
    let mut killed = false;
    for line in messages {
        lines.push(line);
        if !killed && lines.last().is_some_and(|line| line == "now") {
            let pid = fs::read_to_string(dir.join("pid")).expect("qemu wrote its process id");
            let pid = rustix::process::Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process");
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it was still running");
            killed = true;
        }
    }
    let status = running.wait().expect("it was started");
    assert!(killed && status.code() == Some(125), "{status}: {lines:?}");
}

#[test]
fn journal_claims_survive_power_cuts_and_another_machine_completes_the_copy() {
    if !lab_is_available(&["openssl", "mke2fs", "e2fsck", "debugfs"]) {
        return;
    }
    let scene = Scene::new();
    let dir = scene.dir.path();
    cut_the_power(dir, "begin", scene.words(true));
    let at_the_kill = true_claims(&scene.source, &scene.bytes("records"), &scene.bytes("dest"), dir);
    assert!((MIB / 4..LEN).contains(&at_the_kill), "{at_the_kill} bytes were claimed when the power went");

    let [records, dest] = ["records-log", "dest-log"].map(|name| log(&scene.path(name)));
    let mut random = fastrand::Rng::with_seed(73);
    let mut claims = Vec::new();
    for cut in 1..=CUTS {
        let until = records.len() * cut / CUTS;
        let records = after_a_cut(&scene.before[0], &records[..until], &mut random);
        let dest = after_a_cut(&scene.before[1], &dest, &mut random);
        claims.push(true_claims(&scene.source, &records, &dest, dir));
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
    assert!(dest[LEN..] == scene.before[1][LEN..], "bytes behind the copy were changed");
}

/// A disk with two partitions: one with the file system of the undo journal, and one of noise that is measured. All
/// writes to both are in one log, so that their order is known.
const FIRST: usize = MIB;
const UNDO_RECORDS: usize = 48 * MIB;
const MEASURED: usize = 16 * MIB;

/// The measured partition after restoring; `None`: there is no undo journal.
fn put_back(disk: &[u8], dir: &Path) -> Option<Vec<u8>> {
    let records = Repaired::of(&disk[FIRST..FIRST + UNDO_RECORDS], dir);
    let name = records.name_of(".undo")?;
    let undo = Undo::open(&records.file(&format!("/haul/{name}")))
        .expect("a power loss does not damage it")
        .expect("it exists");
    let content = Content::of(&undo.head().session);
    let mut measured = disk[FIRST + UNDO_RECORDS..].to_vec();
    for kept in undo.kept() {
        let mut original = vec![0; kept.extent.len as usize];
        undo.original(kept, &mut original).expect("a power loss does not damage original data");
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
fn bytes_overwritten_by_measuring_are_restored_after_a_power_cut() {
    if !lab_is_available(&["openssl", "mke2fs", "e2fsck", "debugfs", "sfdisk"]) {
        return;
    }
    let directory = memory_dir();
    let dir = directory.path();
    let (image, records) = (dir.join("both"), dir.join("records"));
    File::create(&records).and_then(|file| file.set_len(UNDO_RECORDS as u64)).expect("there is enough space");
    make_file_system(&records);
    let originals = noise(MEASURED, 81);
    let whole = [vec![0; FIRST], fs::read(&records).expect("it was created"), originals.clone()].concat();
    fs::write(&image, whole).expect("there is enough space");
    let sectors = |bytes: usize| bytes / SECTOR;
    let table = format!(
        "printf '{},{}\\n{},{}\\n' | sfdisk --quiet --no-reread --wipe-partitions never \"$0\"",
        sectors(FIRST),
        sectors(UNDO_RECORDS),
        sectors(FIRST + UNDO_RECORDS),
        sectors(MEASURED)
    );
    let made =
        Command::new("sh").args(["-c", &table]).arg(&image).env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").status();
    assert!(made.is_ok_and(|status| status.success()), "sfdisk makes partitions");
    let before = fs::read(&image).expect("it exists");

    cut_the_power(dir, "measure", words_of(dir, "both", true));
    let done = log(&dir.join("both-log"));
    let is_measured = |done: &Done| matches!(done, Done::Written { at, .. } if *at >= FIRST + UNDO_RECORDS);
    let first = done.iter().position(is_measured).expect("it was written to");
    let mut random = fastrand::Rng::with_seed(83);
    let (mut written, mut disk) = (Vec::new(), Vec::new());
    for cut in 1..=CUTS {
        // Some before the first overwrite, most during overwriting.
        let until = if cut <= CUTS / 4 { first * cut / (CUTS / 4) } else { first + (done.len() - first) * cut / CUTS };
        disk = after_a_cut(&before, &done[..until], &mut random);
        let changed = |(now, then): &(&[u8], &[u8])| now != then;
        let measured = disk[FIRST + UNDO_RECORDS..].chunks(SECTOR);
        written.push(measured.zip(originals.chunks(SECTOR)).filter(changed).count());
        let restored = put_back(&disk, dir);
        assert!(restored.is_some() || written.ends_with(&[0]), "overwritten without a saved original");
        assert!(restored.is_none_or(|restored| restored == originals), "a byte is not what it was");
    }
    println!("sectors that were not as before at {CUTS} moments: {written:?}");
    assert!(written[0] == 0 && written[CUTS - 1] > 2000, "{written:?}");

    // Another machine restores the last of these disks.
    fs::write(&image, disk).expect("there is enough space");
    let words = words_of(dir, "both", false);
    let words = [("VMLAB_QEMU", words.as_str()), ("VMLAB_TIMEOUT", "600")];
    Findings::of("power.sh", &["ring", "restore"], &words).expect(&[
        "the list marks a partition with modified data",
        "what measuring left is put back in another machine",
        "and nothing is left to be put back",
    ]);
    let after = fs::read(&image).expect("it exists");
    assert!(after[FIRST + UNDO_RECORDS..] == originals, "a byte is not what it was");
    assert!(after[..FIRST] == before[..FIRST], "the table of partitions was written to");
}
