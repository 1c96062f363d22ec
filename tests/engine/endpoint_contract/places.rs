//! Files and devices to open: files on ext4 and tmpfs, loop devices over tmpfs.
use crate::support::ScratchDir;
use haul::core::{Access, AddressMap, Cache, Endpoint, EndpointKind, Existing, Facts, FileId, PlanSide, Result};
use haul::disks;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A file or device, removed when dropped.
pub struct Place {
    pub name: &'static str,
    pub kind: EndpointKind,
    pub path: PathBuf,
    /// Detached before the directory below is removed.
    _device: Option<Loop>,
    pub dir: ScratchDir,
}

/// A loop device, detached when dropped, also if a test panics.
pub struct Loop {
    pub path: PathBuf,
}

impl Loop {
    /// A loop device over `file`, with direct I/O; `None`, with a message, if not available.
    pub fn over(file: &Path) -> Option<Loop> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: loop devices need root");
            return None;
        }
        // Two callers may find the same free device; the second one retries.
        for _ in 0..20 {
            let made = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(file).output();
            match made {
                Ok(output) if output.status.success() => {
                    let path = String::from_utf8(output.stdout).unwrap().trim().into();
                    return Some(Loop { path });
                }
                Ok(output) if String::from_utf8_lossy(&output.stderr).contains("busy") => {}
                other => {
                    eprintln!("SKIPPED: losetup does not work here: {other:?}");
                    return None;
                }
            }
        }
        eprintln!("SKIPPED: losetup found no free device in 20 attempts");
        None
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("-d").arg(&self.path).status();
        if !detached.is_ok_and(|status| status.success()) {
            eprintln!("cannot detach {}", self.path.display());
        }
    }
}

/// A file of `bytes` under `root`.
pub fn file_in(name: &'static str, root: &str, bytes: &[u8]) -> Place {
    let dir = crate::support::ScratchDir::below(root).unwrap();
    let path = dir.path().join("x");
    fs::write(&path, bytes).unwrap();
    fs::File::open(&path).unwrap().sync_all().unwrap();
    Place { name, kind: EndpointKind::File, path, _device: None, dir }
}

/// A loop device over a tmpfs file of `bytes`, whole sectors.
pub fn loop_device(bytes: &[u8]) -> Option<Place> {
    assert!(bytes.len().is_multiple_of(512));
    let file = file_in("loop", "/dev/shm", bytes);
    let device = Loop::over(&file.path)?;
    let path = device.path.clone();
    Some(Place { kind: EndpointKind::Block, path, _device: Some(device), ..file })
}

/// Every kind that is available, each with `bytes`; devices have whole sectors of them.
pub fn everywhere(bytes: &[u8]) -> Vec<Place> {
    let mut places = vec![file_in("ext4 or what /var/tmp is", "/var/tmp", bytes), file_in("tmpfs", "/dev/shm", bytes)];
    places.extend(loop_device(&bytes[..bytes.len() / 512 * 512]));
    places
}

impl Place {
    /// Its facts, from the room's probe.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new(&self.path.to_string_lossy(), self.kind);
        let stat = fs::metadata(&self.path).unwrap();
        if self.kind == EndpointKind::Block {
            facts.id = Some(FileId::Device(stat.rdev()));
            disks::block::probe(&self.path, &mut facts).unwrap();
        } else {
            facts.id = Some(FileId::File(stat.dev(), stat.ino()));
            disks::file::probe(&self.path, &mut facts).unwrap();
        }
        facts
    }

    /// The cache modes that its facts allow.
    pub fn caches(&self) -> Vec<Cache> {
        let facts = self.facts();
        let mut caches = vec![Cache::Keep, Cache::Drop];
        caches.extend(facts.direct.map(|_| Cache::Direct));
        caches.extend(facts.dontcache.then_some(Cache::DroppedByKernel));
        caches
    }

    /// A side of a plan that opens it with its present contents.
    pub fn side(&self, cache: Cache) -> PlanSide {
        side(&self.path, &self.facts(), cache, Existing::Keep)
    }
}

/// A side of a plan.
pub fn side(path: &Path, facts: &Facts, cache: Cache, existing: Existing) -> PlanSide {
    let align = facts.direct.filter(|_| cache == Cache::Direct).map_or(1, |direct| direct.offset_bytes);
    PlanSide {
        address: path.to_string_lossy().into_owned(),
        path: path.to_owned(),
        kind: facts.kind,
        map: AddressMap::from(0),
        access: Access { cache, offset_align_bytes: align, exclusive: facts.kind == EndpointKind::Block, existing },
        lock: None,
        moves_head: false,
        through: None,
    }
}

/// Opens a place as a source. If it is in use, opening is retried: a program that another test is just starting
/// inherits all claims of this process until it executes.
pub fn open_source(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    when_free(|| haul::disks::open_source(side, facts))
}

/// The same as a dest.
pub fn open_dest(side: &PlanSide, facts: &Facts) -> Result<Arc<dyn Endpoint>> {
    when_free(|| haul::disks::open_dest(side, facts))
}

fn when_free(open: impl Fn() -> Result<Arc<dyn Endpoint>>) -> Result<Arc<dyn Endpoint>> {
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        match open() {
            Err(error) if is_busy(&error) && Instant::now() < give_up => sleep(Duration::from_millis(2)),
            opened => return opened,
        }
    }
}

fn is_busy(error: &haul::core::Error) -> bool {
    error.source.as_ref().and_then(std::io::Error::raw_os_error) == Some(libc::EBUSY)
}
