//! Trimming: the edges of failed clusters, sector by sector, up to the first bad one from each side.
use super::now::Now;
use super::sectors::first_sector;
use crate::core::Extent;
use crate::core::rescue::Status;

/// The far edge is approached in pieces of this size, each read ascending: sector by sector backward, a rotational disk
/// takes a revolution for each.
const PIECE_BYTES: u64 = 16 << 10;

/// One pass over the failed clusters.
#[derive(Default)]
pub(super) struct Trimming {
    cursor: u64,
    edge: Option<Edge>,
}

/// The area that is being trimmed.
struct Edge {
    /// What is left between the edges.
    left: Extent,
    side: Edging,
}

/// The edge that is being read.
enum Edging {
    /// Sectors from the start of what is left.
    Near,
    /// A piece that was after what is left, and whether one of its sectors was bad: then it is the last one.
    Far { piece: Extent, failed: bool },
}

impl Trimming {
    /// The next sector. An edge beside a bad sector was trimmed before.
    pub(super) fn next(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        let (sector, domain) = (now.plan.sector_bytes, now.plan.domain.as_ref());
        loop {
            let map = &mut now.state.map;
            let Some(edge) = &mut self.edge else {
                let left = map.next(Status::Untrimmed, self.cursor, domain)?;
                self.cursor = left.end();
                let before = left.offset.checked_sub(1).and_then(|before| map.status_at(before));
                let far = Edging::Far { piece: Extent::new(left.end(), 0), failed: false };
                self.edge = Some(Edge { left, side: if before == Some(Status::Bad) { far } else { Edging::Near } });
                continue;
            };
            let part = match &mut edge.side {
                Edging::Near => edge.left,
                Edging::Far { piece, failed } if piece.is_empty() => {
                    if *failed || map.status_at(edge.left.end()) == Some(Status::Bad) {
                        map.set(edge.left, Status::Unscraped);
                        edge.left.len = 0;
                    }
                    *piece = last_piece(&mut edge.left, sector);
                    *piece
                }
                Edging::Far { piece, .. } => *piece,
            };
            if part.is_empty() {
                self.edge = None;
                continue;
            }
            let next = first_sector(part, sector);
            now.state.pos = next.offset;
            return Some(next);
        }
    }

    pub(super) fn on_read(&mut self, extent: Extent) {
        // The first part of a sector that failed was removed with it.
        if let Some(edge) = &mut self.edge {
            edge.remove(extent);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) {
        now.state.map.set(extent, Status::Bad);
        let Some(edge) = &mut self.edge else { return };
        edge.remove(extent);
        match &mut edge.side {
            Edging::Near => edge.side = Edging::Far { piece: Extent::new(edge.left.end(), 0), failed: false },
            Edging::Far { failed, .. } => *failed = true,
        }
    }
}

impl Edge {
    /// Removes a sector that was tried.
    fn remove(&mut self, extent: Extent) {
        let part = match &mut self.side {
            Edging::Near => &mut self.left,
            Edging::Far { piece, .. } => piece,
        };
        if part.overlaps(&extent) {
            *part = Extent::new(extent.end(), part.end() - extent.end());
        }
    }
}

/// Takes the last piece off `left`.
fn last_piece(left: &mut Extent, sector: u64) -> Extent {
    let (end, bytes) = (left.end(), PIECE_BYTES.next_multiple_of(sector));
    let start = (end.saturating_sub(1) / bytes * bytes).clamp(left.offset, end);
    *left = Extent::new(left.offset, start - left.offset);
    Extent::new(start, end - start)
}
