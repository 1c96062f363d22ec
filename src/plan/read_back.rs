//! The plans of what comes after a copy: reading back, and writing once more.
use crate::core::{
    Access, Cache, Direction, EndpointKind, Existing, OnError, Plan, PlanSide, Route, Tuning, WriteOrder, Zeros,
};
use std::path::PathBuf;

/// Bytes of a read behind the writer, and how many of them are in flight.
const FOLLOWING_BLOCK_BYTES: u32 = 1 << 20;
const FOLLOWING_DEPTH: u32 = 4;

/// The plan that reads `len` bytes back which `plan` has written. Digests of blocks are made as in `plan`.
pub fn read_back(plan: &Plan, len: u64) -> Plan {
    Plan {
        len: Some(len),
        route: Route::ReadBack,
        // Under a head, ascending reads; see `choose::order` for writes.
        write_order: if plan.dest.moves_head { WriteOrder::Submitted } else { WriteOrder::Any },
        durable: false,
        ..afterwards(plan)
    }
}

/// The plan that reads back while `plan` is still carried out: a few blocks at a time, so that no write waits long.
pub fn follow(plan: &Plan) -> Plan {
    let align = plan.dest.access.offset_align_bytes.max(1);
    let block_bytes = FOLLOWING_BLOCK_BYTES.next_multiple_of(align);
    let tuning = Tuning {
        block_bytes,
        depth: FOLLOWING_DEPTH,
        adaptive: false,
        tuned: false,
        block_bytes_min: block_bytes,
        block_bytes_max: block_bytes,
        depth_max: FOLLOWING_DEPTH,
        in_flight_bytes_max: block_bytes * FOLLOWING_DEPTH,
    };
    Plan { tuning, len: plan.len, ..read_back(plan, 0) }
}

/// The plan that reads `len` bytes of the source once more, for the digests of blocks that an earlier run of the copy
/// by `plan` has written: no run but that one had their bytes. It is a copy to nowhere, so that what cannot be read is
/// gone around as in the copy: there it is zeros.
pub fn digest_again(plan: &Plan, len: u64) -> Plan {
    let shared = Access { exclusive: false, ..plan.source.access };
    let nothing = Access { cache: Cache::Keep, offset_align_bytes: 1, exclusive: false, existing: Existing::Keep };
    let nowhere = PlanSide {
        path: PathBuf::new(),
        kind: EndpointKind::Memory,
        offset: 0,
        access: nothing,
        lock: None,
        moves_head: false,
        through: None,
        ..plan.dest.clone()
    };
    Plan {
        source: PlanSide { access: shared, ..plan.source.clone() },
        dest: nowhere,
        dests: Vec::new(),
        len: Some(len),
        route: Route::Copy,
        write_order: WriteOrder::Any,
        on_error: plan.on_error,
        durable: false,
        ..afterwards(plan)
    }
}

/// The plan that writes blocks of the first `len` bytes once more, as `plan` did the first time, whichever of them a
/// schedule hands out. What is there of a file stays.
pub fn rewrite(plan: &Plan, len: u64) -> Plan {
    Plan { len: Some(len), route: Route::Copy, durable: true, ..afterwards(plan) }
}

/// A dest that is there, whatever it was before the copy, and a source that is read.
fn afterwards(plan: &Plan) -> Plan {
    // Whoever wrote it still has it for itself, and reading disturbs nobody.
    let access = Access { existing: Existing::Keep, exclusive: false, ..plan.dest.access };
    Plan {
        dest: PlanSide { access, ..plan.dest.clone() },
        engine: plan.engine_instead.unwrap_or(plan.engine),
        engine_instead: None,
        device_copy: None,
        direction: Direction::Forward,
        burst_bytes: None,
        zeros: Zeros::Write,
        ask_holes: false,
        detect_zeros_bytes: None,
        hashes: Vec::new(),
        // What cannot be read is no zeros now.
        on_error: OnError::default(),
        set_end: false,
        preallocate: false,
        why: Vec::new(),
        warnings: Vec::new(),
        ..plan.clone()
    }
}
