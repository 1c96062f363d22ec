//! Little memory: whether a file that was in the page cache before a copy is still there after it.
//!
//! On a machine with much memory nothing is ever evicted in a copy of a few GiB, so the copy and the file share a
//! memory control group that is smaller than the copy.
use crate::bed::{Bed, content};
use crate::error::{Doing, Error, Result};
use crate::machine::cached_bytes;
use crate::process::{Interrupt, Line, run};
use crate::workplace::Workplace;
use std::fs;
use std::path::{Path, PathBuf};

/// Size of the witness file.
const WITNESS_BYTES: u64 = 64 << 20;

/// Memory of the group: the witness, and about as much as a small machine has to spare for a copy.
const GROUP_BYTES: u64 = 192 << 20;

/// How often the witness is read again when the kernel let parts of it go at once.
const WARMINGS: usize = 5;

/// With less of the witness than this in the page cache, a copy has too little to evict.
const WARM_MIN: f64 = 0.5;

/// The group and its witness file; dropping it removes the group.
pub struct Pressure {
    group: Group,
    witness: PathBuf,
}

impl Pressure {
    /// Makes both.
    ///
    /// # Errors
    /// When there are no memory control groups here, or they may not be made.
    pub fn new(workplace: &Workplace) -> Result<Self> {
        let group = Group::new(GROUP_BYTES)?;
        let witness = workplace.disk().join("witness");
        content::noise(&witness, 0, WITNESS_BYTES)?;
        Ok(Self { group, witness })
    }

    /// Share of the witness that a run of `line` leaves in the page cache, of what was there before it, 0 to 1; `None`
    /// when the run failed.
    ///
    /// # Errors
    /// When the witness cannot be brought into the page cache, or the bed fails.
    pub fn witness_left(&self, bed: &Bed, line: &Line, interrupt: &Interrupt) -> Result<Option<f64>> {
        bed.reset()?;
        let before = self.warm(interrupt)?;
        let ended = run(line, Some(&self.procs()), interrupt)?;
        if ended.status.success() { Ok(Some((self.share()? / before).min(1.0))) } else { Ok(None) }
    }

    /// Brings the witness into the page cache, and says what share of it is there then.
    ///
    /// A kernel that reclaims ahead of time (DAMON) or whose free memory is short takes some pages back at once;
    /// what is left is a measure all the same.
    ///
    /// # Errors
    /// When it does not get there.
    pub fn warm(&self, interrupt: &Interrupt) -> Result<f64> {
        let mut share = 0.0;
        for _ in 0..WARMINGS {
            share = self.read_once(interrupt)?;
            if share >= 0.99 {
                break;
            }
        }
        if share < WARM_MIN {
            return Err(Error(format!("only {:.0} % of the witness file stay in the page cache", share * 100.0)));
        }
        Ok(share)
    }

    /// Reads the witness anew, and says what share of it is in the page cache then.
    fn read_once(&self, interrupt: &Interrupt) -> Result<f64> {
        crate::machine::uncache(&self.witness)?;
        // Read in the group, so that its pages are the group's; once, like a program that was started this morning.
        let read = Line::words(&format!("cp {} /dev/null", self.witness.display()));
        run(&read, Some(&self.procs()), interrupt)?;
        self.share()
    }

    /// Share of the witness that is in the page cache, 0 to 1.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn share(&self) -> Result<f64> {
        Ok(cached_bytes(&self.witness)? as f64 / WITNESS_BYTES as f64)
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

/// Where groups are made, and the file that limits one.
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
