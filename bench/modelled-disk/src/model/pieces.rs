//! Commands above the maximum transfer size: the disk receives pieces, and the sender one completion.
use std::collections::HashMap;

use super::{Answer, Kind, Ticket};
use crate::parameters::Extent;

/// The pieces of split commands that have not all completed.
pub struct Pieces {
    max_bytes: u64,
    /// The number of remaining pieces, and the completion so far.
    cut: HashMap<Ticket, (u64, Answer)>,
}

impl Pieces {
    /// Pieces of at most `max_bytes`; 0: commands are not split.
    pub fn new(max_bytes: u64) -> Pieces {
        Pieces { max_bytes, cut: HashMap::new() }
    }

    /// The pieces of a command, in order. Only commands that transfer bytes are split.
    pub fn cut(&mut self, ticket: Ticket, kind: Kind, extent: Extent) -> Vec<Extent> {
        let moves = matches!(kind, Kind::Read | Kind::Write);
        if !moves || self.max_bytes == 0 || extent.len <= self.max_bytes {
            return vec![extent];
        }
        let offsets = (extent.offset..extent.end()).step_by(self.max_bytes as usize);
        let piece = |offset| Extent { offset, len: self.max_bytes.min(extent.end() - offset) };
        let pieces: Vec<Extent> = offsets.map(piece).collect();
        self.cut.insert(ticket, (pieces.len() as u64, Answer { ticket, at_ns: 0, failed: false }));
        pieces
    }

    /// Completes a piece; returns the completion of the whole command if it was the last.
    pub fn complete(&mut self, piece: Answer) -> Option<Answer> {
        let Some((left, whole)) = self.cut.get_mut(&piece.ticket) else { return Some(piece) };
        *left -= 1;
        whole.at_ns = whole.at_ns.max(piece.at_ns);
        whole.failed |= piece.failed;
        if *left > 0 {
            return None;
        }
        self.cut.remove(&piece.ticket).map(|(_, whole)| whole)
    }
}
