//! Dests that fail at any point: an incomplete dest is reported, and the others have all bytes that they claim.
use super::*;
use crate::core::EndpointKind;
use crate::core::{Access, AddressMap, Arena, Cache, DestOutcome, Existing, Op, PlanSide, Side, Zeros};
use crate::disks::memory::{Fault, Memory};

const BLOCK: u32 = 4096;

fn planned(zeros: Zeros) -> PlanDest {
    let access = Access { cache: Cache::Keep, offset_align_bytes: 1, exclusive: false, existing: Existing::Keep };
    let (address, kind) = ("memory".to_owned(), EndpointKind::Memory);
    let path = address.clone().into();
    let side = PlanSide {
        address,
        path,
        kind,
        map: AddressMap::from(512),
        access,
        lock: None,
        moves_head: false,
        through: None,
    };
    PlanDest { side, zeros, set_end: false, preallocate: false, durable: true, may_fall_behind: false }
}

fn several(dests: &[(Arc<Memory>, Zeros)]) -> Several {
    let dests = dests.iter().map(|(end, zeros)| (end.clone() as Arc<dyn Endpoint>, planned(*zeros))).collect();
    Several::new(dests, WriteOrder::Any)
}

fn request(op: Op, ticket: u64, byte: u8) -> Request {
    let mut buffer = Arena::map(BLOCK as usize).unwrap().carve(BLOCK, 1).pop().unwrap();
    buffer.bytes_mut().fill(byte);
    let offset = 512 + ticket * u64::from(BLOCK);
    Request { slot: 0, ticket, side: Side::Dest, op, offset, len: BLOCK, done: 0, until: BLOCK, buffer }
}

#[test]
fn zeros_are_handled_as_planned_for_each_dest() {
    let dests =
        [Zeros::Leave, Zeros::Device, Zeros::Write].map(|zeros| (Arc::new(Memory::disk(vec![7; 9000], &[])), zeros));
    let several = several(&dests);
    let mut zeros = request(Op::Zero, 0, 0);
    assert_eq!(several.perform(&mut zeros).unwrap(), BLOCK);
    assert_eq!((zeros.op, zeros.done), (Op::Zero, 0), "the request is as it was");
    assert_eq!(several.perform(&mut request(Op::Write, 1, 3)).unwrap(), BLOCK);
    let ops = dests.each_ref().map(|(end, _)| end.asked().iter().map(|asked| asked.op).collect::<Vec<_>>());
    assert_eq!(ops, [vec![Op::Write], vec![Op::Zero, Op::Write], vec![Op::Write, Op::Write]]);
    assert_eq!(dests[2].0.bytes()[512..512 + 4096], [0; 4096]);
    let reported = several
        .closing()
        .dests
        .iter()
        .map(|dest| [dest.written_bytes, dest.zeroed_bytes, dest.hole_bytes])
        .collect::<Vec<_>>();
    assert_eq!(reported, [[4096, 0, 4096], [4096, 4096, 0], [8192, 0, 0]]);
    assert!(several.closing().dests.iter().all(|dest| dest.claimed == Extent::new(0, 8192)));
}

#[test]
fn a_failed_dest_is_reported_once_and_gets_no_more_requests() {
    let bad = Fault::BadAt { op: Op::Write, offset: 512 + 4096 + 100, errno: libc::EIO };
    let good = Arc::new(Memory::disk(vec![0; 20000], &[Fault::Short(1000)]));
    let failing = Arc::new(Memory::disk(vec![0; 20000], &[bad]));
    let several = several(&[(failing.clone(), Zeros::Write), (good.clone(), Zeros::Write)]);
    let reported = Arc::new(std::sync::Mutex::new(Vec::new()));
    let received = reported.clone();
    several.on_drop(Box::new(move |error| received.lock().unwrap().push(error.to_string())));
    for ticket in 0..4 {
        assert_eq!(several.perform(&mut request(Op::Write, ticket, 9)).unwrap(), BLOCK);
    }
    assert_eq!(*reported.lock().unwrap(), ["cannot write destination memory at byte 4608"]);
    assert_eq!(failing.asked().len(), 2, "nothing comes after the block that failed");
    assert_eq!(good.bytes()[512..512 + 4 * 4096], [9; 4 * 4096]);
    let [lost, kept] = <[DestOutcome; 2]>::try_from(several.closing().dests).unwrap();
    assert_eq!((lost.claimed, kept.claimed), (Extent::new(0, 4096), Extent::new(0, 16384)));
    assert!(lost.error.is_some_and(|error| error.kind == Kind::Io && error.source.is_some()) && kept.error.is_none());
}

#[test]
fn the_copy_ends_when_no_dest_is_left() {
    let full = |end| Arc::new(Memory::disk(vec![0; 20000], &[Fault::FullAt(end)]));
    let several = several(&[(full(512), Zeros::Write), (full(9000), Zeros::Write)]);
    assert!(several.perform(&mut request(Op::Write, 0, 1)).is_ok(), "the second has room");
    assert!(several.perform(&mut request(Op::Write, 2, 1)).is_err());
    let dests = several.closing().dests;
    let kinds: Vec<_> = dests.iter().filter_map(|dest| dest.error.as_ref()).map(|error| error.kind).collect();
    assert_eq!(kinds, [Kind::NoSpace, Kind::NoSpace]);
    // Bytes written after a gap are not claimed.
    assert_eq!(dests[1].claimed, Extent::new(0, 4096));
    assert!(several.make_durable().is_err());
}
