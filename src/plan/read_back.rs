//! Plans for the steps after a copy: reading back, and rewriting.
use crate::core::{
    Access, AddressMap, Bursts, Cache, Direction, EndpointKind, Existing, Limits, OnError, Plan, PlanDest, PlanSide,
    Route, Tuning, WriteOrder, Zeros,
};
use std::path::PathBuf;

/// Bytes per read during the copy, and the number of these reads in flight.
const FOLLOWING_BLOCK_BYTES: u32 = 1 << 20;
const FOLLOWING_DEPTH: u32 = 4;

/// The plan that reads back `len` bytes that `plan` has written. Blocks are digested as in `plan`.
pub fn read_back(plan: &Plan, len: u64) -> Plan {
    read_back_of(plan, plan.dests.clone(), len)
}

/// The same for some of its dests, `len` bytes in total.
pub fn read_back_of(plan: &Plan, dests: Vec<PlanDest>, len: u64) -> Plan {
    Pass { dests, ..Pass::reading_dest(plan, Some(len)) }.of(plan)
}

/// The plan that reads back while `plan` is executed: a few blocks at a time, so that no write is delayed long.
pub fn follow(plan: &Plan) -> Plan {
    let align = plan.dest.access.offset_align_bytes.max(1);
    let block_bytes = FOLLOWING_BLOCK_BYTES.next_multiple_of(align);
    let tuning = Tuning::fixed(block_bytes, FOLLOWING_DEPTH);
    Pass { tuning, ..Pass::reading_dest(plan, plan.len) }.of(plan)
}

/// The plan that reads `len` bytes of the source again, for the digests of blocks that an earlier run of the
/// copy by `plan` has written, because only that run had their data. It is a copy to a null device, so that
/// unreadable data can be replaced by zeros as in the copy.
pub fn digest_again(plan: &Plan, len: u64, on_error: OnError) -> Plan {
    let shared = Access { exclusive: false, ..plan.source.access };
    let access = Access { cache: Cache::Keep, offset_align_bytes: 1, exclusive: false, existing: Existing::Keep };
    Pass {
        source: PlanSide { access: shared, ..plan.source.clone() },
        dest: PlanSide {
            address: plan.dest.address.clone(),
            path: PathBuf::new(),
            kind: EndpointKind::Memory,
            map: AddressMap::from(0),
            access,
            lock: None,
            moves_head: false,
            through: None,
        },
        dests: Vec::new(),
        len: Some(len),
        route: Route::Copy,
        tuning: one_way(plan.tuning),
        write_order: WriteOrder::Any,
        durable: false,
        on_error,
    }
    .of(plan)
}

/// The plan that rewrites blocks of the first `len` bytes in the way of `plan`, as selected by a schedule.
/// Other data of a file is kept.
pub fn rewrite(plan: &Plan, len: u64) -> Plan {
    let reading = Pass::reading_dest(plan, Some(len));
    Pass { route: Route::Copy, write_order: plan.write_order, durable: true, ..reading }.of(plan)
}

/// The same for reading one side alone: without bursts.
fn one_way(tuning: Tuning) -> Tuning {
    Tuning { limits: Limits { bursts: false, ..tuning.limits }, bursts: Bursts::Never, ..tuning }
}

/// The properties in which one pass after a copy differs from others.
struct Pass {
    source: PlanSide,
    dest: PlanSide,
    dests: Vec<PlanDest>,
    len: Option<u64>,
    route: Route,
    tuning: Tuning,
    write_order: WriteOrder,
    durable: bool,
    on_error: OnError,
}

impl Pass {
    /// Reads the dest, which exists by then, even if the copy created it.
    fn reading_dest(plan: &Plan, len: Option<u64>) -> Pass {
        // The writer still has it open exclusively, and reading does not disturb other processes.
        let access = Access { existing: Existing::Keep, exclusive: false, ..plan.dest.access };
        Pass {
            source: plan.source.clone(),
            dest: PlanSide { access, ..plan.dest.clone() },
            dests: plan.dests.clone(),
            len,
            route: Route::ReadBack,
            tuning: one_way(plan.tuning),
            // A rotational disk reads in ascending order; see `choose::order` for writes.
            write_order: if plan.dest.moves_head { WriteOrder::Submitted } else { WriteOrder::Any },
            durable: false,
            // Unreadable bytes do not count as zeros in this pass.
            on_error: OnError::default(),
        }
    }

    /// The pass after the copy by `plan`: forward, and without handling of zeros.
    fn of(self, plan: &Plan) -> Plan {
        let Pass { source, dest, dests, len, route, tuning, write_order, durable, on_error } = self;
        Plan {
            source,
            dest,
            dests,
            len,
            route,
            pattern: plan.pattern,
            engine: plan.engine_instead.unwrap_or(plan.engine),
            engine_instead: None,
            device_copy: None,
            tuning,
            head_bytes: plan.head_bytes,
            tail_align_bytes: plan.tail_align_bytes,
            direction: Direction::Forward,
            write_order,
            overlaps: plan.overlaps,
            zeros: Zeros::Write,
            ask_holes: false,
            detect_zeros_bytes: None,
            hashes: Vec::new(),
            digest_blocks: plan.digest_blocks,
            read_back: plan.read_back.clone(),
            block_map: None,
            checks_memory: plan.checks_memory,
            set_end: false,
            preallocate: false,
            durable,
            on_error,
            journal: plan.journal,
            limit_bytes_per_s: plan.limit_bytes_per_s,
            time_limit: None,
        }
    }
}
