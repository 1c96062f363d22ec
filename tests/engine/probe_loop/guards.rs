//! Loop devices, mounts and dm devices that are removed when dropped, also if a test panics.
use crate::support::{Mount, ScratchDir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command; returns its output if it succeeded.
pub fn run(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).output().map_err(|error| format!("{}: {error}", words[0]))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// The value, or `None` with a message about why a test is skipped.
pub fn or_skip<T>(result: Result<T, String>) -> Option<T> {
    result.map_err(|why| eprintln!("SKIPPED: {why}")).ok()
}

/// Runs a command when dropped.
pub struct Undo {
    words: Vec<String>,
}

impl Undo {
    fn by(words: &[&str]) -> Self {
        Undo { words: words.iter().map(|word| (*word).to_owned()).collect() }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        if let Err(why) = run(&words) {
            eprintln!("cannot clean up: {why}");
        }
    }
}

/// An attached loop device.
pub struct Loop {
    pub path: String,
    _undo: Undo,
}

impl Loop {
    /// Attaches `file`, with further options of losetup; `None`, with a message, if that is not possible.
    pub fn over(file: &str, more: &[&str]) -> Option<Loop> {
        if !rustix::process::geteuid().is_root() {
            return or_skip(Err("loop devices need root".to_owned()));
        }
        let words = [&["losetup", "--find", "--show"], more, &[file]].concat();
        // Two callers may find the same free device; the second one retries.
        let mut made = run(&words);
        for _ in 0..20 {
            if !made.as_ref().is_err_and(|why| why.contains("busy")) {
                break;
            }
            made = run(&words);
        }
        let path = or_skip(made)?;
        Some(Loop { _undo: Undo::by(&["losetup", "-d", &path]), path })
    }

    /// A loop device over `file` with two partitions of 4 MiB, at 1 MiB and at 8 MiB, which are removed when it is
    /// detached. They are added by ioctl, so that the kernel does not need a partition table.
    pub fn partitioned(file: &str) -> Option<Loop> {
        let device = Loop::over(file, &["-P"])?;
        or_skip(run(&["addpart", &device.path, "1", "2048", "8192"]))?;
        or_skip(run(&["addpart", &device.path, "2", "16384", "8192"]))?;
        Some(device)
    }

    /// Its kernel name.
    pub fn name(&self) -> &str {
        &self.path["/dev/".len()..]
    }
}

/// A directory on tmpfs with an image of `mib` MiB.
pub struct Image {
    pub dir: ScratchDir,
    pub path: String,
}

impl Image {
    pub fn new(mib: u64) -> Image {
        let dir = crate::support::ScratchDir::below("/dev/shm").unwrap();
        let path = dir.path().join("image");
        fs::File::create(&path).unwrap().set_len(mib << 20).unwrap();
        Image { path: path.to_str().unwrap().to_owned(), dir }
    }

    /// A path in its directory.
    pub fn beside(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }
}

/// A mounted file system.
pub struct Mounted {
    pub at: PathBuf,
    _mount: Mount,
}

impl Mounted {
    /// Creates ext4 on `device` and mounts it at a new directory.
    pub fn new(device: &str, at: &str) -> Option<Mounted> {
        or_skip(run(&["mkfs.ext4", "-q", "-F", device]))?;
        fs::create_dir_all(at).unwrap();
        let at = PathBuf::from(at);
        Some(Mounted { _mount: Mount::device(&at, Path::new(device))?, at })
    }
}

/// A dm device.
pub struct Mapped {
    pub node: String,
    _undo: Undo,
}

impl Mapped {
    /// A dm device that maps the first 1 MiB of `device`.
    pub fn linear(device: &str) -> Option<Mapped> {
        let name = format!("haul-test-{}-{}", std::process::id(), device.replace('/', "-"));
        or_skip(run(&["dmsetup", "create", &name, "--noudevsync", "--table", &format!("0 2048 linear {device} 0")]))?;
        let undo = Undo::by(&["dmsetup", "remove", "--noudevsync", &name]);
        let node = format!("/dev/mapper/{name}");
        Some(Mapped { node, _undo: undo })
    }
}
