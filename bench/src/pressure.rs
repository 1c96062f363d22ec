//! Little memory: whether a file that was in the page cache before a copy is still cached after it.
//!
//! On a machine with much memory a copy of a few GiB evicts nothing, so the copy and the file share a memory control
//! group that is smaller than the copy.
use crate::bed::{Bed, content};
use crate::error::{Doing, Error, Result};
use crate::machine::cached_bytes;
use crate::process::{Interrupt, Line, run};
use crate::workplace::Workplace;
use std::fs;
use std::path::{Path, PathBuf};

/// Size of the test file.
const TEST_FILE_BYTES: u64 = 64 << 20;

/// Memory of the group: the test file, and about as much as a small machine has available for a copy.
const GROUP_BYTES: u64 = 192 << 20;

/// How often the test file is read again if the kernel immediately evicted parts of it.
const WARMINGS: usize = 5;

/// With a smaller share of the test file in the page cache, a copy has too little to evict.
const WARM_MIN: f64 = 0.5;

/// The group and its test file; dropping it removes the group.
pub struct Pressure {
    group: Group,
    test_file: PathBuf,
}

impl Pressure {
    /// Creates both.
    ///
    /// # Errors
    /// Memory control groups are not available, or cannot be created.
    pub fn new(workplace: &Workplace) -> Result<Self> {
        let group = Group::new(GROUP_BYTES)?;
        let test_file = workplace.disk().join("test-file");
        content::noise(&test_file, 0, TEST_FILE_BYTES)?;
        Ok(Self { group, test_file })
    }

    /// Share of the previously cached test file that a run of `line` leaves in the page cache, 0 to 1; `None` if the
    /// run failed.
    ///
    /// # Errors
    /// The test file cannot be cached, or the bed fails.
    pub fn test_file_left(&self, bed: &Bed, line: &Line, interrupt: &Interrupt) -> Result<Option<f64>> {
        bed.reset()?;
        let before = self.warm(interrupt)?;
        let ended = run(line, Some(&self.procs()), interrupt)?;
        if ended.status.success() { Ok(Some((self.share()? / before).min(1.0))) } else { Ok(None) }
    }

    /// Caches the test file; returns the cached share.
    ///
    /// A kernel that reclaims memory early (DAMON) or is short of memory evicts some pages at once; the rest is
    /// still sufficient.
    ///
    /// # Errors
    /// Too little can be cached.
    pub fn warm(&self, interrupt: &Interrupt) -> Result<f64> {
        let mut share = 0.0;
        for _ in 0..WARMINGS {
            share = self.read_once(interrupt)?;
            if share >= 0.99 {
                break;
            }
        }
        if share < WARM_MIN {
            return Err(Error(format!("only {:.0} % of the test file stay in the page cache", share * 100.0)));
        }
        Ok(share)
    }

    /// Reads the test file again; returns the share in the page cache.
    fn read_once(&self, interrupt: &Interrupt) -> Result<f64> {
        crate::machine::uncache(&self.test_file)?;
        // Read in the group, so that its pages belong to the group; once, like a program that was started earlier.
        let read = Line::words(&format!("cp {} /dev/null", self.test_file.display()));
        run(&read, Some(&self.procs()), interrupt)?;
        self.share()
    }

    /// Share of the test file in the page cache, 0 to 1.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn share(&self) -> Result<f64> {
        Ok(cached_bytes(&self.test_file)? as f64 / TEST_FILE_BYTES as f64)
    }

    /// The file by which a process joins the group.
    pub fn procs(&self) -> PathBuf {
        self.group.0.join("cgroup.procs")
    }
}

/// A memory control group, of either version.
struct Group(PathBuf);

impl Group {
    fn new(bytes: u64) -> Result<Self> {
        let (parent, limit) = hierarchy()?;
        let path = parent.join(format!("haul-bench-{}", std::process::id()));
        fs::create_dir(&path).doing(format_args!("make the control group {}", path.display()))?;
        let group = Self(path);
        fs::write(group.0.join(limit), bytes.to_string()).doing("limit a control group")?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// The directory in which groups are created, and the file that limits one.
fn hierarchy() -> Result<(PathBuf, &'static str)> {
    let (first, second) = (Path::new("/sys/fs/cgroup/memory"), Path::new("/sys/fs/cgroup"));
    if first.join("memory.limit_in_bytes").exists() {
        return Ok((first.into(), "memory.limit_in_bytes"));
    }
    let controllers = fs::read_to_string(second.join("cgroup.subtree_control")).unwrap_or_default();
    if !controllers.split_whitespace().any(|name| name == "memory") {
        fs::write(second.join("cgroup.subtree_control"), "+memory").doing("have memory control groups")?;
    }
    Ok((second.into(), "memory.max"))
}
