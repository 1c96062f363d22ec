//! bench/modelled-disk, mounted as a file by nbdfuse: a disk that loses power, or damages data.
use super::abilities::{has, is_root, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A step that takes this long has hung.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// Waits for a condition, with a limit.
#[track_caller]
pub fn wait_until(mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < HANGS_AFTER, "it hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The plugin, which cargo builds with this test, as for the whole workspace.
fn plugin() -> Option<PathBuf> {
    let test = std::env::current_exe().expect("the path of the test is known");
    let found = test.ancestors().skip(1).take(2).map(|dir| dir.join("libmodelled_disk.so")).find(|path| path.exists());
    if found.is_none() {
        skip("the modelled disk is not built: cargo build");
    }
    found
}

/// The plugin, if this machine can mount such a disk; if not, prints a message.
pub fn modelled_disks() -> Option<PathBuf> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip("a modelled disk needs root and /dev/fuse");
        return None;
    }
    ["nbdkit", "nbdfuse", "fusermount3"].into_iter().all(has).then(plugin)?
}

/// A modelled disk that is powered on. Dropping it cuts the power; its data stays in the store.
pub struct ModelledDisk {
    mount: PathBuf,
    nbdkit: Child,
    nbdfuse: Child,
}

impl ModelledDisk {
    /// Serves `store` in `dir` as a disk of `len` bytes, with further parameters of the plugin.
    pub fn on(dir: &Path, plugin: &Path, len: usize, words: &[String]) -> Self {
        let (socket, mount) = (dir.join("socket"), dir.join("mount"));
        // The socket exists before the server listens; this file only when it does.
        let ready = dir.join("ready");
        for old in [&socket, &ready] {
            let _ = fs::remove_file(old);
        }
        fs::create_dir_all(&mount).unwrap();
        let mut command = Command::new("nbdkit");
        command.args(["-f", "--exit-with-parent", "-t", "8", "-P"]).arg(&ready).arg("-U").arg(&socket).arg(plugin);
        command.args([format!("size={len}"), format!("store={}", dir.join("store").display())]).args(words);
        let mut nbdkit = command.spawn().expect("nbdkit runs");
        wait_until(|| {
            assert!(nbdkit.try_wait().unwrap().is_none(), "nbdkit ended: is the modelled disk of today?");
            ready.exists()
        });
        let file = mount.join("disk");
        let mut command = Command::new("nbdfuse");
        command.arg(&file).arg(format!("nbd+unix:///?socket={}", socket.display())).stderr(Stdio::null());
        let nbdfuse = command.spawn().expect("nbdfuse runs");
        let mut disk = ModelledDisk { mount, nbdkit, nbdfuse };
        wait_until(|| {
            assert!(disk.nbdfuse.try_wait().unwrap().is_none(), "nbdfuse ended instead of showing the disk");
            file.exists()
        });
        disk
    }

    /// The disk, as a file.
    pub fn file(&self) -> PathBuf {
        self.mount.join("disk")
    }

    /// Cuts the power.
    pub fn cut(&mut self) {
        self.nbdkit.kill().expect("it is a child of this process");
        self.nbdkit.wait().expect("it is a child of this process");
    }
}

impl Drop for ModelledDisk {
    fn drop(&mut self) {
        self.cut();
        // Unmounting also drops the pages of the disk from the page cache.
        let unmounted = Command::new("fusermount3").arg("-uz").arg(&self.mount).stderr(Stdio::null()).status();
        let _ = unmounted.map(|_| self.nbdfuse.kill());
        let _ = self.nbdfuse.wait();
    }
}
