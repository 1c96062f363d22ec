//! What is measured.
use super::failure::answers_no_more;
use super::run::fill;
use super::{BadRange, Clock, MeasureFailure, Point, Run, RunResult, Thermometer, Trial, Way, run};
use crate::core::{Arena, Buffer, Endpoint, EngineKind, Error, Extent, Kind, Op, Stop};
use crate::engine::EndpointQueue;
use crate::sys::page_cache;
use rustix::fs::Advice;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Checked in the page cache before a run: enough to tell whether it will measure memory.
const LOOKED_AT_BYTES: u64 = 64 << 20;

/// Dropped from the page cache behind the last byte of a run: what the kernel may have read ahead.
const READ_AHEAD_BYTES: u64 = 16 << 20;

/// Places that are to be dropped again, at most: pages that others have mapped never go.
const BROUGHT_MAX: usize = 64;

/// How often that is tried at the end, and how long what is on its way is given in between.
const DROPS_MAX: u32 = 50;
/// See [`DROPS_MAX`].
const BETWEEN_DROPS: Duration = Duration::from_millis(10);

/// Failures that are kept with their offsets; more are counted.
const BAD_MAX: usize = 64;

/// A disk in which so many runs one after the other, at as many places, moved nothing answers no more.
const BARREN_RUNS_MAX: usize = 8;

/// What is measured: an open disk or file, by each way that it has.
pub struct Subject {
    /// For messages.
    pub address: String,
    /// The ways and the endpoint of each.
    pub ways: Vec<(Way, Arc<dyn Endpoint>)>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Reading or writing.
    pub op: Op,
    /// Where runs may go.
    pub extents: Vec<Extent>,
    /// Runs begin on multiples of this.
    pub align_bytes: u64,
    /// What is written; every block begins with the start of it.
    pub content: Vec<u8>,
    /// Places that failed so far.
    pub bad: Vec<BadRange>,
    /// How many did.
    pub failed: u64,
    /// What runs are timed by; the real clock at first.
    pub clock: Clock,
    /// What tells how warm the disk is; nothing at first.
    pub thermometer: Option<Thermometer>,
    arena: Arc<Arena>,
    /// Where the last runs began, if nothing was moved in any of them.
    barren: BTreeSet<u64>,
    /// What runs brought into the page cache, where dropping it has left something.
    brought: Vec<(Arc<dyn Endpoint>, Extent)>,
}

impl Subject {
    /// A subject to be read on `extents`, with memory for `in_flight_bytes`.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(
        address: &str,
        ways: Vec<(Way, Arc<dyn Endpoint>)>,
        engine: EngineKind,
        extents: Vec<Extent>,
        in_flight_bytes: u64,
    ) -> io::Result<Self> {
        let arena = Arena::map(usize::try_from(in_flight_bytes).map_err(io::Error::other)?)?;
        let facts = ways.first().map(|(_, end)| end.facts());
        let align_bytes = facts.map_or(1, |facts| facts.logical_block_bytes.max(1)).into();
        Ok(Subject {
            address: address.to_owned(),
            ways,
            engine,
            op: Op::Read,
            extents,
            align_bytes,
            content: Vec::new(),
            bad: Vec::new(),
            failed: 0,
            clock: Clock::real(),
            thermometer: None,
            arena,
            barren: BTreeSet::new(),
            brought: Vec::new(),
        })
    }

    /// Most bytes in flight that there is memory for.
    pub fn in_flight_bytes_max(&self) -> u64 {
        self.arena.len() as u64
    }

    /// Memory for one command of `bytes`, at most as many as [`Subject::in_flight_bytes_max`]. Not while a run has it.
    pub(super) fn memory(&self, bytes: u32) -> Buffer {
        self.arena.carve(bytes, 1).pop().expect("one was asked for")
    }

    /// Whether it can be reached so.
    pub fn has(&self, way: Way) -> bool {
        self.ways.iter().any(|(other, _)| *other == way)
    }

    /// Bytes at the start of `extent` that the page cache holds, and that a run at `point` would read from there.
    pub fn cached_bytes(&mut self, point: Point, extent: Extent) -> u64 {
        self.drop_brought();
        let end = self.ways.iter().find(|(way, _)| *way == point.way && *way != Way::Direct);
        end.and_then(|(_, end)| end.descriptor())
            .map_or(0, |fd| cached(fd, Extent::new(extent.offset, extent.len.min(LOOKED_AT_BYTES))))
    }

    /// One run at `point` from the start of `extent` on, for about as long as `patience`. What a read through the page
    /// cache left there is dropped, unless it was there before.
    ///
    /// # Errors
    /// It was asked to stop, or the disk has disappeared, or answers no more.
    pub fn run(
        &mut self,
        point: Point,
        extent: Extent,
        patience: Duration,
        stop: &Stop,
    ) -> Result<Trial, MeasureFailure> {
        self.run_noting(point, extent, patience, stop).map(|(trial, _)| trial)
    }

    /// The same, with the times at which the first blocks came.
    pub(super) fn run_noting(
        &mut self,
        point: Point,
        extent: Extent,
        patience: Duration,
        stop: &Stop,
    ) -> Result<(Trial, Vec<Duration>), MeasureFailure> {
        let end = self.ways.iter().find(|(way, _)| *way == point.way).map(|(_, end)| end.clone());
        let Some(end) = end else {
            let what = format!("{} does not support {} I/O", self.address, point.way.name());
            return Err(MeasureFailure::Broken(Error::new(Kind::Unsupported, what)));
        };
        // What is written goes to the disk, whatever the page cache held of it.
        let cached_bytes = if self.op == Op::Read { self.cached_bytes(point, extent) } else { 0 };
        let Subject { engine, op, ref content, ref clock, .. } = *self;
        let asked = Run { address: &self.address, end: &end, engine, op, point, extent, patience, content, clock };
        let mut last = None;
        let (bad, failed) = (&mut self.bad, &mut self.failed);
        let mut noted = |one: BadRange| {
            last = Some((one.offset, one.why.clone()));
            note(bad, failed, one);
        };
        let RunResult { mut trial, unflushed, came } = run(&asked, &self.arena, stop, &mut noted)?;
        trial.cached_bytes = cached_bytes;
        if unflushed {
            // Each open descriptor reports a loss once, also one of another writer.
            self.ways.iter().for_each(|(_, end)| drop(end.make_durable()));
        } else if trial.moved_bytes > 0 {
            self.barren.clear();
        } else if let Some(last) = last {
            self.barren.insert(extent.offset);
            if self.barren.len() >= BARREN_RUNS_MAX {
                let asked = format!("every request of the last {BARREN_RUNS_MAX} runs, each at another place,");
                return Err(MeasureFailure::Broken(answers_no_more(&end, op, &self.address, &asked, last)));
            }
        }
        if point.way != Way::Direct && cached_bytes == 0 {
            let behind = (trial.moved_bytes + READ_AHEAD_BYTES).min(extent.len);
            if let Some(fd) = end.descriptor() {
                trial.left_bytes = cached(fd, Extent::new(extent.offset, trial.moved_bytes.max(1)));
                self.brought.truncate(BROUGHT_MAX - 1);
                self.brought.insert(0, (end.clone(), Extent::new(extent.offset, behind)));
                self.drop_brought();
            }
        }
        Ok((trial, came))
    }

    /// Drops what runs brought into the page cache. What is still being read ahead cannot be dropped: it is tried again
    /// before the next run, or that would find it cached, and bring in more.
    fn drop_brought(&mut self) {
        self.brought.retain(|(end, extent)| {
            let Some(fd) = end.descriptor() else { return false };
            forget(fd, *extent);
            cached(fd, *extent) > 0
        });
    }

    /// The page cache holds something of `extent`, wherever in it, that reads by this way would have from it.
    pub(super) fn is_cached(&mut self, end: &Arc<dyn Endpoint>, way: Way, extent: Extent) -> bool {
        self.drop_brought();
        way != Way::Direct && end.descriptor().is_some_and(|fd| cached(fd, extent) > 0)
    }

    /// Drops from the page cache what reads by this way have brought in anywhere of `extent`, unless something of it
    /// was there before.
    pub(super) fn forget(&mut self, end: &Arc<dyn Endpoint>, way: Way, extent: Extent, was_there: bool) {
        if way != Way::Direct && !was_there {
            self.brought.truncate(BROUGHT_MAX - 1);
            self.brought.insert(0, (end.clone(), extent));
            self.drop_brought();
        }
    }

    /// Notes a place that failed.
    pub fn note_bad(&mut self, bad: BadRange) {
        note(&mut self.bad, &mut self.failed, bad);
    }

    /// So many buffers with what is written.
    pub(super) fn filled(&self, block_bytes: u32, count: u32) -> Vec<Buffer> {
        let mut buffers = self.arena.carve(block_bytes, count);
        buffers.iter_mut().for_each(|buffer| fill(buffer, &self.content));
        buffers
    }

    /// Queues for so many requests at a time.
    ///
    /// # Errors
    /// As for [`EndpointQueue::open`].
    pub(super) fn one_side(&self, end: &Arc<dyn Endpoint>, depth: u32) -> io::Result<EndpointQueue> {
        EndpointQueue::open(end, self.engine, depth, &self.arena)
    }
}

fn note(bad: &mut Vec<BadRange>, failed: &mut u64, one: BadRange) {
    *failed += 1;
    if bad.len() < BAD_MAX {
        bad.push(one);
    }
}

impl Drop for Subject {
    /// Leaves the page cache as it was, as far as no other process holds what is there now.
    fn drop(&mut self) {
        for _ in 0..DROPS_MAX {
            self.drop_brought();
            if self.brought.is_empty() {
                break;
            }
            std::thread::sleep(BETWEEN_DROPS);
        }
    }
}

/// Bytes of `extent` that the page cache holds; 0 where the kernel does not say (before 6.5).
fn cached(fd: BorrowedFd<'_>, extent: Extent) -> u64 {
    let stat = page_cache::cachestat(fd, extent.offset, extent.len);
    stat.map_or(0, |stat| stat.nr_cache * rustix::param::page_size() as u64)
}

/// Gives pages back that a run brought in.
fn forget(fd: BorrowedFd<'_>, extent: Extent) {
    if let Some(len) = std::num::NonZeroU64::new(extent.len) {
        // It only costs memory where the kernel does not care.
        let _ = rustix::fs::fadvise(fd, extent.offset, Some(len), Advice::DontNeed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{EndpointKind, Facts, Request};
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    const LEN: u64 = 1 << 20;

    /// A file whose pages are busy behind a read, as those are that are still being read ahead: they cannot be dropped.
    struct Busy {
        file: File,
        facts: Facts,
    }

    impl Endpoint for Busy {
        fn facts(&self) -> &Facts {
            &self.facts
        }

        fn perform(&self, request: &mut Request) -> io::Result<u32> {
            let offset = request.at();
            self.file.read_exact_at(request.rest_mut(), offset)?;
            // To be written to the disk, so it stays until it is there.
            self.file.write_all_at(request.rest(), offset)?;
            Ok(request.left())
        }

        fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            Some(self.file.as_fd())
        }

        fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
            Kind::Io
        }
    }

    #[test]
    fn what_could_not_be_dropped_at_once_is_dropped_later() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![7; LEN as usize], 0).unwrap();
        file.sync_all().unwrap();
        let whole = Extent::new(0, LEN);
        forget(file.as_fd(), whole);
        if cached(file.as_fd(), whole) > 0 {
            eprintln!("skipped: what is in this file system is always in memory");
            return;
        }
        let seen = file.try_clone().unwrap();
        let end: Arc<dyn Endpoint> = Arc::new(Busy { file, facts: Facts::new("busy", EndpointKind::File) });
        let ways = vec![(Way::Buffered, end)];
        let mut subject = Subject::new("busy", ways, EngineKind::Sync, vec![whole], LEN).unwrap();
        let point = Point { way: Way::Buffered, block_bytes: 65536, depth: 1 };
        let trial = subject.run(point, whole, Duration::from_millis(1), &Stop::default()).unwrap();
        assert!(trial.cached_bytes == 0 && trial.left_bytes > 0, "{trial:?}");
        drop(subject);
        assert_eq!(cached(seen.as_fd(), whole), 0);
    }
}
