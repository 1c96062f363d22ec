//! Two sides of one kind, and copies between them.
use super::faulty::{Fault, Faulty};
use crate::support::{FailingDisk, Fails, LoopDevice, ScratchDir, memory_dir, noise, skip};
use haul::core::{
    CheckpointPlan, CheckpointSink, Ended, Endpoint, EngineKind, Error, Extent, ExtentSet, Host, Kept, NoObserver,
    OnError, Outcome, Side, Stop, Tally,
};
use haul::plan::{Options, When};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const BLOCK_BYTES: u64 = 16 << 10;
pub const SECTOR_BYTES: u64 = 512;
/// Size of the copy. The dest has as many bytes after it.
pub const BYTES: u64 = 8 * BLOCK_BYTES;

/// The kind of the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Files in memory.
    File,
    /// Loop devices over files in memory.
    Block,
    /// Files served by an NBD server, mounted.
    Nbd,
}

/// A journal that checks its claims.
#[derive(Clone)]
struct RecordFile {
    source: Vec<u8>,
    /// The memory below the dest.
    dest: PathBuf,
    /// Durable extents, and unreadable ones.
    recorded: Arc<Mutex<[ExtentSet; 2]>>,
}

impl CheckpointSink for RecordFile {
    fn keep(&mut self, kept: &Kept, unread: &ExtentSet) -> Result<(), Error> {
        let durable = &kept.bytes;
        let dest = fs::read(&self.dest).expect("it exists");
        for extent in durable.iter() {
            let bytes = extent.offset as usize..extent.end() as usize;
            assert!(dest[bytes.clone()] == self.source[bytes], "{extent:?} is claimed and not there");
        }
        let [all_durable, all_unread] = &mut *self.recorded.lock().expect("no thread panicked");
        all_durable.insert_all(durable);
        all_unread.insert_all(unread);
        all_unread.remove_all(all_durable);
        Ok(())
    }
}

pub struct Bed {
    /// The paths that haul opens, by side.
    paths: [PathBuf; 2],
    _loops: Vec<LoopDevice>,
    _disks: Vec<FailingDisk>,
    dir: ScratchDir,
}

impl Bed {
    /// `None`, with a message, if it is not available here.
    pub fn new(sort: Sort) -> Option<Self> {
        if let Err(why) = io_uring::IoUring::new(4) {
            skip(&format!("the tables are of both engines, and io_uring is not to be had: {why}"));
            return None;
        }
        let dir = memory_dir();
        let backing = ["source", "dest"].map(|name| dir.path().join(name));
        backing.iter().for_each(|path| fs::write(path, noise(2 * BYTES as usize, 1)).expect("there is enough space"));
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
                    fs::create_dir(&at).expect("the test directory is writable");
                    disks.push(FailingDisk::with(&at, backing, Fails::Reads, &[])?);
                    *path = disks.last()?.path();
                }
            }
        }
        Some(Bed { paths, _loops: loops, _disks: disks, dir })
    }

    fn backing(&self, side: Side) -> PathBuf {
        self.dir.path().join(side.key())
    }

    /// The part of the source that is copied.
    pub fn source(&self) -> Vec<u8> {
        fs::read(self.backing(Side::Source)).expect("it exists")[..BYTES as usize].to_vec()
    }

    /// The contents of the dest, with the bytes after the copy.
    pub fn dest(&self) -> Vec<u8> {
        fs::read(self.backing(Side::Dest)).expect("it exists")
    }

    /// The bytes of the dest after the copy.
    pub fn behind(&self) -> Vec<u8> {
        noise(2 * BYTES as usize, 2)[BYTES as usize..].to_vec()
    }

    /// Fills the whole dest with bytes that differ from the source's.
    fn begin_anew(&self) {
        let stale = noise(2 * BYTES as usize, 2);
        fs::write(&self.paths[1], &stale)
            .or_else(|_| fs::write(self.backing(Side::Dest), &stale))
            .expect("this test created it");
    }

    /// Copies the first half of the source to a dest with different data, with `fault` at `place` of `side`.
    pub fn copy(&self, engine: EngineKind, fault: Fault, side: Side, place: u64, on_error: OnError) -> Outcome {
        self.begin_anew();
        self.run(engine, Some((fault, side, place)), on_error, None)
    }

    /// The same with a journal, which must never claim what is not on the dest; then resumes it without the fault.
    pub fn copy_and_resume(&self, engine: EngineKind, fault: Fault, side: Side, place: u64, on_error: OnError) {
        self.begin_anew();
        let record_file =
            RecordFile { source: self.source(), dest: self.backing(Side::Dest), recorded: Arc::default() };
        let first = self.run(engine, Some((fault, side, place)), on_error, Some(&record_file));
        let [durable, unread] = record_file.recorded.lock().expect("no thread panicked").clone();
        assert!(durable.intersection(&unread).is_empty());
        if on_error.skip {
            assert_eq!(unread, first.unread[0].runs, "what could not be read is written down");
        }
        let last = self.run(engine, None, on_error, Some(&record_file));
        assert!(matches!(last.ended, Ended::Complete), "{fault:?} at {place}: {:?}", last.ended);
        assert!(last.totals.read_bytes <= BYTES - durable.total_bytes() + 2 * 4096, "what is durable was read again");
        assert!(self.dest()[..BYTES as usize] == self.source(), "{fault:?} at {place}: not all is there");
        assert!(self.dest()[BYTES as usize..] == self.behind()[..], "bytes behind the copy were changed");
    }

    fn run(
        &self,
        engine: EngineKind,
        failing: Option<(Fault, Side, u64)>,
        on_error: OnError,
        record_file: Option<&RecordFile>,
    ) -> Outcome {
        let [source, dest] =
            self.paths.each_ref().map(|path| path.to_str().expect("paths of test directories are UTF-8"));
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
        let facts = haul::disks::probe::both(source, dest).expect("both exist");
        let plan =
            haul::plan::make(&options, &facts.0, &facts.1, &Host { ring_refused: None }).expect("it is possible").plan;
        let opened = haul::disks::open_source(&plan.source, &facts.0);
        let mut ends: [Arc<dyn Endpoint>; 2] =
            [opened.expect("it opens"), haul::disks::open_dest(&plan.dest, &facts.1).expect("it opens")];
        if let Some((fault, side, place)) = failing {
            let bad = Extent::new(place / SECTOR_BYTES * SECTOR_BYTES, SECTOR_BYTES);
            ends[side.index()] = Arc::new(Faulty::new(ends[side.index()].clone(), fault, bad));
        }
        let keeping = record_file.map(|record_file| {
            let [already, _] = record_file.recorded.lock().expect("no thread panicked").clone();
            CheckpointPlan {
                sink: Box::new(record_file.clone()),
                every: [Duration::ZERO; 2],
                already,
                digested: ExtentSet::new(),
            }
        });
        let already = keeping.as_ref().map(|keeping| keeping.already.clone()).unwrap_or_default();
        let mut schedule = haul::core::schedules::rest(&plan, &ends[0], &already, &ExtentSet::new());
        let (stop, tally) = (Stop::default(), Tally::default());
        let outcome = haul::engine::run_keeping(
            &plan,
            &ends,
            &mut *schedule,
            haul::engine::Watch::new(&stop, &tally, &NoObserver),
            keeping,
        );
        // Acknowledged data must be visible below the loop device or the server.
        let _ = ends[1].make_durable();
        outcome
    }
}
