//! Readable blocks in a pass that goes back, in ascending pieces that grow as long as nothing fails.
use super::sectors::{in_cluster, last_sector};
use crate::core::Extent;

/// Blocks of a piece, at most: the medium passes as many in a revolution or two.
const CLUSTERS_MAX: u64 = 16;

/// The piece that is being read.
pub(super) struct Piece {
    all: Extent,
    /// What was not given out.
    left: Extent,
    /// A read failed: what is left begins here, and is approached from its end.
    failed_at: Option<u64>,
    clusters: u64,
}

impl Piece {
    pub(super) fn new() -> Self {
        let none = Extent::new(0, 0);
        Piece { all: none, left: none, failed_at: None, clusters: 1 }
    }

    pub(super) fn start(&self) -> u64 {
        self.all.offset
    }

    /// Begins with the end of `part`, and returns its first block. One block; if it `grows`, twice as many as before
    /// where the piece before ends the same area and could be read.
    pub(super) fn begin(&mut self, part: Extent, cluster: u64, grows: bool) -> Extent {
        let continues = part.end() == self.all.offset && self.failed_at.is_none() && !self.all.is_empty();
        self.clusters = if grows && continues { (2 * self.clusters).min(CLUSTERS_MAX) } else { 1 };
        let last = (part.end() - 1) / cluster * cluster;
        let start = part.offset.max(last.saturating_sub((self.clusters - 1) * cluster));
        self.all = Extent::new(start, part.end() - start);
        (self.left, self.failed_at) = (self.all, None);
        self.next(cluster).unwrap_or(self.all)
    }

    /// The next block of it, if one is left.
    pub(super) fn next(&mut self, cluster: u64) -> Option<Extent> {
        if self.left.is_empty() {
            return None;
        }
        let Extent { offset, .. } = self.left;
        let end = self.left.end();
        Some(if self.failed_at.is_some() {
            let last = last_sector(self.left, cluster);
            self.left = Extent::new(offset, last.offset - offset);
            last
        } else {
            let first = in_cluster(self.left, cluster);
            self.left = Extent::new(first.end(), end - first.end());
            first
        })
    }

    /// Called when the read of `extent` failed: what follows is approached from its end, up to the next failed read.
    pub(super) fn failed(&mut self, extent: Extent) {
        if !self.all.overlaps(&extent) {
            return;
        }
        match self.failed_at {
            None => self.failed_at = Some(self.left.offset),
            Some(at) if extent.offset >= at => self.left = Extent::new(at, 0),
            // It was in flight with the first one.
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(start: u64, end: u64) -> Extent {
        Extent::new(8 * start, 8 * (end - start))
    }

    /// The first bytes of the blocks that are given out, in blocks.
    fn rest(piece: &mut Piece) -> Vec<u64> {
        std::iter::from_fn(|| piece.next(8)).map(|extent| extent.offset / 8).collect()
    }

    #[test]
    fn pieces_of_one_area_grow_until_a_read_fails() {
        let mut piece = Piece::new();
        let begins = [(99, 0), (97, 1), (93, 3), (85, 7), (69, 15)];
        let mut end = 100;
        for (start, more) in begins {
            assert_eq!(piece.begin(clusters(0, end), 8, true), clusters(start, start + 1));
            assert_eq!(rest(&mut piece), (start + 1..start + 1 + more).collect::<Vec<_>>());
            end = start;
        }
        assert_eq!(piece.begin(clusters(0, 69), 8, true), clusters(53, 54));
        assert_eq!(piece.next(8), Some(clusters(54, 55)));
        piece.failed(clusters(53, 54));
        piece.failed(clusters(54, 55));
        assert_eq!([piece.next(8), piece.next(8)], [Some(clusters(68, 69)), Some(clusters(67, 68))]);
        piece.failed(clusters(67, 68));
        assert_eq!(piece.next(8), None, "what is between the failed reads is left");
        assert_eq!(piece.begin(clusters(0, 53), 8, true), clusters(52, 53), "it begins with one block again");
    }

    #[test]
    fn a_piece_is_within_its_area() {
        let mut piece = Piece::new();
        assert_eq!(piece.begin(Extent::new(3, 20), 8, true), Extent::new(16, 7));
        assert_eq!(piece.begin(Extent::new(3, 13), 8, true), Extent::new(3, 5));
        assert_eq!(piece.next(8), Some(clusters(1, 2)));
        assert_eq!(piece.next(8), None);
        let continues = piece.begin(Extent::new(0, 3), 8, false);
        assert_eq!((continues, piece.next(8)), (Extent::new(0, 3), None), "it does not grow");
        // Another area.
        assert_eq!(piece.begin(Extent::new(0, 2), 8, true), Extent::new(0, 2));
    }
}
