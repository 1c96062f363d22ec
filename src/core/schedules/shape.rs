//! Block borders.
use crate::core::{Piece, Plan, Route, Zeros};

/// Maximum zero run per request. A device that zeroes 1 GiB/s then completes a request within about 60 ms, so that a
/// signal is handled promptly.
const ZERO_RUN_BYTES_MAX: u32 = 64 << 20;

/// Determines where blocks begin and end. Offsets count from the first byte of the copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bytes to copy; `u64::MAX` for a stream.
    pub(super) len: u64,
    pub(super) source_offset: u64,
    pub(super) dest_offset: u64,
    pub(super) head_bytes: u64,
    pub(super) tail_align_bytes: u64,
    /// Maximum zero run per request; `None` for the block size, because the zeros are written from a buffer.
    pub(super) zero_bytes_max: Option<u32>,
}

impl Shape {
    pub(super) fn of(plan: &Plan) -> Shape {
        Shape {
            len: plan.len.unwrap_or(u64::MAX - plan.source.map.start().max(plan.dest.map.start())),
            source_offset: plan.source.map.start(),
            dest_offset: plan.dest.map.start(),
            head_bytes: u64::from(plan.head_bytes),
            tail_align_bytes: u64::from(plan.tail_align_bytes.max(1)),
            zero_bytes_max: long_zeros(plan).then_some(ZERO_RUN_BYTES_MAX),
        }
    }

    /// The shape of a single piece: offsets count from its first byte.
    pub(super) fn of_piece(&self, piece: &Piece) -> Shape {
        let [source_offset, dest_offset] = piece.at;
        let head_bytes = if piece.copy.offset == 0 { self.head_bytes } else { 0 };
        Shape { len: piece.copy.len, source_offset, dest_offset, head_bytes, ..*self }
    }

    /// The largest offset up to `offset` that is aligned on the dest; 0 if there is none.
    pub(super) fn aligned_down(&self, offset: u64) -> u64 {
        let on_dest = self.dest_offset + offset;
        (on_dest - on_dest % self.tail_align_bytes).saturating_sub(self.dest_offset)
    }

    /// The smallest offset from `offset` that is aligned on the dest, at most the end of the copy.
    pub(super) fn aligned_up(&self, offset: u64) -> u64 {
        let down = self.aligned_down(offset);
        let up = if down == offset { offset } else { self.aligned_down(offset.saturating_add(self.tail_align_bytes)) };
        up.min(self.len)
    }

    /// Offset at which the last block is split, so that its unaligned tail is a separate request.
    pub(super) fn tail_cut(&self) -> u64 {
        self.aligned_down(self.len)
    }
}

/// Whether a zero run may be longer than a block: zeros that are not written need no buffer.
fn long_zeros(plan: &Plan) -> bool {
    !matches!(plan.zeros, Zeros::Write | Zeros::Each) && !matches!(plan.route, Route::Delta { .. })
}
