//! Where exactly a read failed.
use crate::contract::{Arena, Endpoint, Extent, Op, Request, Side};
use std::sync::Arc;

/// Sizes of pieces to read, from coarse to fine; the finest is the logical block.
const PIECES_BYTES: [u32; 2] = [64 << 10, 4 << 10];

/// The offset on `side` of the first logical block in `extent` that cannot be read. Reads piece by piece, and the
/// first bad piece in finer ones: three failures at the most, which matters on a disk that tries for seconds. `None`
/// when all of it can be read now.
pub(super) fn first_bad(side: Side, end: &Arc<dyn Endpoint>, extent: Extent, arena: &Arc<Arena>) -> Option<u64> {
    let logical = end.facts().logical_block_bytes.max(512);
    let finest = PIECES_BYTES.into_iter().filter(|&bytes| bytes > logical).chain([logical]);
    let mut buffer = arena.carve(PIECES_BYTES[0].max(logical), 1).pop()?;
    let mut within = extent;
    for piece_bytes in finest {
        let mut at = within.offset;
        loop {
            if at >= within.end() {
                return None;
            }
            let len = u32::try_from(within.end() - at).map_or(piece_bytes, |left| left.min(piece_bytes));
            let op = Op::Read;
            let mut request = Request { slot: 0, ticket: 0, side, op, offset: at, len, done: 0, until: len, buffer };
            let result = end.perform(&mut request);
            buffer = request.buffer;
            match result {
                Ok(0) | Err(_) => {
                    within = Extent::new(at, u64::from(len));
                    break;
                }
                Ok(moved) => at += u64::from(moved),
            }
        }
    }
    Some(within.offset)
}
