//! Plans over memory endpoints, and the expected result of a copy: a byte array that is changed in the obvious way.
#![allow(dead_code, reason = "each test binary uses a part of it")]
use haul::core::{
    Access, AddressMap, Cache, Direction, Ended, Endpoint, EndpointKind, EngineKind, Existing, NoObserver, OnError,
    Order, Outcome, Plan, PlanSide, Route, Stop, Tally, Tuning, WriteOrder, Zeros,
};
use haul::disks::memory::Memory;
use std::sync::Arc;

fn side(address: &str, offset: u64) -> PlanSide {
    let access = Access { cache: Cache::Keep, offset_align_bytes: 1, exclusive: false, existing: Existing::Keep };
    PlanSide {
        address: address.to_owned(),
        path: address.into(),
        kind: EndpointKind::Memory,
        map: AddressMap::from(offset),
        access,
        lock: None,
        moves_head: false,
        through: None,
    }
}

/// A plan for memory endpoints: `len` bytes from `skip` to `seek`.
pub fn plan(engine: EngineKind, len: Option<u64>, skip: u64, seek: u64) -> Plan {
    let depth = if engine == EngineKind::Sync { 1 } else { 8 };
    Plan {
        source: side("memory source", skip),
        dest: side("memory dest", seek),
        len,
        route: Route::Copy,
        pattern: None,
        dests: Vec::new(),
        engine,
        engine_instead: None,
        device_copy: None,
        tuning: tuning(4096, depth),
        head_bytes: 0,
        tail_align_bytes: 1,
        direction: Direction::Forward,
        write_order: WriteOrder::Any,
        overlaps: false,
        zeros: Zeros::Write,
        ask_holes: false,
        detect_zeros_bytes: None,
        hashes: Vec::new(),
        digest_blocks: None,
        read_back: None,
        block_map: None,
        checks_memory: false,
        set_end: false,
        preallocate: false,
        durable: false,
        on_error: OnError::default(),
        journal: false,
        limit_bytes_per_s: None,
        time_limit: None,
    }
}

/// A fixed block size and depth.
pub fn tuning(block_bytes: u32, depth: u32) -> Tuning {
    Tuning::fixed(block_bytes, depth)
}

/// Executes a plan.
pub fn run(plan: &Plan, source: &Arc<Memory>, dest: &Arc<Memory>) -> (Outcome, Tally) {
    let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), dest.clone()];
    let mut schedule = haul::core::schedules::make(plan, &ends[0]);
    let tally = Tally::default();
    let outcome =
        haul::engine::run(plan, &ends, &mut *schedule, haul::engine::Watch::new(&Stop::default(), &tally, &NoObserver));
    (outcome, tally)
}

/// Executes a plan that must succeed.
pub fn copies(plan: &Plan, source: &Arc<Memory>, dest: &Arc<Memory>) -> Outcome {
    let (outcome, tally) = run(plan, source, dest);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert_eq!(tally.copied_bytes(), outcome.totals.copied_bytes());
    if let Some(len) = plan.len.filter(|_| source.facts().order == Order::Any) {
        assert_eq!(outcome.claimed.len, len);
        assert_eq!(outcome.totals.copied_bytes(), len);
    }
    outcome
}

/// Bytes without a period, with pages of zeros for the bits in `zero_pages`.
pub fn pattern(len: usize, zero_pages: u64) -> Vec<u8> {
    let byte = |at: usize| match zero_pages >> (at / 4096 % 64) & 1 {
        1 => 0,
        _ => (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1,
    };
    (0..len).map(byte).collect()
}
