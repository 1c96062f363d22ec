//! The memory of a copy by records: how many buffers of which size.
use super::batch::Batch;
use super::reader::Reader;
use crate::apps::fronts::RecordPlan;
use crate::core::Side;

/// Target size of a write if records are smaller.
const OUT_BYTES: u64 = 256 << 10;
/// Maximum size of all buffers on each side of the converter, unless two are larger.
const RING_BYTES: usize = 8 << 20;
/// The same if a number of buffers was requested, since each of them is used in turn.
const ASKED_BYTES: usize = 64 << 20;
/// Maximum number of buffers on each side.
const RING_BUFFERS: usize = 4;

/// Bytes of the buffers.
pub(super) struct Sizes {
    read: usize,
    out: usize,
    pub(super) each: usize,
}

impl Sizes {
    /// Fails if the sizes exceed the address space.
    pub(super) fn of(plan: &RecordPlan, reader: &Reader) -> Result<Sizes, (Side, u64)> {
        let read = reader.buffer_bytes().ok_or((Side::Source, plan.source.record_bytes))?;
        let obs = plan.dest.record_bytes;
        let out = (OUT_BYTES / obs).max(1) * obs;
        let out = usize::try_from(out).map_err(|_| (Side::Dest, obs))?;
        let each = if plan.reblock { read.max(out) } else { read };
        Ok(Sizes { read, out, each })
    }

    /// Allocates as many buffers as are useful; at least one to read into and, to reblock, one to fill.
    pub(super) fn allocate(self, plan: &RecordPlan, side_by_side: bool) -> Result<Buffers, (Side, u64)> {
        let Some(first) = Batch::of(if plan.reblock { self.read } else { self.each }) else {
            return Err((Side::Source, plan.source.record_bytes));
        };
        // The converter exchanges buffers between the sides, so all have the larger size.
        let first = if self.each > self.read {
            drop(first);
            Batch::of(self.each)
        } else {
            Some(first)
        };
        let Some(first) = first else { return Err((Side::Dest, plan.dest.record_bytes)) };
        let filling = match plan.reblock {
            true => Some(Batch::of(self.each).ok_or((Side::Dest, plan.dest.record_bytes))?),
            false => None,
        };
        let (most, asked_most) = (RING_BYTES / self.each, ASKED_BYTES / self.each);
        let ring = match plan.buffers {
            _ if !side_by_side => 1,
            None => most.clamp(2, RING_BUFFERS),
            Some(asked) => asked.min(asked_most).max(2),
        };
        let mut more: Vec<Batch> = Vec::new();
        while ring > 1 && more.len() < 2 * ring - 1 {
            match Batch::of(self.each) {
                Some(batch) => more.push(batch),
                // Alternating is slower but needs no more memory than dd.
                None => return Ok(Buffers { first, filling, more: Vec::new(), ring: 1, out: self.out }),
            }
        }
        Ok(Buffers { first, filling, more, ring, out: self.out })
    }
}

/// Memory for a copy.
pub(super) struct Buffers {
    pub(super) first: Batch,
    pub(super) filling: Option<Batch>,
    pub(super) more: Vec<Batch>,
    /// Buffers on each side of the converter; 1: read and write alternately.
    pub(super) ring: usize,
    pub(super) out: usize,
}

impl Buffers {
    /// Puts this buffer first, if there is one.
    pub(super) fn beginning_with(self, first: Option<Batch>) -> Self {
        match first {
            Some(first) => Buffers { first, ..self },
            None => self,
        }
    }
}
