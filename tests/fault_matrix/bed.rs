//! Two sides of one kind with a copy between them.
use crate::faulty::{Fault, Faulty};
use crate::support::{FailingDisk, Fails, LoopDevice, memory_dir, noise, skip};
use haul::contract::{Endpoint, EngineKind, Extent, Host, OnError, Outcome, Side, Silent, Stop, Tally};
use haul::plan::{Options, When};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

pub const BLOCK_BYTES: u64 = 16 << 10;
pub const SECTOR_BYTES: u64 = 512;
/// Bytes that are copied. The dest has as many behind them.
pub const BYTES: u64 = 8 * BLOCK_BYTES;

/// What the sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Files in memory.
    File,
    /// Loop devices over them.
    Block,
    /// Files that an NBD server keeps, mounted.
    Nbd,
}

pub struct Bed {
    dir: TempDir,
    /// What haul is given, by side.
    paths: [PathBuf; 2],
    _loops: Vec<LoopDevice>,
    _disks: Vec<FailingDisk>,
}

impl Bed {
    /// `None`, said aloud, where it cannot be had here.
    pub fn new(sort: Sort) -> Option<Self> {
        if let Err(why) = io_uring::IoUring::new(4) {
            skip(&format!("the tables are of both engines, and io_uring is not to be had: {why}"));
            return None;
        }
        let dir = memory_dir();
        let backing = ["source", "dest"].map(|name| dir.path().join(name));
        backing.iter().for_each(|path| fs::write(path, noise(2 * BYTES as usize, 1)).expect("there is room"));
        let (mut loops, mut disks) = (Vec::new(), Vec::new());
        let mut paths = backing.clone();
        for (path, backing) in paths.iter_mut().zip(&backing) {
            match sort {
                Sort::File => {}
                Sort::Block => {
                    loops.push(LoopDevice::over(backing)?);
                    *path = loops.last()?.path().to_owned();
                }
                Sort::Nbd => {
                    let at = dir.path().join(format!("{}-served", backing.file_name()?.to_str()?));
                    fs::create_dir(&at).expect("scratch takes directories");
                    disks.push(FailingDisk::with(&at, backing, Fails::Reads, &[])?);
                    *path = disks.last()?.path();
                }
            }
        }
        Some(Bed { dir, paths, _loops: loops, _disks: disks })
    }

    fn backing(&self, side: Side) -> PathBuf {
        self.dir.path().join(side.name())
    }

    /// What the source holds, as far as it is copied.
    pub fn source(&self) -> Vec<u8> {
        fs::read(self.backing(Side::Source)).expect("it is there")[..BYTES as usize].to_vec()
    }

    /// What the dest holds, and what is behind.
    pub fn dest(&self) -> Vec<u8> {
        fs::read(self.backing(Side::Dest)).expect("it is there")
    }

    /// What is behind the copy on the dest.
    pub fn behind(&self) -> Vec<u8> {
        noise(2 * BYTES as usize, 2)[BYTES as usize..].to_vec()
    }

    /// Copies the first half of the source over that of a dest of other bytes, with `fault` at `place` of `side`.
    pub fn copy(&self, engine: EngineKind, fault: Fault, side: Side, place: u64, on_error: OnError) -> Outcome {
        let [source, dest] = self.paths.each_ref().map(|path| path.to_str().expect("scratch names are text"));
        let stale = noise(2 * BYTES as usize, 2);
        fs::write(&self.paths[1], &stale).or_else(|_| fs::write(self.backing(Side::Dest), &stale)).expect("it is ours");
        let options = Options {
            source: source.to_owned(),
            dest: dest.to_owned(),
            seek_bytes: Some(0),
            count_bytes: Some(BYTES),
            engine: Some(engine),
            block_bytes: Some(BLOCK_BYTES as u32),
            depth: Some(4),
            sparse: When::Never,
            reflink: When::Never,
            on_error,
            yes: true,
            ..Options::default()
        };
        let facts = haul::probe::both(source, dest).expect("both are there");
        let plan =
            haul::plan::make(&options, &facts.0, &facts.1, &Host { ring_refused: None }).expect("it is possible");
        let opened = haul::endpoint::open_source(&plan.source, &facts.0);
        let mut ends: [Arc<dyn Endpoint>; 2] =
            [opened.expect("it opens"), haul::endpoint::open_dest(&plan.dest, &facts.1).expect("it opens")];
        let bad = Extent::new(place / SECTOR_BYTES * SECTOR_BYTES, SECTOR_BYTES);
        ends[side.index()] = Arc::new(Faulty::new(ends[side.index()].clone(), fault, bad));
        let mut schedule = haul::schedule::make(&plan, &ends[0]);
        let outcome = haul::engine::run(&plan, &ends, &mut *schedule, &Stop::default(), &Tally::default(), &Silent);
        // What was acknowledged has to be seen below the loop device or the server.
        let _ = ends[1].make_durable();
        outcome
    }
}
