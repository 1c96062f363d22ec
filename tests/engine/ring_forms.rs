//! A ring has one entry size for both sides: the large one if either side needs it, and never otherwise.
use crate::model::{pattern, plan};
use haul::core::{
    Ended, Endpoint, EndpointKind, EngineKind, Facts, Kind, NoObserver, OnRing, Op, Outcome, Request, Stop, Tally,
};
use io_uring::{opcode, squeue, types};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const LEN: usize = 300_001;

/// A file that supports rings with both entry sizes, or only with the large one.
struct End {
    facts: Facts,
    file: File,
    wide: bool,
    /// The first entry fails because the ring is not supported.
    refuses: bool,
    refused: AtomicBool,
    encoded: AtomicU32,
    called: AtomicU32,
    /// Offsets of requests, in the order of submission.
    handed_over: Mutex<Vec<u64>>,
    stop: Stop,
    stops_at_first_call: AtomicBool,
}

impl End {
    fn new(content: &[u8], wide: bool, refuses: bool) -> Arc<End> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(content, 0).unwrap();
        let mut facts = Facts::new("a file", EndpointKind::Memory);
        facts.size = Some(LEN as u64);
        let (refused, encoded, called, handed_over, stop, stops_at_first_call) = Default::default();
        Arc::new(End { facts, file, wide, refuses, refused, encoded, called, handed_over, stop, stops_at_first_call })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; LEN];
        self.file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn entry(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry {
        self.encoded.fetch_add(1, Relaxed);
        let (at, len) = (request.at(), request.left());
        match request.op {
            Op::Read => opcode::Read::new(fd, request.rest_mut().as_mut_ptr(), len).offset(at).build(),
            _ => opcode::Write::new(fd, request.rest().as_ptr(), len).offset(at).build(),
        }
    }
}

impl Endpoint for End {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.called.fetch_add(1, Relaxed);
        if self.stops_at_first_call.load(Relaxed) {
            self.stop.request(libc::SIGTERM);
        }
        let at = request.at();
        let moved = match request.op {
            Op::Read => self.file.read_at(request.rest_mut(), at),
            _ => self.file.write_at(request.rest(), at),
        };
        moved.map(|moved| moved as u32)
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        Some(self)
    }

    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}

// SAFETY: an entry names the present transfer, with its length and the way of its operation; the file is ours.
unsafe impl OnRing for End {
    fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn needs_wide(&self) -> bool {
        self.wide
    }

    fn takes(&self, request: &Request) -> bool {
        self.handed_over.lock().unwrap().push(request.at());
        !self.refused.load(Relaxed)
    }

    fn encode(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry {
        assert!(!self.wide, "it can be on a wide ring only");
        self.entry(request, fd)
    }

    fn encode_wide(&self, request: &mut Request, fd: types::Fixed) -> squeue::Entry128 {
        self.entry(request, fd).into()
    }

    fn decode(&self, _request: &Request, result: i32, extra: [u64; 2]) -> io::Result<Option<u32>> {
        assert_eq!(extra, [0; 2], "a read or write leaves nothing there");
        if self.refuses {
            self.refused.store(true, Relaxed);
            return Ok(None);
        }
        u32::try_from(result).map(Some).map_err(|_| io::Error::from_raw_os_error(-result))
    }
}

fn run(source: &Arc<End>, dest: &Arc<End>, limit: Option<u64>) -> Outcome {
    let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), dest.clone()];
    let mut plan = plan(EngineKind::Ring, Some(LEN as u64), 0, 0);
    plan.limit_bytes_per_s = limit;
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    haul::engine::run(
        &plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&source.stop, &Tally::default(), &NoObserver),
    )
}

fn copied(source: &Arc<End>, dest: &Arc<End>) -> Outcome {
    let outcome = run(source, dest, None);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert!(dest.bytes() == pattern(LEN, 7), "the copy differs");
    outcome
}

/// Whether rings are available, and those with large entries.
fn rings() -> Option<bool> {
    io_uring::IoUring::new(4).map_err(|error| eprintln!("skipped: no io_uring here: {error}")).ok()?;
    let wide = io_uring::IoUring::<squeue::Entry128, io_uring::cqueue::Entry32>::builder().build(4);
    Some(wide.is_ok())
}

#[test]
fn the_ring_has_wide_entries_if_either_side_needs_them() {
    let Some(wide_works) = rings() else { return };
    for (source_wide, dest_wide) in [(false, false), (true, false), (false, true), (true, true)] {
        let (source, dest) = (End::new(&pattern(LEN, 7), source_wide, false), End::new(&[], dest_wide, false));
        let outcome = copied(&source, &dest);
        let wide = outcome.engine_detail.contains("wide entries");
        assert_eq!(wide, wide_works && (source_wide || dest_wide), "{}", outcome.engine_detail);
        for (end, needs) in [(&source, source_wide), (&dest, dest_wide)] {
            let on_ring = wide_works || !needs;
            assert_eq!(end.encoded.load(Relaxed) > 0, on_ring, "{}", outcome.engine_detail);
            assert_eq!(end.called.load(Relaxed) > 0, !on_ring, "{}", outcome.engine_detail);
        }
    }
}

#[test]
fn a_side_refused_by_the_ring_continues_by_calls() {
    if rings() != Some(true) {
        return;
    }
    let (source, dest) = (End::new(&pattern(LEN, 7), true, true), End::new(&[], false, false));
    copied(&source, &dest);
    // Requests in flight when that was detected are repeated.
    let blocks = LEN.div_ceil(4096) as u32;
    assert_eq!(source.called.load(Relaxed), blocks);
    assert!((1..=8).contains(&source.encoded.load(Relaxed)));
    assert_eq!((dest.called.load(Relaxed), dest.encoded.load(Relaxed)), (0, blocks));
}

#[test]
fn a_resubmitted_request_does_not_wait_for_all_later_ones() {
    if rings() != Some(true) {
        return;
    }
    let (source, dest) = (End::new(&pattern(LEN, 7), true, true), End::new(&[], false, false));
    // With a limit, requests queue up before the source, one every ten seconds; the first that is performed by a
    // call ends the copy.
    source.stops_at_first_call.store(true, Relaxed);
    run(&source, &dest, Some(400));
    assert_eq!(
        *source.handed_over.lock().unwrap(),
        [0, 0],
        "the first was refused on the ring, and asked again at once"
    );
}
