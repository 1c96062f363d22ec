//! A modelled disk, available as an NBD URI, as a file through nbdfuse, and as a loop device over that file.
use super::Place;
use super::content::Removed;
use super::loop_device::LoopDevice;
use crate::error::{Doing, Error, Result};
use crate::process::die_with_parent;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time until a server is ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// A disk that is being served. Dropping it ends the servers, after the loop device.
pub struct Server {
    /// The block device.
    pub device: LoopDevice,
    _fuse: Fuse,
    _nbdkit: Running,
    _dir: Removed,
}

/// The disk to serve.
#[derive(Clone, Debug)]
pub struct Disk<'a> {
    /// Short name, for its files.
    pub name: &'a str,
    /// Parameters of the plugin, `key=value`; a preset comes first.
    pub words: &'a [String],
    /// Its size.
    pub bytes: u64,
    /// Factor by which its time is shortened.
    pub time_scale: f64,
    /// Whether it reports itself as rotational.
    pub rotates: bool,
}

impl Server {
    /// Serves `disk`, with its data and sockets in `memory`.
    ///
    /// # Errors
    /// nbdkit, its plugin, nbdfuse or a loop device is not available.
    pub fn start(disk: &Disk<'_>, memory: &Path) -> Result<(Self, Place)> {
        let dir = memory.join(disk.name);
        fs::create_dir(&dir).doing(format_args!("make {}", dir.display()))?;
        let (socket, store, mount) = (dir.join("socket"), dir.join("store"), dir.join("mount"));
        fs::create_dir(&mount)?;
        File::create(&store)?.set_len(disk.bytes)?;
        let nbdkit = start_nbdkit(disk, &dir, &socket, &store)?;
        let uri = format!("nbd+unix:///?socket={}", socket.display());
        let fuse = Fuse::start(&uri, mount, &dir, disk.bytes)?;
        let device = LoopDevice::new(&fuse.file)?;
        if disk.rotates {
            device.rotates()?;
        }
        let place = Place { path: device.path.clone(), uri: Some(uri), store, store_offset: 0 };
        Ok((Self { device, _fuse: fuse, _nbdkit: nbdkit, _dir: Removed(dir) }, place))
    }
}

fn start_nbdkit(disk: &Disk<'_>, dir: &Path, socket: &Path, store: &Path) -> Result<Running> {
    let mut command = Command::new("nbdkit");
    // The socket exists before the server listens; this file only when it does.
    let ready = dir.join("ready");
    command.args(["--foreground", "--exit-with-parent", "--threads", "32", "--pidfile"]).arg(&ready);
    command.arg("--unix").arg(socket);
    command.arg(plugin()?).args(disk.words).arg(format!("size={}", disk.bytes));
    command.arg(format!("time_scale={}", disk.time_scale));
    command.arg(format!("store={}", store.display())).arg(format!("log={}", dir.with_extension("log").display()));
    let nbdkit = Running::start(command, &dir.join("nbdkit.log"))?;
    nbdkit.until(|| ready.exists())
}

/// The plugin, which cargo builds next to the bench.
fn plugin() -> Result<PathBuf> {
    const NAME: &str = "libmodelled_disk.so";
    let own = std::env::current_exe()?;
    let dirs = own.ancestors().skip(1).take(2);
    let found = dirs.map(|dir| dir.join(NAME)).find(|path| path.exists());
    found.ok_or_else(|| {
        Error(format!("{NAME} does not exist next to {}; run `make bench`, which builds it", own.display()))
    })
}

/// A mounted nbdfuse.
struct Fuse {
    running: Option<Running>,
    mount: PathBuf,
    file: PathBuf,
}

impl Fuse {
    fn start(uri: &str, mount: PathBuf, dir: &Path, bytes: u64) -> Result<Self> {
        let file = mount.join("disk");
        let mut command = Command::new("nbdfuse");
        command.arg(&file).arg(uri);
        let running = Running::start(command, &dir.join("nbdfuse.log"))?;
        let running = running.until(|| fs::metadata(&file).is_ok_and(|found| found.len() == bytes))?;
        Ok(Self { running: Some(running), mount, file })
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        // The kernel detaches the loop device shortly after its last user has closed it: until then, the mount is
        // busy.
        let started = Instant::now();
        while rustix::mount::unmount(&self.mount, rustix::mount::UnmountFlags::empty()).is_err() {
            if started.elapsed() > PATIENCE {
                let _ = rustix::mount::unmount(&self.mount, rustix::mount::UnmountFlags::DETACH);
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(self.running.take());
    }
}

/// A background process; ended and waited for when dropped.
pub(super) struct Running {
    child: Child,
    log: PathBuf,
    name: String,
}

impl Running {
    pub(super) fn start(mut command: Command, log: &Path) -> Result<Self> {
        let messages = File::create(log)?;
        command.stdin(Stdio::null()).stdout(messages.try_clone()?).stderr(messages);
        die_with_parent(&mut command, libc::SIGTERM);
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().doing(format_args!("run {name}"))?;
        Ok(Self { child, log: log.into(), name })
    }

    /// Waits until it is ready.
    pub(super) fn until(mut self, ready: impl Fn() -> bool) -> Result<Self> {
        let started = Instant::now();
        while !ready() {
            let ended = self.child.try_wait()?;
            if ended.is_some() || started.elapsed() > PATIENCE {
                let messages = fs::read_to_string(&self.log).unwrap_or_default();
                let how = ended.map_or("does not serve".into(), |status| format!("ended with {status}"));
                return Err(Error(format!("{} {how}: {}", self.name, messages.trim())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let started = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
