//! Where blocks begin and end.
use crate::core::{Plan, Route, Zeros};

/// Largest run of zeros in one request: a device that zeroes 1 GiB/s then still answers a signal within a tick.
const ZERO_RUN_BYTES_MAX: u32 = 64 << 20;

/// Where blocks begin and end. Offsets count from the first byte of the copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bytes to copy; `u64::MAX` for a stream.
    pub(super) len: u64,
    pub(super) source_offset: u64,
    pub(super) dest_offset: u64,
    pub(super) head_bytes: u64,
    pub(super) tail_align_bytes: u64,
    /// Longest zero run in one request; `None`: as long as a block, because it is written from one.
    pub(super) zero_bytes_max: Option<u32>,
}

impl Shape {
    pub(super) fn of(plan: &Plan) -> Shape {
        Shape {
            len: plan.len.unwrap_or(u64::MAX - plan.source.offset.max(plan.dest.offset)),
            source_offset: plan.source.offset,
            dest_offset: plan.dest.offset,
            head_bytes: u64::from(plan.head_bytes),
            tail_align_bytes: u64::from(plan.tail_align_bytes.max(1)),
            zero_bytes_max: long_zeros(plan).then_some(ZERO_RUN_BYTES_MAX),
        }
    }

    /// The greatest offset at or below `offset` that is aligned on the dest; 0 where there is none.
    pub(super) fn aligned_down(&self, offset: u64) -> u64 {
        let on_dest = self.dest_offset + offset;
        (on_dest - on_dest % self.tail_align_bytes).saturating_sub(self.dest_offset)
    }

    /// The least offset at or above `offset` that is aligned on the dest, or the end of the copy.
    pub(super) fn aligned_up(&self, offset: u64) -> u64 {
        let down = self.aligned_down(offset);
        let up = if down == offset { offset } else { self.aligned_down(offset.saturating_add(self.tail_align_bytes)) };
        up.min(self.len)
    }

    /// Where the last block has to be cut, so that its odd rest goes alone.
    pub(super) fn tail_cut(&self) -> u64 {
        self.aligned_down(self.len)
    }
}

/// Zeros take no place in memory, so that a run of them may be longer than a block.
fn long_zeros(plan: &Plan) -> bool {
    !matches!(plan.zeros, Zeros::Write | Zeros::Each) && !matches!(plan.route, Route::Delta { .. })
}
