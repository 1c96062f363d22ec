//! Endpoints that do nothing, immediately: the cost of a copy is that of the pump and its queues. For tests and for
//! `benches/pump.rs`.
use crate::model::{plan, tuning};
use haul::core::{
    CallStyle, Ended, Endpoint, EndpointKind, EngineKind, Facts, Kind, NoObserver, OnRing, Op, Outcome, Request, Stop,
    Tally,
};
use io_uring::{opcode, squeue, types};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// Reports every transfer as complete.
pub struct Hollow {
    facts: Facts,
    /// For the ring, which registers a descriptor; it is not used.
    null: File,
}

impl Hollow {
    /// Both sides of a copy; `calls`: whether blocking calls need a helper.
    pub fn ends(calls: CallStyle) -> [Arc<dyn Endpoint>; 2] {
        let end = |address| -> Arc<dyn Endpoint> {
            let null = File::open("/dev/null").expect("it is always installed");
            Arc::new(Hollow { facts: Facts { calls, ..Facts::new(address, EndpointKind::Memory) }, null })
        };
        [end("hollow source"), end("hollow dest")]
    }
}

impl Endpoint for Hollow {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        Ok(request.left())
    }

    fn on_ring(&self) -> Option<&dyn OnRing> {
        Some(self)
    }

    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}

// SAFETY: the entry contains no address.
unsafe impl OnRing for Hollow {
    fn fd(&self) -> BorrowedFd<'_> {
        self.null.as_fd()
    }

    fn takes(&self, _request: &Request) -> bool {
        true
    }

    fn encode(&self, _request: &mut Request, _fd: types::Fixed) -> squeue::Entry {
        opcode::Nop::new().build()
    }

    fn decode(&self, request: &Request, result: i32, _extra: [u64; 2]) -> io::Result<Option<u32>> {
        if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(Some(request.left())) }
    }
}

/// Copies `blocks` blocks, which must succeed with `engine`.
pub fn copies_nothing(engine: EngineKind, calls: CallStyle, block_bytes: u32, depth: u32, blocks: u64) -> Outcome {
    let mut plan = plan(engine, Some(blocks * u64::from(block_bytes)), 0, 0);
    plan.tuning = tuning(block_bytes, depth);
    let ends = Hollow::ends(calls);
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let outcome = haul::engine::run(
        &plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&Stop::default(), &Tally::default(), &NoObserver),
    );
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert_eq!((outcome.engine, outcome.totals.written_bytes), (engine, blocks * u64::from(block_bytes)));
    outcome
}
