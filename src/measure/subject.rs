//! The subject of a measurement.
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

/// Number of bytes checked in the page cache before a run: enough to decide whether it would measure memory.
const CHECKED_BYTES: u64 = 64 << 20;

/// Number of bytes dropped from the page cache after the end of a run, because the kernel may have read them ahead.
const READ_AHEAD_BYTES: u64 = 16 << 20;

/// Maximum number of extents to drop again later. Pages that other processes have mapped cannot be dropped.
const BROUGHT_MAX: usize = 64;

/// Attempts to drop pages at the end, and the pause between them for read-ahead in flight.
const DROPS_MAX: u32 = 50;
/// See [`DROPS_MAX`].
const DROP_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum number of failures that are listed; further ones are only counted.
const BAD_MAX: usize = 64;

/// A disk that transfers nothing in this many consecutive runs at different offsets no longer responds.
const EMPTY_RUNS_MAX: usize = 8;

/// The subject of a measurement: an open disk or file, with an endpoint for each way.
pub struct Subject {
    /// The address, for messages.
    pub address: String,
    /// The available ways and their endpoints.
    pub ways: Vec<(Way, Arc<dyn Endpoint>)>,
    /// How requests are kept in flight.
    pub engine: EngineKind,
    /// Read or write.
    pub op: Op,
    /// The extents that runs may access.
    pub extents: Vec<Extent>,
    /// Alignment of runs.
    pub align_bytes: u64,
    /// The data to write; every block begins with the start of it.
    pub content: Vec<u8>,
    /// The failed extents so far.
    pub bad: Vec<BadRange>,
    /// The number of failures.
    pub failed: u64,
    /// The clock of the runs; initially the real clock.
    pub clock: Clock,
    /// The temperature sensor of the disk; initially none.
    pub thermometer: Option<Thermometer>,
    arena: Arc<Arena>,
    /// Offsets of the last runs, if none of them transferred anything.
    empty_runs: BTreeSet<u64>,
    /// Extents that runs brought into the page cache and that could not be dropped completely.
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
            empty_runs: BTreeSet::new(),
            brought: Vec::new(),
        })
    }

    /// Maximum bytes in flight, limited by memory.
    pub fn in_flight_bytes_max(&self) -> u64 {
        self.arena.len() as u64
    }

    /// Memory for a command of `bytes`, at most [`Subject::in_flight_bytes_max`]. Must not be called during a run.
    pub(super) fn memory(&self, bytes: u32) -> Buffer {
        self.arena.carve(bytes, 1).pop().expect("one was asked for")
    }

    /// Whether this way is available.
    pub fn has(&self, way: Way) -> bool {
        self.ways.iter().any(|(other, _)| *other == way)
    }

    /// Number of bytes at the start of `extent` that a run at `point` would read from the page cache.
    pub fn cached_bytes(&mut self, point: Point, extent: Extent) -> u64 {
        self.drop_brought();
        let end = self.ways.iter().find(|(way, _)| *way == point.way && *way != Way::Direct);
        end.and_then(|(_, end)| end.descriptor())
            .map_or(0, |fd| cached(fd, Extent::new(extent.offset, extent.len.min(CHECKED_BYTES))))
    }

    /// Makes a run at `point` from the start of `extent`, for about the duration `patience`. Pages that buffered reads
    /// bring into the page cache are dropped, unless they were cached before.
    ///
    /// # Errors
    /// A stop was requested, the disk has disappeared, or it no longer responds.
    pub fn run(
        &mut self,
        point: Point,
        extent: Extent,
        patience: Duration,
        stop: &Stop,
    ) -> Result<Trial, MeasureFailure> {
        self.run_noting(point, extent, patience, stop).map(|(trial, _)| trial)
    }

    /// The same, with the completion times of the first blocks.
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
        // Writes reach the disk even if pages are cached.
        let cached_bytes = if self.op == Op::Read { self.cached_bytes(point, extent) } else { 0 };
        let Subject { engine, op, ref content, ref clock, .. } = *self;
        let requested = Run { address: &self.address, end: &end, engine, op, point, extent, patience, content, clock };
        let mut last = None;
        let (bad, failed) = (&mut self.bad, &mut self.failed);
        let mut noted = |one: BadRange| {
            last = Some((one.offset, one.why.clone()));
            note(bad, failed, one);
        };
        let RunResult { mut trial, unflushed, completion_times } = run(&requested, &self.arena, stop, &mut noted)?;
        trial.cached_bytes = cached_bytes;
        if unflushed {
            // Every open descriptor reports a writeback error once, including those of other writers.
            self.ways.iter().for_each(|(_, end)| drop(end.make_durable()));
        } else if trial.moved_bytes > 0 {
            self.empty_runs.clear();
        } else if let Some(last) = last {
            self.empty_runs.insert(extent.offset);
            if self.empty_runs.len() >= EMPTY_RUNS_MAX {
                let requested = format!("every request of the last {EMPTY_RUNS_MAX} runs, each at another place,");
                return Err(MeasureFailure::Broken(answers_no_more(&end, op, &self.address, &requested, last)));
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
        Ok((trial, completion_times))
    }

    /// Drops pages that runs brought into the page cache. Read-ahead in flight cannot be dropped; it is tried again
    /// before the next run, which would otherwise find cached pages and cause more read-ahead.
    fn drop_brought(&mut self) {
        self.brought.retain(|(end, extent)| {
            let Some(fd) = end.descriptor() else { return false };
            forget(fd, *extent);
            cached(fd, *extent) > 0
        });
    }

    /// Whether reads by this way would find any part of `extent` in the page cache.
    pub(super) fn is_cached(&mut self, end: &Arc<dyn Endpoint>, way: Way, extent: Extent) -> bool {
        self.drop_brought();
        way != Way::Direct && end.descriptor().is_some_and(|fd| cached(fd, extent) > 0)
    }

    /// Drops the pages of `extent` that reads by this way brought in, unless some of it was cached before.
    pub(super) fn forget(&mut self, end: &Arc<dyn Endpoint>, way: Way, extent: Extent, was_there: bool) {
        if way != Way::Direct && !was_there {
            self.brought.truncate(BROUGHT_MAX - 1);
            self.brought.insert(0, (end.clone(), extent));
            self.drop_brought();
        }
    }

    /// Records a failed extent.
    pub fn note_bad(&mut self, bad: BadRange) {
        note(&mut self.bad, &mut self.failed, bad);
    }

    /// `count` buffers filled with the data to write.
    pub(super) fn filled(&self, block_bytes: u32, count: u32) -> Vec<Buffer> {
        let mut buffers = self.arena.carve(block_bytes, count);
        buffers.iter_mut().for_each(|buffer| fill(buffer, &self.content));
        buffers
    }

    /// Queues for `depth` requests.
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
    /// Restores the page cache, except for pages that other processes use.
    fn drop(&mut self) {
        for _ in 0..DROPS_MAX {
            self.drop_brought();
            if self.brought.is_empty() {
                break;
            }
            std::thread::sleep(DROP_INTERVAL);
        }
    }
}

/// Number of bytes of `extent` in the page cache; 0 if the kernel does not report it (before 6.5).
fn cached(fd: BorrowedFd<'_>, extent: Extent) -> u64 {
    let stat = page_cache::cachestat(fd, extent.offset, extent.len);
    stat.map_or(0, |stat| stat.nr_cache * rustix::param::page_size() as u64)
}

/// Drops the pages that a run brought in.
fn forget(fd: BorrowedFd<'_>, extent: Extent) {
    if let Some(len) = std::num::NonZeroU64::new(extent.len) {
        // Failure only costs memory.
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

    /// A file whose pages are busy after a read, like those still being read ahead, so that they cannot be dropped.
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
            // The pages are dirty, so they stay in the page cache until they are written back.
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
    fn pages_not_evicted_at_once_are_evicted_later() {
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
