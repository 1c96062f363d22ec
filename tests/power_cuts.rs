//! The power is cut while a copy runs, on a disk that loses what was not flushed: what the journal claims is there.
//!
//! The disk is bench/modelled-disk with a volatile cache, which SIGKILL empties, shown as a file by nbdfuse.
//! HAUL_POWER_CUTS sets how many cuts there are, HAUL_POWER_SEED their moments and what each of them loses.
mod support;

use haul::contract::ExtentSet;
use haul::ledger::journal::read;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{cmp, has, haul, haul_path, is_root, memory_dir, skip, write_noise};

/// Not whole sectors, blocks or pages.
const LEN: usize = (8 << 20) + 321;

/// Whatever takes this long hangs.
const HANGS_AFTER: Duration = Duration::from_secs(60);

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The plugin that cargo built along with this test, as it does for the whole workspace.
fn plugin() -> Option<PathBuf> {
    let test = std::env::current_exe().expect("a test knows where it is");
    let found = test.ancestors().skip(1).take(2).map(|dir| dir.join("libmodelled_disk.so")).find(|path| path.exists());
    if found.is_none() {
        skip("the modelled disk is not built: cargo build -p modelled-disk");
    }
    found
}

#[track_caller]
fn wait_until(mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < HANGS_AFTER, "it hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A disk with power. Dropped, it has none.
struct Powered {
    mount: PathBuf,
    nbdkit: Child,
    nbdfuse: Child,
}

impl Powered {
    fn on(dir: &Path, plugin: &Path, seed: u64) -> Self {
        let (socket, mount) = (dir.join("socket"), dir.join("mount"));
        let _ = fs::remove_file(&socket);
        fs::create_dir_all(&mount).unwrap();
        let mut command = Command::new("nbdkit");
        command.args(["-f", "--exit-with-parent", "-t", "8", "-U"]).arg(&socket).arg(plugin);
        command.args([format!("size={LEN}"), format!("store={}", dir.join("store").display())]);
        command.args(["volatile_percent=60".to_owned(), format!("volatile_seed={seed}")]);
        let mut nbdkit = command.spawn().expect("nbdkit runs");
        wait_until(|| {
            assert!(nbdkit.try_wait().unwrap().is_none(), "nbdkit ended: is the modelled disk of today?");
            socket.exists()
        });
        let file = mount.join("disk");
        let mut command = Command::new("nbdfuse");
        command.arg(&file).arg(format!("nbd+unix:///?socket={}", socket.display())).stderr(Stdio::null());
        let nbdfuse = command.spawn().expect("nbdfuse runs");
        let mut disk = Powered { mount, nbdkit, nbdfuse };
        wait_until(|| {
            assert!(disk.nbdfuse.try_wait().unwrap().is_none(), "nbdfuse ended instead of showing the disk");
            file.exists()
        });
        disk
    }

    fn cut(&mut self) {
        self.nbdkit.kill().expect("it is our child");
        self.nbdkit.wait().expect("it is our child");
    }
}

impl Drop for Powered {
    fn drop(&mut self) {
        self.cut();
        // The machine has forgotten the disk's pages too once nothing is mounted.
        let unmounted = Command::new("fusermount3").arg("-uz").arg(&self.mount).stderr(Stdio::null()).status();
        let _ = unmounted.map(|_| self.nbdfuse.kill());
        let _ = self.nbdfuse.wait();
    }
}

struct Scene<'a> {
    dir: &'a Path,
    source: PathBuf,
    bytes: Vec<u8>,
    journal: PathBuf,
}

impl Scene<'_> {
    fn copy(&self, disk: &Powered, engine: &str, options: &[&str]) -> Child {
        let mut command = Command::new(haul_path());
        // A range: only then is the dest not emptied first, which this disk cannot do.
        command.args(["copy", "--engine", engine, "--seek", "0", "--progress", "none", "--journal"]).arg(&self.journal);
        command.args(options).args(self.journal.exists().then_some("--resume"));
        command.arg(&self.source).arg(disk.mount.join("disk")).stderr(Stdio::null());
        command.spawn().expect("the binary runs")
    }

    /// What the journal claims, if there is one.
    fn claimed(&self) -> Option<ExtentSet> {
        let file = File::open(&self.journal).ok()?;
        Some(read(BufReader::new(file)).expect("nothing damages a journal").state.durable)
    }

    fn claimed_bytes(&self) -> u64 {
        self.claimed().map_or(0, |durable| durable.total_bytes())
    }

    /// Every claimed byte is on the medium.
    #[track_caller]
    fn claims_are_true(&self, cut: u64, seed: u64) {
        let durable = self.claimed().unwrap_or_default();
        let medium = fs::read(self.dir.join("store")).unwrap();
        for extent in durable.iter() {
            let asked = extent.offset as usize..extent.end() as usize;
            assert!(medium[asked.clone()] == self.bytes[asked], "cut {cut} of seed {seed}: {extent:?} is lost");
        }
    }
}

/// Copies with `engine` until so many cuts were made, and then to the end. A copy that is complete is begun anew.
fn cut_again_and_again(plugin: &Path, engine: &str, cuts: u64, seed: u64) {
    let dir = memory_dir();
    let (source, journal) = (dir.path().join("source"), dir.path().join("journal"));
    let bytes = write_noise(&source, LEN, 71);
    let scene = Scene { dir: dir.path(), source, bytes, journal };
    let store = dir.path().join("store");
    let slow = ["--limit", "16M", "--block-size", "64K", "--checkpoint", "0.02"];
    let (mut random, mut with_claims) = (fastrand::Rng::with_seed(seed), 0);
    for cut in 0..cuts {
        if !scene.journal.exists() {
            File::create(&store).unwrap().set_len(LEN as u64).unwrap();
        }
        let before = scene.claimed_bytes();
        let mut disk = Powered::on(dir.path(), plugin, random.u64(..));
        let mut copy = scene.copy(&disk, engine, &slow);
        // Mostly once there is something new to be wrong about, however slow this machine is; sometimes at any time.
        if !random.u8(..).is_multiple_of(4) {
            wait_until(|| scene.claimed_bytes() > before || copy.try_wait().unwrap().is_some());
        }
        std::thread::sleep(Duration::from_millis(random.u64(..60)));
        // The machine loses its power with the disk, or stays on and sees a disk that is gone.
        if random.bool() {
            copy.kill().expect("it is our child");
        }
        disk.cut();
        wait_until(|| copy.try_wait().unwrap().is_some());
        drop(disk);
        scene.claims_are_true(cut, seed);
        if let Some(durable) = scene.claimed() {
            with_claims += u64::from(!durable.is_empty());
            assert!(durable.total_bytes() >= before, "{engine}: it claims less than before");
        }
    }
    let disk = Powered::on(dir.path(), plugin, seed);
    assert!(scene.copy(&disk, engine, &[]).wait().unwrap().success(), "{engine}: the rest cannot be copied");
    drop(disk);
    cmp(&scene.source, &store);
    assert!(!scene.journal.exists() && with_claims > 0, "{engine}: {with_claims} of {cuts} cuts had claims");
}

/// The plugin, where this machine can show a disk whose power is cut; says so where it cannot.
fn disk_can_be_had() -> Option<PathBuf> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip("a disk without power needs root and /dev/fuse");
        return None;
    }
    ["nbdkit", "nbdfuse", "fusermount3"].into_iter().all(has).then(plugin)?
}

#[test]
fn what_the_journal_claims_survives_a_power_cut_at_any_moment() {
    let Some(plugin) = disk_can_be_had() else { return };
    let (cuts, seed) = (number("HAUL_POWER_CUTS", 12), number("HAUL_POWER_SEED", 1));
    let engines = support::engines();
    for (round, engine) in engines.iter().enumerate() {
        cut_again_and_again(&plugin, engine, cuts.div_ceil(engines.len() as u64), seed + round as u64);
    }
}

#[test]
fn what_an_import_claims_survives_a_power_cut() {
    let Some(plugin) = disk_can_be_had() else { return };
    let dir = memory_dir();
    let (source, map, journal) = (dir.path().join("source"), dir.path().join("map"), dir.path().join("journal"));
    let bytes = write_noise(&source, LEN, 72);
    File::create(dir.path().join("store")).unwrap().set_len(LEN as u64).unwrap();
    let scene = Scene { dir: dir.path(), source, bytes, journal };
    let mut disk = Powered::on(dir.path(), &plugin, 9);
    let dest = disk.mount.join("disk");
    // What ddrescue left: killed between two flushes, it has a mapfile of bytes that are not durable.
    fs::write(&map, format!("0 ? 1\n0 {} +\n{0} {} ?\n", 4 << 20, LEN - (4 << 20))).unwrap();
    let written = File::options().write(true).open(&dest).unwrap();
    written.write_all_at(&scene.bytes[..4 << 20], 0).unwrap();
    let mut import = haul();
    import.args(["journal", "import", "--seek", "0", "--journal"]).args([&scene.journal, &map, &scene.source, &dest]);
    import.assert().success();
    disk.cut();
    drop((disk, written));
    assert_eq!(scene.claimed_bytes(), 4 << 20);
    scene.claims_are_true(0, 9);
    let disk = Powered::on(dir.path(), &plugin, 9);
    assert!(scene.copy(&disk, "threads", &[]).wait().unwrap().success());
    drop(disk);
    cmp(&scene.source, dir.path().join("store"));
}
