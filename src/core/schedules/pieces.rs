//! A schedule for pieces of a copy: the ranges of a list, or what earlier runs did not copy.
use super::claim::ContiguousExtent;
use super::forward::Forward;
use super::shape::Shape;
use crate::core::{Endpoint, Extent, ExtentSet, Next, Piece, Run, Schedule};
use std::io;
use std::sync::Arc;
use std::vec;

/// Schedules pieces, each divided into blocks and around the holes of the source. A block never crosses the border of a
/// piece. Bytes between the pieces count as copied.
pub(super) struct InPieces {
    shape: Shape,
    source: Option<Arc<dyn Endpoint>>,
    pieces: vec::IntoIter<Piece>,
    /// Offset in the copy of the current piece, and its schedule.
    inner: Option<(u64, Forward)>,
    claim: ContiguousExtent,
    /// The extents that this run copies; the rest of the pieces is only read again.
    to_copy: ExtentSet,
}

impl InPieces {
    /// `pieces` must be ascending by offset in the copy.
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>, pieces: Vec<Piece>) -> Self {
        let to_copy: ExtentSet = pieces.iter().map(|piece| piece.copy).collect();
        let mut claim = ContiguousExtent::default();
        to_copy.gaps(Extent::new(0, shape.len)).for_each(|there| claim.complete(there));
        InPieces { shape, source, pieces: pieces.into_iter(), inner: None, claim, to_copy }
    }

    /// Schedules the parts of `pieces` that are not `durable`. They are widened to multiples of `align_bytes`, a power
    /// of two, for direct I/O, but not beyond their piece: a few bytes may be copied again, with the same contents.
    pub(super) fn rest(
        shape: Shape,
        source: Option<Arc<dyn Endpoint>>,
        pieces: &[Piece],
        durable: &ExtentSet,
        align_bytes: u64,
    ) -> Self {
        let mut left = Vec::new();
        for piece in pieces {
            let (start, whole) = (piece.copy.offset, Extent::new(0, piece.copy.len));
            let shape = shape.of_piece(piece);
            let within = durable.gaps(piece.copy).map(|gap| Extent::new(gap.offset - start, gap.len));
            let gaps: ExtentSet =
                within.filter_map(|gap| widen(gap, &shape, align_bytes).intersection(&whole)).collect();
            left.extend(gaps.iter().map(|gap| Piece {
                copy: Extent::new(start + gap.offset, gap.len),
                at: piece.at.map(|at| at + gap.offset),
            }));
        }
        InPieces::new(shape, source, left)
    }

    /// Adds the rest of `pieces`, to be read again, except for what is `digested`.
    pub(super) fn and_reread(self, pieces: &[Piece], digested: &ExtentSet) -> Self {
        let mut covered = self.to_copy.clone();
        covered.insert_all(digested);
        let reread = |piece: &Piece| {
            let Piece { copy, at } = *piece;
            let gaps: Vec<Extent> = covered.gaps(copy).collect();
            gaps.into_iter().map(move |gap| Piece { copy: gap, at: at.map(|at| at + (gap.offset - copy.offset)) })
        };
        let mut all: Vec<Piece> = pieces.iter().flat_map(reread).collect();
        all.extend(self.pieces);
        all.sort_unstable_by_key(|piece| piece.copy.offset);
        InPieces { pieces: all.into_iter(), ..self }
    }
}

/// Aligns both ends of `gap` to multiples of `align_bytes`, counted from the end of the first block.
fn widen(gap: Extent, shape: &Shape, align_bytes: u64) -> Extent {
    let head = shape.head_bytes;
    let start = match gap.offset.checked_sub(head) {
        Some(behind) => head + behind / align_bytes * align_bytes,
        None => 0,
    };
    let end = head + gap.end().saturating_sub(head).next_multiple_of(align_bytes);
    let end = end.min(shape.len);
    Extent::new(start, end - start)
}

impl Schedule for InPieces {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        loop {
            if let Some((first, inner)) = &mut self.inner {
                match inner.next(block_bytes)? {
                    Next::Finished => self.inner = None,
                    Next::Wait => return Ok(Next::Wait),
                    Next::Do(Run { extent, kind }) => {
                        let extent = Extent::new(*first + extent.offset, extent.len);
                        return Ok(Next::Do(Run { extent, kind }));
                    }
                }
            }
            let Some(piece) = self.pieces.next() else { return Ok(Next::Finished) };
            self.inner = Some((piece.copy.offset, Forward::new(self.shape.of_piece(&piece), self.source.clone())));
        }
    }

    /// The length of the pieces is known; nothing is scheduled beyond it.
    fn ends_at(&mut self, _offset: u64) {}

    fn is_reread(&self, extent: Extent) -> bool {
        !self.to_copy.overlaps(extent)
    }

    fn complete(&mut self, extent: Extent) {
        self.claim.complete(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
