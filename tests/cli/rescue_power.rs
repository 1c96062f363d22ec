//! The power is cut during a rescue, on a destination that loses unflushed data: what the map lists as rescued is on
//! the medium. HAUL_POWER_CUTS sets the number of cuts, HAUL_POWER_SEED their moments.
use crate::rescue::areas;
use crate::support::{
    FailingDisk, Fails, ModelledDisk, haul_path, memory_dir, modelled_disks, state_home, wait_until, write_noise,
};
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const LEN: usize = 12 << 20;
const BAD: [Range<u64>; 2] = [1_048_576..1_064_960, 7_340_032..7_344_128];

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

struct Scene<'a> {
    source: PathBuf,
    map: PathBuf,
    disk: &'a dyn Fn(u64) -> ModelledDisk,
}

impl Scene<'_> {
    fn rescue(&self, disk: &ModelledDisk, options: &[&str]) -> Child {
        let mut command = Command::new(haul_path());
        command.args(["rescue", "--yes", "-q", "--progress", "none"]).args(options).arg(&self.source);
        command.arg(disk.file()).arg(&self.map).env("XDG_STATE_HOME", state_home());
        command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs")
    }

    fn claimed(&self) -> Vec<Range<u64>> {
        if self.map.exists() { areas(&self.map, '+') } else { Vec::new() }
    }

    fn claimed_bytes(&self) -> u64 {
        self.claimed().iter().map(|area| area.end - area.start).sum()
    }
}

/// Asserts that all of these areas are on the medium.
#[track_caller]
fn are_on_medium(claimed: &[Range<u64>], store: &Path, data: &[u8], when: &str) {
    let medium = fs::read(store).unwrap();
    for area in claimed {
        let area = area.start as usize..area.end as usize;
        assert!(medium[area.clone()] == data[area.clone()], "{when}: {area:?} is lost");
    }
}

#[test]
fn bytes_that_the_map_of_a_rescue_claims_survive_a_power_cut() {
    let Some(plugin) = modelled_disks() else { return };
    let dir = memory_dir();
    let backing = dir.path().join("backing");
    let data = write_noise(&backing, LEN, 73);
    let Some(failing) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD) else { return };
    let store = dir.path().join("store");
    File::create(&store).unwrap().set_len(LEN as u64).unwrap();
    let disk = |seed| {
        let words = ["volatile_percent=60".to_owned(), format!("volatile_seed={seed}")];
        ModelledDisk::on(dir.path(), &plugin, LEN, &words)
    };
    let scene = Scene { source: failing.path(), map: dir.path().join("map"), disk: &disk };
    let (cuts, seed) = (number("HAUL_POWER_CUTS", 3), number("HAUL_POWER_SEED", 1));
    let (mut random, mut with_claims) = (fastrand::Rng::with_seed(seed), 0);
    for cut in 0..cuts {
        let before = scene.claimed_bytes();
        let mut disk = (scene.disk)(random.u64(..));
        // The map is written every five seconds: at this rate some is rescued by then, and not all of it.
        let mut rescue = scene.rescue(&disk, &["--max-read-rate", "500K", "--reconnect", "never"]);
        wait_until(|| scene.claimed_bytes() > before || rescue.try_wait().unwrap().is_some());
        std::thread::sleep(Duration::from_millis(random.u64(..800)));
        // The machine loses power with the disk, or keeps running while the disk disappears.
        if random.bool() {
            rescue.kill().expect("it is a child of this process");
        }
        disk.cut();
        wait_until(|| rescue.try_wait().unwrap().is_some());
        drop(disk);
        let claimed = scene.claimed();
        are_on_medium(&claimed, &store, &data, &format!("cut {cut} of seed {seed}"));
        with_claims += u64::from(!claimed.is_empty());
        assert!(scene.claimed_bytes() >= before, "it claims less than before");
        if scene.claimed_bytes() > LEN as u64 / 2 {
            // From the start again, so that there is something left to lose.
            fs::remove_file(&scene.map).unwrap();
            File::create(&store).unwrap().set_len(LEN as u64).unwrap();
        }
    }
    assert!(with_claims > 0, "none of {cuts} cuts had claims");
    let disk = (scene.disk)(seed);
    assert_eq!(scene.rescue(&disk, &[]).wait().unwrap().code(), Some(1));
    drop(disk);
    assert_eq!(areas(&scene.map, '-'), BAD);
    are_on_medium(&scene.claimed(), &store, &data, "at the end");
}
